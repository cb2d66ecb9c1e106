"""Retries: a transient failure is tried again, through another proxy, within the deadline."""

from __future__ import annotations

import asyncio
import random
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from framework.waits import DEFAULT_HEADERS, retry_after
from middlewares.verdict import plain, settles

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["ATTEMPTS", "Failure", "RetryMiddleware", "is_repeatable", "pause"]

#: Attempts in all.
ATTEMPTS = 3
#: Seconds before the second attempt, doubled before the third; jitter takes up to half away.
_FIRST_PAUSE = 0.25
#: Seconds that an attempt needs at least to be worth starting.
_LEAST_TIME = 0.25

_TOO_MANY = 429
_PROXY = "proxy_unavailable"
#: Answers of a server that may be another one a moment later.
STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529})
#: Failures before a request reached the server: repeating is safe whatever the method.
UNSENT = frozenset({_PROXY, "connection_refused"})
#: Failures by the code of the exception, or by the name of Scrapy's.
CODES = UNSENT | {"timeout", "download_failed", "incomplete_answer", "malformed_answer"}
_NAMES = {
    "DownloadTimeoutError": "timeout",
    "DownloadConnectionRefusedError": "connection_refused",
    "DownloadFailedError": "download_failed",
    "ResponseDataLossError": "incomplete_answer",
}
_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What went wrong in one attempt: a status, or a code; and what the server said about it."""

    status: int | None = None
    code: str = ""
    retry_after: float | None = None


def is_repeatable(failure: Failure, method: str, *, safe: bool = False) -> bool:
    """Say whether this failure is worth another attempt with this method.

    `safe` says that a POST may be repeated (the engine's file, or the caller). Without it a POST is
    repeated only where the request cannot have reached the server.
    """
    transient = failure.status in STATUSES or failure.code in CODES
    return transient and (safe or method in _SAFE_METHODS or failure.code in UNSENT)


def pause(failure: Failure, attempt: int, left: float, jitter: float) -> float | None:
    """Return the seconds to wait before the next attempt, None where there is no next one.

    `attempt` counts those made, `left` is the time to the caller's deadline, `jitter` is from 0 to
    1. What the server says is obeyed, even where that means giving up; another proxy is tried
    at once.
    """
    if attempt >= ATTEMPTS:
        return None
    if failure.retry_after is not None:
        wait = failure.retry_after
    elif failure.code == _PROXY:
        wait = 0.0
    else:
        wait = _FIRST_PAUSE * 2 ** (attempt - 1) * (1 - jitter / 2)
    return wait if wait + _LEAST_TIME <= left else None


def failure_of(exception: Exception) -> Failure:
    """Return a failed download as a failure, by its own code or by its kind."""
    code = getattr(exception, "code", None)
    if not isinstance(code, str):
        kinds = (kind.__name__ for kind in type(exception).__mro__)
        code = next((_NAMES[name] for name in kinds if name in _NAMES), "")
    return Failure(code=code)


class RetryMiddleware:
    """Repeats requests by the rules above.

    `request.meta["download_timeout"]` (seconds) is taken as the time for all attempts together.
    An answer for which the request's engine has a verdict is no failure, nor is a 429 for a key
    (`request.meta["keyed"]`), which is the key's own matter. `request.meta["safe"]`
    marks a POST that may be repeated; `request.meta["retry"]` False switches retries off. With
    `request.meta["pinned"]` every attempt leaves by the same proxy, and a dead one ends them.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RetryMiddleware:
        """Build it with the system's clock."""
        return cls()

    def process_request(self, request: Request) -> None:
        """Note the deadline at the first attempt."""
        limit = request.meta.get("download_timeout")
        if limit:
            request.meta.setdefault("deadline", self._clock() + float(limit))

    async def process_response(self, request: Request, response: Response) -> Request | Response:
        """Return the answer, or the request for another attempt."""
        if response.status not in STATUSES or settles(request, response):
            return response
        if response.status == _TOO_MANY and request.meta.get("keyed"):
            return response  # the next key is asked at once
        headers = DEFAULT_HEADERS if response.status == _TOO_MANY else DEFAULT_HEADERS[:1]
        wait = retry_after(plain(response), datetime.now(UTC), headers)
        failure = Failure(status=response.status, retry_after=wait)
        return await self._again(request, failure) or response

    async def process_exception(self, request: Request, exception: Exception) -> Request | None:
        """Return the request for another attempt, or None to let the failure through."""
        return await self._again(request, failure_of(exception))

    async def _again(self, request: Request, failure: Failure) -> Request | None:
        meta = request.meta
        if meta.get("retry") is False:
            return None
        if meta.get("pinned") and failure.code == _PROXY:
            return None  # a session goes with its proxy
        if not is_repeatable(failure, request.method, safe=bool(meta.get("safe"))):
            return None
        attempt = int(meta.get("attempt", 1))
        wait = pause(failure, attempt, self._left(request), self._jitter())
        if wait is None:
            return None
        if wait > 0:
            await self._sleep(wait)
        return self._next(request, attempt + 1, suspect=failure.status is None)

    def _left(self, request: Request) -> float:
        deadline = request.meta.get("deadline")
        return float("inf") if deadline is None else float(deadline) - self._clock()

    def _next(self, request: Request, attempt: int, *, suspect: bool) -> Request:
        """The same request, to be routed anew: a proxy that was used goes to the end of the row.

        One through which no answer came is a suspect, to be blamed if another one gets through.
        """
        meta = {**request.meta, "attempt": attempt}
        if "deadline" in meta:
            meta["download_timeout"] = max(self._left(request), _LEAST_TIME)
        used = meta.get("proxy")
        if used and meta.get("routed") and not meta.get("pinned"):
            meta["tried"] = (*meta.get("tried", ()), used)
            meta["suspects"] = (*meta.get("suspects", ()), *((used,) if suspect else ()))
            meta["proxy"] = None
        return request.replace(meta=meta, dont_filter=True)
