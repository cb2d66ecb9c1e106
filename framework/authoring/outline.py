"""A page as a light tree of elements, made for comparing what repeats in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from framework.spec.documents import Document
from framework.spec.texts import node_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from selectolax.lexbor import LexborNode

    from framework.types import HttpResponse

__all__ = ["Element", "Outline", "parse_outline", "stability"]

#: Elements that a page holds at most this many of are looked at; larger pages are cut.
MAX_ELEMENTS = 60_000
_UNREAD = frozenset({"script", "style", "template", "noscript", "svg", "head", "link", "meta"})
_HASHED = re.compile(r"[0-9]|[a-z][A-Z]|[A-Z]{2}")
_WORDY = re.compile(r"[aeiouy]", re.IGNORECASE)


class Element:
    """One element of a page: its names, its place in the tree, its text as a reader sees it."""

    __slots__ = (
        "_text",
        "attributes",
        "children",
        "classes",
        "depth",
        "last",
        "node",
        "order",
        "parent",
        "tag",
    )

    def __init__(self, node: LexborNode, parent: Element | None, order: int) -> None:
        attributes: Mapping[str, str | None] = node.attributes
        self.node = node
        self.tag = str(node.tag)
        self.attributes = {name: value or "" for name, value in attributes.items()}
        self.classes = tuple(self.attributes.get("class", "").split())
        self.parent = parent
        self.children: list[Element] = []
        self.order = order
        self.last = order
        self.depth: int = parent.depth + 1 if parent else 0
        self._text: str | None = None

    @property
    def text(self) -> str:
        """The text as an engine would read it."""
        if self._text is None:
            self._text = node_text(self.node) or ""
        return self._text

    def holds(self, other: Element) -> bool:
        """Whether the other element is this one or lies inside it."""
        return self.order <= other.order <= self.last

    def ancestors(self) -> Iterator[Element]:
        """Yield the elements around this one, the nearest first."""
        above = self.parent
        while above is not None:
            yield above
            above = above.parent

    def inside(self) -> Iterator[Element]:
        """Yield the elements inside this one in the page's order."""
        for child in self.children:
            yield child
            yield from child.inside()


@dataclass(frozen=True, slots=False)
class Outline:
    """All elements of a page in its order, and how selectors find them."""

    document: Document
    root: Element
    elements: tuple[Element, ...]
    _known: Mapping[int, Element] = field(repr=False)

    @cached_property
    def links(self) -> tuple[Element, ...]:
        """The elements that lead somewhere."""
        return tuple(e for e in self.elements if e.tag == "a" and "href" in e.attributes)

    def select(self, selector: str, scope: Element | None = None) -> list[Element]:
        """Return what a selector finds, in the page's order; elements left unread are not told."""
        found = (scope or self.root).node.css(selector)
        return [e for node in found if (e := self._known.get(node.mem_id)) is not None]

    def first(self, selector: str, scope: Element) -> Element | None:
        """Return the first match inside an element, the element itself included."""
        node = scope.node.css_first(selector)
        return None if node is None else self._known.get(node.mem_id)

    def of(self, node: object) -> Element | None:
        """Return the element of a parser's node."""
        return self._known.get(getattr(node, "mem_id", -1))


def parse_outline(response: HttpResponse) -> Outline | None:
    """Return the outline of an answer's page, or None where it cannot be parsed."""
    document = Document(response)
    if document.root is None:
        return None
    elements: list[Element] = []
    root = _grow(document.root, None, elements)
    known = {element.node.mem_id: element for element in elements}
    return Outline(document, root, tuple(elements), known)


def _grow(node: LexborNode, parent: Element | None, into: list[Element]) -> Element:
    element = Element(node, parent, len(into))
    into.append(element)
    deep = element.depth > 300
    for child in () if deep else node.iter():
        if child.tag not in _UNREAD and len(into) < MAX_ELEMENTS:
            element.children.append(_grow(child, element, into))
    element.last = len(into) - 1
    return element


def stability(name: str) -> float:
    """Return how likely a class or id is to outlive the next release of a page: 0 to 1.

    Words last; names that a build tool made up (digits, mixed case, no vowels) do not.
    """
    parts = [part for part in re.split(r"[-_]+", name) if part]
    if not parts:
        return 0.0
    made_up = sum(bool(_HASHED.search(part)) or not _WORDY.search(part) for part in parts)
    return 1.0 - made_up / (len(parts) + 0.5)
