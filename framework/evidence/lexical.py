"""Rank passages by words: one index over the passages of all sources, so that scores compare."""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import TYPE_CHECKING

from framework.evidence.wordlists import words
from framework.reading.bm25 import Bm25
from framework.reading.terms import grams, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.evidence.chunks import Chunk

__all__ = ["Lexical", "WordIndex"]

#: Words that ask rather than name; a query of nothing else keeps them.
_ASKING = words("asking")
_WORLD = 50.0


@dataclass(frozen=True, slots=True)
class Lexical:
    """How well a passage's words fit a query.

    `words` and `letters` are BM25 scores (whole words, and sequences of four letters that find
    inflected forms); `coverage` is the share, 0 to 1, of what the query asks for that the passage
    holds, rare words weighing more; `score` is the sum that ranks, scaled by the best possible.
    """

    score: float
    words: float
    letters: float
    coverage: float


class WordIndex:
    """The passages' words with their headings; ask it as often as wanted."""

    def __init__(self, chunks: Sequence[Chunk], titles: Sequence[str] = ()) -> None:
        texts = [
            f"{titles[c.source] if titles else ''} {' '.join(c.section)} {c.text}" for c in chunks
        ]
        self._words = Bm25(texts, terms)
        self._letters = Bm25(texts, grams)
        self._terms = [frozenset(map(_bare, terms(text))) for text in texts]

    def scores(self, query: str) -> list[Lexical]:
        """Return the fit of every passage, in the order given."""
        words, letters = self._words.scores(query), self._letters.scores(query)
        best = max((a + b for a, b in zip(words, letters, strict=True)), default=0.0) or 1.0
        weights = self.weights(query)
        total = sum(weights.values()) or 1.0
        return [
            Lexical(
                score=(a + b) / best,
                words=round(a, 3),
                letters=round(b, 3),
                coverage=sum(w for term, w in weights.items() if term in held) / total,
            )
            for a, b, held in zip(words, letters, self._terms, strict=True)
        ]

    def weights(self, query: str) -> dict[str, float]:
        """Return the terms that a query asks for, each with its rarity among the passages."""
        count = max(1, len(self._terms))
        found = {}
        for term in _asked(query):
            held = sum(term in terms_ for terms_ in self._terms) * max(1.0, _WORLD / count)
            size = max(_WORLD, count)
            found[term] = max(0.2, log(1 + (size - held + 0.5) / (held + 0.5)))
        return found

    def matched(self, query: str, place: int) -> tuple[str, ...]:
        """Return the words of a query that a passage holds, as the query writes them."""
        held = self._terms[place]
        words = dict.fromkeys(word.strip(".,;:!?\"'()[]") for word in query.split())
        return tuple(
            w for w in words if w and w.lower() not in _ASKING and held & set(map(_bare, terms(w)))
        )[:20]


def _asked(query: str) -> list[str]:
    kept = [word for word in query.split() if word.strip(".,;:!?\"'").lower() not in _ASKING]
    return list(dict.fromkeys(map(_bare, terms(" ".join(kept)) or terms(query))))


def _bare(term: str) -> str:
    """Take the plural's s off, which a cut word no longer has."""
    return term[:-1] if len(term) > 3 and term.endswith("s") and term.isascii() else term
