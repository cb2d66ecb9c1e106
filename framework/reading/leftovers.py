"""Takes link lists, teasers and named leftovers out of the chosen content."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading import callouts, images, tables
from framework.reading.closings import PRICE
from framework.reading.hints import BODY, GALLERY, WEAK
from framework.reading.measure import HEADINGS
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.reading.content import Content
    from framework.reading.dom import Dom

__all__ = ["clean"]

_BOXES = words("div section table aside dl")
_LISTING_DENSITY = 0.4
_ARTICLE_ENOUGH = 800.0
_COUNTED = re.compile(r"\s*\d{1,3}\s?/\s?\d{1,3}\b")
_HEADLINE = 30
_CAPTION_MOST = 600.0
_TEASERS_LEAST, _TEASER_MOST = 5, 500.0
_SECTION_HEADINGS = HEADINGS - {"h1"}


class _Cleaner:
    """One pass over the content in document order."""

    def __init__(
        self,
        dom: Dom,
        found: Content,
        good: Sequence[float],
        length: Sequence[float],
        links: Sequence[float],
        host: str,
    ) -> None:
        self.dom, self.found, self.host = dom, found, host
        self.good, self.length, self.links = good, length, links
        self.root = found.root
        shown = sum(
            good[i]
            for i, value in dom.names.items()
            if value & GALLERY and self.root < i < dom.end[self.root]
        )
        whole = good[self.root]
        self.galleries_go = shown < 0.5 * whole or whole - shown > _ARTICLE_ENOUGH
        self.teasers = frozenset() if found.is_listing else _teasers(dom, found, good)
        self.before: dict[int, int] = {}

    def run(self) -> None:
        dom, drop = self.dom, self.found.drop
        tag, end = dom.tag, dom.end
        i, stop = self.root + 1, end[self.root]
        while i < stop:
            name = tag[i]
            if drop[i] or not name or not self.length[i]:
                i = end[i] if drop[i] else i + 1
                continue
            if name == "table" and not tables.is_layout(dom, i):
                i = end[i]
            elif self.goes(i, name):
                self.leave_out(i)
                i = end[i]
            else:
                self.before[dom.parent[i]] = i
                i += 1

    def leave_out(self, node: int) -> None:
        """Drop a node, and the heading that only introduced its links."""
        drop, dom = self.found.drop, self.dom
        drop[node] = 1
        before = self.before.get(dom.parent[node], -1)
        if (
            before >= 0
            and self.density(node) > 0.5
            and dom.tag[before] in _SECTION_HEADINGS
            and not self.is_note(node)
        ):
            drop[before] = 1

    def is_note(self, node: int) -> bool:
        """Whether a node is a lone link between a heading and the text that it heads."""
        dom = self.dom
        following, stop = dom.end[node], dom.end[dom.parent[node]]
        while following < stop and not self.length[following]:
            following = dom.end[following]
        if following >= stop or dom.tag[following] in HEADINGS or not self.good[following]:
            return False
        links = self.found.measures.links
        return sum(dom.tag[i] == "a" and links[i] > 0 for i in range(node, dom.end[node])) == 1

    def density(self, node: int) -> float:
        return self.links[node] / self.length[node]

    def goes(self, node: int, name: str) -> bool:
        """Whether an element under the root is no part of the content."""
        named = self.dom.names.get(node, 0)
        around = self.good[self.dom.parent[node]]
        if named & GALLERY and self.galleries_go and self.good[node] < 0.9 * around:
            return self.good[node] <= _CAPTION_MOST * max(1, self.pictures(node))
        if name in ("ul", "ol"):
            return self.is_link_list(node)
        if name == "article":
            return node in self.teasers
        if name == "p":
            return self.is_pointer(node) or bool(named & WEAK and self.length[node] < 100)
        if name not in _BOXES or not (self.is_link_box(node) or self.is_named_box(node, named)):
            return False
        return not callouts.kind(self.dom, node)

    def pictures(self, node: int) -> int:
        tags = self.dom.tag
        return sum(tags[node : self.dom.end[node]].count(name) for name in images.TAGS)

    def is_link_list(self, node: int) -> bool:
        """Whether a list holds headlines of other pages, or pictures with a link each."""
        dom, drop = self.dom, self.found.drop
        items = [item for item in dom.children(node) if dom.tag[item] == "li" and not drop[item]]
        if not items:
            return False
        if self.density(node) > 0.75:
            long = sum(len(dom.words(item)) for item in items) > _HEADLINE * len(items)
            return long and sum(_stays(dom, item, self.host) for item in items) * 2 >= len(items)
        if len(items) < 3 or self.found.is_listing:
            return False
        if self.good[self.root] - self.good[node] >= _ARTICLE_ENOUGH and _is_slideshow(dom, items):
            return True
        return sum(_is_card(dom, item) for item in items) > 0.6 * len(items)

    def is_pointer(self, node: int) -> bool:
        """Whether a paragraph is nothing but a link within the site."""
        return (
            self.length[node] > 25
            and self.density(node) > 0.9
            and _stays(self.dom, node, self.host)
        )

    def is_link_box(self, node: int) -> bool:
        return (
            self.density(node) > 0.6
            and self.good[node] < 60
            and self.length[node] < 0.3 * self.length[self.root]
        )

    def is_named_box(self, node: int, named: int) -> bool:
        """Whether a box with a doubtful name holds links or next to nothing."""
        if not named & WEAK or named & BODY or self.good[node] >= 0.2 * self.good[self.root]:
            return False
        if self.density(node) > 0.3:
            return True
        most = 250 if self.good[self.root] >= _ARTICLE_ENOUGH else 60
        little = self.good[node] < 40 and self.length[node] < most and not self.has_code(node)
        return (
            little
            and not self.is_heading_box(node)
            and not self.is_picture(node)
            and not PRICE.search(self.dom.words(node))
        )

    def has_code(self, node: int) -> bool:
        return "pre" in self.dom.tag[node : self.dom.end[node]]

    def is_picture(self, node: int) -> bool:
        """Whether a box shows an image over its caption."""
        inner = self.dom.tag[node : self.dom.end[node]]
        return not self.links[node] and "img" in inner and HEADINGS.isdisjoint(inner)

    def is_heading_box(self, node: int) -> bool:
        """Whether an element holds a heading and nothing else."""
        dom = self.dom
        for child in range(node + 1, dom.end[node]):
            if dom.tag[child] in HEADINGS:
                return self.length[child] == self.length[node]
        return False


def clean(
    dom: Dom,
    found: Content,
    good: Sequence[float],
    length: Sequence[float],
    links: Sequence[float],
    host: str,
) -> None:
    """Mark what goes under the root; pages that are lists of links are left as they are."""
    if links[found.root] <= _LISTING_DENSITY * length[found.root]:
        _Cleaner(dom, found, good, length, links, host).run()


def _teasers(dom: Dom, found: Content, good: Sequence[float]) -> frozenset[int]:
    """Return the articles that only show the linked headline of another page and a few words,
    where there are many beside an article of some length."""
    root, end = found.root, dom.end[found.root]
    if dom.tag[root:end].count("article") <= _TEASERS_LEAST:
        return frozenset()
    articles = [i for i in range(root, end) if dom.tag[i] == "article" and not found.drop[i]]
    if len(articles) <= _TEASERS_LEAST or max(good[i] for i in articles) < _ARTICLE_ENOUGH:
        return frozenset()
    teasers = [i for i in articles if good[i] <= _TEASER_MOST and _is_headed_by_link(dom, found, i)]
    return frozenset(teasers if len(teasers) >= _TEASERS_LEAST else ())


def _is_headed_by_link(dom: Dom, found: Content, node: int) -> bool:
    """Whether an element has headings, all of them links."""
    links, length = found.measures.links, found.measures.length
    heads = [i for i in range(node + 1, dom.end[node]) if dom.tag[i] in HEADINGS]
    return bool(heads) and all(0 < length[i] <= 1.1 * links[i] for i in heads)


def _is_slideshow(dom: Dom, items: Sequence[int]) -> bool:
    """Whether the items of a list are counted as `1/9`, `2/9` and so on."""
    return all(_COUNTED.match("".join(dom.text[item : dom.end[item]])[:80]) for item in items[:3])


def _is_card(dom: Dom, item: int) -> bool:
    tags = set(dom.tag[item : dom.end[item]])
    return "img" in tags and ("a" in tags or bool(tags & HEADINGS))


def _stays(dom: Dom, node: int, host: str) -> bool:
    """Whether the first link under a node leads to the same site."""
    for child in range(node, dom.end[node]):
        if dom.tag[child] == "a":
            href = dom.get(child, "href")
            return "://" not in href[:10] or (bool(host) and host in href[:100])
    return False
