"""Retries: what is repeated, when, how often, and through which proxy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from scrapy import Request
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from scrapy.http import Response

from framework.types import Verdict
from middlewares.guard import BlockedAddressError
from middlewares.handlers.failures import BodyTooLargeError, ProxyUnavailableError
from middlewares.retry import ATTEMPTS, Failure, RetryMiddleware, is_repeatable, pause
from tests.support.clock import Clock

if TYPE_CHECKING:
    from framework.types import HttpResponse


@pytest.mark.parametrize(
    ("failure", "method", "safe", "repeated"),
    [
        (Failure(status=503), "GET", False, True),
        (Failure(status=429), "GET", False, True),
        (Failure(status=500), "HEAD", False, True),
        (Failure(status=404), "GET", False, False),
        (Failure(status=501), "GET", False, False),
        (Failure(code="timeout"), "GET", False, True),
        (Failure(code="incomplete_answer"), "GET", False, True),
        (Failure(code="host_not_found"), "GET", False, False),
        (Failure(code="blocked_address"), "GET", False, False),
        (Failure(code="body_too_large"), "GET", False, False),
        (Failure(code=""), "GET", False, False),
        (Failure(status=503), "POST", False, False),
        (Failure(status=503), "POST", True, True),
        (Failure(code="timeout"), "POST", False, False),
        (Failure(code="connection_refused"), "POST", False, True),
        (Failure(code="proxy_unavailable"), "POST", False, True),
    ],
)
def test_what_is_repeated(failure: Failure, method: str, safe: bool, repeated: bool) -> None:
    assert is_repeatable(failure, method, safe=safe) is repeated


@pytest.mark.parametrize(
    ("failure", "attempt", "left", "jitter", "seconds"),
    [
        (Failure(status=503), 1, 10.0, 0.0, 0.25),
        (Failure(status=503), 1, 10.0, 1.0, 0.125),
        (Failure(status=503), 2, 10.0, 0.0, 0.5),
        (Failure(status=503), 3, 10.0, 0.0, None),
        (Failure(status=503), 1, 0.4, 0.0, None),
        (Failure(status=429, retry_after=4.0), 1, 10.0, 0.5, 4.0),
        (Failure(status=429, retry_after=9.9), 1, 10.0, 0.5, None),
        (Failure(code="proxy_unavailable"), 1, 10.0, 0.5, 0.0),
        (Failure(code="proxy_unavailable"), 2, 0.2, 0.5, None),
    ],
)
def test_when_the_next_attempt_is_made(
    failure: Failure, attempt: int, left: float, jitter: float, seconds: float | None
) -> None:
    assert pause(failure, attempt, left, jitter) == seconds


class Says:
    """An engine that has a verdict for every answer."""

    def __init__(self, verdict: Verdict | None) -> None:
        self._verdict = verdict

    def verdict(self, response: HttpResponse) -> Verdict | None:
        return self._verdict


def middleware(clock: Clock) -> RetryMiddleware:
    return RetryMiddleware(clock=clock, sleep=clock.sleep, jitter=lambda: 0.0)


def answer(status: int, **headers: str) -> Response:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Response("https://site.test/", status=status, headers=named)


async def attempts(request: Request, failing: Response | Exception, clock: Clock) -> list[Request]:
    """Let every attempt fail alike; return all requests that were made."""
    retry, made = middleware(clock), [request]
    following: Request | Response | None
    while len(made) < 10:
        retry.process_request(made[-1])
        if isinstance(failing, Response):
            following = await retry.process_response(made[-1], failing)
        else:
            following = await retry.process_exception(made[-1], failing)
        if not isinstance(following, Request):
            break
        made.append(following)
    return made


@pytest.mark.parametrize(
    "failing",
    [
        answer(503),
        DownloadTimeoutError(),
        DownloadConnectionRefusedError(),
        DownloadFailedError(),
        ResponseDataLossError(),
        ProxyUnavailableError(),
    ],
)
async def test_transient_failures_get_three_attempts(failing: Response | Exception) -> None:
    assert len(await attempts(Request("https://site.test/"), failing, Clock())) == ATTEMPTS


@pytest.mark.parametrize(
    "failing",
    [
        answer(200),
        answer(404),
        CannotResolveHostError(),
        DownloadCancelledError(),
        BodyTooLargeError(),
        BlockedAddressError(),
        ValueError(),
    ],
)
async def test_final_ones_get_one(failing: Response | Exception) -> None:
    assert len(await attempts(Request("https://site.test/"), failing, Clock())) == 1


async def test_all_attempts_fit_into_the_callers_deadline() -> None:
    clock = Clock()
    request = Request("https://site.test/", meta={"download_timeout": 0.6})
    made = await attempts(request, answer(503), clock)
    assert clock.slept == [0.25]
    assert [one.meta["download_timeout"] for one in made] == [0.6, pytest.approx(0.35)]


async def test_retry_after_is_obeyed() -> None:
    clock = Clock()
    request = Request("https://site.test/", meta={"download_timeout": 30})
    await attempts(request, answer(429, Retry_After="2"), clock)
    assert clock.slept == [2.0, 2.0]
    made = await attempts(request, answer(503, Retry_After="3600"), Clock())
    assert len(made) == 1


async def test_a_rate_header_of_another_failure_does_not_stop_the_retry() -> None:
    clock = Clock()
    request = Request("https://site.test/", meta={"download_timeout": 30})
    assert len(await attempts(request, answer(502, X_RateLimit_Reset="3600"), clock)) == ATTEMPTS


@pytest.mark.parametrize(("verdict", "made"), [(Verdict.RATE_LIMITED, 1), (None, ATTEMPTS)])
async def test_an_answer_with_a_verdict_is_no_failure(verdict: Verdict | None, made: int) -> None:
    request = Request("https://site.test/", meta={"judge": Says(verdict)})
    assert len(await attempts(request, answer(503), Clock())) == made


async def test_retries_can_be_switched_off_and_post_must_be_declared_safe() -> None:
    off = Request("https://site.test/", meta={"retry": False})
    assert len(await attempts(off, answer(503), Clock())) == 1
    post = Request("https://site.test/", method="POST")
    assert len(await attempts(post, answer(503), Clock())) == 1
    safe = post.replace(meta={"safe": True})
    assert len(await attempts(safe, answer(503), Clock())) == ATTEMPTS


async def test_each_attempt_asks_for_another_proxy() -> None:
    clock = Clock()
    retry = middleware(clock)
    request = Request("https://site.test/", meta={"proxy": "http://a.test:1", "routed": True})
    second = await retry.process_exception(request, ProxyUnavailableError())
    assert second is not None
    assert (second.meta["proxy"], second.meta["tried"]) == (None, ("http://a.test:1",))
    second.meta["proxy"] = "http://b.test:1"
    third = await retry.process_exception(second, ProxyUnavailableError())
    assert third is not None
    assert third.meta["tried"] == ("http://a.test:1", "http://b.test:1")
    assert third.meta["suspects"] == third.meta["tried"]
    assert clock.slept == []


async def test_a_proxy_that_brought_an_answer_is_no_suspect() -> None:
    request = Request("https://site.test/", meta={"proxy": "http://a.test:1", "routed": True})
    second = await middleware(Clock()).process_response(request, answer(503))
    assert isinstance(second, Request)
    assert (second.meta["tried"], second.meta["suspects"]) == (("http://a.test:1",), ())


async def test_a_proxy_that_the_caller_chose_is_kept() -> None:
    request = Request("https://site.test/", meta={"proxy": "http://a.test:1", "routed": False})
    second = await middleware(Clock()).process_exception(request, ProxyUnavailableError())
    assert second is not None
    assert second.meta["proxy"] == "http://a.test:1"
