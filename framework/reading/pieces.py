"""Blocks of Markdown before their place is known, and how texts are nested in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.reading.document import BlockKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.reading.dom import Dom

__all__ = ["Piece", "bear_link", "checkbox", "indent", "join", "prefixed"]

_LINKED_MOST = 300
_INVISIBLE = "\u00ad\u200b\u2060\ufeff"


class Piece:
    """One block before its place is known; `tight` joins it to the one before with one newline.

    `is_prose` and `shown` are what trimming found out about the text.
    """

    __slots__ = ("is_prose", "kind", "level", "node", "shown", "text", "tight")

    def __init__(
        self, kind: BlockKind, text: str, node: int, *, level: int = 0, tight: bool = False
    ) -> None:
        if not text.isascii():
            for mark in _INVISIBLE:
                if mark in text:
                    text = text.replace(mark, "")
        self.kind, self.text, self.node, self.level, self.tight = kind, text, node, level, tight
        self.is_prose: bool | None = None
        self.shown: str | None = None


def join(pieces: Sequence[Piece]) -> str:
    """Return the Markdown of several pieces."""
    parts: list[str] = []
    for piece in pieces:
        if parts:
            parts.append("\n" if piece.tight else "\n\n")
        parts.append(piece.text)
    return "".join(parts)


def bear_link(pieces: Sequence[Piece], target: str) -> None:
    """Link the piece that best names the blocks of a link: none that holds a link itself."""
    if any("](" in piece.text and piece.kind is not BlockKind.IMAGE for piece in pieces):
        return
    for kind in (BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.IMAGE):
        for piece in pieces:
            if piece.kind is kind and len(piece.text) < _LINKED_MOST and "\n" not in piece.text:
                marks = piece.text[: piece.level + 1] if kind is BlockKind.HEADING else ""
                piece.text = f"{marks}[{piece.text[len(marks) :]}]({target})"
                return


def indent(text: str, by: str) -> str:
    """Return a text with every line but the first moved in; empty lines stay empty."""
    if not by or "\n" not in text:
        return text
    return text.replace("\n", "\n" + by).replace("\n" + by + "\n", "\n\n")


def prefixed(text: str) -> str:
    """Return a text as a quote."""
    return "> " + text.replace("\n", "\n> ").replace("\n> \n", "\n>\n")


def checkbox(dom: Dom, node: int) -> str:
    """Return the box of a task that a list item starts with, or an empty text."""
    for child in range(node + 1, min(dom.end[node], node + 5)):
        if dom.tag[child] == "input" and dom.get(child, "type") == "checkbox":
            return "[x] " if "checked" in dom.having(child) else "[ ] "
        if dom.tag[child] in ("ul", "ol"):
            break
    return ""
