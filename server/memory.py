"""How a server's process keeps its memory: results pages come and go all day, by the megabyte."""

from __future__ import annotations

import ctypes
import sys
from functools import cache

__all__ = ["keep_memory"]

#: Parameters of glibc's `mallopt` (malloc.h), and what they are set to, in bytes.
_TRIM_THRESHOLD = (-1, 64 * 1024 * 1024)
_MMAP_THRESHOLD = (-3, 32 * 1024 * 1024)


@cache
def keep_memory() -> bool:
    """Keep freed memory of pages for the next page; returns whether the C library knows how.

    Parsing half a megabyte of HTML takes several megabytes, which glibc returns to the system
    after every page and fetches again for the next one: half of a parse goes into page faults. At
    most 64 MB are kept. Elsewhere than on Linux with glibc nothing changes.
    """
    if not sys.platform.startswith("linux"):
        return False
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is None:
        return False
    return all(mallopt(name, size) == 1 for name, size in (_TRIM_THRESHOLD, _MMAP_THRESHOLD))
