"""Fan-out: one question to several engines at once, under one deadline.

What has arrived by the deadline is merged, the rest is reported. The engines themselves are a
function given by the caller, so this module opens nothing and can be run in virtual time.
"""

from __future__ import annotations

import asyncio
import time
import traceback
from dataclasses import dataclass, field
from math import ceil
from typing import TYPE_CHECKING, Protocol

from framework.errors import ConsilienceError, InvalidInputError, UnavailableError
from framework.merge.consensus import Ballot, merge_best
from framework.merge.relevance import unrelated
from framework.types import EngineReport, Next, Page, Query, Row, SearchAnswer, Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence

__all__ = ["Ask", "Member", "NoAnswerError", "OnReport", "fan_out", "foreign"]

#: Rows that a page of results is taken to hold at least, when deciding how many pages to ask for.
_PAGE_ROWS = 10
#: Seconds that cancelled engines get to clean up after the deadline.
_GRACE = 0.25

_ANSWERED = frozenset({Verdict.OK, Verdict.EMPTY})
_FINAL = frozenset({Verdict.DISABLED, Verdict.UNAUTHORISED})


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """One engine of a search.

    `rest` is how many seconds it still rests (0: free) and `rest_reason` why; `disabled` why it
    cannot be asked at all. `official` engines answer by contract and skip the relevance guard.
    """

    id: str
    index: str = ""
    weight: float = 1.0
    official: bool = False
    rest: float = 0.0
    rest_reason: str = ""
    disabled: str = ""


class Ask(Protocol):
    """Asks one engine for one page; `after` is what the page before said about the next one."""

    def __call__(self, member: Member, query: Query, after: Next | None) -> Awaitable[Page]:
        """Return the page, or raise: a ConsilienceError whose code is a verdict becomes it."""


class OnReport(Protocol):
    """Hears of each engine as soon as it is done, with the rows that it adds."""

    def __call__(self, report: EngineReport, rows: tuple[Row, ...]) -> None:
        """Take note; must not raise."""


class NoAnswerError(UnavailableError):
    """Not one engine answered; raised by `fan_out`, `reports` says what happened to each.

    The code is the engines' verdict where all failed alike, else `unavailable`; `retry_after` is
    when the first of them is worth another try, if that is known.
    """

    def __init__(self, reports: tuple[EngineReport, ...]) -> None:
        verdicts = {report.verdict for report in reports}
        waits = [report.retry_after for report in reports if report.retry_after is not None]
        super().__init__(
            f"no engine answered ({'; '.join(_reasons(reports))})",
            code=next(iter(verdicts)).value if len(verdicts) == 1 else None,
            hint=_advice(reports),
            retryable=not verdicts <= _FINAL,
            retry_after=min(waits, default=None),
        )
        self.reports = reports


@dataclass(slots=True)
class _Tally:
    """What one engine has given so far; kept outside of its task, so a deadline loses nothing."""

    member: Member
    started: float
    rows: list[Row] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    report: EngineReport | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    ask: Ask
    query: Query
    clock: Callable[[], float]
    guard: bool
    on_report: OnReport | None

    def finish(
        self, tally: _Tally, verdict: Verdict, detail: str = "", retry_after: float | None = None
    ) -> None:
        """Fix an engine's report; rows of earlier pages outweigh a later page's failure."""
        if tally.report is not None:
            return
        if tally.rows and verdict not in _ANSWERED:
            detail = f"page {len(tally.pages) + 1}: {verdict}" + (f", {detail}" if detail else "")
        self._settle(
            tally,
            EngineReport(
                id=tally.member.id,
                verdict=Verdict.OK if tally.rows else verdict,
                rows=len(tally.rows),
                elapsed_ms=round((self.clock() - tally.started) * 1000),
                retry_after=retry_after,
                detail=detail,
            ),
        )

    def skip(
        self, tally: _Tally, verdict: Verdict, detail: str, retry_after: float | None = None
    ) -> None:
        """Report an engine that is not asked, which takes no time."""
        engine = tally.member.id
        self._settle(
            tally, EngineReport(id=engine, verdict=verdict, retry_after=retry_after, detail=detail)
        )

    def _settle(self, tally: _Tally, report: EngineReport) -> None:
        tally.report = report
        if self.on_report is not None:
            self.on_report(report, tuple(tally.rows))


async def fan_out(
    members: Sequence[Member],
    query: Query,
    ask: Ask,
    *,
    deadline: float,
    clock: Callable[[], float] = time.monotonic,
    guard: bool = True,
    on_report: OnReport | None = None,
) -> SearchAnswer:
    """Ask all members at once and merge what has arrived `deadline` seconds from now.

    One engine's failure never loses another's rows, and a failing later page never loses an
    earlier one. `guard` switches the relevance guard. Where `max_results` needs more than a page,
    engines are asked for further pages within the same deadline. Cancelling cancels every engine.
    Raises InvalidInputError without members, NoAnswerError where every engine failed.
    """
    if not members:
        raise InvalidInputError("no engine to ask", hint="name at least one engine")
    search = _Search(ask=ask, query=query, clock=clock, guard=guard, on_report=on_report)
    start = clock()
    tallies = [_Tally(member, start) for member in members]
    await _run(search, tallies, start + deadline)
    return _answer(query, tallies)


async def _run(search: _Search, tallies: Sequence[_Tally], end: float) -> None:
    left = end - search.clock()
    first = _first_to_be_free([tally.member for tally in tallies], left)
    tasks = []
    for tally in tallies:
        member = tally.member
        if member.disabled:
            search.skip(tally, Verdict.DISABLED, member.disabled)
        elif member.rest > 0 and member is not first:
            search.skip(tally, Verdict.RESTING, member.rest_reason, member.rest)
        else:
            tasks.append(asyncio.create_task(_consult(search, tally), name=f"search {member.id}"))
    try:
        if tasks:
            await asyncio.wait(tasks, timeout=max(0.0, left))
        for tally in tallies:
            search.finish(tally, Verdict.TIMEOUT, "no answer by the deadline")
    finally:
        await _stop(tasks)


def _first_to_be_free(members: Iterable[Member], left: float) -> Member | None:
    """Where all rest, the one that is free first, if that is within the deadline."""
    usable = [member for member in members if not member.disabled]
    if not usable or any(member.rest <= 0 for member in usable):
        return None
    first = min(usable, key=lambda member: member.rest)
    return first if first.rest < left else None


async def _stop(tasks: Sequence[asyncio.Task[None]]) -> None:
    pending = [task for task in tasks if not task.done()]
    for task in pending:
        task.cancel()
    if pending:
        await asyncio.wait(pending, timeout=_GRACE)


async def _consult(search: _Search, tally: _Tally) -> None:
    """Ask one engine for as many pages as are needed; never raises."""
    try:
        if tally.member.rest > 0:
            await asyncio.sleep(tally.member.rest)
        await _pages(search, tally)
    except ConsilienceError as error:
        search.finish(tally, _verdict(error), str(error), error.retry_after)
    except TimeoutError:
        search.finish(tally, Verdict.TIMEOUT, "no answer in the engine's own time")
    except Exception as error:  # noqa: BLE001 one engine's crash must not lose the others' rows
        search.finish(tally, Verdict.ERROR, _crash(error))


async def _pages(search: _Search, tally: _Tally) -> None:
    after: Next | None = None
    while True:
        page = await search.ask(tally.member, search.query, after)
        if tally.report is not None:
            return
        if not _take(search, tally, page):
            return
        if page.next is None or len(tally.pages) >= _pages_needed(search.query, tally.pages[0]):
            search.finish(tally, Verdict.OK, page.detail)
            return
        after = page.next


def _take(search: _Search, tally: _Tally, page: Page) -> bool:
    """Keep a page's rows; False where the page ends this engine's part."""
    if page.verdict is not Verdict.OK:
        search.finish(tally, page.verdict, page.detail, page.retry_after)
    elif search.guard and (reason := foreign(search.query, page, tally.member.official)):
        search.finish(tally, Verdict.UNRELATED, reason)
    else:
        tally.pages.append(page)
        tally.rows.extend(page.rows)
    return tally.report is None


def _pages_needed(query: Query, first: Page) -> int:
    return ceil(query.max_results / max(_PAGE_ROWS, len(first.rows)))


def foreign(query: Query, page: Page, official: bool) -> str:
    """Say why a page's rows are somebody else's, or nothing; official engines are believed."""
    corrected = page.extras.get("correction", "")
    if official or not page.rows or not unrelated(f"{query.text} {corrected}", page.rows):
        return ""
    return f"{len(page.rows)} rows kept out: none shares a word with the query"


def _verdict(error: ConsilienceError) -> Verdict:
    return Verdict(error.code) if error.code in _CODES else Verdict.ERROR


_CODES = frozenset(verdict.value for verdict in Verdict) - {Verdict.OK.value}


def _crash(error: Exception) -> str:
    """Name the failure and its place; the text may hold a key or a query, so it stays out."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" at {frames[-1].filename.rpartition('/')[2]}:{frames[-1].lineno}" if frames else ""
    return f"unexpected {type(error).__name__}{place}"


def _answer(query: Query, tallies: Sequence[_Tally]) -> SearchAnswer:
    reports = tuple(tally.report for tally in tallies if tally.report is not None)
    if not any(report.verdict in _ANSWERED for report in reports):
        raise NoAnswerError(reports)
    results, total = merge_best(
        map(_ballot, tallies),
        query.max_results,
        include_domains=query.include_domains,
        exclude_domains=query.exclude_domains,
    )
    pages = [page for tally in tallies for page in tally.pages]
    return SearchAnswer(
        query=query,
        results=results,
        engines=reports,
        total=total,
        next_page=_next_page(query, tallies),
        answers=_extras(pages, "answer"),
        corrections=_extras(pages, "correction"),
        suggestions=_extras(pages, "suggestions"),
    )


def _ballot(tally: _Tally) -> Ballot:
    member = tally.member
    return Ballot(
        engine=member.id, rows=tuple(tally.rows), index=member.index, weight=member.weight
    )


def _next_page(query: Query, tallies: Iterable[_Tally]) -> int | None:
    """The page after the deepest one fetched, if any engine has more."""
    fetched = [tally.pages for tally in tallies if tally.pages]
    if not any(pages[-1].next for pages in fetched):
        return None
    return query.page + max(map(len, fetched))


def _extras(pages: Iterable[Page], name: str) -> tuple[str, ...]:
    """The texts that engines give beside rows, each once, in the order of the engines."""
    found: dict[str, None] = {}
    for page in pages:
        value = page.extras.get(name, ())
        texts = value if isinstance(value, tuple) else (str(value),)
        found.update(dict.fromkeys(text for text in texts if text))
    return tuple(found)


def _reasons(reports: Iterable[EngineReport]) -> Iterator[str]:
    """Say what happened, once for all the engines that it happened to."""
    engines: dict[str, list[str]] = {}
    for report in reports:
        engines.setdefault(_reason(report), []).append(report.id)
    return (f"{', '.join(ids)} {reason}" for reason, ids in engines.items())


def _reason(report: EngineReport) -> str:
    wait = f", retry in {report.retry_after:.0f} s" if report.retry_after is not None else ""
    detail = f": {report.detail}" if report.detail else ""
    return f"{report.verdict}{detail}{wait}"


def _advice(reports: Iterable[EngineReport]) -> str:
    if all(report.verdict is Verdict.PROXY_UNAVAILABLE for report in reports):
        return "check the proxy, which every engine is asked through"
    waits = [(r.retry_after, r.id) for r in reports if r.retry_after is not None]
    if not waits:
        return "name other engines, or allow more time"
    wait, engine = min(waits)
    return f"{engine} is free first, in {wait:.0f} s; name other engines to search now"
