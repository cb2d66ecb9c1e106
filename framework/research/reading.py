"""A fetched page made ready for citing: its passages for the question, its risk, its sketch."""

from __future__ import annotations

from contextlib import nullcontext
from threading import Lock
from typing import TYPE_CHECKING

from framework.evidence.injection import scan
from framework.reading.document import DocumentKind
from framework.reading.passages import Passages
from framework.research.independence import domain_of, sketch_of
from framework.research.state import Digest, Excerpt, Source

if TYPE_CHECKING:
    from framework.reading.document import Document
    from framework.research.state import Candidate

__all__ = ["digest", "source_of"]

#: Tokens of a page that its quotes are looked for in, and the passages they come in.
_TOKENS = 2_500
_CHUNKS = 16
#: A passage that scores less than this share of the best one is left out.
_PERTINENT = 0.2
_LEAST_TEXT = 120
_SCANNED = 400_000
_SKETCHED = 400_000


#: The index of a page of several megabytes takes many times its size: one is made at a time.
_LARGE = 500_000
_ONE_AT_A_TIME = Lock()


def digest(document: Document, question: str) -> Digest:
    """Choose a page's passages for a question; the whole page is ranked, not its beginning.

    Scans the page for instructions aimed at its reader (the first 400,000 characters of
    the source). Never raises for a page of any kind.
    """
    with _ONE_AT_A_TIME if len(document.markdown) > _LARGE else nullcontext():
        return _digest(document, question)


def _digest(document: Document, question: str) -> Digest:
    markup = document.raw if document.kind is DocumentKind.HTML else document.markdown
    excerpts = _excerpts(document, question)
    return Digest(
        url=document.url,
        title=" ".join((document.title or document.url).split())[:300],
        published=document.metadata.published or document.metadata.modified,
        risk=scan(markup[:_SCANNED]).risk,
        excerpts=excerpts,
        sketch=sketch_of(document.markdown[:_SKETCHED]),
        unusable=_unusable(document, excerpts),
    )


def _excerpts(document: Document, question: str) -> tuple[Excerpt, ...]:
    chosen = Passages(document).select(question, max_tokens=_TOKENS, max_chunks=_CHUNKS)
    best = max((one.score for one in chosen), default=0.0)
    return tuple(
        Excerpt(text=one.text, start=one.start, section=one.section[-3:])
        for one in chosen
        if one.score >= _PERTINENT * best
    )


def _unusable(document: Document, excerpts: tuple[Excerpt, ...]) -> str:
    size = len(document.markdown)
    if size < _LEAST_TEXT:
        return f"only {size} characters of text"
    return "" if excerpts else "no passage speaks of the objective"


def source_of(candidate: Candidate, page: Digest, number: int, round_: int) -> Source:
    """Return the source that a page becomes."""
    return Source(
        id=number,
        key=candidate.key,
        url=page.url,
        title=page.title,
        domain=domain_of(page.url),
        published=page.published or candidate.published,
        indexes=candidate.indexes,
        risk=page.risk,
        sketch=page.sketch,
        excerpts=page.excerpts,
        round=round_,
    )
