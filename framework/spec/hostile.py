"""Pages that are built to exhaust an HTML parser, told apart before they are parsed.

The parsing rules of HTML make every parser quadratic in three things: elements left open,
attributes of one tag, and formatting elements that outlive the paragraph they stand in. 200,000
open elements take over a minute, 3,500 paragraphs with an open `<b>` each five seconds.
"""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["is_hostile"]

#: Below these, in bytes and in tags, nothing of it costs more than a third of a second.
_SMALL = 16 * 1024
_FEW_TAGS = 4_000
#: The sum over all tags of the elements open there; tags times different formatting elements.
_MAX_DEPTHS = 12_000_000
_MAX_FORMATTING = 8_000_000
#: Attributes of one tag, looked for only in tags that are longer than this.
_MAX_ATTRIBUTES = 10_000
_LONG = 64 * 1024

_TAG = re.compile(rb"</?[a-zA-Z][^\s/>]*")
#: Formatting elements with attributes; parsers keep at most three of each spelling.
_FORMATTING = re.compile(
    rb"<(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/][^>]*", re.IGNORECASE
)
_ATTRIBUTES = re.compile(
    rb"""<[a-zA-Z](?:[^\s/"'>]*+(?:[\s/]|"[^"]*+"|'[^']*+')){%d}""" % _MAX_ATTRIBUTES
)
#: Tags that hold nothing, and those whose end is commonly left out.
_FLAT = frozenset(
    b"area base br col embed hr img input link meta source track wbr p li dt dd option tr td th "
    b"path circle rect line polygon polyline ellipse use stop".split()
)


def is_hostile(body: bytes) -> bool:
    """Return whether parsing a page could take seconds; linear, and quick on ordinary pages.

    The counts are estimates with room for large results pages: 20,000 ordinary tags pass.
    """
    if len(body) < _SMALL:
        return False
    # deleting skips from one to the next and is four times faster than bytes.count
    if len(body) - len(body.replace(b"<", b"")) > _FEW_TAGS and _nests(body):
        return True
    return any(_ATTRIBUTES.search(part) for part in _long_parts(body))


def _nests(body: bytes) -> bool:
    tags = _TAG.findall(body)
    if sum(accumulate(map(_Depths().__getitem__, tags))) > _MAX_DEPTHS:
        return True
    return len(set(_FORMATTING.findall(body))) * len(tags) > _MAX_FORMATTING


class _Depths(dict[bytes, int]):
    """What a tag adds to the nesting depth, worked out once per spelling."""

    def __missing__(self, tag: bytes) -> int:
        step = -1 if tag.startswith(b"</") else 1
        if tag.lower().lstrip(b"</") in _FLAT:
            step = 0
        self[tag] = step
        return step


def _long_parts(body: bytes) -> Iterator[bytes]:
    """Yield what stands between two `>` that are far apart, skipping over all others."""
    start = 0
    while start + _LONG < len(body):
        last = body.rfind(b">", start, start + _LONG)
        if last < 0:
            end = body.find(b">", start + _LONG)
            last = len(body) if end < 0 else end
            yield body[start:last]
        start = last + 1
