"""The tool `web_research`: search, read the best pages, and weigh what they say together."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from framework.evidence import research
from server.evidence import search_and_gather
from server.tools.base import Arguments, Call, Error, Output, Reply, Tool, failure, untrusted
from server.tools.facts import safety_of
from server.tools.web_context import EvidenceOutput, evidence_data, evidence_line

if TYPE_CHECKING:
    from framework.evidence.research import Contradiction, Finding, Research
    from server.app import Application
    from server.evidence import Gathered, SourceResult

__all__ = ["TOOL", "ResearchArguments", "ResearchOutput"]


class ResearchArguments(Arguments):
    """The question and how much may be read for it."""

    query: str = Field(min_length=1, max_length=2_000)
    depth: int = Field(default=4, ge=1, le=8, description="Pages to read")
    max_tokens_total: int = Field(default=3_000, ge=500, le=20_000)
    engines: tuple[str, ...] | None = None
    rerank: bool = True
    timeout: float = Field(default=20, ge=1, le=60, description="Seconds a source")


class SourceOutput(BaseModel):
    """One page: what it is and how safe, or why it could not be read."""

    url: str
    title: str | None = None
    published: str | None = None
    word_count: int | None = None
    fingerprint: str | None = None
    safety: dict[str, Any] | None = None
    error: Error = None


class FindingOutput(EvidenceOutput):
    """A passage with its source and how many sources say the same."""

    source_index: int
    source_url: str
    source_title: str
    cluster_id: int
    agreement_count: int
    opposed_by: tuple[int, ...]
    combined_score: float


class SaidOutput(BaseModel):
    """A sentence and who says it."""

    source_index: int
    url: str
    text: str


class ContradictionOutput(BaseModel):
    """Two sources that exclude each other."""

    a: SaidOutput
    b: SaidOutput
    confidence: float
    reason: str


class AgreementOutput(BaseModel):
    """How far the sources agree, 0 to 1, and what judged it."""

    score: float
    method: str


class BudgetOutput(BaseModel):
    """o200k tokens allowed, read, returned."""

    limit: int
    raw: int
    returned: int


class ResearchOutput(Output):
    """What the pages say together."""

    query: str = ""
    sources: tuple[SourceOutput, ...] = ()
    ranked_evidence: tuple[FindingOutput, ...] = ()
    agreement: AgreementOutput | None = None
    contradictions: tuple[ContradictionOutput, ...] = ()
    ranking: dict[str, Any] | None = None
    token_budget: BudgetOutput | None = None


async def _run(app: Application, given: ResearchArguments, call: Call) -> Reply[ResearchOutput]:
    _, gathered = await search_and_gather(
        app,
        given.query,
        call,
        count=given.depth,
        timeout=given.timeout,
        engines=given.engines,
    )
    weighed = await asyncio.to_thread(
        research.weigh,
        gathered.usable,
        given.query,
        max_tokens=given.max_tokens_total,
        rerank=given.rerank,
        store=app.models,
    )
    data = _data(gathered, weighed)
    return Reply(_render(data), data)


def _data(gathered: Gathered, weighed: Research) -> ResearchOutput:
    ranking = weighed.ranking
    return ResearchOutput(
        query=weighed.query,
        sources=tuple(source_data(one) for one in gathered.results),
        ranked_evidence=tuple(_finding(one) for one in weighed.ranked_evidence),
        agreement=AgreementOutput(score=weighed.agreement.score, method=weighed.agreement.method),
        contradictions=tuple(_contradiction(one) for one in weighed.contradictions),
        ranking={
            "methods": list(ranking.methods),
            "total": ranking.total,
            "selected": ranking.selected,
        },
        token_budget=BudgetOutput(
            limit=weighed.token_budget.limit,
            raw=weighed.token_budget.raw,
            returned=weighed.token_budget.returned,
        ),
    )


def source_data(one: SourceResult) -> SourceOutput:
    """Return a source as data."""
    if one.fetched is None:
        error = failure(one.error) if one.error else None
        return SourceOutput(url=one.url, title=one.title or None, error=error)
    facts = one.fetched.document.metadata
    return SourceOutput(
        url=one.fetched.response.url,
        title=facts.title or one.title or None,
        published=facts.published,
        word_count=facts.word_count,
        fingerprint=one.fetched.document.fingerprint,
        safety=safety_of(one.fetched.safety),
    )


def _finding(one: Finding) -> FindingOutput:
    return FindingOutput(
        **evidence_data(one.evidence).model_dump(),
        source_index=one.source_index,
        source_url=one.source_url,
        source_title=one.source_title,
        cluster_id=one.cluster_id,
        agreement_count=one.agreement_count,
        opposed_by=one.opposed_by,
        combined_score=one.combined_score,
    )


def _contradiction(one: Contradiction) -> ContradictionOutput:
    said = [
        SaidOutput(source_index=side.source_index, url=side.url, text=side.text)
        for side in (one.a, one.b)
    ]
    return ContradictionOutput(a=said[0], b=said[1], confidence=one.confidence, reason=one.reason)


def _render(data: ResearchOutput) -> str:
    parts = []
    for url in dict.fromkeys(one.source_url for one in data.ranked_evidence):
        mine = [one for one in data.ranked_evidence if one.source_url == url]
        agree = [f"{evidence_line(one)}\n(said by {one.agreement_count})" for one in mine]
        parts.append(untrusted(f"{mine[0].source_title}\n\n" + "\n\n".join(agree), url))
    for clash in data.contradictions:
        text = f"{clash.a.url}: {clash.a.text}\n{clash.b.url}: {clash.b.text}"
        parts.append("Contradiction:\n" + untrusted(text, "two sources"))
    unread = [one for one in data.sources if one.error]
    parts.extend(f"Not read: {one.url} ({one.error.code})" for one in unread if one.error)
    if data.agreement is not None:
        parts.append(f"Agreement: {data.agreement.score:.2f} ({data.agreement.method})")
    return "\n\n".join(parts)


TOOL = Tool(
    name="web_research",
    title="Research a question",
    description=(
        "Search, read the best pages at once and weigh them: ranked passages of all sources in "
        "one budget, which sources agree, which contradict each other."
    ),
    arguments=ResearchArguments,
    output=ResearchOutput,
    run=_run,
)
