"""An engine's request by all rules: pace, keys, verdicts, rests; with a scripted server."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from framework.errors import UnavailableError
from framework.spec.compiler import compile_text
from framework.types import Page, Verdict
from middlewares.cooldown import Cooldown
from middlewares.pace import Pace, TooSoonError
from middlewares.policy import EnginePolicy, cooldown_spans, pace_rule
from middlewares.state import StateDatabase
from tests.support.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from framework.spec.compiler import Engine

FILE = """\
schema: 1
id: {id}
name: Paid
kind: web
keys:
  main: {{env: [PAID_API_KEYS, PAID_API_KEY]{more}}}
request:
  url: https://api.paid.test/search
  query: {{q: "{{{{ query }}}}"}}
  headers: {{Authorization: "Bearer {{{{ keys.main }}}}"}}
response:
  format: json
  rows: {{each: "results[]"}}
  fields: {{title: title, url: url}}
limits:
  rate: 1/2s
  concurrency: 2
  cooldown: {{captcha: 30m, rate_limited: 5s}}
"""
ENVIRONMENT = {"PAID_API_KEYS": "secret-1, secret-2", "PAID_API_KEY": "secret-3"}


def engine(name: str = "paid", more: str = "") -> Engine:
    return compile_text(FILE.format(id=name, more=more), f"{name}.yaml")


@dataclass
class Server:
    """Answers in turn, the last one for ever; keeps the keys it was shown."""

    answers: list[Page | UnavailableError]
    keys: list[str] = field(default_factory=list)

    async def __call__(self, keys: Mapping[str, str]) -> Page:
        self.keys.append(keys.get("main", ""))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, UnavailableError):
            raise answer
        return answer


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def policy(clock: Clock) -> Iterator[EnginePolicy]:
    with StateDatabase() as state:
        pace = Pace(clock=clock, sleep=clock.sleep)
        yield EnginePolicy(state, ENVIRONMENT, Cooldown(state, clock), pace, pace, clock.sleep)


def page(verdict: Verdict, **more: float) -> Page:
    return Page(verdict=verdict, retry_after=more.get("retry_after"))


def test_the_file_says_how_an_engine_is_asked() -> None:
    assert cooldown_spans(engine()) == {Verdict.CAPTCHA: 1800.0, Verdict.RATE_LIMITED: 5.0}
    rule = pace_rule(engine(), page_gap=1.0)
    assert (rule.rate, rule.concurrency, rule.page_gap) == ((1, 2.0), 2, 1.0)


async def test_the_pace_is_kept(policy: EnginePolicy, clock: Clock) -> None:
    server = Server([page(Verdict.OK)])
    for _ in range(3):
        await policy.consult(engine(), server, deadline=10.0)
    assert clock.slept == [2.0, 2.0]
    with pytest.raises(UnavailableError) as caught:
        await policy.consult(engine(), server, deadline=1.0)
    assert caught.value.code == "rate_limited"
    assert policy.rest("paid") is None


async def test_each_key_has_the_pace_for_itself(policy: EnginePolicy, clock: Clock) -> None:
    server = Server([page(Verdict.OK)])
    rotating = engine(more=", rotate: round-robin")
    for slept in ([], [], [], [2.0], [2.0], [2.0]):
        await policy.consult(rotating, server, deadline=9.0)
        assert clock.slept == slept
    with pytest.raises(TooSoonError) as caught:
        await policy.consult(rotating, server, deadline=1.0)
    assert caught.value.code == "rate_limited"
    assert caught.value.message == "paid is asked as often as its file allows"
    assert all(report.verdict is None for report in policy.pools(rotating)["main"].reports())


async def test_a_verdict_about_the_engine_rests_it(policy: EnginePolicy) -> None:
    answer = await policy.consult(engine(), Server([page(Verdict.CAPTCHA)]), deadline=9.0)
    assert (answer.verdict, answer.retry_after) == (Verdict.CAPTCHA, 1800.0)
    rest = policy.rest("paid")
    assert rest is not None
    assert rest.verdict is Verdict.CAPTCHA
    assert policy.remaining("paid") == 1800.0
    await policy.consult(engine(), Server([page(Verdict.OK)]), deadline=9.0)
    assert policy.remaining("paid") == 0.0


async def test_a_verdict_about_a_key_rests_the_key_alone(policy: EnginePolicy) -> None:
    server = Server([page(Verdict.QUOTA), page(Verdict.UNAUTHORISED), page(Verdict.OK)])
    answer = await policy.consult(engine(), server, deadline=9.0)
    assert answer.verdict is Verdict.OK
    assert server.keys == ["secret-1", "secret-2", "secret-3"]
    assert policy.rest("paid") is None


async def test_an_exhausted_pool_says_why_without_a_key(policy: EnginePolicy) -> None:
    server = Server([page(Verdict.RATE_LIMITED)])
    answer = await policy.consult(engine(), server, deadline=9.0)
    assert answer.detail.count("rate_limited, free in") == 3
    assert policy.rest("paid") is None
    assert policy.cooldown.history("paid") == {Verdict.RATE_LIMITED: 1}
    assert "secret" not in f"{answer} {policy!r}"


async def test_engines_that_share_a_key_share_its_rests(policy: EnginePolicy) -> None:
    server = Server([page(Verdict.QUOTA), page(Verdict.OK)])
    await policy.consult(engine(), server, deadline=9.0)
    other = Server([page(Verdict.OK)])
    await policy.consult(engine("paid-news"), other, deadline=9.0)
    assert other.keys == ["secret-2"]


async def test_the_file_chooses_the_rotation(policy: EnginePolicy, clock: Clock) -> None:
    server = Server([page(Verdict.OK)])
    rotating = engine(more=", rotate: round-robin")
    for _ in range(4):
        await policy.consult(rotating, server, deadline=9.0)
    assert server.keys == ["secret-1", "secret-2", "secret-3", "secret-1"]


async def test_a_failure_is_noted_and_passed_on(policy: EnginePolicy) -> None:
    failure = UnavailableError("hung up", code="proxy_unavailable")
    with pytest.raises(UnavailableError, match="hung up"):
        await policy.consult(engine(), Server([failure]), deadline=9.0)
    with pytest.raises(UnavailableError):
        await policy.consult(
            engine(), Server([UnavailableError("x", code="render_failed")]), deadline=9.0
        )
    assert policy.cooldown.history("paid") == {Verdict.PROXY_UNAVAILABLE: 1, Verdict.ERROR: 1}
    assert policy.rest("paid") is None


async def test_engines_of_one_host_share_its_places(policy: EnginePolicy, clock: Clock) -> None:
    most = running = 0
    gate = asyncio.Event()

    async def attempt(keys: Mapping[str, str]) -> Page:
        nonlocal most, running
        running += 1
        most = max(most, running)
        if running == 16:
            gate.set()
        await gate.wait()
        running -= 1
        return page(Verdict.OK)

    engines = [engine(f"paid-{number}") for number in range(20)]
    await asyncio.gather(*(policy.consult(one, attempt, deadline=9.0) for one in engines))
    assert most == 16


async def test_pages_of_one_host_keep_its_pace(policy: EnginePolicy, clock: Clock) -> None:
    for _ in range(12):
        async with policy.page_turn("https://site.test/a", deadline=9.0):
            pass
    assert clock.slept == [pytest.approx(0.1)] * 2
    async with policy.page_turn("https://other.test/a", deadline=0.0) as waited:
        assert waited == 0.0


async def test_recordings_know_no_rules(clock: Clock) -> None:
    with StateDatabase() as state:
        policy = EnginePolicy.create(state, ENVIRONMENT, enabled=False)
        server = Server([page(Verdict.CAPTCHA)])
        for _ in range(3):
            await policy.consult(engine(), server, deadline=0.0)
        assert server.keys == ["secret-1"] * 3
        assert policy.rest("paid") is None
        assert policy.remaining("paid") == 0.0
        assert policy.cooldown.history("paid") == {}


async def test_an_answer_ends_no_rest_that_came_while_it_was_under_way(
    policy: EnginePolicy,
) -> None:
    free = compile_text(FILE.format(id="free", more=", optional: true"), "free.yaml")
    policy.environ = {}

    async def overtaken(keys: Mapping[str, str]) -> Page:
        policy.cooldown.note("free", Verdict.CAPTCHA)
        return page(Verdict.OK)

    await policy.consult(free, overtaken, deadline=9.0)
    rest = policy.rest("free")
    assert rest is not None
    assert rest.verdict is Verdict.CAPTCHA
    # One that was asked although the engine rested proves that it is free again.
    await policy.consult(free, Server([page(Verdict.OK)]), deadline=9.0)
    assert policy.rest("free") is None
