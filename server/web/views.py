"""What the templates show: plain values made of answers, with every address judged here."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

from framework.reading import BlockKind
from framework.reading.unmark import unmark
from framework.types import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from framework.evidence.context import Context, Evidence
    from framework.reading import Document
    from framework.types import EngineReport, Result, SearchAnswer

__all__ = [
    "Paragraph",
    "Passage",
    "Piece",
    "Report",
    "ResultView",
    "Vote",
    "address",
    "marked",
    "paragraphs",
    "passages",
    "reports",
    "results",
    "unheard",
]

#: How a verdict looks: fine, nothing, wait, trouble.
_TONES = {
    Verdict.OK: "fine",
    Verdict.EMPTY: "plain",
    Verdict.DISABLED: "plain",
    Verdict.RESTING: "wait",
    Verdict.TIMEOUT: "wait",
    Verdict.RATE_LIMITED: "wait",
}
#: Verdicts of engines that had their say.
_HEARD = frozenset({Verdict.OK, Verdict.EMPTY})
_MOST_BLOCKS = 400
_WORD = re.compile(r"\w+")
_CELL_END = re.compile(r"(?<!\\)\|")
_ELEMENTS = {
    BlockKind.HEADING: "heading",
    BlockKind.ITEM: "item",
    BlockKind.QUOTE: "quote",
    BlockKind.CODE: "code",
    BlockKind.TABLE: "table",
    BlockKind.MATH: "code",
}
_SILENT = frozenset({BlockKind.IMAGE, BlockKind.RULE})


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text; `hit` where it is a word of the query."""

    text: str
    hit: bool = False


@dataclass(frozen=True, slots=True)
class Vote:
    """One engine's say; `repeats` where an earlier vote stands for the same index lineage."""

    engine: str
    rank: int
    index: str
    repeats: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultView:
    """One merged result; `href` is empty where its address may not be linked."""

    rank: int
    title: str
    href: str
    shown: str
    snippet: tuple[Piece, ...]
    votes: tuple[Vote, ...]
    indexes: int
    score: str
    published: str
    reader: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What happened to one engine."""

    id: str
    verdict: str
    tone: str
    rows: int
    elapsed_ms: int
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A passage of a page with the words of the query marked, and where it stands."""

    pieces: tuple[Piece, ...]
    place: str
    href: str
    score: str


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A block of a page: `element` says as what it is shown; a heading's level, a table's rows."""

    element: str
    text: str
    level: int = 0
    rows: tuple[tuple[str, ...], ...] = ()


def address(url: str) -> str:
    """Return the address where it is an http(s) one, which alone may be linked; else nothing."""
    try:
        parts = urlsplit(url)
        fine = parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc
    except ValueError:
        return ""
    return url if fine else ""


def results(answer: SearchAnswer) -> tuple[ResultView, ...]:
    """Return the merged results as they are shown."""
    return tuple(_result(row, answer.query.text) for row in answer.results)


def _result(row: Result, query: str) -> ResultView:
    href = address(row.url)
    published = row.fields.get("published")
    return ResultView(
        rank=row.rank,
        title=row.title,
        href=href,
        shown=_shown(row.url),
        snippet=marked(row.snippet, _WORD.findall(query)),
        votes=_votes(row),
        indexes=len(row.indexes),
        score=f"{row.score:.2f}",
        published="" if published is None else str(published)[:10],
        reader="/page?" + urlencode({"url": row.url, "q": query}) if href else "",
    )


def _votes(row: Result) -> tuple[Vote, ...]:
    before = [{vote.index for vote in row.votes[:place]} for place in range(len(row.votes))]
    return tuple(
        Vote(vote.engine, vote.rank, vote.index, vote.index in seen)
        for vote, seen in zip(row.votes, before, strict=True)
    )


def _shown(url: str) -> str:
    """Write an address for people: the host, then the parts of its path."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url[:120]
    if not parts.hostname:
        return url[:120]
    path = [part for part in parts.path.split("/") if part]
    return " › ".join([parts.hostname.removeprefix("www."), *path])[:120]


def marked(text: str, words: Iterable[str]) -> tuple[Piece, ...]:
    """Split a text so that the given words, case ignored, can be marked; nothing is lost."""
    wanted = {word.casefold() for word in words if len(word) > 1}
    pieces: list[Piece] = []
    place = 0
    for found in _WORD.finditer(text):
        if found[0].casefold() in wanted:
            pieces += [Piece(text[place : found.start()]), Piece(found[0], hit=True)]
            place = found.end()
    return tuple(piece for piece in (*pieces, Piece(text[place:])) if piece.text)


def reports(found: Sequence[EngineReport]) -> tuple[Report, ...]:
    """Return what happened to each engine, in the order given."""
    return tuple(
        Report(
            id=report.id,
            verdict=report.verdict.value.replace("_", " "),
            tone=_TONES.get(report.verdict, "trouble"),
            rows=report.rows,
            elapsed_ms=report.elapsed_ms,
            detail=_detail(report),
        )
        for report in found
    )


def _detail(report: EngineReport) -> str:
    """Say why an engine has no rows, and when it can be asked again; fine ones need no words."""
    again = "" if report.retry_after is None else f"again in {report.retry_after:.0f} s"
    why = "" if report.verdict in _HEARD else report.detail
    return "; ".join(filter(None, (why, again)))


def unheard(found: Sequence[EngineReport]) -> bool:
    """Say whether an engine was asked that did not answer."""
    return any(report.verdict not in _HEARD for report in found)


def passages(built: Context) -> tuple[Passage, ...]:
    """Return the passages that serve the query."""
    return tuple(_passage(one) for one in built.evidence_chunks)


def _passage(one: Evidence) -> Passage:
    return Passage(
        pieces=marked(unmark(one.text), one.matched_terms),
        place=" › ".join(one.section_path[-2:]),
        href=address(one.text_fragment_url),
        score=f"{one.score:.2f}",
    )


def paragraphs(document: Document) -> tuple[tuple[Paragraph, ...], bool]:
    """Return a page's blocks as they are shown, and whether there are more."""
    shown = [block for block in document.blocks if block.kind not in _SILENT]
    found = (
        Paragraph(
            _ELEMENTS.get(block.kind, "paragraph"),
            document.block_text(block),
            block.level,
            _rows(document.markdown[block.start : block.end])
            if block.kind is BlockKind.TABLE
            else (),
        )
        for block in shown[:_MOST_BLOCKS]
    )
    parts = tuple(part for part in found if part.text.strip())
    repeated = parts and parts[0].element == "heading" and parts[0].text == document.title
    return parts[1:] if repeated else parts, len(shown) > _MOST_BLOCKS


def _rows(table: str) -> tuple[tuple[str, ...], ...]:
    """Return the cells of a table in our own Markdown, without the line below its head."""
    lines = [line.strip().removeprefix("|").removesuffix("|") for line in table.splitlines()]
    return tuple(
        tuple(unmark(cell) for cell in _CELL_END.split(line))
        for line in lines
        if line.strip(" |:-")
    )
