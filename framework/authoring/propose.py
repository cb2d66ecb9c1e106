"""From an answer to drafts of how it could be read, whatever engine it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lxml import etree

from framework.authoring.html_rows import html_drafts
from framework.authoring.json_rows import json_drafts
from framework.authoring.outline import parse_outline
from framework.authoring.xml_rows import xml_drafts
from framework.spec.documents import Document

if TYPE_CHECKING:
    from framework.authoring.draft import Draft
    from framework.types import HttpResponse

__all__ = ["propose"]


def propose(response: HttpResponse, limit: int = 3) -> list[Draft]:
    """Return up to `limit` drafts for an answer, the best first; none where nothing repeats.

    HTML needs links that repeat with their surroundings; JSON a list of objects; XML elements
    that repeat. Never raises, whatever the bytes are.
    """
    document = Document(response)
    if document.looks_json:
        return json_drafts(document.json, response.url, limit)
    root = document.xml if response.body.lstrip()[:5] == b"<?xml" else None
    if root is not None and etree.QName(root).localname != "html":
        return xml_drafts(root, limit)
    return _from_html(response, limit)


def _from_html(response: HttpResponse, limit: int) -> list[Draft]:
    outline = parse_outline(response)
    return html_drafts(outline, limit) if outline is not None else []
