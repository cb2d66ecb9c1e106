"""Memory around the reading of a page: when it is looked through, when it is given back."""

from __future__ import annotations

import ctypes
import gc
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["give_back", "uncollected"]


@contextmanager
def uncollected() -> Iterator[None]:
    """Put off garbage collection for a short piece of work.

    Reading a page makes thousands of small objects that die by their reference counts; the
    collector's passes in between would only walk the rest of the program's memory.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


@lru_cache(maxsize=1)
def _trim() -> ctypes._NamedFuncPointer | None:
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None


def give_back() -> None:
    """Let go of freed memory, which the C library otherwise keeps for requests of its own.

    Worth its milliseconds only after a tree of megabytes.
    """
    trim = _trim()
    if trim is not None:
        trim(0)
