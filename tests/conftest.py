"""Fixtures shared by all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

#: Properties say nothing about time: the machine may be busy.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real recordings beside the checkout; tests that need it are skipped without."""
    folder = ROOT.parent / "shared"
    if not (folder / "captures" / "INDEX.tsv").exists():
        pytest.skip("real recordings (../shared) are not part of this clone")
    return folder
