"""Cut documents into passages of some 150 to 200 tokens that know where they stand."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.evidence.sentences import sentences
from framework.reading.document import BlockKind
from framework.reading.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from framework.reading.document import Block, Document

__all__ = ["Chunk", "Source", "cut", "cut_all"]

#: Estimated tokens that a passage aims at, and that no passage of several parts exceeds.
AIM, MOST = 150, 200
_ALONE = frozenset({BlockKind.TABLE, BlockKind.CODE, BlockKind.MATH})
_SKIPPED = frozenset({BlockKind.HEADING, BlockKind.RULE})


@dataclass(frozen=True, slots=True)
class Source:
    """A page that was read: its address, title and document."""

    url: str
    title: str
    document: Document


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: `text` is `document.markdown[start:end]`, `plain` the same without marks.

    `dom_path` is the element that the passage begins in; `section` the headings above it, outermost
    first; `source` counts the documents that were cut together.
    """

    id: str
    source: int
    text: str
    plain: str
    start: int
    end: int
    section: tuple[str, ...]
    dom_path: str
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class _Piece:
    start: int
    end: int
    block: Block


def cut(document: Document, source: int = 0) -> tuple[Chunk, ...]:
    """Cut one document; short answers, list items and table rows are kept, nothing is dropped."""
    pieces = _joined(list(_pieces(document)), document.markdown)
    return tuple(_chunk(document, source, number, piece) for number, piece in enumerate(pieces))


def cut_all(sources: Sequence[Source]) -> tuple[Chunk, ...]:
    """Cut several documents into one list of passages, so that their scores can be compared."""
    return tuple(chunk for n, source in enumerate(sources) for chunk in cut(source.document, n))


def _chunk(document: Document, source: int, number: int, piece: _Piece) -> Chunk:
    inside = [
        b for b in document.blocks if piece.start <= b.start < piece.end and b.kind not in _SKIPPED
    ]
    whole = bool(inside) and piece.start <= piece.block.start and piece.end >= inside[-1].end
    text = document.markdown[piece.start : piece.end]
    plain = "\n".join(document.block_text(b) for b in inside) if whole else text
    return Chunk(
        id=f"s{source}c{number}",
        source=source,
        text=text,
        plain=plain,
        start=piece.start,
        end=piece.end,
        section=piece.block.section,
        dom_path=piece.block.dom_path,
        kind=piece.block.kind,
    )


def _pieces(document: Document) -> Iterator[_Piece]:
    for block in document.blocks:
        text = document.markdown[block.start : block.end]
        if block.kind in _SKIPPED or not text.strip():
            continue
        if estimate(text) <= MOST:
            yield _Piece(block.start, block.end, block)
        else:
            yield from _split(block, text)


def _split(block: Block, text: str) -> Iterator[_Piece]:
    """Cut a long block at its sentences, or at its lines where lines are its parts."""
    spans = _lines(text) if block.kind in _ALONE else _bounded(text, sentences(text))
    start = end = -1
    for first, last in spans:
        if start >= 0 and estimate(text[start:last]) > MOST:
            yield _Piece(block.start + start, block.start + end, block)
            start = -1
        start, end = (first if start < 0 else start), last
    if start >= 0:
        yield _Piece(block.start + start, block.start + end, block)


def _bounded(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Cut what no sentence mark ends for long (transcripts, lists in a line) between words."""
    for first, last in spans:
        if estimate(text[first:last]) <= MOST:
            yield first, last
            continue
        start = first
        for word in _WORD.finditer(text, first, last):
            if word.start() > start and estimate(text[start : word.end()]) > AIM:
                yield start, start + len(text[start : word.start()].rstrip())
                start = word.start()
        if text[start:last].strip():
            yield start, last


#: A word with the blanks after it, or a run of signs of a script that has no blanks.
_WORD = re.compile(r"\S{1,40}\s*")


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for line in text.splitlines(keepends=True):
        bare = len(line.rstrip("\n"))
        if line.strip():
            yield at, at + bare
        at += len(line)


def _joined(pieces: list[_Piece], markdown: str) -> list[_Piece]:
    """Put small neighbours of one section together until they have the size aimed at."""
    found: list[_Piece] = []
    for piece in pieces:
        last = found[-1] if found else None
        if last is not None and _belong(last, piece, markdown):
            found[-1] = _Piece(last.start, piece.end, last.block)
        else:
            found.append(piece)
    return found


def _belong(last: _Piece, piece: _Piece, markdown: str) -> bool:
    return (
        last.block.section == piece.block.section
        and not {last.block.kind, piece.block.kind} & _ALONE
        and estimate(markdown[last.start : last.end]) < AIM
        and estimate(markdown[last.start : piece.end]) <= MOST
        and not markdown[last.end : piece.start].strip()
    )
