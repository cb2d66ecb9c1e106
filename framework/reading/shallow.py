"""Pages built to exhaust a parser, made harmless before they are parsed.

The parsing rules of HTML cost quadratic time in three things: elements left open, formatting
elements that outlive their paragraph, and attributes of one tag. No readable page has many.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["shallow"]

#: Elements without an end tag or with an optional one: they don't nest by being left open.
_UNNESTED = words(
    """
    area base br col embed hr img input link meta param source track wbr p li td th tr tbody
    thead tfoot dt dd option optgroup colgroup caption rt rp html head body
    """
)
_FORMATTING = words("a b big code em font i nobr s small strike strong tt u")
_STYLED = re.compile(
    r"<(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)[\s/][^>]{0,80}", re.I
)
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_SPACE = re.compile(r"[\s/]")
_FEW_TAGS = 3_000
_MANY_TAGS = 10_000
_CLOSED_LEAST = 0.75
_STYLES_MOST = 60
_NESTED_MOST = 400

_OPEN_STYLES_MOST = 10
_LONG_TAG = 64 * 1024
_ATTRIBUTES_MOST = 3_000


def shallow(text: str) -> str:
    """Return a page that parses in linear time; ordinary pages come back as they are."""
    if len(text) > _LONG_TAG:
        text = _without_wide_tags(text)
    tags = text.count("<")
    if tags > _MANY_TAGS or (tags > _FEW_TAGS and _is_styled(text, tags)):
        return _flattened(text)
    return text


def _is_styled(text: str, tags: int) -> bool:
    """Whether many tags are left open and many formatting elements differ."""
    left_open = 2 * text.count("</") < _CLOSED_LEAST * tags
    return left_open and len(set(_STYLED.findall(text))) > _STYLES_MOST


class _Depths:
    """How many elements are open, per name and together."""

    def __init__(self) -> None:
        self.open: dict[str, int] = {}
        self.dropped: dict[str, int] = {}
        self.all = 0
        self.styles = 0

    def end(self, name: str) -> None:
        if self.dropped.get(name):
            self.dropped[name] -= 1
        elif self.open.get(name):
            self._add(name, -1)

    def start(self, name: str) -> bool:
        """Count a start tag; return False where it is one too many."""
        if self.all < _NESTED_MOST and (name not in _FORMATTING or self.styles < _OPEN_STYLES_MOST):
            self._add(name, 1)
            return True
        self.dropped[name] = self.dropped.get(name, 0) + 1
        return False

    def _add(self, name: str, step: int) -> None:
        self.open[name] = self.open.get(name, 0) + step
        self.all += step
        self.styles += step * (name in _FORMATTING)


def _flattened(text: str) -> str:
    """Drop start tags beyond a nesting that no readable page has."""
    depths = _Depths()
    kept: list[str] = []
    last = 0
    for match in _TAG.finditer(text):
        name = match[2].lower()
        if name in _UNNESTED or match.start() < last:
            continue
        if match[1]:
            depths.end(name)
        elif not depths.start(name):
            kept.append(text[last : match.start()])
            close = text.find(">", match.end())
            last = len(text) if close < 0 else close + 1
    return "".join(kept) + text[last:] if kept else text


def _without_wide_tags(text: str) -> str:
    """Drop tags with thousands of attributes."""
    kept: list[str] = []
    last = 0
    for start, end in _long_spans(text):
        opened = text.find("<", start, end)
        if (
            opened >= 0
            and sum(1 for _ in _SPACE.finditer(text, opened, end)) > _ATTRIBUTES_MOST
            and "</script" not in text[opened:end].lower()
        ):
            kept.append(text[last:opened])
            last = end
    return "".join(kept) + text[last:] if kept else text


def _long_spans(text: str) -> Iterator[tuple[int, int]]:
    """Yield what stands between two `>` that are far apart, skipping over all others."""
    start = 0
    while start + _LONG_TAG < len(text):
        last = text.rfind(">", start, start + _LONG_TAG)
        if last < 0:
            end = text.find(">", start + _LONG_TAG)
            last = len(text) if end < 0 else end
            yield start, last
        start = last + 1
