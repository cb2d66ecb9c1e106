"""From an answer to drafts of how it could be read, whatever engine it comes from."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from lxml import etree

from framework.authoring.html_rows import html_drafts
from framework.authoring.json_rows import json_drafts
from framework.authoring.outline import parse_outline
from framework.authoring.xml_rows import xml_drafts
from framework.spec.documents import Document, parse_json

if TYPE_CHECKING:
    from framework.authoring.draft import Draft
    from framework.authoring.outline import Outline
    from framework.types import HttpResponse

__all__ = ["propose"]

#: Rows and score from which a page's own rows are believed without a look into its scripts.
_FEW = 3
_LIKELY = 5.0
_SCRIPTS = "script[type='application/json']"
_NAME = re.compile(r"[A-Za-z_][\w-]*", re.ASCII)


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
    if outline is None:
        return []
    drafts = html_drafts(outline, limit)
    if drafts and drafts[0].rows >= _FEW and drafts[0].score >= _LIKELY:
        return drafts
    return [*_hidden(outline, limit), *drafts][:limit]


def _hidden(outline: Outline, limit: int) -> list[Draft]:
    """Return drafts for JSON that a page holds for its scripts, the likeliest first."""
    found = []
    for node in outline.document.root.css(_SCRIPTS) if outline.document.root else ():
        name = node.attributes.get("id") or ""
        data = parse_json(node.text() or "")
        if data is None:
            continue
        selector = f"script#{name}" if _NAME.fullmatch(name) else _SCRIPTS
        drafts = json_drafts(data, outline.document.response.url, limit)
        found += [replace(draft, embedded=selector) for draft in drafts if draft.rows >= _FEW]
    return sorted(found, key=lambda draft: -draft.score)[:limit]
