"""The tool `search_deep`: rounds of searching and reading, and a report of checked citations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import AfterValidator, BaseModel, Field

from server.deep import DeepRequest, deep
from server.tools.base import Arguments, Call, Output, Reply, Tool, untrusted

if TYPE_CHECKING:
    from framework.research.loop import Progress
    from framework.research.report import Contradiction, Reference
    from server.app import Application
    from server.deep import Outcome

__all__ = ["TOOL", "SearchDeepArguments", "SearchDeepOutput", "request_of", "structured"]

_LEAST = 10


def _objective(value: str) -> str:
    text = " ".join(value.split())
    if len(text) < _LEAST:
        raise ValueError(f"at least {_LEAST} characters")
    return text


class SearchDeepArguments(Arguments):
    """What a caller may ask for."""

    objective: Annotated[str, Field(max_length=2_000), AfterValidator(_objective)]
    max_loops: int | None = Field(default=None, ge=1, le=50, description="Rounds (20)")
    results_per_engine: int | None = Field(default=None, ge=1, le=20, description="(5)")
    max_citation_urls: int | None = Field(
        default=None, ge=-1, le=50, description="Pages read at most (10); -1: no limit"
    )
    time_budget: float = Field(default=600, ge=5, le=3_600, description="Seconds")
    engines: tuple[str, ...] | None = None
    attach_context: bool = Field(default=False, description="Add the text around each quote")


class QuoteOutput(BaseModel):
    """Words that stand on the page; offsets count in its Markdown."""

    text: str
    url: str
    start: int
    end: int


class ReferenceOutput(BaseModel):
    """A numbered source."""

    id: int
    url: str
    title: str
    quotes: list[QuoteOutput]
    quality: float
    published: str | None = None
    copies: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class ContradictionOutput(BaseModel):
    """Two references that disagree."""

    a: int
    b: int
    a_quote: str
    b_quote: str
    confidence: float
    reason: str


class UsageOutput(BaseModel):
    """What the model took."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    estimated: bool
    cost: float | None = None


class SearchDeepOutput(Output):
    """The report and its parts."""

    report: str = ""
    references: tuple[ReferenceOutput, ...] = ()
    unused_references: tuple[ReferenceOutput, ...] = ()
    contradictions: tuple[ContradictionOutput, ...] = ()
    uncited: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    confidence: float = 0.0
    rounds: int = 0
    finished: bool = False
    stopped: str = ""
    missing: tuple[str, ...] = ()
    continued: bool = False
    usage: UsageOutput | None = None
    download_url: str | None = None
    resource: str | None = None


async def _run(app: Application, given: SearchDeepArguments, call: Call) -> Reply[SearchDeepOutput]:
    def tell(progress: Progress) -> None:
        call.note(progress.done, None, progress.message)

    outcome = await deep(app, request_of(given), call, tell=tell)
    body = outcome.report.markdown.encode()
    kept = app.reports.put(call.caller, "report.md", body)
    data = structured(outcome)
    data.resource = f"consilience://report/{kept.id}"
    if app.settings.public_url:
        data.download_url = f"{app.settings.public_url.rstrip('/')}/download/{kept.id}"
    return Reply(_text(data), data)


def request_of(given: SearchDeepArguments) -> DeepRequest:
    """Return the research that the arguments ask for."""
    return DeepRequest(
        objective=given.objective,
        max_loops=given.max_loops,
        results_per_engine=given.results_per_engine,
        max_citation_urls=given.max_citation_urls,
        engines=given.engines,
        attach_context=given.attach_context,
        time_budget=given.time_budget,
    )


def structured(outcome: Outcome) -> SearchDeepOutput:
    """Turn a report into the tool's data."""
    report, usage = outcome.report, outcome.usage
    return SearchDeepOutput(
        report=report.markdown,
        references=tuple(_reference(one) for one in report.references),
        unused_references=tuple(_reference(one) for one in report.unused),
        contradictions=tuple(_contradiction(one) for one in report.contradictions),
        uncited=report.uncited,
        unsupported=report.unsupported,
        confidence=report.confidence,
        rounds=report.rounds,
        finished=report.finished,
        stopped=report.stopped,
        missing=report.missing,
        continued=outcome.continued,
        usage=UsageOutput(
            calls=usage.calls,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            estimated=usage.estimated,
            cost=report.cost,
        ),
    )


def _reference(one: Reference) -> ReferenceOutput:
    return ReferenceOutput(
        id=one.id,
        url=one.url,
        title=one.title,
        quality=one.quality,
        published=one.published,
        copies=one.copies,
        warnings=one.warnings,
        quotes=[
            QuoteOutput(text=quote.text, url=quote.link, start=quote.start, end=quote.end)
            for quote in one.quotes
        ],
    )


def _contradiction(one: Contradiction) -> ContradictionOutput:
    return ContradictionOutput(
        a=one.a,
        b=one.b,
        a_quote=one.a_quote,
        b_quote=one.b_quote,
        confidence=one.confidence,
        reason=one.reason,
    )


def _text(data: SearchDeepOutput) -> str:
    parts = [untrusted(data.report, "report of search_deep")]
    if not data.finished:
        parts.append(f"Not finished: {data.stopped}. The same call goes on where it can.")
    parts.append(f"The report is kept for a while: {data.download_url or data.resource}")
    return "\n".join(parts)


TOOL = Tool(
    name="search_deep",
    title="Deep research",
    description=(
        "Research a question in rounds of searching and reading, with a language model, until "
        "little is new. Use it for questions that one search cannot answer. Returns a report "
        "whose citations are verbatim quotes, contradictions, confidence and what is missing."
    ),
    arguments=SearchDeepArguments,
    output=SearchDeepOutput,
    run=_run,
)
