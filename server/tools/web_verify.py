"""The tool `web_verify`: is a claim borne out by sources, clause by clause."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, Field

from framework.evidence import verify
from server.evidence import gather, search_and_gather
from server.tools.base import Arguments, Call, Error, Output, Reply, Tool, failure, untrusted

if TYPE_CHECKING:
    from framework.evidence.verify import SourceVerdict, Verification
    from server.app import Application
    from server.evidence import Gathered

__all__ = ["TOOL", "VerifyArguments", "VerifyOutput"]

Judgement = Literal["supported", "refuted", "mixed", "unclear"]
_SEARCHED = 4


class VerifyArguments(Arguments):
    """The claim, and where to look."""

    claim: str = Field(min_length=3, max_length=2_000)
    sources: tuple[str, ...] = Field(
        default=(), max_length=10, description="Addresses; without any it searches"
    )
    max_tokens_per_source: int = Field(default=1_400, ge=200, le=8_000)
    engines: tuple[str, ...] | None = None
    timeout: float = Field(default=20, ge=1, le=60, description="Seconds a source")


class ClauseOutput(BaseModel):
    """One statement of the claim."""

    text: str
    verdict: Judgement
    confidence: float


class QuoteOutput(BaseModel):
    """A source's own words on a statement (by its number), with a link to the passage."""

    text: str
    clause: int
    verdict: str
    confidence: float
    signs: tuple[str, ...]
    char_start: int
    char_end: int
    dom_path: str
    text_fragment_url: str


class SourceVerdictOutput(BaseModel):
    """What one source says, or why it could not be read."""

    url: str
    title: str | None = None
    verdict: Judgement | None = None
    confidence: float | None = None
    quotes: tuple[QuoteOutput, ...] = ()
    method: str | None = None
    error: Error = None


class VerifyOutput(Output):
    """The verdict."""

    claim: str = ""
    verdict: Judgement = "unclear"
    confidence: float = 0.0
    clauses: tuple[ClauseOutput, ...] = ()
    sources: tuple[SourceVerdictOutput, ...] = ()
    method: str = ""
    reasons: tuple[str, ...] = ()


async def _run(app: Application, given: VerifyArguments, call: Call) -> Reply[VerifyOutput]:
    if given.sources:
        gathered = await gather(app, given.sources, given.timeout)
    else:
        _, gathered = await search_and_gather(
            app,
            given.claim,
            call,
            count=_SEARCHED,
            timeout=given.timeout,
            engines=given.engines,
        )
    judged = await asyncio.to_thread(
        verify.verify,
        given.claim,
        gathered.usable,
        max_tokens_per_source=given.max_tokens_per_source,
        store=app.models,
    )
    data = _data(gathered, judged)
    return Reply(_render(data), data)


def _data(gathered: Gathered, judged: Verification) -> VerifyOutput:
    unread = tuple(
        SourceVerdictOutput(url=one.url, title=one.title or None, error=failure(one.error))
        for one in gathered.results
        if one.error is not None
    )
    return VerifyOutput(
        claim=judged.claim,
        verdict=_judgement(judged.verdict),
        confidence=judged.confidence,
        clauses=tuple(
            ClauseOutput(text=one.text, verdict=_judgement(one.verdict), confidence=one.confidence)
            for one in judged.clauses
        ),
        sources=tuple(_source(one) for one in judged.sources) + unread,
        method=judged.method,
        reasons=judged.reasons,
    )


def _judgement(word: str) -> Judgement:
    return word if word in ("supported", "refuted", "mixed") else "unclear"  # type: ignore[return-value]


def _source(one: SourceVerdict) -> SourceVerdictOutput:
    return SourceVerdictOutput(
        url=one.url,
        title=one.title,
        verdict=_judgement(one.verdict),
        confidence=one.confidence,
        quotes=tuple(
            QuoteOutput(
                text=quote.text,
                clause=quote.clause,
                verdict=quote.verdict,
                confidence=quote.confidence,
                signs=quote.signs,
                char_start=quote.char_start,
                char_end=quote.char_end,
                dom_path=quote.dom_path,
                text_fragment_url=quote.text_fragment_url,
            )
            for quote in one.quotes
        ),
        method=one.method,
    )


def _render(data: VerifyOutput) -> str:
    lines = [f"{data.verdict} (confidence {data.confidence:.2f}, by {data.method})"]
    if len(data.clauses) > 1:
        lines += [f"- {one.verdict} ({one.confidence:.2f}): {one.text}" for one in data.clauses]
    for source in data.sources:
        if source.error is not None:
            lines.append(f"Not read: {source.url} ({source.error.code})")
            continue
        quotes = "\n".join(f'{one.verdict}: "{one.text}"' for one in source.quotes[:2])
        if quotes:
            lines.append(untrusted(quotes, source.url))
    lines.extend(data.reasons)
    return "\n".join(lines)


TOOL = Tool(
    name="web_verify",
    title="Check a claim",
    description=(
        "Judge a claim against pages: supported, refuted, mixed or unclear, statement by "
        "statement, with the sources' own words. Give sources, or it searches itself."
    ),
    arguments=VerifyArguments,
    output=VerifyOutput,
    run=_run,
)
