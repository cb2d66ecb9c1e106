"""What a page says to machines: JSON-LD with the usual damage repaired, microdata, RDFa Lite,
OpenGraph."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from framework.reading.document import Document, DocumentKind, Json, StructuredData

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["LD_SCRIPTS", "find", "json_ld", "microdata", "structured_data", "texts"]

LD_SCRIPTS = 'script[type*="ld+json"]'
"""Selects the scripts that hold JSON-LD."""

_ITEMS_MOST = 200
_DEPTH_MOST = 12
_COMMENT = re.compile(
    r"^\s*(?:<!\[CDATA\[|//\s*<!\[CDATA\[|<!--|/\*.*?\*/)|(?:\]\]>|//\s*\]\]>|-->)\s*$", re.S
)
_TRAILING = re.compile(r",(\s*[}\]])")
_CONTROL = re.compile(r"[\x00-\x1f]+")


def structured_data(document: Document) -> StructuredData:
    """Return the structured data of a page that was read; empty for anything but HTML."""
    from framework.reading.dom import parse
    from framework.reading.headtags import head_tags

    if document.kind is not DocumentKind.HTML:
        return StructuredData()
    tree = parse(document.raw)
    properties = {
        name: value
        for name, value in head_tags(tree).meta.items()
        if name.startswith(("og:", "article:", "product:"))
    }
    return StructuredData(
        json_ld=tuple(json_ld(tree.css(LD_SCRIPTS))),
        microdata=tuple(microdata(tree)),
        opengraph=properties,
    )


def json_ld(scripts: Iterable[LexborNode]) -> list[dict[str, Json]]:
    """Return the JSON-LD items of a page's scripts, graphs and lists opened."""
    found: list[dict[str, Json]] = []
    for node in scripts:
        if "ld+json" in (node.attributes.get("type") or ""):
            parsed = _loads(node.text())
            found.extend(islice(_items(parsed, 0), _ITEMS_MOST - len(found)))
    return found


def _loads(source: str) -> Json:
    for prepare in (str, _repair):
        try:
            parsed: Json = json.loads(prepare(source), strict=False)
        except (ValueError, RecursionError):
            continue
        return parsed
    return None


def _repair(source: str) -> str:
    """Take off comment marks, control characters and trailing commas."""
    text = _COMMENT.sub("", _COMMENT.sub("", source)).strip().rstrip(";")
    text = _TRAILING.sub(r"\1", _CONTROL.sub(" ", text))
    return text if text.startswith(("{", "[")) else text[text.find("{") :] if "{" in text else text


def _items(value: Json, depth: int) -> Iterator[dict[str, Json]]:
    if depth > _DEPTH_MOST:
        return
    if isinstance(value, list):
        for entry in value:
            yield from _items(entry, depth + 1)
    elif isinstance(value, dict):
        if "@graph" in value and isinstance(value["@graph"], list):
            yield from _items(value["@graph"], depth + 1)
            if not value.get("@type"):
                return
        yield value


def texts(value: Json, key: str = "name") -> list[str]:
    """Return the texts in a JSON-LD value, of objects those under a key."""
    if isinstance(value, str):
        return [value.strip()] if value.strip() else []
    if isinstance(value, list):
        return [text for entry in value[:20] for text in texts(entry, key)]
    if isinstance(value, dict):
        return (
            texts(value.get(key) or value.get("@value"), key)
            if key in value or "@value" in value
            else []
        )
    return []


def find(items: list[dict[str, Json]], key: str, inner: str = "name") -> str:
    """Return the first text that any item gives for a key, or an empty text."""
    for item in items:
        found = texts(item.get(key), inner)
        if found:
            return found[0]
    return ""


@dataclass(frozen=True, slots=True)
class _Marks:
    """The attributes by which a markup language names items and their properties."""

    scope: str
    kind: str
    name: str


_MICRODATA = _Marks("itemscope", "itemtype", "itemprop")
_RDFA = _Marks("typeof", "typeof", "property")


def microdata(tree: LexborHTMLParser) -> list[dict[str, Json]]:
    """Return the outermost items that a page marks with microdata or RDFa Lite."""
    found: list[dict[str, Json]] = []
    for marks in (_MICRODATA, _RDFA):
        for node in tree.css(f"[{marks.scope}]"):
            if len(found) >= _ITEMS_MOST:
                break
            if marks.name not in node.attributes:
                found.append(_item(node, marks, 0))
    return found


def _item(node: LexborNode, marks: _Marks, depth: int) -> dict[str, Json]:
    kinds = (node.attributes.get(marks.kind) or "").split()
    item: dict[str, Json] = {"@type": _bare(kinds[0]) if kinds else ""}
    if depth > _DEPTH_MOST:
        return item
    stack = [child for child in node.iter() if child.tag]
    stack.reverse()
    while stack:
        child = stack.pop()
        attrs = child.attributes
        name = attrs.get(marks.name)
        nested = marks.scope in attrs
        if name:
            value: Json = _item(child, marks, depth + 1) if nested else _value(child)
            for key in name.split():
                _put(item, _bare(key), value)
        if not nested:
            inner = [grand for grand in child.iter() if grand.tag]
            stack.extend(reversed(inner))
    return item


def _bare(name: str) -> str:
    """Return a name without the vocabulary that it is from: `schema:Offer` is `Offer`."""
    return name.rpartition("/")[2].rpartition("#")[2].rpartition(":")[2]


def _put(item: dict[str, Json], key: str, value: Json) -> None:
    known = item.get(key)
    if known is None:
        item[key] = value
    elif isinstance(known, list):
        if len(known) < _ITEMS_MOST:
            known.append(value)
    else:
        item[key] = [known, value]


def _value(node: LexborNode) -> str:
    attrs = node.attributes
    for key in ("content", "datetime", "href", "src", "value"):
        if attrs.get(key):
            return (attrs[key] or "").strip()
    return " ".join(node.text().split())[:5000]
