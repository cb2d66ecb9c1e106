"""Known rows found again in a rebuilt page by their words: the surest way to mend an engine."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from typing import TYPE_CHECKING
from urllib.parse import quote

from framework.authoring.groups import Group, layouts
from framework.authoring.html_rows import linked

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from framework.authoring.outline import Element, Outline
    from framework.types import Row

__all__ = ["anchored_groups", "find_text", "squeezed"]

_LONGEST = 2_000
#: Share of the known rows that must be found again.
ENOUGH = 0.6


def squeezed(text: str) -> str:
    """Return a text without white space and case, as texts of rebuilt pages are compared."""
    return re.sub(r"\s+", "", text).casefold()


def anchored_groups(outline: Outline, rows: Sequence[Row]) -> Iterator[tuple[Group, list[Row]]]:
    """Yield ways in which known rows stand in a page, each with the rows that it shows.

    Nothing is yielded where fewer than ENOUGH of the rows are found by their titles.
    """
    by_text = _index(outline)
    options = [_heads(by_text.get(squeezed(row.title), []), row, outline) for row in rows]
    likely = Counter(sign for heads in options for sign in {_signature(head) for head in heads})
    found: list[tuple[Element, Row]] = []
    for heads, row in zip(options, rows, strict=True):
        best = max(heads, default=None, key=lambda head: likely[_signature(head)])
        if best is not None and all(best is not other for other, _ in found):
            found.append((best, row))
    if len(found) < max(1, ENOUGH * len(rows)):
        return
    found.sort(key=lambda pair: pair[0].order)
    heads = [head for head, _ in found]
    for around, inside in layouts(heads):
        if len(around) == len(heads) and all(a is b for a, b in zip(inside, heads, strict=True)):
            yield Group(rows=tuple(around), links=tuple(inside)), [row for _, row in found]


def _index(outline: Outline) -> Mapping[str, list[Element]]:
    found: dict[str, list[Element]] = defaultdict(list)
    for element in outline.elements:
        if 0 < len(element.text) <= _LONGEST:
            found[squeezed(element.text)].append(element)
    return found


def _heads(candidates: Sequence[Element], row: Row, outline: Outline) -> list[Element]:
    """Return the links that may be a row's title: those with its words, else with its address."""
    links: dict[int, Element] = {}
    for element in candidates:
        link = linked(element) or next((e for e in element.inside() if e.tag == "a"), None)
        if link is not None and "href" in link.attributes:
            links[link.order] = link
    exact = [link for link in links.values() if link.attributes["href"] in row.url]
    leading = _leading_to(outline, row.url) if not links else None
    return exact or list(links.values()) or ([leading] if leading is not None else [])


def _signature(link: Element) -> tuple[str, ...]:
    """Return what the titles of one list have in common: the elements around them."""
    return tuple(above.tag for above, _ in zip(link.ancestors(), range(5), strict=False))


def _leading_to(outline: Outline, url: str) -> Element | None:
    """Return the first link with words that leads to an address, directly or by a redirect."""
    escaped = quote(url, safe="")
    for link in outline.links:
        target = link.attributes["href"]
        if link.text and (target == url or escaped in target):
            return link
    return None


def find_text(row: Element, text: str, *, outermost: bool = False) -> Element | None:
    """Return the innermost (or outermost) element of a row that has exactly these words."""
    wanted = squeezed(text)
    found = None
    for element in (row, *row.inside()):
        if squeezed(element.text) == wanted:
            found = element
            if outermost:
                break
    return found
