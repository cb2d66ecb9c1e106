"""Footnotes: which links are references, which elements hold the notes they lead to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framework.reading.content import Content
    from framework.reading.dom import Dom

__all__ = ["footnotes"]

_LABEL = re.compile(
    r"[\[(]?\s*(?:\d{1,4}|[*†‡§¶]{1,3}|[a-z]|[ivx]{1,5}|note \d+)\s*[\])]?[:.]?", re.I
)
_NOTE_NAME = re.compile(
    r"(?:^|[\W_])(?:foot-?notes?|end-?notes?|side-?notes?|fn|ftn|cite[_-]note|note|noteref|"
    r"sdfootnote|easy-footnote|bib(?:\.bib)?\d+|fnref|_ftn|en)(?:[\W_\d]|$)|^fn\d|^_?ftn\d|"
    r"footnote",
    re.I,
)
_BACK_LABEL = re.compile(
    r"[\s↩⤴↑^⏎←⇧︎\ufe0e\ufe0f]*(?:return|back|jump up|back to (?:text|content|top)|a|b|"
    r"c)?[\s↩⤴↑^⏎←\ufe0e\ufe0f]*",
    re.I,
)
_NOTE_CLASS = re.compile(r"foot-?note|side-?note|end-?note")
_NUMBERED_ID = re.compile(r"(?:fn|footnote|note|ftn|endnote|cite_note)[^\d]{0,3}(\d{1,3})", re.I)
_BLOCKS = words("li p dd td div aside section blockquote")
_CARRIERS = words("span sup a button")
_TARGETS = words("data-definition data-footnote-id data-fn data-note")
_NEAR = 6
_NOTE_MOST = 4000


def footnotes(dom: Dom, found: Content) -> tuple[dict[int, str], dict[int, str]]:
    """Return the marks of references by node, and the names of notes by the node that holds them.

    Links inside notes that lead back to the text are given an empty mark.
    """
    carriers = _inside_root(dom, found)
    pairs = _linked(dom, found, carriers) + _attached(dom, found, carriers)
    if not pairs:
        pairs = _numbered(dom, found)
    marks: dict[int, str] = {}
    names: dict[int, str] = {}
    inside = _inside({holder for _, holder in pairs}, dom)
    for node, holder in sorted(pairs):
        if node not in inside:
            name = names.setdefault(holder, str(len(names) + 1))
            marks[node] = f"[^{name}]"
    for holder in names:
        _mark_back_links(dom, holder, marks)
        if dom.tag[holder] == "span":
            marks[holder] = ""
    return marks, names


def _inside(holders: set[int], dom: Dom) -> set[int]:
    """Return the places of all links within notes: they are no references themselves."""
    found: set[int] = set()
    past = 0
    for holder in sorted(holders):
        if holder >= past:
            found.update(i for i in range(holder, dom.end[holder]) if i in dom.attrs)
            past = dom.end[holder]
    return found


def _inside_root(dom: Dom, found: Content) -> list[int]:
    """Return the elements of the content that may carry the mark of a note."""
    root, stop = found.root, dom.end[found.root]
    return [
        node
        for node, name in enumerate(dom.tag[root + 1 : stop], root + 1)
        if name in _CARRIERS and node in dom.attrs and not found.drop[node]
    ]


def _linked(dom: Dom, found: Content, carriers: Iterable[int]) -> list[tuple[int, int]]:
    """Return links with short labels, raised or named as notes, with the later block that they
    lead to."""
    references = _references(dom, carriers)
    if not references:
        return []
    wanted = {fragment for _, fragment in references}
    places = _places(dom, wanted) or {}
    if len(places) < len(wanted):
        places = {**_answering(dom, wanted), **places}
    pairs = []
    for node, fragment in references:
        holder = _holder(dom, places.get(fragment, -1), found)
        if holder > node:
            pairs.append((node, holder))
    return pairs


def _references(dom: Dom, carriers: Iterable[int]) -> list[tuple[int, str]]:
    references = []
    tag = dom.tag
    for node in carriers:
        if tag[node] != "a":
            continue
        attrs = dom.attrs[node]
        _, hash_sign, fragment = (attrs.get("href") or "").rpartition("#")
        if not hash_sign or not fragment or not _LABEL.fullmatch(dom.words(node)):
            continue
        keys = ("class", "id", "role", "epub:type")
        named = " ".join((*(attrs.get(key) or "" for key in keys), fragment))
        if (
            tag[dom.parent[node]] == "sup"
            or "sup" in tag[node : dom.end[node]]
            or _NOTE_NAME.search(named)
        ):
            references.append((node, fragment))
    return references


def _answering(dom: Dom, wanted: set[str]) -> dict[str, int]:
    """Return the links that lead back to `…ref…` of a wanted fragment: notes without ids, as
    Word writes them."""
    places: dict[str, int] = {}
    for node, attrs in dom.attrs.items():
        href = attrs.get("href") or ""
        if dom.tag[node] == "a" and "ref" in href:
            fragment = href.rpartition("#")[2].replace("ref", "", 1)
            if fragment in wanted:
                places.setdefault(fragment, node)
    return places


def _attached(dom: Dom, found: Content, carriers: Iterable[int]) -> list[tuple[int, int]]:
    """Return elements that name their note in an attribute, carry it inside or stand before it."""
    pairs = []
    named: list[tuple[int, str]] = []
    for node in carriers:
        attrs = dom.attrs[node]
        if not _TARGETS.isdisjoint(attrs):
            target = next(value or "" for key, value in attrs.items() if key in _TARGETS)
            named.append((node, target))
        elif (label := attrs.get("class")) and _NOTE_CLASS.search(label.lower()):
            pairs.extend(_carried(dom, found, node))
    if named:
        places = _places(dom, {target for _, target in named})
        pairs.extend(
            (node, places[target]) for node, target in named if places.get(target, -1) > node
        )
    return pairs


def _carried(dom: Dom, found: Content, node: int) -> list[tuple[int, int]]:
    """Return a note that follows its label in the line, or is hidden inside it."""
    length = found.measures.length
    before = _label_before(dom, node)
    if before >= 0 and length[node] > 5 and dom.tag[node] == "span":
        return [(before, node)]
    for inner in range(node + 1, dom.end[node]):
        if dom.tag[inner] in ("span", "div") and _NOTE_CLASS.search(
            dom.get(inner, "class").lower()
        ):
            label = "".join(dom.text[node:inner]).strip() or "-"
            return [(node, inner)] if length[inner] > 8 and _LABEL.fullmatch(label) else []
    return []


def _label_before(dom: Dom, node: int) -> int:
    """Return the label that stands right before a note in the line, or -1."""
    up = dom.parent[node]
    at = node - 1
    for _ in range(_NEAR):
        if at <= up:
            return -1
        while dom.parent[at] != up and dom.parent[at] > up:
            at = dom.parent[at]
        name = dom.tag[at]
        if name in ("label", "sup", "a"):
            return at if _LABEL.fullmatch(dom.words(at)) else -1
        if name != "input" and (name or dom.text[at].strip()):
            return -1
        at -= 1
    return -1


def _numbered(dom: Dom, found: Content) -> list[tuple[int, int]]:
    """Return raised numbers without a link, with the note of that number: by id, or in a list
    of notes."""
    raised = [
        (node, int(label))
        for node in range(found.root, dom.end[found.root])
        if dom.tag[node] == "sup"
        and not found.drop[node]
        and (label := dom.words(node)).isascii()
        and label.isdigit()
        and len(label) < 4
    ]
    if not raised:
        return []
    holders = _by_number(dom)
    return [(node, holders[number]) for node, number in raised if holders.get(number, -1) > node]


def _by_number(dom: Dom) -> dict[int, int]:
    holders: dict[int, int] = {}
    for node, attrs in dom.attrs.items():
        match = _NUMBERED_ID.fullmatch(attrs.get("id") or "")
        if match and dom.tag[node] in _BLOCKS:
            holders.setdefault(int(match[1]), node)
    for node, name in enumerate(dom.tag):
        up = dom.parent[node]
        if name == "ol" and (
            dom.tag[up] == "aside" or _NOTE_CLASS.search(dom.get(up, "class").lower())
        ):
            start = dom.get(node, "start")
            number = int(start) if start.isdigit() and len(start) < 4 else 1
            for item in dom.children(node):
                if dom.tag[item] == "li":
                    holders.setdefault(number, item)
                    number += 1
    return holders


def _places(dom: Dom, wanted: set[str]) -> dict[str, int]:
    """Return the first element that carries each id or name."""
    places: dict[str, int] = {}
    for node, attrs in dom.attrs.items():
        for key in ("id", "name"):
            value = attrs.get(key)
            if value and value in wanted:
                places.setdefault(value, node)
    return places


def _holder(dom: Dom, node: int, found: Content) -> int:
    """Return the block that holds a note, from the element that its reference leads to, or -1."""
    if node < 0:
        return -1
    for _ in range(5):
        if dom.tag[node] in _BLOCKS and found.measures.length[node] > 6:
            break
        node = dom.parent[node]
        if node < 0:
            return -1
    if dom.tag[node] == "td" and dom.tag[dom.parent[node]] == "tr":
        node = dom.parent[node]
    inner = dom.tag[node : dom.end[node]]
    if (
        node <= found.root < dom.end[node]
        or found.measures.length[node] > _NOTE_MOST
        or any(name in inner for name in ("h1", "h2", "h3"))
    ):
        return -1
    return node if found.measures.length[node] > 0 else -1


def _mark_back_links(dom: Dom, holder: int, marks: dict[int, str]) -> None:
    for node in range(holder + 1, dom.end[holder]):
        if dom.tag[node] == "a" and node not in marks and "#" in dom.get(node, "href"):
            label = dom.words(node)
            if _BACK_LABEL.fullmatch(label) or _LABEL.fullmatch(label):
                marks[node] = ""
