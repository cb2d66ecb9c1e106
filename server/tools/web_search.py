"""The tool `web_search`: several engines at once, merged by consensus."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from framework.merge.highlights import highlights
from framework.types import Kind, Query, SafeSearch, TimeRange, Verdict
from server.requests import SearchRequest
from server.tools.base import Arguments, Call, Output, Reply, Tool, untrusted

if TYPE_CHECKING:
    from framework.types import EngineReport, Result, SearchAnswer
    from server.app import Application

__all__ = ["TOOL", "WebSearchArguments", "WebSearchOutput", "query_of", "render", "structured"]


def _not_blank(value: str) -> str:
    if not value.strip():
        raise ValueError("text that is not blank")
    return value.strip()


def _date(value: str) -> str:
    try:
        return datetime.fromisoformat(value).date().isoformat()
    except ValueError:
        raise ValueError("a date (YYYY-MM-DD or RFC 3339)") from None


def _domain(values: tuple[str, ...]) -> tuple[str, ...]:
    wrong = next((v for v in values if "." not in v or "://" in v or " " in v), None)
    if wrong is not None:
        raise ValueError(f"bare domains such as example.org ({wrong!r} is none)")
    return values


Domains = Annotated[
    tuple[str, ...],
    Field(max_length=50),
    AfterValidator(_domain),
]


class WebSearchArguments(Arguments):
    """What a caller may ask for."""

    query: Annotated[str, Field(min_length=1, max_length=2_000), AfterValidator(_not_blank)]
    max_results: int = Field(default=10, ge=1, le=50)
    engines: tuple[str, ...] | None = Field(
        default=None, description="Engine ids (see get_engines); default: the configured ones"
    )
    kind: Kind = Kind.WEB
    page: int = Field(default=1, ge=1, le=10)
    region: str | None = Field(default=None, description="For example de-DE")
    language: str | None = Field(default=None, description="For example de")
    safe: SafeSearch | None = None
    time: TimeRange | None = Field(default=None, description="Not older than this")
    start_published_date: Annotated[str, AfterValidator(_date)] | None = None
    include_domains: Domains = ()
    exclude_domains: Domains = ()
    include_highlights: bool = False
    highlight_sentences: int = Field(default=3, ge=1, le=10)
    sampling: bool | None = Field(default=None, description="Let a model drop irrelevant rows")
    timeout: float = Field(default=10, ge=1, le=60, description="Seconds")


class VoteOutput(BaseModel):
    """One engine's vote; the score is recomputed from these by hand."""

    engine: str
    rank: int
    index: str
    weight: float


class ResultOutput(BaseModel):
    """One merged result; fields of its kind (authors, doi, duration, …) stand beside these."""

    model_config = ConfigDict(extra="allow")

    rank: int
    title: str
    url: str
    snippet: str
    score: float
    votes: list[VoteOutput]
    indexes: list[str]
    published: str | None = None
    highlights: list[str] | None = None


class EngineOutput(BaseModel):
    """What happened to one engine."""

    id: str
    verdict: Verdict
    rows: int
    elapsed_ms: int
    retry_after: float | None = None
    detail: str | None = None


class WebSearchOutput(Output):
    """The merged answer."""

    query: str = ""
    results: tuple[ResultOutput, ...] = ()
    engines: tuple[EngineOutput, ...] = ()
    sampling_applied: bool = False
    answers: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    next_page: int | None = None
    total: int = 0


async def _run(app: Application, given: WebSearchArguments, call: Call) -> Reply[WebSearchOutput]:
    request = SearchRequest(query=query_of(given), engines=given.engines, timeout=given.timeout)
    answer, applied = await app.filtered_search(request, call, given.sampling)
    data = structured(answer, given.highlight_sentences if given.include_highlights else 0)
    data.sampling_applied = applied.done
    return Reply("\n".join(filter(None, (render(data), applied.remark))), data)


def query_of(given: WebSearchArguments) -> Query:
    """Return the question that the arguments put."""
    return Query(
        text=given.query,
        kind=given.kind,
        page=given.page,
        region=given.region,
        language=given.language,
        time=given.time,
        since=given.start_published_date,
        safe=given.safe,
        include_domains=given.include_domains,
        exclude_domains=given.exclude_domains,
        max_results=given.max_results,
    )


def structured(answer: SearchAnswer, sentences: int = 0) -> WebSearchOutput:
    """Turn a merged answer into the tool's data, with `sentences` highlights a row if asked."""
    return WebSearchOutput(
        query=answer.query.text,
        results=tuple(_result(row, answer.query.text, sentences) for row in answer.results),
        engines=tuple(_engine(report) for report in answer.engines),
        answers=answer.answers,
        corrections=answer.corrections,
        suggestions=answer.suggestions,
        next_page=answer.next_page,
        total=answer.total,
    )


def _result(row: Result, query: str, sentences: int) -> ResultOutput:
    kind_fields = {name: value for name, value in row.fields.items() if name != "published"}
    published = row.fields.get("published")
    return ResultOutput.model_validate(
        {
            **kind_fields,
            "rank": row.rank,
            "title": row.title,
            "url": row.url,
            "snippet": row.snippet,
            "score": round(row.score, 6),
            "votes": [
                VoteOutput(engine=v.engine, rank=v.rank, index=v.index, weight=v.weight)
                for v in row.votes
            ],
            "indexes": list(row.indexes),
            "published": None if published is None else str(published),
            "highlights": highlights(row.snippet, query, sentences) if sentences else None,
        }
    )


def _engine(report: EngineReport) -> EngineOutput:
    return EngineOutput(
        id=report.id,
        verdict=report.verdict,
        rows=report.rows,
        elapsed_ms=report.elapsed_ms,
        retry_after=report.retry_after,
        detail=report.detail or None,
    )


def render(data: WebSearchOutput) -> str:
    """Write the answer as compact Markdown: a line or two a result, a line for all engines."""
    rows = "\n".join(_line(row) for row in data.results) or "No results."
    parts = [untrusted(rows, "search results")]
    for label, texts in (
        ("Answers", data.answers),
        ("Did you mean", data.corrections),
        ("Related", data.suggestions[:8]),
    ):
        if texts:
            parts.append(untrusted(f"{label}: {' · '.join(texts)}", "search results"))
    parts.append("Engines: " + "; ".join(_report(engine) for engine in data.engines))
    if data.next_page:
        parts.append(f"More: page={data.next_page}")
    return "\n".join(parts)


def _line(row: ResultOutput) -> str:
    voters = ",".join(f"{vote.engine}#{vote.rank}" for vote in row.votes)
    date = f" · {row.published[:10]}" if row.published else ""
    title = row.title.replace("]", "\\]")
    body = " ".join(row.highlights) if row.highlights else row.snippet
    snippet = f"\n   {body}" if body else ""
    return f"{row.rank}. [{title}]({row.url}){date} · {voters}{snippet}"


def _report(engine: EngineOutput) -> str:
    text = f"{engine.id} {engine.verdict.value}"
    if engine.verdict is Verdict.OK:
        text += f" {engine.rows} rows"
    elif engine.detail:
        text += f" ({engine.detail})"
    if engine.retry_after:
        text += f", retry in {engine.retry_after:.0f} s"
    return text


TOOL = Tool(
    name="web_search",
    title="Web search",
    description=(
        "Search the web with several engines at once; one merged list, best agreement first. "
        "Use it to find pages. Each result has title, url, snippet, score and which engines "
        "voted for it; every engine's verdict is reported, so a blocked engine is never "
        "mistaken for no results. kind picks news, papers, code and so on."
    ),
    arguments=WebSearchArguments,
    output=WebSearchOutput,
    run=_run,
)
