"""Deep research over an application: its engines, pages and model put together for a run."""

from __future__ import annotations

import asyncio
import hashlib
import json
import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError
from framework.research.asking import BatchLLM
from framework.research.loop import Research
from framework.research.queries import language_of
from framework.research.report import Price, build
from framework.research.state import State, Stop, Task, Usage
from framework.research.steps import Tools
from framework.types import Query
from server.pages import PageRequest
from server.requests import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.llm import LLM
    from framework.reading import Document
    from framework.research.loop import Progress
    from framework.research.report import Report
    from framework.types import SearchAnswer
    from server.app import Application
    from server.tools.base import Call

__all__ = ["DeepRequest", "Outcome", "deep"]

#: How often a client is asked in one call before it gives up, by the SDKs' default.
_CLIENT_ROUNDS = 10
_SEARCH_SECONDS = 30.0
_PAGE_SECONDS = 20.0
_LEAST_RESULTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepRequest:
    """One research; what is None comes from the settings. `time_budget` is in seconds."""

    objective: str
    max_loops: int | None = None
    results_per_engine: int | None = None
    max_citation_urls: int | None = None
    engines: tuple[str, ...] | None = None
    attach_context: bool = False
    time_budget: float = 600.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report, what its model took, and whether an interrupted run was continued."""

    report: Report
    usage: Usage
    continued: bool


def _unheard(_progress: Progress) -> None:
    return None


async def deep(
    app: Application,
    request: DeepRequest,
    call: Call,
    *,
    cancel: asyncio.Event | None = None,
    tell: Callable[[Progress], None] = _unheard,
) -> Outcome:
    """Run a research to its end, or to where `cancel` or the time budget ends it.

    An equal call of the same caller goes on with a run that was interrupted within the last hour.

    Raises:
        ConsilienceError: `llm_missing` where no language model can be asked.
        NotFoundError: for an engine that does not exist.
    """
    llm = app.llm(call, sampling=True)
    if llm is None:
        raise _no_model()
    for engine in request.engines or ():
        app.catalogue.entry(engine)
    runs = app.deep_runs
    lease = runs.take(_name(request, call.caller))
    state = lease.state or State(task=_task(app, request, llm))
    research = Research(
        state,
        _tools(app, request, call, state.task, llm),
        save=lambda one: runs.save(lease, one),
        tell=tell,
    )
    done = False
    try:
        last = await research.run(cancel)
        done = last.stop is not Stop.CANCELLED
    except asyncio.CancelledError:
        _shelve(app, call, research.state)
        raise
    finally:
        (runs.end if done else runs.pause)(lease)
    return Outcome(build(last, _price(app)), last.usage, lease.state is not None)


def _no_model() -> ConsilienceError:
    return ConsilienceError(
        "search_deep needs a language model, and there is none",
        code="llm_missing",
        hint=(
            "set LLM_BASE_URL and LLM_NAME (and LLM_API_KEY) to an OpenAI-compatible endpoint, or "
            "use a client that offers sampling; web_research ranks evidence from several sources "
            "without a model"
        ),
    )


def _name(request: DeepRequest, caller: str) -> str:
    asked = json.dumps([caller, asdict(request)], sort_keys=True)
    return hashlib.sha256(asked.encode()).hexdigest()


def _task(app: Application, request: DeepRequest, llm: LLM) -> Task:
    given = app.settings
    in_rounds = isinstance(llm, BatchLLM) and llm.batches
    return Task(
        objective=" ".join(request.objective.split()),
        today=datetime.now(UTC).date().isoformat(),
        max_loops=_or(request.max_loops, given.deep_max_loops),
        results_per_engine=_or(request.results_per_engine, given.deep_results_per_engine),
        max_citation_urls=_or(request.max_citation_urls, given.deep_max_citation_urls),
        time_budget=request.time_budget,
        saturation=given.deep_saturation,
        max_exchanges=_CLIENT_ROUNDS if in_rounds else None,
        attach_context=request.attach_context,
        language=language_of(request.objective),
    )


def _or(value: int | None, default: int) -> int:
    return default if value is None else value


def _tools(app: Application, request: DeepRequest, call: Call, task: Task, llm: LLM) -> Tools:
    seconds = min(_SEARCH_SECONDS, task.time_budget / 3)

    async def search(query: str, language: str | None) -> SearchAnswer:
        most = max(_LEAST_RESULTS, task.results_per_engine)
        asked = Query(text=query, language=language, max_results=most)
        wanted = SearchRequest(query=asked, engines=request.engines, timeout=seconds)
        return await app.search(wanted, call.caller)

    async def fetch(url: str) -> Document:
        page = await app.page_service.fetch(PageRequest(url=url, timeout=_PAGE_SECONDS))
        return page.document

    return Tools(
        search=search,
        fetch=fetch,
        llm=llm,
        judge=app.deep_runs.judge,
        clock=time.monotonic,
        room=app.deep_runs.room,
    )


def _price(app: Application) -> Price | None:
    given = app.settings
    if given.llm_price_input is None or given.llm_price_output is None:
        return None
    return Price(given.llm_price_input, given.llm_price_output)


def _shelve(app: Application, call: Call, state: State) -> None:
    """Keep what a call has found whose caller went away: it may come back for it."""
    if state.sources:
        cut = replace(state, stop=Stop.CANCELLED, cut_at=state.step)
        body = build(cut, _price(app)).markdown.encode()
        app.reports.put(call.caller, "report.md", body)
