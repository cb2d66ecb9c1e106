"""Rests: which verdict brings which, who says how long, and what survives a restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.types import Verdict
from middlewares.cooldown import LONGEST_REST, Cooldown, Rest, rest_for
from middlewares.state import StateDatabase
from tests.support.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOUR = 3600.0


@pytest.fixture
def state() -> Iterator[StateDatabase]:
    with StateDatabase() as database:
        yield database


@pytest.mark.parametrize(
    ("verdict", "said", "own", "seconds"),
    [
        (Verdict.CAPTCHA, None, None, HOUR),
        (Verdict.CAPTCHA, None, 1800.0, 1800.0),
        (Verdict.CAPTCHA, 5.0, None, HOUR),
        (Verdict.BLOCKED, None, None, 900.0),
        (Verdict.RATE_LIMITED, None, None, 60.0),
        (Verdict.RATE_LIMITED, 5.0, 30.0, 5.0),
        (Verdict.RATE_LIMITED, None, 2.0, 2.0),
        (Verdict.RATE_LIMITED, 1e9, None, LONGEST_REST),
        (Verdict.QUOTA, None, None, 6 * HOUR),
        (Verdict.UNAUTHORISED, None, None, 24 * HOUR),
        (Verdict.UNRELATED, None, None, 600.0),
        (Verdict.CHANGED, None, None, 0.0),
        (Verdict.CHANGED, None, 60.0, 60.0),
        (Verdict.TIMEOUT, None, None, 0.0),
        (Verdict.ERROR, 5.0, None, 0.0),
        (Verdict.PROXY_UNAVAILABLE, None, None, 0.0),
    ],
)
def test_how_long_a_verdict_rests(
    verdict: Verdict, said: float | None, own: float | None, seconds: float
) -> None:
    spans = {verdict: own} if own is not None else None
    assert rest_for(verdict, retry_after=said, spans=spans) == seconds


def test_a_rest_ends_by_itself(state: StateDatabase) -> None:
    clock = Clock()
    cooldown = Cooldown(state, clock)
    rest = cooldown.note("bing", Verdict.CAPTCHA, reason="turnstile")
    assert rest == Rest(
        subject="bing", verdict=Verdict.CAPTCHA, until=clock.now + HOUR, reason="turnstile"
    )
    clock.now += HOUR - 1
    assert cooldown.remaining("bing") == 1.0
    clock.now += 1
    assert cooldown.resting("bing") is None
    assert cooldown.remaining("bing") == 0.0


def test_a_rest_is_not_shortened_but_ended_by_an_answer(state: StateDatabase) -> None:
    cooldown = Cooldown(state, Clock())
    cooldown.note("bing", Verdict.CAPTCHA)
    cooldown.note("bing", Verdict.RATE_LIMITED)
    assert cooldown.remaining("bing") == HOUR
    cooldown.note("bing", Verdict.OK)
    assert cooldown.remaining("bing") == 0.0
    assert cooldown.note("bing", Verdict.TIMEOUT) is None


def test_rests_survive_a_restart_and_hold_for_other_processes(tmp_path: Path) -> None:
    clock = Clock()
    with StateDatabase(tmp_path / "s.db") as one, StateDatabase(tmp_path / "s.db") as other:
        Cooldown(one, clock).note("bing", Verdict.CAPTCHA)
        assert Cooldown(other, clock).remaining("bing") == HOUR
    with StateDatabase(tmp_path / "s.db") as later:
        assert [rest.subject for rest in Cooldown(later, clock).all()] == ["bing"]


def test_another_processs_rests_are_seen_within_a_moment(tmp_path: Path) -> None:
    clock = Clock()
    with StateDatabase(tmp_path / "s.db") as one, StateDatabase(tmp_path / "s.db") as other:
        mine, theirs = Cooldown(one, clock), Cooldown(other, clock)
        assert mine.remaining("bing") == 0.0
        theirs.note("bing", Verdict.CAPTCHA)
        clock.now += 0.25
        assert mine.remaining("bing") == pytest.approx(HOUR - 0.25)
        mine.note("bing", Verdict.OK)
        clock.now += 0.25
        assert theirs.remaining("bing") == 0.0


def test_the_history_is_written_in_batches_and_at_the_end(tmp_path: Path) -> None:
    clock = Clock()
    with StateDatabase(tmp_path / "s.db") as one:
        cooldown = Cooldown(one, clock)
        for _ in range(70):
            cooldown.note("a", Verdict.OK)
        with StateDatabase(tmp_path / "s.db") as other:
            assert Cooldown(other, clock).history("a") == {Verdict.OK: 64}
    with StateDatabase(tmp_path / "s.db") as later:
        assert Cooldown(later, clock).history("a") == {Verdict.OK: 70}


def test_all_lists_the_first_to_end_first(state: StateDatabase) -> None:
    cooldown = Cooldown(state, Clock())
    cooldown.note("a", Verdict.CAPTCHA)
    cooldown.note("b", Verdict.RATE_LIMITED)
    assert [rest.subject for rest in cooldown.all()] == ["b", "a"]


def test_verdicts_are_counted_for_a_week(state: StateDatabase) -> None:
    clock = Clock()
    cooldown = Cooldown(state, clock)
    cooldown.note("a", Verdict.OK)
    clock.now += 24 * HOUR
    cooldown.note("a", Verdict.OK)
    cooldown.note("a", Verdict.TIMEOUT)
    assert cooldown.history("a") == {Verdict.OK: 2, Verdict.TIMEOUT: 1}
    assert cooldown.history("a", 1) == {Verdict.OK: 1, Verdict.TIMEOUT: 1}
    assert cooldown.history("b") == {}
    hour = clock.now // HOUR * HOUR
    assert sorted(cooldown.hourly()) == [
        ("a", hour - 24 * HOUR, Verdict.OK, 1),
        ("a", hour, Verdict.OK, 1),
        ("a", hour, Verdict.TIMEOUT, 1),
    ]
    clock.now += 7 * 24 * HOUR
    assert cooldown.history("a") == {Verdict.OK: 1, Verdict.TIMEOUT: 1}
    clock.now += HOUR
    assert cooldown.history("a") == {}


def test_a_busy_week_takes_no_more_room_than_a_quiet_one(state: StateDatabase) -> None:
    def rows(answers: int) -> int:
        clock = Clock()
        cooldown = Cooldown(state, clock)
        for _ in range(15 * 24):
            for _ in range(answers):
                cooldown.note("a", Verdict.OK)
            clock.now += HOUR
        assert sum(cooldown.history("a").values()) == 7 * 24 * answers
        count: int = state.execute("SELECT count(*) FROM answers").fetchone()[0]
        state.execute("DELETE FROM answers")
        return count

    assert rows(100) <= rows(1) <= 7 * 24 + 2


def test_workers_count_in_one_history(tmp_path: Path) -> None:
    clock = Clock()
    path = tmp_path / "s.db"
    with StateDatabase(path) as one, StateDatabase(path) as other:
        mine, theirs = Cooldown(one, clock), Cooldown(other, clock)
        for _ in range(3):
            mine.note("a", Verdict.OK)
            theirs.note("a", Verdict.OK)
        theirs.history("a")
        assert mine.history("a") == {Verdict.OK: 6}
