"""Markdown marks taken off again: the words of a block as they stood on the page."""

from __future__ import annotations

import re

__all__ = ["unmark"]

_IMAGE = re.compile(r"!\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)")
_LINK = re.compile(r"\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\([^()\s]*\)")
_FENCE = re.compile(r"^(?:[ >]|[-*+:] |\d{1,9}\. )*(?:```+|~~~+)[^\n`]*\n?", re.M)
_LINE = re.compile(
    r"^(?:[ \t]*>)*[ \t]*(?:#{1,6} |[-*+] (?:\[[ x]\] )?|\d+\\?\. |: |\[\^[^\]]+\]: "
    r")?(?:\[![a-z]+\] ?)?",
    re.M,
)
_RULE = re.compile(r"^\|[ :|-]+\|$\n?|^(?:---|\$\$)$\n?", re.M)
_MARK = re.compile(r"\\([!-/:-@\[-`{-~])|\*\*|~~|==|\*|`+|<br>|</?su[bp]>|\[\^[^\]]+\]")
#: What any mark but those of a plain heading has.
_MARKED = re.compile(r"[*`\\_~=<>|\]\n$]|^[^#\w]|^\d|  ")
_SPACE = re.compile(r" {2,}")


def _mark(match: re.Match[str]) -> str:
    return match[1] or (" " if match[0] == "<br>" else "")


def unmark(source: str) -> str:
    """Return the plain text of a block of our own Markdown."""
    if not _MARKED.search(source):
        return source.lstrip("#").strip()
    text = _LINK.sub(r"\1", _IMAGE.sub("", source))
    text = _LINE.sub("", _FENCE.sub("", _RULE.sub("", text)))
    if text.startswith("|"):
        text = "\n".join(line.strip("| ").replace(" | ", " ") for line in text.split("\n"))
    return _SPACE.sub(" ", _MARK.sub(_mark, text)).strip()
