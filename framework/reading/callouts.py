"""Callouts and admonitions: which elements are one, of which kind, under which title."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading.hints import CALLOUT_KINDS
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from framework.reading.dom import Dom

__all__ = ["kind", "title"]

_BOX = re.compile(
    r"(?:^|[\s_-])(?:callout|admonition|markdown-alert|alert|hint|notice|theorem-box|"
    r"custom-block|theme-admonition|information-macro)(?:[\s_-]|$)",
    re.I,
)
_KINDS = words(
    """
    note info tip warning danger caution important hint abstract summary question faq example
    bug success check failure error attention seealso todo quote help tldr primary secondary
    """
)
_BOXES = words("div aside section")
_BARE_MOST = 1500
_ALIASES = {"primary": "info", "secondary": "note", "seealso": "note", "help": "question"}
_WORD = re.compile(r"[a-z]+")
_TITLE = re.compile(r"title|heading|header|summary", re.I)


def kind(dom: Dom, node: int) -> str:
    """Return the kind of a callout in lower case, or an empty text for anything else."""
    attrs = dom.having(node)
    if not attrs:
        return ""
    named = attrs.get("data-callout")
    if named:
        return named.strip().lower().split("|")[0][:24]
    label = attrs.get("class") or ""
    if not label or not _BOX.search(label):
        return _bare(dom, node, label)
    words = _WORD.findall(label.lower())
    found = next((word for word in words if word in _KINDS and word not in ("hint", "alert")), "")
    found = found or _of_box(words)
    if "title" in words or "icon" in words or "content" in words:
        return ""
    return _ALIASES.get(found, found)


def _bare(dom: Dom, node: int, label: str) -> str:
    """Return the kind that is the whole of a class name on a box of some lines:
    `<aside class="warning">`."""
    found = CALLOUT_KINDS.intersection(label.lower().split())
    if not found or dom.tag[node] not in _BOXES:
        return ""
    return min(found) if sum(map(len, dom.text[node : dom.end[node]])) < _BARE_MOST else ""


def _of_box(words: list[str]) -> str:
    """Return the kind of a callout that its box names, where no kind is named."""
    if "admonition" in words or "callout" in words:
        return "note"
    if "information" in words:
        return "info"
    return "hint" if "hint" in words and len(words) < 3 else ""


def title(dom: Dom, node: int) -> int:
    """Return the element that holds a callout's title, or -1."""
    for child in range(node + 1, min(dom.end[node], node + 12)):
        label = dom.get(child, "class")
        if label and _TITLE.search(label) and dom.end[child] < dom.end[node]:
            return child
    return -1
