"""Fixtures shared by all tests."""

from __future__ import annotations

import gc
import logging
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from collections.abc import Generator

#: Properties say nothing about time: the machine may be busy.
settings.register_profile("steady", deadline=None)
settings.load_profile("steady")


def pytest_collection() -> None:
    """Share the packaged engines: tests make hundreds of catalogues, each of all of them."""
    # Imported only now: coverage does not yet run when workers load this file.
    from tests.support.compiled import share_packaged

    share_packaged()


def pytest_collection_finish() -> None:
    """Spare the garbage collector all that stays anyway."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    """Leave logging as it was: commands set it up for their process, which tests share."""
    root = logging.root
    handlers = root.handlers[:]
    before = {logger.name: logger.level for logger in _loggers()}
    try:
        return (yield)
    finally:
        for handler in root.handlers[:]:
            if handler not in handlers:
                root.removeHandler(handler)
                handler.close()
        root.handlers[:] = handlers
        for logger in _loggers():
            level = before.get(logger.name, logging.NOTSET)
            if logger.level != level:  # to set it is dear: every logger forgets what it knew
                logger.setLevel(level)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Take the tracer off for tests that ask for it: it doubles their time.

    The marker `no_cover` of pytest-cov would do, but for a second tracer that its workers have.
    """
    if item.get_closest_marker("untraced") is None:
        return (yield)
    here, new_threads = sys.gettrace(), threading.gettrace()
    sys.settrace(None)
    threading.settrace(None)
    try:
        return (yield)
    finally:
        threading.settrace(new_threads)
        sys.settrace(here)


def _loggers() -> list[logging.Logger]:
    known = tuple(logging.Logger.manager.loggerDict.values())
    return [logging.root, *(logger for logger in known if isinstance(logger, logging.Logger))]


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
