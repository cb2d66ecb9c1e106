"""A page as its makers might rebuild it: the same words under other names, by a seed.

For tests of healing. Nothing is added, lost or reworded, so what a careful reader finds in a
deformed page is what stood in the original.
"""

from __future__ import annotations

import random
import string
from collections import Counter
from enum import StrEnum
from typing import TYPE_CHECKING

from lxml import etree, html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["CHANGES", "Change", "deform"]


class Change(StrEnum):
    """One way in which a page is rebuilt."""

    RENAME = "renamed classes"
    WRAP = "inserted wrappers"
    MOVE = "moved parts"
    RETAG = "changed tags"
    UNNAME = "removed ids"


CHANGES = tuple(Change)

_TABLE = frozenset(["table", "thead", "tbody", "tfoot", "tr", "td", "th"])
_LISTED = frozenset(["li", "dt", "dd", "option", "body", "html", "head", *_TABLE])
_RETAGGED: Mapping[str, tuple[str, ...]] = {
    "h2": ("h3", "h4"),
    "h3": ("h4", "h2"),
    "p": ("div", "span"),
    "div": ("section",),
    "section": ("div",),
    "article": ("div", "section"),
    "span": ("em", "b"),
}
_REPEATS = 3


def deform(body: bytes, seed: int, changes: Iterable[Change] = CHANGES) -> bytes:
    """Return an HTML page rebuilt in these ways; the same seed gives the same page.

    Each change is made alike wherever an element of the same class stands, as a new release of a
    template would make it.
    """
    chance = random.Random(seed)  # noqa: S311 - repeatable, not secret
    parser = html.HTMLParser(encoding="utf-8")
    root = html.document_fromstring(body, parser=parser)
    for change in changes:
        _DEFORMERS[change](root, chance)
    return etree.tostring(root, method="html", encoding="utf-8", doctype="<!DOCTYPE html>")


def _classed(root: etree._Element) -> list[etree._Element]:
    return [element for element in root.iter(etree.Element) if element.get("class")]


def _repeated(root: etree._Element) -> list[str]:
    """Return the classes that stand at several elements, sorted for repeatability."""
    counts = Counter(name for e in _classed(root) for name in set((e.get("class") or "").split()))
    return sorted(name for name, count in counts.items() if count >= _REPEATS)


def _of_class(root: etree._Element, name: str) -> list[etree._Element]:
    return [e for e in _classed(root) if name in (e.get("class") or "").split()]


def _word(chance: random.Random) -> str:
    return "".join(chance.choice(string.ascii_lowercase) for _ in range(7))


def _rename(root: etree._Element, chance: random.Random) -> None:
    names = sorted({name for e in _classed(root) for name in (e.get("class") or "").split()})
    renamed = {name: f"x-{_word(chance)}" for name in names if chance.random() < 0.7}
    for element in _classed(root):
        own = (element.get("class") or "").split()
        element.set("class", " ".join(renamed.get(name, name) for name in own))


def _wrap(root: etree._Element, chance: random.Random) -> None:
    names = _repeated(root)
    for name in chance.sample(names, min(4, len(names))):
        outside = chance.random() < 0.5
        for element in _of_class(root, name):
            if element.tag in _TABLE:
                continue
            if outside and element.tag not in _LISTED:
                _wrap_element(element, f"w-{name}"[:20])
            elif len(element) and element.tag not in {"a", "span", "p"}:
                _wrap_children(element, f"w-{name}"[:20])


def _wrap_element(element: etree._Element, name: str) -> None:
    parent = element.getparent()
    if parent is None or parent.tag in {"ul", "ol", "tr", "dl", "p", "span", "a"}:
        return
    box = etree.Element("div", {"class": name})
    box.tail, element.tail = element.tail, None
    parent.replace(element, box)
    box.append(element)


def _wrap_children(element: etree._Element, name: str) -> None:
    box = etree.Element("div", {"class": name})
    box.text, element.text = element.text, None
    for child in list(element):
        box.append(child)
    element.append(box)


def _move(root: etree._Element, chance: random.Random) -> None:
    names = _repeated(root)
    for name in chance.sample(names, min(4, len(names))):
        for element in _of_class(root, name):
            before = element.getprevious()
            parent = element.getparent()
            if before is None or parent is None or {element.tag, before.tag} & _LISTED:
                continue
            if (before.tail or "").strip() or (element.tail or "").strip():
                continue
            if name in (before.get("class") or "").split():
                continue
            parent.insert(parent.index(before), element)


def _retag(root: etree._Element, chance: random.Random) -> None:
    names = _repeated(root)
    for name in chance.sample(names, min(6, len(names))):
        for element in _of_class(root, name):
            options = _RETAGGED.get(str(element.tag))
            if options and not _holds_blocks(element):
                element.tag = options[len(name) % len(options)]
    for tag in ("h2", "h3"):
        if chance.random() < 0.3:
            for element in list(root.iter(tag)):
                element.tag = _RETAGGED[tag][0]


def _holds_blocks(element: etree._Element) -> bool:
    """Whether renaming the element could make a parser rebuild what is in it."""
    return element.tag in {"p", "span"} and any(c.tag in {"div", "p", "ul"} for c in element)


def _unname(root: etree._Element, chance: random.Random) -> None:
    for element in root.iter(etree.Element):
        if element.get("id") and element.tag not in {"form", "script"} and chance.random() < 0.5:
            del element.attrib["id"]


_DEFORMERS: Mapping[Change, Callable[[etree._Element, random.Random], None]] = {
    Change.RENAME: _rename,
    Change.WRAP: _wrap,
    Change.MOVE: _move,
    Change.RETAG: _retag,
    Change.UNNAME: _unname,
}
