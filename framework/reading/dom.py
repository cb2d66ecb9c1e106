"""A page's tree as flat lists in document order, so that scoring and writing are single passes.

The lists hold plain strings only: once built, the parser's memory is free to go. Nesting is capped
at `MAX_DEPTH`; deeper elements become siblings at that depth, so no pass needs deep recursion.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborHTMLParser

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from selectolax.lexbor import LexborNode

__all__ = ["MAX_DEPTH", "TEXT", "Dom", "flatten", "indexes", "parse"]

MAX_DEPTH = 120
TEXT = ""

#: Elements whose content is never page text; they are left out with all they hold.
_SKIPPED = frozenset(
    "style template head svg canvas object embed applet select datalist textarea link meta "
    "frameset frame area map param track -comment -document-type".split()
)

#: Elements without an end tag or with an optional one: they don't nest by being left open.
_UNNESTED = frozenset(
    "area base br col embed hr img input link meta param source track wbr p li td th tr tbody thead "
    "tfoot dt dd option optgroup colgroup caption rt rp html head body".split()
)
_FORMATTING = frozenset("a b big code em font i nobr s small strike strong tt u".split())
_MANY_TAGS = 10_000
_NESTED_MOST = 400
_FORMATTING_MOST = 40
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*)")
_NO_ATTRIBUTES: Mapping[str, str | None] = {}


class Dom:
    """Parallel lists, one entry a node: tag (empty for text), parent, end, text, attributes, nth.

    `end[i]` is the first node after the subtree of `i`; `nth[i]` counts siblings of the same tag
    from 1, skipped ones included, so that `path` is right on the page as it was served.
    """

    __slots__ = ("attrs", "end", "nth", "parent", "tag", "text", "_paths")

    def __init__(self) -> None:
        self.tag: list[str] = []
        self.parent: list[int] = []
        self.end: list[int] = []
        self.text: list[str] = []
        self.attrs: list[Mapping[str, str | None]] = []
        self.nth: list[int] = []
        self._paths: dict[int, str] = {-1: "html"}

    def __len__(self) -> int:
        return len(self.tag)

    def get(self, index: int, name: str) -> str:
        """Return an attribute of a node, or an empty text."""
        return self.attrs[index].get(name) or ""

    def children(self, index: int) -> list[int]:
        """Return the direct children of a node in order."""
        found = []
        child, stop, end = index + 1, self.end[index], self.end
        while child < stop:
            found.append(child)
            child = end[child]
        return found

    def path(self, index: int) -> str:
        """Return the CSS path from the root to an element (of a text: to its element)."""
        while not self.nth[index]:
            index = self.parent[index]
        chain = []
        while index not in self._paths:
            chain.append(index)
            index = self.parent[index]
        path = self._paths[index]
        for node in reversed(chain):
            step = "body" if self.tag[node] == "body" else f"{self.tag[node]}:nth-of-type({self.nth[node]})"
            path = self._paths[node] = f"{path} > {step}"
        return path

    def words(self, index: int) -> str:
        """Return all text under a node with white space folded."""
        start, end = index, self.end[index]
        return " ".join("".join(self.text[start:end]).split())


def parse(text: str) -> LexborHTMLParser:
    """Parse a page; nesting that would cost quadratic time is cut down first."""
    if text.count("<") > _MANY_TAGS:
        text = _shallow(text)
    return LexborHTMLParser(text)


def _shallow(text: str) -> str:
    """Drop start tags beyond a nesting that no readable page has, and their end tags."""
    opened: dict[str, int] = {}
    dropped: dict[str, int] = {}
    depth = formatting = last = 0
    kept: list[str] = []
    for match in _TAG.finditer(text):
        closing, name = match[1], match[2].lower()
        if name in _UNNESTED:
            continue
        is_formatting = name in _FORMATTING
        if closing:
            if dropped.get(name):
                dropped[name] -= 1
            elif opened.get(name):
                opened[name] -= 1
                depth -= 1
                formatting -= is_formatting
            continue
        if depth < _NESTED_MOST and (not is_formatting or formatting < _FORMATTING_MOST):
            opened[name] = opened.get(name, 0) + 1
            depth += 1
            formatting += is_formatting
            continue
        dropped[name] = dropped.get(name, 0) + 1
        kept.append(text[last : match.start()])
        close = text.find(">", match.end())
        last = len(text) if close < 0 else close + 1
    return "".join(kept) + text[last:] if kept else text


def flatten(root: LexborNode) -> Dom:
    """Walk the tree under `root` (its body) once into a `Dom`."""
    return _walk(root, None)


def indexes(root: LexborNode, nodes: Sequence[LexborNode]) -> list[int]:
    """Return the places that elements have in the flat tree of `root`, in document order."""
    places: dict[int, int] = {}
    _walk(root, places)
    return sorted(places[node.mem_id] for node in nodes if node.mem_id in places)


def _walk(root: LexborNode, places: dict[int, int] | None) -> Dom:
    dom = Dom()
    tags, parents, texts, attributes, nths = dom.tag, dom.parent, dom.text, dom.attrs, dom.nth
    skipped, none = _SKIPPED, _NO_ATTRIBUTES
    above = [-1]
    counters: list[dict[str, int]] = [{}]
    levels = [root]
    node: LexborNode | None = root
    while node is not None:
        name = node.tag or "-comment"
        child = None
        if name == "-text":
            content = node.text_content
            if content:
                tags.append(TEXT)
                parents.append(above[-1])
                texts.append(content)
                attributes.append(none)
                nths.append(0)
        else:
            counter = counters[-1]
            count = counter[name] = counter.get(name, 0) + 1
            if name not in skipped:
                attrs = node.attributes
                if name != "script" or "math" in (attrs.get("type") or ""):
                    child = node.first_child
                if name[:4] == "mjx-" and name != "mjx-container":
                    name = "mjx"
                if places is not None:
                    places[node.mem_id] = len(tags)
                depth = len(levels)
                if child is not None:
                    levels.append(node)
                    above.append(len(tags) if depth < MAX_DEPTH else above[-1])
                    counters.append({} if depth < MAX_DEPTH else counter)
                tags.append(name)
                parents.append(above[-2] if child is not None else above[-1])
                texts.append("")
                attributes.append(attrs or none)
                nths.append(count if depth <= MAX_DEPTH else 0)
        if child is not None:
            node = child
            continue
        following = None
        while node is not root and (following := node.next) is None and len(levels) > 1:
            node = levels.pop()
            above.pop()
            counters.pop()
        node = following
    dom.end = _ends(parents)
    return dom


def _ends(parents: list[int]) -> list[int]:
    end = list(range(1, len(parents) + 1))
    for index in range(len(parents) - 1, 0, -1):
        parent = parents[index]
        if end[index] > end[parent]:
            end[parent] = end[index]
    return end
