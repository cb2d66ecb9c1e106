"""Okapi BM25 over a page's passages, in plain Python: k1 1.2, b 0.75 (Robertson and Zaragoza
2009)."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["Bm25"]

_K1 = 1.2
_B = 0.75


class Bm25:
    """An index of texts; `scores` ranks them all for a query, 0 where no term is shared."""

    def __init__(self, texts: Sequence[str], analyse: Callable[[str], list[str]]) -> None:
        self._analyse = analyse
        self._postings: dict[str, list[tuple[int, float]]] = defaultdict(list)
        counts = [Counter(analyse(text)) for text in texts]
        lengths = [sum(count.values()) for count in counts]
        mean = sum(lengths) / max(1, len(lengths)) or 1.0
        for place, count in enumerate(counts):
            norm = _K1 * (1 - _B + _B * lengths[place] / mean)
            for term, times in count.items():
                self._postings[term].append((place, times * (_K1 + 1) / (times + norm)))
        self._size = len(counts)

    def scores(self, query: str) -> list[float]:
        """Return a score for every text in order."""
        found = [0.0] * self._size
        for term in dict.fromkeys(self._analyse(query)):
            postings = self._postings.get(term)
            if postings:
                rarity = math.log(1 + (self._size - len(postings) + 0.5) / (len(postings) + 0.5))
                for place, weight in postings:
                    found[place] += rarity * weight
        return found

    def shared(self, query: str, place: int) -> tuple[str, ...]:
        """Return the query's terms that a text holds."""
        return tuple(
            term
            for term in dict.fromkeys(self._analyse(query))
            if any(at == place for at, _ in self._postings.get(term, ()))
        )
