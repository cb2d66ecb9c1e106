"""Choose passages for a token budget that really holds, without saying the same thing twice."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from framework.evidence.sentences import sentences
from framework.reading import tokens
from framework.reading.document import BlockKind
from framework.reading.terms import terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from framework.evidence.chunks import Chunk

__all__ = ["Packed", "alike", "pack"]

#: What stands between passages when they are handed on, and what that costs.
SEPARATOR = "\n\n"
_SEPARATOR_TOKENS = 1
#: Share of common word triples from which two passages count as the same.
_SAME = 0.7
_LEAST = 8


@dataclass(frozen=True, slots=True)
class Packed:
    """A chosen passage (perhaps cut to some of its sentences), its score and exact tokens."""

    chunk: Chunk
    score: float
    tokens: int


def _shingles(text: str) -> frozenset[tuple[str, ...]]:
    words = terms(text)
    return frozenset(zip(words, words[1:], words[2:], strict=False)) or frozenset({tuple(words)})


def alike(one: str, other: str) -> float:
    """Return the share of word triples of the shorter text that the longer has too."""
    a, b = sorted((_shingles(one), _shingles(other)), key=len)
    return len(a & b) / len(a) if a else 0.0


def pack(ranked: Iterable[tuple[Chunk, float]], query: str, max_tokens: int) -> tuple[Packed, ...]:
    """Take passages, best first, until the budget is used; near-duplicates are passed over.

    A passage that does not fit whole is cut to its sentences that touch the query. The texts joined
    by empty lines never have more than `max_tokens` (o200k) tokens.
    """
    chosen: list[Packed] = []
    seen: list[frozenset[tuple[str, ...]]] = []
    left = max_tokens
    for chunk, score in ranked:
        if left < _LEAST:
            break
        shingles = _shingles(chunk.plain)
        if any(len(shingles & old) >= _SAME * min(len(shingles), len(old)) for old in seen):
            continue
        fitted = _fit(chunk, score, query, left)
        if fitted is not None:
            chosen.append(fitted)
            seen.append(shingles)
            left -= fitted.tokens + _SEPARATOR_TOKENS
    return _within(chosen, max_tokens)


def _fit(chunk: Chunk, score: float, query: str, left: int) -> Packed | None:
    size = tokens.count(chunk.text)
    if size <= left:
        return Packed(chunk, score, size)
    if chunk.kind in (BlockKind.CODE, BlockKind.MATH):
        return None
    return _cut(chunk, score, query, left)


def _cut(chunk: Chunk, score: float, query: str, left: int) -> Packed | None:
    """Keep the best sentence and its neighbours as long as they fit."""
    spans = sentences(chunk.text)
    wanted = set(terms(query))
    hits = [len(wanted & set(terms(chunk.text[a:b]))) for a, b in spans]
    if not hits or not max(hits):
        return None
    first = last = hits.index(max(hits))
    if tokens.count(chunk.text[slice(*spans[first])]) > left:
        return None
    while True:
        grown = _grown(chunk.text, spans, first, last, left)
        if grown == (first, last):
            break
        first, last = grown
    start, end = spans[first][0], spans[last][1]
    text = chunk.text[start:end]
    part = replace(chunk, text=text, plain=text, start=chunk.start + start, end=chunk.start + end)
    return Packed(part, score, tokens.count(text))


def _grown(
    text: str, spans: Sequence[tuple[int, int]], first: int, last: int, left: int
) -> tuple[int, int]:
    for a, b in ((first, last + 1), (first - 1, last)):
        if a >= 0 and b < len(spans) and tokens.count(text[spans[a][0] : spans[b][1]]) <= left:
            return a, b
    return first, last


def _within(chosen: list[Packed], most: int) -> tuple[Packed, ...]:
    while chosen and tokens.count(SEPARATOR.join(p.chunk.text for p in chosen)) > most:
        chosen.pop()
    return tuple(chosen)
