"""The text of elements as a page shows it: words of different blocks apart, scripts left out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lxml import etree

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from selectolax.lexbor import LexborNode

__all__ = [
    "collapse",
    "element_html",
    "element_own_text",
    "element_text",
    "node_own_text",
    "node_text",
    "node_text_without",
]

#: Characters of one element's text that are kept; the caps of fields are below it.
MAX_TEXT = 100_000

_HIDDEN = frozenset({"script", "style", "template", "noscript"})
_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "br",
        "dd",
        "details",
        "dialog",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hr",
        "li",
        "main",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "table",
        "tbody",
        "td",
        "th",
        "tr",
        "ul",
    ]
)
#: What needs the slow walk, looked for in an element's markup behind its own start.
_STRUCTURE = re.compile(
    "<(?:br|p|div|li|td|th|script|style|template|noscript|h[1-6]|section|article|dd|dt|ul|ol|"
    "table|tr|blockquote|pre|header|footer|figure|figcaption|nav|main|form|hr|aside|address|"
    "details|dialog|dl|fieldset|tbody)[\\s>/]"
)
_MARKED = _HIDDEN | _BLOCKS


#: An element inside another, in its markup.
_ELEMENT = re.compile("<[a-zA-Z]")


def collapse(text: str) -> str:
    """Return text with every run of white space, no-break spaces included, as one space."""
    return " ".join(text.split())


def node_text(node: LexborNode) -> str:
    """Return the collapsed text of a lexbor node."""
    child = node.first_child
    if child is None:
        return ""
    if (child.next is None and child.tag == "-text") or not _STRUCTURE.search(node.html or "", 1):
        return " ".join(node.text().split())
    return collapse("".join(_walk(node, ())))


def node_own_text(node: LexborNode) -> str:
    """Return the collapsed text that stands directly in a lexbor node."""
    return " ".join(node.text(deep=False).split())


def node_text_without(node: LexborNode, remove: str) -> str:
    """Return the collapsed text of a lexbor node without the elements that a selector matches."""
    html = node.html or ""
    gone = node.css(remove) if _ELEMENT.search(html, 1) else []
    if not _STRUCTURE.search(html, 1):
        ahead = 0
        if gone:
            child = node.first_child
            alone = len(gone) == 1 and child is not None and child.mem_id == gone[0].mem_id
            ahead = len(gone[0].text()) if alone else -1
        if ahead >= 0:
            return " ".join(node.text()[ahead:].split())
    return collapse("".join(_walk(node, {found.mem_id for found in gone})))


def _walk(node: LexborNode, gone: Collection[int]) -> Iterator[str]:
    """Yield texts in order, with a space at the edges of blocks; without recursion."""
    end, size = node.mem_id, 0
    if node.tag in _HIDDEN:
        yield node.text()
        return
    current = node.first_child
    while current is not None and size < MAX_TEXT:
        tag = current.tag
        inside: LexborNode | None = None
        if tag == "-text":
            text = current.text_content or ""
            size += len(text)
            yield text
        elif tag not in _HIDDEN and current.mem_id not in gone:
            if tag in _BLOCKS:
                yield " "
            inside = current.first_child
        following = inside or current.next
        while following is None:
            current = current.parent
            if current is None or current.mem_id == end:
                return
            if current.tag in _BLOCKS:
                yield " "
            following = current.next
        current = following


def element_text(element: etree._Element, gone: Collection[object] = ()) -> str:
    """Return the collapsed text of an lxml element."""
    if not gone and not any(child.tag in _MARKED for child in element.iterdescendants()):
        return collapse("".join(_direct(element)))
    return collapse("".join(_pieces(element, gone)))


def _direct(element: etree._Element) -> Iterator[str]:
    for text in element.itertext():
        yield str(text)


def _pieces(element: etree._Element, gone: Collection[object]) -> Iterator[str]:
    hidden = 0
    for event, part in etree.iterwalk(element, events=("start", "end")):
        skipped = part is not element and (part.tag in _HIDDEN or part in gone)
        start = event == "start"
        hidden += (1 if start else -1) if skipped else 0
        if hidden == 0 and part.tag in _BLOCKS:
            yield " "
        if hidden == 0 and start:
            yield part.text or ""
        elif hidden == 0 and part is not element:
            yield part.tail or ""


def element_own_text(element: etree._Element) -> str:
    """Return the collapsed text that stands directly in an lxml element."""
    parts = [element.text or "", *(child.tail or "" for child in element)]
    return collapse("".join(parts))


def element_html(element: etree._Element) -> str:
    """Return the markup of an lxml element, without what follows it."""
    markup: str = etree.tostring(element, encoding="unicode", method="html", with_tail=False)
    return markup
