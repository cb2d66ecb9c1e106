"""What a page only shows of its date and author: in the lines around its headline."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from framework.reading.dates import date

if TYPE_CHECKING:
    from collections.abc import Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["AroundHeadline"]

_UPDATED = re.compile(
    r"updated|modified|revised|edited|aktualisiert|geändert|stand:|mis à jour|modifié|actualizad|"
    r"atualizad|aggiornat|bijgewerkt|gewijzigd|zaktualizowan|aktualizacja|обновлен|изменен|"
    r"güncellen|uppdaterad|opdateret|更新|修改|업데이트|수정",
    re.I,
)
_BY = re.compile(
    r"(?:by|von|par|por|di|door|przez|автор|作者)\s*[:：]?\s+"
    r"(?P<name>[^\W\d_][^\d|·•,()/:@]{2,60}?)(?:\s*(?:[|·•,(/@]|\s[-–—]\s|\d).*)?",
    re.I | re.S,
)
_LATER_BY = re.compile(r"\s(?:by|von|par|por|di)\s(?P<name>[^\W\d_][^\d|·•,()/:@]{2,60})$", re.I)
_NAME_WORDS = 7
_LEVELS, _BEFORE, _AFTER = 3, 2, 3
_LINE_MOST, _NODES_MOST = 200, 200
_OUTSIDE = ("body", "html")


class AroundHeadline:
    """The short lines beside the first `h1` and the elements around it, read when first asked."""

    __slots__ = ("_lines", "_tree")

    def __init__(self, tree: LexborHTMLParser) -> None:
        self._tree = tree
        self._lines: list[tuple[str, LexborNode]] | None = None

    def lines(self) -> list[tuple[str, LexborNode]]:
        """Return the lines with their elements, the nearest first."""
        if self._lines is None:
            heading = self._tree.css_first("h1")
            found = _lines(heading) if heading is not None else ()
            self._lines = [(" ".join(node.text(separator=" ").split()), node) for node in found]
        return self._lines

    def dates(self) -> tuple[str | None, str | None]:
        """Return the dates of publication and of the last change; one that is labelled as an
        update is the second."""
        published = modified = None
        for text, node in self.lines():
            day = date(text) if any(map(str.isdigit, text)) else None
            day = _stated(node) or day
            if day and _UPDATED.search(text):
                modified = modified or day
            else:
                published = published or day
        return published, modified

    def author(self) -> str | None:
        """Return the name in the first line that starts with a word for `by`."""
        for text, _ in self.lines():
            found = _BY.fullmatch(text) or (_LATER_BY.search(text) if date(text) else None)
            if found and _is_name(found["name"]):
                return found["name"].strip()
        return None


def _is_name(text: str) -> bool:
    """Whether a text is a few words, all but the particles in capitals."""
    words = text.split()
    capitals = sum(not word[0].islower() for word in words)
    return len(words) <= _NAME_WORDS and capitals > 0 and capitals >= len(words) - 2


def _stated(node: LexborNode) -> str | None:
    """Return the date of the first `time` element in a line."""
    found = node if node.tag == "time" else node.css_first("time[datetime]")
    return date(found.attributes.get("datetime") or "") if found is not None else None


def _lines(heading: LexborNode) -> Iterator[LexborNode]:
    """Yield the short elements after and before a headline, the nearest level first."""
    node: LexborNode | None = heading
    for _ in range(_LEVELS):
        if node is None or node.tag in _OUTSIDE:
            return
        yield from _beside(node, _AFTER, forward=True)
        yield from _beside(node, _BEFORE, forward=False)
        node = node.parent


def _beside(node: LexborNode, most: int, *, forward: bool) -> Iterator[LexborNode]:
    """Yield the nearest sibling elements on one side, as far as they are short."""
    sibling = node.next if forward else node.prev
    seen = 0
    while sibling is not None and seen < most:
        if sibling.is_element_node:
            seen += 1
            if _is_short(sibling):
                yield sibling
        sibling = sibling.next if forward else sibling.prev


def _is_short(node: LexborNode) -> bool:
    """Whether an element holds a line of text, told without reading a long one to its end."""
    size = 0
    for inner in islice(node.traverse(include_text=True), _NODES_MOST):
        if inner.is_text_node:
            size += len((inner.text_content or "").strip())
            if size > _LINE_MOST:
                return False
    return size > 0
