"""Who an English sentence speaks to, and what it asks: together they make an order (asks.toml).

A phrase list knows the wordings it was shown. Here the two halves of an order are told apart, so
that any way of speaking to a machine goes with any wish: a vocative, a condition ("if you are…"),
a duty of all machines that read this; and on the other side setting orders aside, showing what is
inside, sending, asking for secrets, acting, steering the answer, keeping silent.

`among` says, as `sieve.Sieve` does, which expressions are searched for at all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

from framework.evidence.phrases import Phrase, compiled, read_table
from framework.evidence.sieve import ALL, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Ask", "Wish", "addressed", "addresses", "asked", "wishes"]


@dataclass(frozen=True, slots=True)
class Ask:
    """What one pattern found: the kind of warning, the belief it gives, and where it stands."""

    kind: str
    weight: float
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Wish:
    """One thing that is asked for: worth `alone` where nobody is addressed, else `addressed`."""

    kind: str
    alone: float
    addressed: float
    source: str


@cache
def addresses() -> tuple[Phrase, ...]:
    """Return all ways of speaking to a machine, read when they are first needed."""
    table, expand = _table()
    return tuple(
        Phrase(row.get("kind", "addressed_to_model"), row["weight"], expand(row["pattern"]))
        for row in table["address"]
    )


@cache
def wishes() -> tuple[Wish, ...]:
    """Return all that is asked for, read when it is first needed."""
    table, expand = _table()
    return tuple(
        Wish(row["kind"], row["alone"], row["addressed"], expand(row["pattern"]))
        for row in table["ask"]
    )


@cache
def _table() -> tuple[dict[str, Any], Callable[[str], str]]:
    return read_table("asks.toml")


_MIND = re.compile(
    r"\b(?:ais?|a\.i\.|llms?|gpts?|chatgpt|claude|gemini|copilots?|deepseek|perplexity)\b|"
    r"intelligence|model|neural|network|system|bot|assistant|agent|machine|crawler|scraper|"
    r"summari[sz]er|reader|reviewer|algorithm|automat|program|computer|parser|"
    r"user|operator|human|admin|developer|end of|thought|<|previous|above|preceding"
)


def addressed(folded: str, among: int = ALL) -> Ask | None:
    """Return how the sentence (folded, blanks single) speaks to a machine, the surest sign."""
    if not _MIND.search(folded):
        return None
    best: Ask | None = None
    for address in chosen(addresses(), among):
        if best is not None and address.weight <= best.weight:
            continue
        if found := address.pattern.search(folded):
            best = Ask(address.kind, address.weight, found.start(), found.end())
    return best


def asked(folded: str, among: int = ALL, *, spoken_to: bool) -> Iterator[Ask]:
    """Yield what the sentence asks for, worth more where a machine is spoken to."""
    for wish in chosen(wishes(), among):
        weight = wish.addressed if spoken_to else wish.alone
        if weight and (found := compiled(wish.source).search(folded)):
            yield Ask(wish.kind, weight, found.start(), found.end())
