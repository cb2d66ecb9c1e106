"""A crawl's questions by the rules of the service, with a scripted engine and clock."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest
from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from framework.types import Page, Verdict
from middlewares.cooldown import Cooldown
from middlewares.crawl import CONCURRENCY, PolicyMiddleware
from middlewares.pace import Pace, StateLedger
from middlewares.policy import EnginePolicy
from middlewares.state import StateDatabase
from tests.support.clock import Clock
from tests.support.engines import PLAIN, engine

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Mapping

    from framework.spec.compiler import Engine

OK = Page(verdict=Verdict.OK)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def policy(clock: Clock) -> Iterator[EnginePolicy]:
    with StateDatabase() as state:
        pace = Pace(StateLedger(state), clock=clock, sleep=clock.sleep)
        yield EnginePolicy(state, {}, Cooldown(state, clock), pace, sleep=clock.sleep)


@pytest.fixture
def rules(policy: EnginePolicy, clock: Clock) -> PolicyMiddleware:
    return PolicyMiddleware(lambda: policy, sleep=clock.sleep)


def question(
    answer: Page | Callable[[], Awaitable[Page]] = OK, of: Engine | None = None, **meta: Any
) -> Request:
    async def ask(keys: Mapping[str, str]) -> Page:
        return answer if isinstance(answer, Page) else await answer()

    return Request("engine://plain/", meta={"engine": of or engine(), "ask": ask, **meta})


async def asked(rules: PolicyMiddleware, request: Request) -> Page:
    assert await rules.process_request(request) is not None
    page = request.meta["page"]
    assert isinstance(page, Page)
    return page


async def test_other_requests_pass(rules: PolicyMiddleware) -> None:
    request = Request("https://plain.example/", meta={"attempt": 2})
    assert await rules.process_request(request) is None
    assert request.meta == {"attempt": 2}


async def test_the_page_comes_with_the_request(rules: PolicyMiddleware) -> None:
    assert await asked(rules, question()) is OK


async def test_a_long_rest_is_told_and_nothing_asked(
    rules: PolicyMiddleware, policy: EnginePolicy, clock: Clock
) -> None:
    policy.cooldown.note("plain", Verdict.CAPTCHA)
    page = await asked(rules, question())
    assert page == Page(verdict=Verdict.RESTING, detail="rests after captcha", retry_after=3600.0)
    assert clock.slept == []


async def test_a_rest_that_ends_within_the_engines_time_is_waited_for(
    rules: PolicyMiddleware, policy: EnginePolicy, clock: Clock
) -> None:
    policy.cooldown.note("plain", Verdict.RATE_LIMITED, retry_after=4.5)
    assert await asked(rules, question()) is OK
    assert clock.slept == [4.5]


async def test_a_captcha_rests_the_engine_for_the_questions_after_it(
    rules: PolicyMiddleware,
) -> None:
    page = await asked(rules, question(Page(verdict=Verdict.CAPTCHA)))
    assert (page.verdict, page.retry_after) == (Verdict.CAPTCHA, 3600.0)
    assert (await asked(rules, question())).verdict is Verdict.RESTING


async def test_questions_keep_the_files_pace_however_long_it_takes(
    rules: PolicyMiddleware, clock: Clock
) -> None:
    slow = engine(PLAIN.replace("timeout: 5s", "timeout: 5s, rate: 1/60s"))
    for _ in range(4):
        assert await asked(rules, question(of=slow)) is OK
    assert clock.slept == [60.0] * 3


@pytest.mark.parametrize(("stated", "most"), [("", CONCURRENCY), (", concurrency: 2", 2)])
async def test_no_more_questions_at_once_than_the_file_allows(
    rules: PolicyMiddleware, stated: str, most: int
) -> None:
    one = engine(PLAIN.replace("timeout: 5s", f"timeout: 5s{stated}"))
    going, peak, gate = 0, 0, asyncio.Event()

    async def answer() -> Page:
        nonlocal going, peak
        going += 1
        peak = max(peak, going)
        if going == most:
            gate.set()
        await gate.wait()
        going -= 1
        return OK

    pages = await asyncio.gather(*(asked(rules, question(answer, one)) for _ in range(12)))
    assert pages == [OK] * 12
    assert peak == most


async def test_a_crawl_that_ends_asks_nothing_more(policy: EnginePolicy) -> None:
    rules = PolicyMiddleware(lambda: policy, going=lambda: False)
    request = question()
    with pytest.raises(IgnoreRequest, match="the crawl ends"):
        await rules.process_request(request)
    assert "page" not in request.meta


async def test_the_operators_gaps_are_kept_between_searches_and_between_pages(
    rules: PolicyMiddleware, policy: EnginePolicy, clock: Clock
) -> None:
    policy.search_gap, policy.page_gap = 30.0, 5.0
    for is_page in (False, True, True, False):
        assert await asked(rules, question(is_page=is_page)) is OK
    assert clock.slept == [5.0, 25.0]


async def test_a_failure_is_noted_and_raised(rules: PolicyMiddleware) -> None:
    async def crash() -> Page:
        raise RuntimeError("a bug")

    with pytest.raises(RuntimeError, match="a bug"):
        await rules.process_request(question(crash))


async def test_without_a_question_no_state_is_opened() -> None:
    def opened() -> EnginePolicy:
        raise AssertionError

    rules = PolicyMiddleware(opened)
    assert await rules.process_request(Request("https://plain.example/")) is None
    rules.close()
