"""Pace: rates, gaps and places."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import UnavailableError
from middlewares.pace import MemoryLedger, Pace, PaceRule, StateLedger, due_after
from middlewares.state import StateDatabase
from tests.support.clock import Clock

if TYPE_CHECKING:
    from middlewares.pace import Ledger


async def waits(
    rule: PaceRule, count: int, *, ledger: Ledger | None = None, is_page: bool = False
) -> list[float]:
    clock = Clock()
    pace = Pace(ledger, clock=clock, sleep=clock.sleep)
    found = []
    for _ in range(count):
        async with pace.turn("a", rule, longest=100.0, is_page=is_page) as waited:
            found.append(waited)
    return found


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        (PaceRule(), [0, 0, 0]),
        (PaceRule(rate=(1, 2.0)), [0, 2, 2]),
        (PaceRule(rate=(2, 4.0)), [0, 0, 2, 2]),
        (PaceRule(search_gap=1.5), [0, 1.5, 1.5]),
        (PaceRule(page_gap=9.0), [0, 0, 0]),
        (PaceRule(rate=(1, 1.0), search_gap=3.0), [0, 3, 3]),
    ],
)
async def test_requests_wait_for_their_turn(rule: PaceRule, expected: list[float]) -> None:
    assert await waits(rule, len(expected)) == expected


async def test_pages_have_their_own_gap() -> None:
    assert await waits(PaceRule(page_gap=0.5), 3, is_page=True) == [0, 0.5, 0.5]


async def test_a_pause_refills_the_burst_but_no_more() -> None:
    clock = Clock()
    pace = Pace(clock=clock, sleep=clock.sleep)
    rule = PaceRule(rate=(2, 4.0))
    for _ in range(2):
        async with pace.turn("a", rule, longest=0.0):
            pass
    clock.now += 1000
    for expected in (0.0, 0.0, 2.0):
        async with pace.turn("a", rule, longest=9.0) as waited:
            assert waited == expected


async def test_subjects_do_not_wait_for_each_other() -> None:
    clock = Clock()
    pace = Pace(clock=clock, sleep=clock.sleep)
    for subject in "abc":
        async with pace.turn(subject, PaceRule(rate=(1, 60.0)), longest=0.0) as waited:
            assert waited == 0


async def test_a_wait_beyond_the_deadline_is_refused_at_once_and_takes_no_turn() -> None:
    clock = Clock()
    pace = Pace(clock=clock, sleep=clock.sleep)
    rule = PaceRule(rate=(1, 10.0))
    async with pace.turn("a", rule, longest=1.0):
        pass
    for _ in range(3):
        with pytest.raises(UnavailableError) as caught:
            async with pace.turn("a", rule, longest=1.0):
                pass
        assert (caught.value.code, caught.value.retry_after) == ("rate_limited", 10.0)
    assert clock.slept == []
    async with pace.turn("a", rule, longest=10.0) as waited:
        assert waited == 10.0


async def test_the_state_database_holds_the_pace_for_all_processes() -> None:
    with StateDatabase() as state:
        ledger = StateLedger(state)
        assert await waits(PaceRule(rate=(1, 2.0)), 3, ledger=ledger) == [0, 2, 2]
        assert StateLedger(state).reserve("a", 0.0, 2.0, 0.0, 1e9) > 0


@given(
    st.lists(st.tuples(st.floats(0, 5), st.floats(0, 4)), max_size=15),
    st.integers(1, 4),
    st.floats(0.5, 5),
)
def test_both_ledgers_say_the_same(
    requests: list[tuple[float, float]], count: int, span: float
) -> None:
    interval = span / count
    with StateDatabase() as state:
        memory, shared, now = MemoryLedger(), StateLedger(state), 1000.0
        for pause, longest in requests:
            now += pause
            bucket = (now, interval, span - interval, longest)
            assert memory.reserve("a", *bucket) == pytest.approx(shared.reserve("a", *bucket))


async def test_at_most_so_many_at_once() -> None:
    pace = Pace()
    running, most = 0, 0
    gate = asyncio.Event()

    async def one() -> None:
        nonlocal running, most
        async with pace.turn("a", PaceRule(concurrency=2), longest=1.0):
            running += 1
            most = max(most, running)
            if running == 2:
                gate.set()
            await gate.wait()
            running -= 1

    await asyncio.gather(*(one() for _ in range(6)))
    assert (most, running) == (2, 0)


async def test_a_cancelled_request_gives_its_place_back() -> None:
    pace = Pace()
    rule = PaceRule(concurrency=1)
    inside = asyncio.Event()

    async def hold() -> None:
        async with pace.turn("a", rule, longest=1.0):
            inside.set()
            await asyncio.Event().wait()

    task = asyncio.create_task(hold())
    await inside.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    async with pace.turn("a", rule, longest=1.0):
        pass


def test_memory_forgets_idle_subjects() -> None:
    ledger = MemoryLedger()
    for number in range(5000):
        ledger.reserve(str(number), 0.0, 1.0, 0.0, 0.0)
    assert ledger.reserve("0", 0.0, 1.0, 0.0, 9.0) == 0.0
    assert ledger.reserve("4999", 0.0, 1.0, 0.0, 9.0) == 1.0


@given(
    st.lists(st.floats(0, 10), min_size=1, max_size=40),
    st.integers(1, 5),
    st.floats(0.1, 10),
)
def test_never_more_than_the_rate_in_any_window(
    pauses: list[float], count: int, span: float
) -> None:
    interval, due, now, sent = span / count, 0.0, 1000.0, list[float]()
    for pause in pauses:
        now += pause
        wait, due = due_after(due, now, interval, span - interval)
        sent.append(now + wait)
        now += wait
    # over any stretch the bucket lets through its burst and then its rate
    for first in range(len(sent)):
        for last in range(first, len(sent)):
            allowed = count + (sent[last] - sent[first]) / interval + 1e-6
            assert last - first + 1 <= allowed
