"""The tags of a page's head, collected in one pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from selectolax.lexbor import LexborHTMLParser, LexborNode

__all__ = ["HeadTags", "head_tags"]

_DUBLIN_CORE = ("dc:", "dcterms:")


class HeadTags:
    """The meta and link tags of a page, by lower-case name; the first of a name wins."""

    __slots__ = ("base", "lang", "links", "meta", "window")

    def __init__(self) -> None:
        self.meta: dict[str, str] = {}
        self.links: dict[str, str] = {}
        self.window = ""
        self.base = ""
        self.lang = ""

    def first(self, names: Iterable[str]) -> str:
        """Return the value of the first of these names that has one."""
        for name in names:
            value = self.meta.get(name)
            if value:
                return value
        return ""


def head_tags(tree: LexborHTMLParser) -> HeadTags:
    """Collect meta, link and title tags in one pass each."""
    found = HeadTags()
    head = tree.head
    if head is not None:
        for node in head.css("meta, link, title, base"):
            _TAKE[node.tag or ""](found, node)
    if not found.window:
        title = tree.css_first("title")
        found.window = " ".join(title.text().split()) if title is not None else ""
    root = tree.root
    if root is not None:
        found.lang = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "").strip()
    return found


def _take_meta(found: HeadTags, node: LexborNode) -> None:
    attrs = node.attributes
    value = (attrs.get("content") or "").strip()
    if not value:
        return
    for key in ("property", "name", "itemprop", "http-equiv"):
        name = attrs.get(key)
        if name:
            for part in name.lower().split():
                if part.startswith(_DUBLIN_CORE):
                    part = part.replace(":", ".")
                found.meta.setdefault(part, value)


def _take_link(found: HeadTags, node: LexborNode) -> None:
    attrs = node.attributes
    address = (attrs.get("href") or "").strip()
    if address:
        for part in (attrs.get("rel") or "").lower().split():
            found.links.setdefault(part, address)


def _take_title(found: HeadTags, node: LexborNode) -> None:
    found.window = found.window or " ".join(node.text().split())


def _take_base(found: HeadTags, node: LexborNode) -> None:
    found.base = found.base or (node.attributes.get("href") or "").strip()


_TAKE = {
    "base": _take_base,
    "meta": _take_meta,
    "link": _take_link,
    "title": _take_title,
}
