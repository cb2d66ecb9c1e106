"""The steps of a run: each takes a state and returns the next one."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError
from framework.research import prompts
from framework.research.asking import Asked, ask
from framework.research.check import check, failing, replaced
from framework.research.citing import dropped, failed_quotes, taken
from framework.research.facts import contradictions, known_facts, said
from framework.research.quality import qualities
from framework.research.queries import accepted, fallback
from framework.research.report import safe_answer
from framework.research.select import candidates, pages_wanted, pooled, ranked
from framework.research.state import (
    EngineTally,
    RoundStats,
    Source,
    State,
    Step,
    Stop,
)
from framework.research.stop import rounds_stop
from framework.research.tools import Fetch, Search, Tools, all_of
from framework.research.visiting import read
from framework.types import Verdict as EngineVerdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from framework.research.asking import Question
    from framework.research.check import Verdict
    from framework.research.facts import Judge
    from framework.research.state import Checked, Retry
    from framework.types import EngineReport, SearchAnswer

__all__ = ["STEPS", "Fetch", "Search", "Tools"]


async def plan(state: State, tools: Tools) -> State:
    """Choose the queries of a round; the first round asks the model for them."""
    if state.round == 1 and not state.queries:
        state = await _first_plan(state, tools)
    task = state.task
    planned = accepted(state.proposed, state.queries, task.language)
    planned = planned or fallback(task.objective, state.gaps, state.queries)
    return replace(
        state,
        planned=planned,
        proposed=(),
        queries=(*state.queries, *planned),
        step=Step.SEARCH if planned else Step.SELECT,
    )


async def _first_plan(state: State, tools: Tools) -> State:
    asked = await _ask(tools, state, [prompts.plan_question(state)], keep=3)
    state = _counted(state, asked)
    reply = asked.of(0, prompts.PlanReply)
    if reply is None:
        return state
    gaps = tuple(_clean(question) for question in reply.questions if question.strip())
    return replace(state, proposed=tuple(reply.queries), gaps=gaps[:10])


async def search(state: State, tools: Tools) -> State:
    """Ask all queries of a round at once and pool what was found."""

    async def one(query: str) -> SearchAnswer | ConsilienceError:
        try:
            return await tools.search(query, state.task.language)
        except ConsilienceError as error:
            return error

    answers = await all_of(one(query) for query in state.planned)
    for answer in answers:
        if isinstance(answer, ConsilienceError):
            state = _failed_search(state, answer)
        else:
            found = candidates(answer, state.task.results_per_engine)
            state = replace(pooled(state, found), engines=_tallied(state.engines, answer.engines))
    return replace(state, step=Step.SELECT)


def _failed_search(state: State, error: ConsilienceError) -> State:
    reports: Sequence[EngineReport] = getattr(error, "reports", ())
    if reports:
        return replace(state, engines=_tallied(state.engines, reports))
    return _noted(state, f"a search failed: {error.message}")


def _tallied(
    tallies: Sequence[EngineTally], reports: Iterable[EngineReport]
) -> tuple[EngineTally, ...]:
    known = {tally.id: tally for tally in tallies}
    for report in reports:
        old = known.get(report.id, EngineTally(id=report.id))
        failed = report.verdict not in (EngineVerdict.OK, EngineVerdict.EMPTY)
        known[report.id] = replace(
            old,
            searches=old.searches + 1,
            rows=old.rows + report.rows,
            failures=old.failures + failed,
            trouble=report.verdict.value if failed else old.trouble,
        )
    return tuple(known.values())


async def select(state: State, _tools: Tools) -> State:
    """Choose the pages to read, with as many again in case some cannot be used."""
    wanted = pages_wanted(state)
    chosen = ranked(state, 3 * wanted) if wanted else ()
    return replace(state, wanted=wanted, chosen=chosen, step=Step.READ)


async def cite(state: State, tools: Tools) -> State:
    """Ask for quotes of the pages just read; only those that stand on their page are taken."""
    waiting = [source for source in state.sources if source.excerpts]
    questions = [prompts.quotes_question(state, source) for source in waiting]
    asked = await _ask(tools, state, questions, keep=1)
    state = _counted(state, asked)
    return await asyncio.to_thread(_cited, state, waiting, asked, tools.judge)


def _cited(state: State, waiting: Sequence[Source], asked: Asked, judge: Judge) -> State:
    retries: list[Retry] = []
    for at, source in enumerate(waiting):
        reply = asked.of(at, prompts.QuotesReply)
        if reply is not None:
            source = taken(source, reply, judge, state.round)
            retries += failed_quotes(source, reply)
        state = _with_source(state, replace(source, excerpts=()))
    return replace(state, retries=tuple(retries), step=Step.JUDGE)


def _with_source(state: State, source: Source) -> State:
    before, after = state.sources[: source.id - 1], state.sources[source.id :]
    return replace(state, sources=(*before, source, *after))


async def judge(state: State, tools: Tools) -> State:
    """Ask what is still open, and once more for quotes that were not found; end the round."""
    pages = _by_page(state.retries)
    questions: list[Question] = []
    if _may_ask(state, keep=1):
        questions = [prompts.retry_question(state, retries) for retries in pages]
        questions.append(prompts.judge_question(state, state.queries))
    asked = await _ask(tools, state, questions, keep=1)
    state = _counted(state, asked)
    state = await asyncio.to_thread(_second_chance, state, pages, asked, tools)
    reply = asked.of(len(questions) - 1, prompts.JudgeReply) if questions else None
    if reply is not None:
        gaps = tuple(_clean(gap) for gap in reply.gaps if gap.strip())
        state = replace(state, gaps=gaps[:10], proposed=tuple(reply.queries), judged=True)
    conflicts = await asyncio.to_thread(contradictions, state.sources, tools.judge)
    return _end_round(replace(state, conflicts=conflicts))


def _by_page(retries: Iterable[Retry]) -> list[list[Retry]]:
    pages: dict[int, list[Retry]] = {}
    for retry in retries:
        pages.setdefault(retry.source, []).append(retry)
    return list(pages.values())


def _second_chance(
    state: State, pages: Sequence[Sequence[Retry]], asked: Asked, tools: Tools
) -> State:
    for at, retries in enumerate(pages):
        source = replace(state.source(retries[0].source), excerpts=retries[0].excerpts)
        reply = asked.of(at, prompts.QuotesReply) if asked.answers else None
        if reply is not None:
            source = taken(source, reply, tools.judge, state.round)
        lost = dropped(retries, reply, source)
        source = replace(source, excerpts=(), dropped=source.dropped + lost)
        state = _with_source(state, source)
    return replace(state, retries=())


def _end_round(state: State) -> State:
    fresh = [one for one in said(state.sources) if one.quote.round == state.round]
    before = [one for one in said(state.sources) if one.quote.round < state.round]
    stats = RoundStats(
        number=state.round,
        queries=len(state.planned),
        candidates=state.found,
        pages=sum(source.round == state.round for source in state.sources),
        facts=len(fresh),
        known=known_facts(fresh, before),
    )
    state = replace(state, rounds=(*state.rounds, stats))
    stop = rounds_stop(state)
    if stop is not None:
        return replace(state, stop=stop, step=Step.ANSWER)
    return replace(state, round=state.round + 1, step=Step.PLAN)


async def answer(state: State, tools: Tools) -> State:
    """Ask for the answer; with nothing to cite there is none."""
    if not state.cited:
        return replace(state, step=Step.DONE)
    asked = await _ask(tools, state, [prompts.answer_question(state, qualities(state))])
    state = _counted(state, asked)
    text = asked.answers[0]
    if not isinstance(text, str):
        return replace(state, stop=Stop.LLM_FAILED, cut_at=Step.ANSWER, step=Step.DONE)
    urls = [source.url for source in state.cited]
    return replace(state, draft=safe_answer(text, urls), step=Step.CHECK)


async def check_answer(state: State, tools: Tools) -> State:
    """Check the answer against its quotes; what fails is rewritten once, then marked."""
    first = await asyncio.to_thread(check, state.draft, state, tools.judge)
    text = first.text
    wrong = failing(first.sentences)
    if wrong and _may_ask(state, keep=0):
        marked = await asyncio.to_thread(check, text, state, tools.judge, final=True)
        tools.keep(_answered(state, marked, first.invented))
        asked = await _ask(tools, state, [prompts.repair_question(state, wrong)])
        state = _counted(state, asked)
        text = _repaired(text, wrong, asked.of(0, prompts.RepairReply), state)
    last = await asyncio.to_thread(check, text, state, tools.judge, final=True)
    return replace(_answered(state, last, first.invented), step=Step.DONE)


def _answered(state: State, verdict: Verdict, invented: Iterable[int]) -> State:
    return replace(
        state,
        answer=verdict.text,
        checked=verdict.sentences,
        invented=tuple(sorted({*invented, *verdict.invented})),
    )


def _repaired(
    text: str,
    wrong: Sequence[tuple[int, Checked]],
    reply: prompts.RepairReply | None,
    state: State,
) -> str:
    if reply is None:
        return text
    urls = [source.url for source in state.cited]
    numbers = {number for number, _ in wrong}
    return replaced(
        text,
        {one.n: safe_answer(_clean(one.text), urls) for one in reply.sentences if one.n in numbers},
    )


#: What each step does; a run follows `state.step` until it is `done`.
STEPS: Mapping[Step, Callable[[State, Tools], Awaitable[State]]] = {
    Step.PLAN: plan,
    Step.SEARCH: search,
    Step.SELECT: select,
    Step.READ: read,
    Step.CITE: cite,
    Step.JUDGE: judge,
    Step.ANSWER: answer,
    Step.CHECK: check_answer,
}


def _may_ask(state: State, keep: int) -> bool:
    """Whether the model can be asked once more with `keep` exchanges left after that."""
    limit = state.task.max_exchanges
    return limit is None or limit - state.exchanges > keep


async def _ask(tools: Tools, state: State, questions: Sequence[Question], keep: int = 0) -> Asked:
    """Ask; a broken answer is repaired where that leaves `keep` exchanges for what must follow."""
    limit = state.task.max_exchanges
    repair = limit is None or limit - state.exchanges - 2 >= keep
    return await ask(tools.llm, questions, repair=repair)


def _counted(state: State, asked: Asked) -> State:
    """Add what a question took, and count how often in a row no answer was usable."""
    if not asked.exchanges:
        return state
    lost = len(asked.failures) == len(asked.answers)
    for failure in asked.failures[:2]:
        state = _noted(state, f"the language model failed at {state.step.value}: {failure}")
    return replace(
        state,
        usage=state.usage.plus(asked.usage),
        exchanges=state.exchanges + asked.exchanges,
        failures=state.failures + 1 if lost else 0,
    )


def _noted(state: State, note: str) -> State:
    return replace(state, notes=(*state.notes, note[:300])[-50:])


def _clean(text: str) -> str:
    return " ".join(text.split())[:600]
