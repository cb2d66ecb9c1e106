"""XML's rows and their fields: feeds and API answers, by what repeats below one element."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from lxml import etree

from framework.authoring.draft import Draft

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from framework.authoring.draft import Pick

__all__ = ["xml_drafts"]

_LETTERS = "abcdefghijklmnopqrstuvwxyz"
_NAMES: Mapping[str, tuple[str, ...]] = {
    "title": ("title", "headline", "name"),
    "url": ("link", "url", "guid", "id"),
    "snippet": ("summary", "description", "abstract", "content", "snippet"),
    "published": ("published", "pubDate", "date", "updated", "created"),
}
_FILTERS: Mapping[str, list[object]] = {
    "snippet": ["html_text"],
    "published": [{"date": {"formats": ["iso", "rfc2822"]}}],
}


def xml_drafts(root: etree._Element, limit: int = 3) -> list[Draft]:
    """Return drafts for the elements that repeat in an XML answer, the best first."""
    groups: dict[tuple[int, str], list[etree._Element]] = defaultdict(list)
    for element in root.iter(etree.Element):
        parent = element.getparent()
        if parent is not None and len(element):
            groups[id(parent), str(element.tag)].append(element)
    prefixes = _prefixes(root)
    drafts = [d for rows in groups.values() if (d := _draft(rows, prefixes)) is not None]
    return sorted(drafts, key=lambda draft: -draft.score)[:limit]


def _prefixes(root: etree._Element) -> dict[str, str]:
    """Return a prefix for each namespace, the document's own where it names one."""
    known: dict[str, str] = {}
    for element in root.iter(etree.Element):
        for prefix, uri in element.nsmap.items():
            if uri not in known and uri:
                free = next(c for c in _LETTERS if c not in known.values())
                taken = prefix in known.values()
                known[uri] = prefix if prefix and prefix.isalnum() and not taken else free
    return known


def _draft(rows: Sequence[etree._Element], prefixes: Mapping[str, str]) -> Draft | None:
    fields: dict[str, Pick | list[Pick]] = {}
    for field, names in _NAMES.items():
        path = next((p for name in names if (p := _path(rows, name, field, prefixes))), None)
        if path is not None:
            fields[field] = _pick(field, path)
    if "title" not in fields or "url" not in fields:
        return None
    each = "//" + _name(str(rows[0].tag), prefixes)
    used = {uri: prefix for uri, prefix in prefixes.items() if f"{prefix}:" in f"{each}{fields}"}
    return Draft(
        format="xml",
        each=each,
        fields=fields,
        namespaces={prefix: uri for uri, prefix in used.items()},
        rows=len(rows),
        score=len(fields) * min(len(rows), 10) ** 0.5,
    )


def _path(
    rows: Sequence[etree._Element], name: str, field: str, prefixes: Mapping[str, str]
) -> str | None:
    shown = rows[:20]
    for child in dict.fromkeys(
        str(c.tag) for row in shown for c in row.iterchildren(etree.Element)
    ):
        if etree.QName(child).localname != name:
            continue
        own = [row.find(child) for row in shown]
        path = _name(child, prefixes)
        if field == "url":
            return _link_path([c for c in own if c is not None], path)
        if sum(
            c is not None and bool("".join(map(str, c.itertext())).strip()) for c in own
        ) * 2 >= len(own):
            return path
    return None


def _link_path(links: Sequence[etree._Element], path: str) -> str | None:
    if any((link.text or "").strip().startswith("http") for link in links):
        return path
    if any(link.get("href") for link in links):
        alternate = any(link.get("rel") == "alternate" for link in links)
        return f"{path}[@rel='alternate']/@href" if alternate else f"{path}/@href"
    return None


def _name(tag: str, prefixes: Mapping[str, str]) -> str:
    name = etree.QName(tag)
    return f"{prefixes[name.namespace]}:{name.localname}" if name.namespace else name.localname


def _pick(field: str, path: str) -> Pick:
    if field in ("title", "url"):
        return path
    return {"xpath": path, "do": list(_FILTERS[field]), "optional": True}
