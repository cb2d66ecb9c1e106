"""Memory that a parser has freed, given back to the system where the C library can do so."""

from __future__ import annotations

import ctypes
from functools import lru_cache

__all__ = ["give_back"]


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
