"""Who an English sentence speaks to, and what it asks: together they make an order (asks.toml).

A phrase list knows the wordings it was shown. Here the two halves of an order are told apart, so
that any way of speaking to a machine goes with any wish: a vocative, a condition ("if you are…"),
a duty of all machines that read this; and on the other side setting orders aside, showing what is
inside, sending, asking for secrets, acting, steering the answer, keeping silent.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from framework.evidence.phrases import read_table

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Ask", "addressed", "asked"]


@dataclass(frozen=True, slots=True)
class Ask:
    """What one pattern found: the kind of warning, the belief it gives, and where it stands."""

    kind: str
    weight: float
    start: int
    end: int


_Address = tuple[str, float, re.Pattern[str]]
_Wish = tuple[str, float, float, re.Pattern[str]]


@cache
def _patterns() -> tuple[tuple[_Address, ...], tuple[_Wish, ...]]:
    """Compile the table when it is first needed: a server that only searches never needs it."""
    table, expand = read_table("asks.toml")
    addresses = tuple(
        (row.get("kind", "addressed_to_model"), row["weight"], expand(row["pattern"]))
        for row in table["address"]
    )
    wishes = tuple(
        (row["kind"], row["alone"], row["addressed"], expand(row["pattern"]))
        for row in table["ask"]
    )
    return addresses, wishes


_MIND = re.compile(
    r"\b(?:ais?|a\.i\.|llms?|gpts?|chatgpt|claude|gemini|copilots?|deepseek|perplexity)\b|"
    r"intelligence|model|neural|network|system|bot|assistant|agent|machine|crawler|scraper|"
    r"summari[sz]er|reader|reviewer|algorithm|automat|program|computer|parser|"
    r"user|operator|human|admin|developer|end of|thought|<|previous|above|preceding"
)


def addressed(folded: str) -> Ask | None:
    """Return how the sentence (folded, blanks single) speaks to a machine, the surest sign."""
    if not _MIND.search(folded):
        return None
    best: Ask | None = None
    for kind, weight, pattern in _patterns()[0]:
        if (best is None or weight > best.weight) and (found := pattern.search(folded)):
            best = Ask(kind, weight, found.start(), found.end())
    return best


def asked(folded: str, *, spoken_to: bool) -> Iterator[Ask]:
    """Yield what the sentence asks for, worth more where a machine is spoken to."""
    for kind, alone, towards, pattern in _patterns()[1]:
        weight = towards if spoken_to else alone
        if weight and (found := pattern.search(folded)):
            yield Ask(kind, weight, found.start(), found.end())
