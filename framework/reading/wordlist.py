"""Closed lists of words, written as running text so that they stay readable."""

from __future__ import annotations

__all__ = ["pairs", "words"]


def words(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def pairs(text: str) -> frozenset[tuple[str, str]]:
    """Return the pairs of a text in which each is written `left+right`."""
    return frozenset(
        (left, right) for left, _, right in (pair.partition("+") for pair in text.split())
    )
