"""RSS, Atom and RDF feeds as a list of entries; any other XML as its source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

from framework.reading.code import fence
from framework.reading.document import Metadata
from framework.reading.inline import escape
from framework.reading.links import Resolver

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["write", "write_xml"]

_DECLARATION = re.compile(r"^\s*<\?xml[^>]*\?>")
_TAG = re.compile(r"<[^<>]*>")
_ENTRIES_MOST = 1000
_SUMMARY_MOST = 500


def write(raw: str, url: str) -> tuple[str, Metadata]:
    """Return a feed as a Markdown list, newest as the feed orders them, and its own facts."""
    root = _parse(raw)
    if root is None:
        return write_xml(raw, url)
    resolve = Resolver(url)
    channel = next((node for node in root.iter() if _name(node) == "channel"), root)
    title = _child(channel, "title")
    lines = []
    for count, entry in enumerate(_entries(root)):
        if count >= _ENTRIES_MOST:
            break
        lines.append(_entry(entry, resolve))
    head = f"# {escape(title)}\n\n" if title else ""
    return head + "\n".join(lines), Metadata(
        title=title or None, description=_child(channel, "description", "subtitle") or None
    )


def write_xml(raw: str, url: str) -> tuple[str, Metadata]:
    """Return XML in a fence."""
    text = raw.strip()
    return (fence(text, "xml") if text else ""), Metadata()


def _parse(raw: str) -> etree._Element | None:
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, recover=True, huge_tree=False, remove_comments=True
    )
    try:
        return etree.fromstring(_DECLARATION.sub("", raw).encode("utf-8"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None


def _name(node: etree._Element) -> str:
    return str(node.tag).rpartition("}")[2].lower()


def _entries(root: etree._Element) -> Iterator[etree._Element]:
    return (node for node in root.iter() if _name(node) in ("item", "entry"))


def _child(node: etree._Element, *names: str) -> str:
    for child in node:
        if _name(child) in names:
            text = " ".join(_TAG.sub(" ", "".join(str(part) for part in child.itertext())).split())
            if text:
                return text
    return ""


def _link(entry: etree._Element) -> str:
    for child in entry:
        if _name(child) == "link":
            if child.get("href") and child.get("rel", "alternate") == "alternate":
                return child.get("href") or ""
            if child.text and child.text.strip():
                return child.text.strip()
    return _child(entry, "guid", "id")


def _entry(entry: etree._Element, resolve: Resolver) -> str:
    title = escape(_child(entry, "title") or "untitled")
    target = resolve(_link(entry))
    date = _child(entry, "pubdate", "published", "updated", "date")
    summary = _child(entry, "description", "summary", "content")
    shown = f"- [{title}]({target})" if target.startswith("http") else f"- {title}"
    shown += f" ({date})" if date else ""
    if summary:
        cut = (
            summary
            if len(summary) <= _SUMMARY_MOST
            else summary[:_SUMMARY_MOST].rpartition(" ")[0] + " …"
        )
        shown += f"\n  {escape(cut)}"
    return shown
