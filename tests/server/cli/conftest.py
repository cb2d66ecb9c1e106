"""The command line with its own state folder."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.command import runner

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command import Run


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    return runner(capsys, monkeypatch, tmp_path / "state")
