"""The fan-out: one deadline, partial results, a report for every engine."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

import pytest

from framework.errors import ConsilienceError, InvalidInputError
from framework.merge.search import Member, NoAnswerError, fan_out
from framework.types import EngineReport, Next, Page, Query, Row, Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

QUERY = Query(text="tides")


def hits(*names: str, first: int = 1, following: int | None = None) -> Page:
    rows = tuple(
        Row(title=f"tides {name}", url=f"https://site.test/{name}", rank=rank)
        for rank, name in enumerate(names, first)
    )
    return Page(
        verdict=Verdict.OK,
        rows=rows,
        next=Next(page=following) if following else None,
    )


class Panel:
    """Engines as functions, and what they were asked."""

    def __init__(self, **engines: Callable[[Query, Next | None], Awaitable[Page]]) -> None:
        self.engines = engines
        self.asked: list[tuple[str, int | None]] = []
        self.cancelled: list[str] = []
        self.all_asked = asyncio.Event()

    @property
    def members(self) -> list[Member]:
        return [Member(id=name) for name in self.engines]

    async def ask(self, member: Member, query: Query, after: Next | None) -> Page:
        self.asked.append((member.id, after.page if after else None))
        if len(self.asked) == len(self.engines):
            self.all_asked.set()
        try:
            return await self.engines[member.id](query, after)
        except asyncio.CancelledError:
            self.cancelled.append(member.id)
            raise


def gives(page: Page) -> Callable[[Query, Next | None], Awaitable[Page]]:
    async def engine(query: Query, after: Next | None) -> Page:
        return page

    return engine


def fails(error: Exception) -> Callable[[Query, Next | None], Awaitable[Page]]:
    async def engine(query: Query, after: Next | None) -> Page:
        raise error

    return engine


async def hangs(query: Query, after: Next | None) -> Page:
    await asyncio.Event().wait()
    raise AssertionError


def verdicts(reports: tuple[EngineReport, ...]) -> dict[str, Verdict]:
    return {report.id: report.verdict for report in reports}


async def test_one_hangs_one_crashes_and_the_others_rows_arrive() -> None:
    panel = Panel(
        a=gives(hits("x")), hanging=hangs, crashing=fails(KeyError("secret")), b=gives(hits("x"))
    )
    answer = await fan_out(panel.members, QUERY, panel.ask, deadline=0.05)
    assert [(result.title, result.score) for result in answer.results] == [("tides x", 4.0)]
    assert verdicts(answer.engines) == {
        "a": Verdict.OK,
        "hanging": Verdict.TIMEOUT,
        "crashing": Verdict.ERROR,
        "b": Verdict.OK,
    }
    assert "KeyError at test_search.py:" in answer.engines[2].detail
    assert "secret" not in answer.engines[2].detail
    assert panel.cancelled == ["hanging"]


@pytest.mark.parametrize(
    ("error", "verdict", "retry_after"),
    [
        (ConsilienceError("c", code="captcha", retry_after=60.0), Verdict.CAPTCHA, 60.0),
        (ConsilienceError("p", code="proxy_unavailable"), Verdict.PROXY_UNAVAILABLE, None),
        (ConsilienceError("o", code="something_else"), Verdict.ERROR, None),
        (ConsilienceError("o", code="ok"), Verdict.ERROR, None),
        (TimeoutError(), Verdict.TIMEOUT, None),
    ],
)
async def test_an_error_becomes_its_verdict(
    error: Exception, verdict: Verdict, retry_after: float | None
) -> None:
    panel = Panel(a=fails(error), b=gives(hits("x")))
    answer = await fan_out(panel.members, QUERY, panel.ask, deadline=5)
    assert (answer.engines[0].verdict, answer.engines[0].retry_after) == (verdict, retry_after)


async def test_all_failing_names_each_reason_and_when_to_retry() -> None:
    limited = Page(verdict=Verdict.RATE_LIMITED, detail="429", retry_after=30.0)
    panel = Panel(a=gives(limited), b=hangs, c=fails(ConsilienceError("x", code="captcha")))
    with pytest.raises(NoAnswerError) as caught:
        await fan_out(panel.members, QUERY, panel.ask, deadline=0.05)
    text = str(caught.value)
    assert "a rate_limited: 429, retry in 30 s; b timeout" in text
    assert "c captcha: x" in text
    assert "a is free first, in 30 s" in text
    assert (caught.value.code, caught.value.retry_after) == ("unavailable", 30.0)
    assert caught.value.retryable


async def test_what_stops_all_engines_is_said_once() -> None:
    dead = ConsilienceError("the proxy is gone", code="proxy_unavailable", retry_after=5.0)
    panel = Panel(a=fails(dead), b=gives(Page(verdict=Verdict.CAPTCHA)), c=fails(dead))
    with pytest.raises(NoAnswerError) as caught:
        await fan_out(panel.members, QUERY, panel.ask, deadline=5)
    text = str(caught.value)
    assert "(a, c proxy_unavailable: the proxy is gone, retry in 5 s; b captcha)" in text
    assert "name other engines" in text


async def test_without_a_proxy_no_other_engine_is_advised() -> None:
    dead = ConsilienceError("the proxy is gone", code="proxy_unavailable", retry_after=5.0)
    panel = Panel(a=fails(dead), b=fails(dead))
    with pytest.raises(NoAnswerError, match="check the proxy") as caught:
        await fan_out(panel.members, QUERY, panel.ask, deadline=5)
    assert "other engines" not in str(caught.value)


async def test_all_failing_alike_keeps_the_code() -> None:
    panel = Panel(a=fails(ConsilienceError("dead", code="proxy_unavailable")))
    with pytest.raises(NoAnswerError) as caught:
        await fan_out(panel.members, QUERY, panel.ask, deadline=5)
    assert caught.value.code == "proxy_unavailable"
    with pytest.raises(NoAnswerError) as caught:
        await fan_out([Member(id="a", disabled="no key")], QUERY, panel.ask, deadline=5)
    assert not caught.value.retryable


async def test_no_results_is_an_answer() -> None:
    panel = Panel(a=gives(Page(verdict=Verdict.EMPTY)), b=hangs)
    answer = await fan_out(panel.members, QUERY, panel.ask, deadline=0.05)
    assert answer.results == ()
    assert answer.next_page is None


async def test_without_engines_the_input_is_wrong() -> None:
    with pytest.raises(InvalidInputError, match="no engine"):
        await fan_out([], QUERY, Panel().ask, deadline=1)


async def test_strangers_rows_are_kept_out_and_counted() -> None:
    strangers = Page(verdict=Verdict.OK, rows=(Row(title="cake", url="https://cook.test/"),))
    panel = Panel(a=gives(strangers), b=gives(hits("x")))
    answer = await fan_out(panel.members, QUERY, panel.ask, deadline=5)
    assert [result.title for result in answer.results] == ["tides x"]
    assert answer.engines[0].verdict is Verdict.UNRELATED
    assert answer.engines[0].detail.startswith("1 rows kept out")
    official = [Member(id="a", official=True), Member(id="b")]
    for members, guard in ((official, True), (panel.members, False)):
        answer = await fan_out(members, QUERY, panel.ask, deadline=5, guard=guard)
        assert answer.total == 2


async def test_a_corrected_query_is_no_stranger() -> None:
    row = Row(title="cake", url="https://cook.test/")
    page = Page(verdict=Verdict.OK, rows=(row,), extras={"correction": "cake"})
    panel = Panel(a=gives(page))
    answer = await fan_out(panel.members, Query(text="kuchn"), panel.ask, deadline=5)
    assert answer.corrections == ("cake",)
    assert answer.total == 1


def paged(pages: int) -> Callable[[Query, Next | None], Awaitable[Page]]:
    async def engine(query: Query, after: Next | None) -> Page:
        page = after.page if after else query.page
        names = [f"{page}-{n}" for n in range(10)]
        return hits(*names, first=page * 10 - 9, following=page + 1 if page < pages else None)

    return engine


@pytest.mark.parametrize(
    ("wanted", "pages", "asked", "next_page"),
    [(10, 5, 1, 2), (11, 5, 2, 3), (30, 5, 3, 4), (50, 2, 2, None)],
)
async def test_further_pages_are_fetched_when_needed(
    wanted: int, pages: int, asked: int, next_page: int | None
) -> None:
    panel = Panel(a=paged(pages))
    query = Query(text="tides", max_results=wanted)
    answer = await fan_out(panel.members, query, panel.ask, deadline=5)
    assert [page for _, page in panel.asked] == [None, *range(2, asked + 1)]
    assert len(answer.results) == min(wanted, asked * 10)
    assert answer.next_page == next_page
    assert answer.engines[0].rows == asked * 10


@pytest.mark.parametrize("second", [hangs, fails(ConsilienceError("c", code="captcha"))])
async def test_a_failing_later_page_never_loses_an_earlier_one(
    second: Callable[[Query, Next | None], Awaitable[Page]],
) -> None:
    async def engine(query: Query, after: Next | None) -> Page:
        return await second(query, after) if after else hits("x", following=2)

    panel = Panel(a=engine)
    query = Query(text="tides", max_results=20)
    answer = await fan_out(panel.members, query, panel.ask, deadline=0.05)
    assert len(answer.results) == 1
    assert answer.engines[0].verdict is Verdict.OK
    assert answer.engines[0].detail.startswith("page 2: ")


async def test_engines_are_heard_of_as_they_answer() -> None:
    gate = asyncio.Event()

    async def late(query: Query, after: Next | None) -> Page:
        await gate.wait()
        return hits("y")

    heard: list[tuple[str, int]] = []

    def on_report(report: EngineReport, rows: tuple[Row, ...]) -> None:
        heard.append((report.id, len(rows)))
        gate.set()

    panel = Panel(late=late, early=gives(hits("x")))
    await fan_out(panel.members, QUERY, panel.ask, deadline=5, on_report=on_report)
    assert heard == [("early", 1), ("late", 1)]


async def test_resting_and_disabled_engines_are_skipped_and_reported() -> None:
    panel = Panel(free=gives(hits("x")), tired=hangs, keyless=hangs)
    members = [
        Member(id="free"),
        Member(id="tired", rest=90.0, rest_reason="captcha"),
        Member(id="keyless", disabled="no key in X_API_KEY"),
    ]
    clock = itertools.count(100.0).__next__
    answer = await fan_out(members, QUERY, panel.ask, deadline=60, clock=clock)
    assert panel.asked == [("free", None)]
    assert answer.engines[1] == EngineReport(
        id="tired", verdict=Verdict.RESTING, retry_after=90.0, detail="captcha"
    )
    assert answer.engines[2] == EngineReport(
        id="keyless", verdict=Verdict.DISABLED, detail="no key in X_API_KEY"
    )


async def test_where_all_rest_the_first_to_be_free_is_asked_within_the_deadline() -> None:
    panel = Panel(a=gives(hits("x")), b=gives(hits("y")))
    members = [Member(id="a", rest=60.0), Member(id="b", rest=0.01)]
    answer = await fan_out(members, QUERY, panel.ask, deadline=5)
    assert [result.title for result in answer.results] == ["tides y"]
    with pytest.raises(NoAnswerError) as caught:
        await fan_out(members[:1], QUERY, panel.ask, deadline=5)
    assert (caught.value.code, caught.value.retry_after) == ("resting", 60.0)


async def test_elapsed_time_is_the_given_clocks() -> None:
    ticks = iter([100.0, 100.0, 100.25])
    panel = Panel(a=gives(hits("x")))
    answer = await fan_out(panel.members, QUERY, panel.ask, deadline=5, clock=lambda: next(ticks))
    assert answer.engines[0].elapsed_ms == 250


async def test_cancelling_the_search_cancels_every_engine() -> None:
    panel = Panel(a=hangs, b=hangs)
    search = asyncio.create_task(fan_out(panel.members, QUERY, panel.ask, deadline=60))
    await panel.all_asked.wait()
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    assert sorted(panel.cancelled) == ["a", "b"]


async def test_an_engine_that_resists_cancelling_does_not_hold_the_answer_up() -> None:
    release = asyncio.Event()

    async def stubborn(query: Query, after: Next | None) -> Page:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return hits("late")

    panel = Panel(a=stubborn, b=gives(hits("x")))
    answer = await fan_out(panel.members, QUERY, panel.ask, deadline=0.02)
    assert [result.title for result in answer.results] == ["tides x"]
    release.set()
    rest = asyncio.all_tasks() - {asyncio.current_task()}
    await asyncio.gather(*rest)
    assert answer.engines[0].rows == 0


async def test_extras_of_all_engines_are_collected_once() -> None:
    def page(**extras: str | tuple[str, ...]) -> Page:
        return Page(verdict=Verdict.OK, rows=hits("x").rows, extras=extras)

    panel = Panel(
        a=gives(page(answer="42", suggestions=("tides today", "tide table"))),
        b=gives(page(answer="42", suggestions=("tide table",))),
    )
    answer = await fan_out(panel.members, QUERY, panel.ask, deadline=5)
    assert answer.answers == ("42",)
    assert answer.suggestions == ("tides today", "tide table")


async def test_domains_are_filtered_whatever_the_engine_does() -> None:
    panel = Panel(a=gives(hits("x")))
    query = Query(text="tides", exclude_domains=("site.test",))
    answer = await fan_out(panel.members, query, panel.ask, deadline=5)
    assert (answer.results, answer.engines[0].rows) == ((), 1)
