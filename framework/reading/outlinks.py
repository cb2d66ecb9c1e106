"""Every link of a page with the heading above it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading import dom as trees
from framework.reading.document import Document, DocumentKind, Link
from framework.reading.links import Resolver
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from framework.reading.dom import Dom

__all__ = ["outlinks"]

_HEADINGS = words("h1 h2 h3 h4 h5 h6")
_MARKDOWN_LINK = re.compile(r"(?<!!)\[((?:[^\[\]\\]|\\.)*)\]\(([^()\s]+)\)|<(https?://[^>\s]+)>")


def outlinks(document: Document) -> tuple[Link, ...]:
    """Return the links of a document in order; a link's text falls back to its title or image."""
    if document.kind is DocumentKind.HTML:
        return _of_html(document)
    resolve = Resolver(document.url)
    found = []
    for block in document.blocks:
        for match in _MARKDOWN_LINK.finditer(document.markdown, block.start, block.end):
            href = match[2] or match[3]
            target = resolve(href)
            if target:
                found.append(
                    Link(match[1] or href, href, target, block.section[-1] if block.section else "")
                )
    return tuple(found)


def _of_html(document: Document) -> tuple[Link, ...]:
    tree = trees.parse(document.raw)
    body = tree.body
    if body is None:
        return ()
    base = tree.css_first("base[href]")
    resolve = Resolver(
        document.url, (base.attributes.get("href") or "") if base is not None else ""
    )
    flat = trees.flatten(body)
    found = []
    section = ""
    for node, name in enumerate(flat.tag):
        if name in _HEADINGS:
            section = flat.words(node) or section
        elif name in ("a", "area") and "href" in flat.having(node):
            href = flat.get(node, "href").strip()
            target = resolve(href)
            if target.startswith(("http://", "https://", "mailto:", "tel:", "ftp://")):
                found.append(Link(_label(flat, node), href, target, section))
    return tuple(found)


def _label(flat: Dom, node: int) -> str:
    text = flat.words(node)
    if text:
        return text[:500]
    named = flat.get(node, "aria-label") or flat.get(node, "title")
    if named:
        return " ".join(named.split())[:500]
    images = (
        flat.get(child, "alt")
        for child in range(node + 1, flat.end[node])
        if flat.tag[child] == "img"
    )
    return " ".join(next((alt for alt in images if alt), "").split())[:500]
