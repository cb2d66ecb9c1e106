"""Key pools against a scripted server: one test a rule."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from framework.types import Page, Verdict
from middlewares.keys import KeyPool, KeyReport, Rotation, with_keys
from middlewares.state import StateDatabase
from tests.support.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

OK = Page(verdict=Verdict.OK)
QUOTA = Page(verdict=Verdict.QUOTA)
BAD_KEY = Page(verdict=Verdict.UNAUTHORISED)
BROKEN = Page(verdict=Verdict.ERROR)
HOUR = 3600.0


def limited(seconds: float | None = None) -> Page:
    return Page(verdict=Verdict.RATE_LIMITED, retry_after=seconds)


@dataclass
class Server:
    """Answers by key; a list is answered from its front, its last entry for ever."""

    script: dict[str, list[Page]]
    asked: list[str] = field(default_factory=list)

    async def __call__(self, keys: Mapping[str, str]) -> Page:
        key = keys.get("main", "")
        self.asked.append(key)
        answers = self.script[key]
        return answers.pop(0) if len(answers) > 1 else answers[0]


@pytest.fixture
def state() -> Iterator[StateDatabase]:
    with StateDatabase() as database:
        yield database


@pytest.fixture
def clock() -> Clock:
    return Clock()


def pool(state: StateDatabase, clock: Clock, *secrets: str, **options: object) -> KeyPool:
    rotation = options.get("rotation", Rotation.LAST_GOOD)
    retire_on = options.get("retire_on", ())
    spans = options.get("spans", {})
    assert isinstance(rotation, Rotation)
    assert isinstance(retire_on, tuple)
    assert isinstance(spans, dict)
    return KeyPool(
        "X_API_KEYS",
        secrets,
        state,
        rotation=rotation,
        retire_on=retire_on,
        spans=spans,
        clock=clock,
    )


async def ask(keys: KeyPool, server: Server, clock: Clock) -> Page:
    return await with_keys({"main": keys}, server, sleep=clock.sleep)


@pytest.mark.parametrize("refusal", [limited(), QUOTA, BAD_KEY])
async def test_a_refused_key_gives_way_to_the_next_within_the_call(
    state: StateDatabase, clock: Clock, refusal: Page
) -> None:
    server = Server({"k1": [refusal], "k2": [OK]})
    keys = pool(state, clock, "k1", "k2")
    assert (await ask(keys, server, clock)).verdict is Verdict.OK
    assert server.asked == ["k1", "k2"]
    assert clock.slept == []


@pytest.mark.parametrize(
    ("refusal", "seconds"),
    [(limited(), 60.0), (limited(7.0), 7.0), (QUOTA, 6 * HOUR), (BAD_KEY, 24 * HOUR)],
)
async def test_how_long_each_refusal_rests_a_key(
    state: StateDatabase, clock: Clock, refusal: Page, seconds: float
) -> None:
    keys = pool(state, clock, "k1", "k2")
    await ask(keys, Server({"k1": [refusal], "k2": [OK]}), clock)
    assert keys.reports()[0] == KeyReport(
        number=1, uses=1, verdict=refusal.verdict, until=clock.now + seconds
    )
    clock.now += seconds
    assert keys.reports()[0].until is None


async def test_the_engines_file_may_state_other_rests(state: StateDatabase, clock: Clock) -> None:
    keys = pool(state, clock, "k1", "k2", spans={Verdict.QUOTA: 60.0, Verdict.RATE_LIMITED: 2.0})
    await ask(keys, Server({"k1": [QUOTA], "k2": [limited(9.0)]}), clock)
    assert [report.until for report in keys.reports()] == [clock.now + 60, clock.now + 9]


async def test_other_errors_burn_no_key(state: StateDatabase, clock: Clock) -> None:
    server = Server({"k1": [BROKEN], "k2": [OK]})
    keys = pool(state, clock, "k1", "k2")
    assert await ask(keys, server, clock) == BROKEN
    assert server.asked == ["k1"]
    assert keys.reports()[0].verdict is None


async def test_a_resting_key_is_not_asked(state: StateDatabase, clock: Clock) -> None:
    server = Server({"k1": [QUOTA], "k2": [OK]})
    keys = pool(state, clock, "k1", "k2")
    await ask(keys, server, clock)
    await ask(keys, server, clock)
    assert server.asked == ["k1", "k2", "k2"]


async def test_last_good_stays_with_the_key_that_worked(state: StateDatabase, clock: Clock) -> None:
    server = Server({"k1": [limited(1.0), OK], "k2": [OK]})
    keys = pool(state, clock, "k1", "k2")
    await ask(keys, server, clock)
    clock.now += 60
    await ask(keys, server, clock)
    assert server.asked == ["k1", "k2", "k2"]


async def test_round_robin_takes_turns(state: StateDatabase, clock: Clock) -> None:
    server = Server({"k1": [OK], "k2": [OK], "k3": [OK]})
    keys = pool(state, clock, "k1", "k2", "k3", rotation=Rotation.ROUND_ROBIN)
    for _ in range(5):
        await ask(keys, server, clock)
    assert server.asked == ["k1", "k2", "k3", "k1", "k2"]


async def test_least_used_evens_out(state: StateDatabase, clock: Clock) -> None:
    for _ in range(3):
        pool(state, clock, "k1").use(1)
    server = Server({"k1": [OK], "k2": [OK]})
    keys = pool(state, clock, "k1", "k2", rotation=Rotation.LEAST_USED)
    for _ in range(4):
        await ask(keys, server, clock)
    assert server.asked == ["k2", "k2", "k2", "k1"]


async def test_a_lone_key_with_a_short_limit_is_waited_for(
    state: StateDatabase, clock: Clock
) -> None:
    server = Server({"k1": [limited(2.5), OK]})
    keys = pool(state, clock, "k1")
    assert (await ask(keys, server, clock)).verdict is Verdict.OK
    assert clock.slept == [2.5]


@pytest.mark.parametrize(
    ("refusal", "waits"),
    [(limited(3.5), []), (limited(), []), (QUOTA, []), (limited(1.0), [1.0])],
)
async def test_but_only_once_and_not_for_long(
    state: StateDatabase, clock: Clock, refusal: Page, waits: list[float]
) -> None:
    server = Server({"k1": [refusal]})
    page = await ask(pool(state, clock, "k1"), server, clock)
    assert page.verdict is refusal.verdict
    assert clock.slept == waits
    assert len(server.asked) == 1 + len(waits)


async def test_several_keys_are_not_waited_for(state: StateDatabase, clock: Clock) -> None:
    server = Server({"k1": [limited(1.0)], "k2": [limited(2.0)]})
    page = await ask(pool(state, clock, "k1", "k2"), server, clock)
    assert clock.slept == []
    assert page.retry_after == 1.0


async def test_an_exhausted_pool_lists_each_reason_by_number_and_never_a_key(
    state: StateDatabase, clock: Clock
) -> None:
    server = Server({"secret-1": [limited(40.0)], "secret-2": [QUOTA], "secret-3": [BAD_KEY]})
    keys = pool(state, clock, "secret-1", "secret-2", "secret-3")
    page = await ask(keys, server, clock)
    assert page.verdict is Verdict.UNAUTHORISED
    assert page.detail == (
        "key 1 rate_limited, free in 40 s; key 2 quota, free in 21600 s; "
        "key 3 unauthorised, free in 86400 s"
    )
    assert page.retry_after == 40.0
    assert "secret" not in f"{page} {keys!r} {keys.reports()}"


async def test_where_all_rest_the_first_to_be_free_is_tried(
    state: StateDatabase, clock: Clock
) -> None:
    server = Server({"k1": [QUOTA], "k2": [limited(40.0), OK]})
    keys = pool(state, clock, "k1", "k2")
    await ask(keys, server, clock)
    assert (await ask(keys, server, clock)).verdict is Verdict.OK
    assert server.asked == ["k1", "k2", "k2"]
    assert keys.reports()[1].until is None


async def test_a_retired_key_is_never_used_again(state: StateDatabase, clock: Clock) -> None:
    server = Server({"k1": [BAD_KEY]})
    keys = pool(state, clock, "k1", retire_on=(Verdict.UNAUTHORISED,))
    await ask(keys, server, clock)
    clock.now += 365 * 24 * HOUR
    page = await ask(keys, server, clock)
    assert (page.verdict, page.detail) == (Verdict.UNAUTHORISED, "key 1 unauthorised, retired")
    assert server.asked == ["k1"]
    assert keys.wait() is None


async def test_an_engine_without_keys_is_asked_without(state: StateDatabase, clock: Clock) -> None:
    server = Server({"": [limited(1.0)]})
    assert await ask(pool(state, clock), server, clock) == limited(1.0)
    assert await with_keys({}, server) == limited(1.0)


async def test_states_survive_a_restart_and_hold_no_key(tmp_path: Path, clock: Clock) -> None:
    path = tmp_path / "state.db"
    with StateDatabase(path) as state:
        keys = pool(state, clock, "very-secret-1", "very-secret-2")
        await ask(keys, Server({"very-secret-1": [QUOTA], "very-secret-2": [OK]}), clock)
    with StateDatabase(path) as state:
        server = Server({"very-secret-2": [OK]})
        await ask(pool(state, clock, "very-secret-1", "very-secret-2"), server, clock)
    assert b"secret" not in path.read_bytes()


async def test_two_pools_rotate_by_themselves(state: StateDatabase, clock: Clock) -> None:
    pools = {
        "one": KeyPool("A", ["a1", "a2"], state, rest_on=[Verdict.QUOTA], clock=clock),
        "two": KeyPool("B", ["b1"], state, rest_on=[Verdict.UNAUTHORISED], clock=clock),
    }
    asked: list[tuple[str, str]] = []

    async def server(keys: Mapping[str, str]) -> Page:
        asked.append((keys["one"], keys["two"]))
        return QUOTA if keys["one"] == "a1" else OK

    assert (await with_keys(pools, server)).verdict is Verdict.OK
    assert asked == [("a1", "b1"), ("a2", "b1")]


async def test_an_answer_ends_no_rest_that_came_while_it_was_under_way(
    state: StateDatabase, clock: Clock
) -> None:
    keys, other = pool(state, clock, "k1", "k2"), pool(state, clock, "k1", "k2")

    async def overtaken(_: Mapping[str, str]) -> Page:
        other.note(1, Verdict.QUOTA)
        return OK

    assert await with_keys({"main": keys}, overtaken) == OK
    assert keys.reports()[0].verdict is Verdict.QUOTA
    assert await ask(keys, Server({"k2": [OK]}), clock) == OK
