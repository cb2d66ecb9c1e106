"""Footnotes: which links are references, which elements hold the notes they lead to."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framework.reading.content import Content
    from framework.reading.dom import Dom

__all__ = ["footnotes"]


def footnotes(dom: Dom, found: Content) -> tuple[dict[int, str], dict[int, str]]:
    """Return the marks of references by node, and the names of notes by the node that holds them."""
    return {}, {}
