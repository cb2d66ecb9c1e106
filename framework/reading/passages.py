"""Query-focused reading: the passages of a page that answer a question, within a hard budget."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError
from framework.reading import tokens
from framework.reading.bm25 import Bm25
from framework.reading.document import BlockKind
from framework.reading.terms import grams, terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.reading.document import Block, Document

__all__ = ["Passage", "Passages", "select"]

_SMALL = 240
_LARGE = 1200
_SEPARATOR = "\n\n"
_SEPARATOR_TOKENS = 1
_SENTENCE = re.compile(r"(?<=[.!?…])[\"'”’»)\]]*\s+|(?<=[。！？｡])|\n+")
_WHOLE = frozenset({BlockKind.CODE, BlockKind.TABLE, BlockKind.MATH})
_LEAST = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A part of a document: `text` is Markdown, `start` and `end` are offsets into the document's.

    `tokens` is exact (o200k); `score` only compares passages of one query.
    """

    text: str
    start: int
    end: int
    section: tuple[str, ...]
    dom_path: str
    score: float
    tokens: int


@dataclass(frozen=True, slots=True)
class _Chunk:
    start: int
    end: int
    block: Block


class Passages:
    """A document cut into passages and indexed; ask it as often as wanted."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._chunks = tuple(_chunks(document))
        texts = [
            f"{' '.join(chunk.block.section)} {document.markdown[chunk.start : chunk.end]}"
            for chunk in self._chunks
        ]
        self._indexes = (Bm25(texts, terms), Bm25(texts, grams))
        self._tokens: dict[int, int] = {}

    def ranked(self, query: str) -> list[tuple[float, int]]:
        """Return the passages that share anything with the query, best first, as (score, place)."""
        totals = [
            sum(pair)
            for pair in zip(*(index.scores(query) for index in self._indexes), strict=True)
        ]
        return sorted(
            ((score, place) for place, score in enumerate(totals) if score > 0),
            key=lambda pair: (-pair[0], pair[1]),
        )

    def select(
        self, query: str, *, max_tokens: int | None = None, max_chunks: int | None = None
    ) -> tuple[Passage, ...]:
        """Return the best passages in page order; together, joined by empty lines, never over
        the budget.

        A passage that doesn't fit is cut to its sentences around the best hits. Nothing that
        matches gives an empty tuple. Raises `InvalidInputError` for an empty query or a limit
        below 1.
        """
        _check(query, max_tokens, max_chunks)
        chosen: list[Passage] = []
        left = max_tokens if max_tokens is not None else 1 << 60
        for score, place in self.ranked(query):
            if left < _LEAST or (max_chunks is not None and len(chosen) >= max_chunks):
                break
            passage = self._fit(query, place, score, left)
            if passage is not None:
                chosen.append(passage)
                left -= passage.tokens + _SEPARATOR_TOKENS
        return _within(sorted(chosen, key=lambda passage: passage.start), max_tokens)

    def _fit(self, query: str, place: int, score: float, left: int) -> Passage | None:
        chunk = self._chunks[place]
        if place not in self._tokens:
            self._tokens[place] = tokens.count(self._document.markdown[chunk.start : chunk.end])
        if self._tokens[place] <= left:
            return self._passage(chunk.start, chunk.end, chunk, score, self._tokens[place])
        if chunk.block.kind in _WHOLE:
            return self._head(chunk, score, left)
        return self._cut(query, chunk, score, left)

    def _passage(self, start: int, end: int, chunk: _Chunk, score: float, size: int) -> Passage:
        text = self._document.markdown[start:end]
        return Passage(
            text=text,
            start=start,
            end=end,
            section=chunk.block.section,
            dom_path=chunk.block.dom_path,
            score=score,
            tokens=size,
        )

    def _head(self, chunk: _Chunk, score: float, left: int) -> Passage | None:
        """Return the first whole lines of a table that fit; code and formulas are kept whole or
        not at all."""
        if chunk.block.kind is not BlockKind.TABLE:
            return None
        text = self._document.markdown[chunk.start : chunk.end]
        end = text.rfind("\n", 0, tokens.prefix(text, left))
        size = tokens.count(text[:end]) if end > 0 else 0
        return (
            self._passage(chunk.start, chunk.start + end, chunk, score, size)
            if size and text.count("\n", 0, end) > 1
            else None
        )

    def _cut(self, query: str, chunk: _Chunk, score: float, left: int) -> Passage | None:
        """Return the run of sentences around the best hit that fits."""
        text = self._document.markdown[chunk.start : chunk.end]
        spans = _sentences(text)
        sentences = [text[start:end] for start, end in spans]
        hits = [
            sum(pair)
            for pair in zip(
                Bm25(sentences, terms).scores(query),
                Bm25(sentences, grams).scores(query),
                strict=True,
            )
        ]
        best = max(range(len(hits)), key=hits.__getitem__)
        if hits[best] <= 0:
            return None
        sizes = [tokens.count(sentence) + 1 for sentence in sentences]
        first, last = _grow(sizes, hits, best, left)
        if first < 0:
            return self._slice(query, chunk, score, left, spans[best])
        start, end = spans[first][0], spans[last][1]
        size = tokens.count(text[start:end])
        return (
            self._passage(chunk.start + start, chunk.start + end, chunk, score, size)
            if size <= left
            else None
        )

    def _slice(
        self, query: str, chunk: _Chunk, score: float, left: int, span: tuple[int, int]
    ) -> Passage | None:
        """Return the part of one too long sentence that starts a little before the first hit."""
        text = self._document.markdown[chunk.start + span[0] : chunk.start + span[1]]
        wanted = set(grams(query))
        hit = next(
            (
                match.start()
                for match in re.finditer(r"\S+", text)
                if wanted.intersection(grams(match[0]))
            ),
            0,
        )
        begin = max(0, hit - 40)
        begin = text.rfind(" ", 0, begin) + 1 if begin else 0
        length = tokens.prefix(text[begin:], left)
        end = begin + length
        if end < len(text):
            space = text.rfind(" ", begin, end)
            end = space if space > begin else end
        size = tokens.count(text[begin:end])
        offset = chunk.start + span[0]
        return self._passage(offset + begin, offset + end, chunk, score, size) if size else None


def select(
    document: Document, query: str, *, max_tokens: int | None = None, max_chunks: int | None = None
) -> tuple[Passage, ...]:
    """Return a document's best passages for a query in page order; see `Passages.select`."""
    return Passages(document).select(query, max_tokens=max_tokens, max_chunks=max_chunks)


def _check(query: str, max_tokens: int | None, max_chunks: int | None) -> None:
    if not query.strip():
        raise InvalidInputError("query is empty", hint="name what the passages should be about")
    for name, value in (("max_tokens", max_tokens), ("max_chunks", max_chunks)):
        if value is not None and value < 1:
            raise InvalidInputError(f"{name} is {value}", hint="it must be at least 1")


def _within(passages: Sequence[Passage], most: int | None) -> tuple[Passage, ...]:
    """Drop the weakest passages while the joined text is over the budget."""
    kept = list(passages)
    while (
        kept
        and most is not None
        and tokens.count(_SEPARATOR.join(passage.text for passage in kept)) > most
    ):
        kept.remove(min(kept, key=lambda passage: passage.score))
    return tuple(kept)


def _chunks(document: Document) -> list[_Chunk]:
    """Cut a document into passages: a block each, small neighbours of one section together."""
    found: list[_Chunk] = []
    for block in document.blocks:
        if block.kind in (BlockKind.HEADING, BlockKind.RULE):
            continue
        last = found[-1] if found else None
        size = block.end - block.start
        if (
            last is not None
            and last.block.section == block.section
            and (size < _SMALL or last.end - last.start < _SMALL)
            and block.end - last.start < _LARGE
            and not {block.kind, last.block.kind} & _WHOLE
            and not document.markdown[last.end : block.start].strip()
        ):
            found[-1] = _Chunk(last.start, block.end, last.block)
        else:
            found.append(_Chunk(block.start, block.end, block))
    return found


def _sentences(text: str) -> list[tuple[int, int]]:
    spans, start = [], 0
    for match in _SENTENCE.finditer(text):
        if match.start() > start:
            spans.append((start, match.start()))
        start = match.end()
    if start < len(text):
        spans.append((start, len(text)))
    return spans or [(0, len(text))]


def _grow(sizes: Sequence[int], hits: Sequence[float], best: int, left: int) -> tuple[int, int]:
    """Return the run around the best sentence, grown towards the better neighbour while it fits."""
    used = sizes[best]
    if used > left:
        return -1, -1
    first = last = best
    while True:
        before = hits[first - 1] if first > 0 and used + sizes[first - 1] <= left else -1.0
        after = hits[last + 1] if last + 1 < len(sizes) and used + sizes[last + 1] <= left else -1.0
        if before < 0 and after < 0:
            return first, last
        if after >= before:
            last += 1
            used += sizes[last]
        else:
            first -= 1
            used += sizes[first]
