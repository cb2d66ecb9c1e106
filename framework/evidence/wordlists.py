"""Closed lists of words that several modules compare text with (words.toml)."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["sequence", "table", "words"]


@cache
def _lists() -> Mapping[str, str | Mapping[str, str]]:
    return tomllib.loads((files("framework.evidence") / "data/words.toml").read_text("utf-8"))


def sequence(name: str) -> tuple[str, ...]:
    """Return the list of that name in its order."""
    found = _lists()[name]
    return tuple(found.split()) if isinstance(found, str) else ()


def words(name: str) -> frozenset[str]:
    """Return the list of that name as a set."""
    return frozenset(sequence(name))


def table(name: str) -> Mapping[str, str]:
    """Return the table of that name: key to words."""
    found = _lists()[name]
    return {} if isinstance(found, str) else found
