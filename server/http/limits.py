"""How much one caller may ask at a time, and how big a request may be."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from server.http.security import CALLER

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

__all__ = ["BodyLimit", "Bucket", "CallerLimit", "Ending", "Limits"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Per caller: calls in flight, calls a minute, burst; bytes of a request's body and headers."""

    in_flight: int = 128
    per_minute: int = 6_000
    burst: int = 2_000
    body: int = 4 * 1024 * 1024
    headers: int = 32 * 1024


class Bucket:
    """A token bucket: `burst` at once, refilled evenly at `per_minute`."""

    __slots__ = ("_burst", "_level", "_rate", "_seen")

    def __init__(self, per_minute: int, burst: int, now: float) -> None:
        self._rate = per_minute / 60
        self._burst = burst
        self._level = float(burst)
        self._seen = now

    def take(self, now: float) -> float:
        """Take one token; return 0, or in how many seconds there will be one."""
        self._level = min(self._burst, self._level + (now - self._seen) * self._rate)
        self._seen = now
        if self._level >= 1:
            self._level -= 1
            return 0.0
        return (1 - self._level) / self._rate

    def full(self, now: float) -> bool:
        """Whether nothing of it is used: it may be forgotten."""
        return self._level + (now - self._seen) * self._rate >= self._burst


class CallerLimit:
    """ASGI middleware: one caller cannot take the whole server.

    Callers are told apart by their token's name, without tokens by their address.
    """

    def __init__(
        self, app: ASGIApp, limits: Limits, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._limits = limits
        self._clock = clock
        self._buckets: dict[str, Bucket] = {}
        self._flying: dict[str, int] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Count one request, or refuse it with 429 and when to come again."""
        if scope["type"] != "http" or (scope["method"] == "GET" and scope["path"] == "/healthz"):
            await self._app(scope, receive, send)
            return
        caller = _caller(scope)
        wait = self._wait(caller)
        if wait:
            await _too_many(wait)(scope, receive, send)
            return
        self._flying[caller] = self._flying.get(caller, 0) + 1
        try:
            await self._app(scope, receive, send)
        finally:
            self._land(caller)

    def _wait(self, caller: str) -> float:
        now = self._clock()
        if self._flying.get(caller, 0) >= self._limits.in_flight:
            return 1.0
        if len(self._buckets) > 10_000:
            self._buckets = {n: b for n, b in self._buckets.items() if not b.full(now)}
        bucket = self._buckets.get(caller)
        if bucket is None:
            bucket = Bucket(self._limits.per_minute, self._limits.burst, now)
            self._buckets[caller] = bucket
        return bucket.take(now)

    def _land(self, caller: str) -> None:
        left = self._flying[caller] - 1
        if left:
            self._flying[caller] = left
        else:
            del self._flying[caller]


def _caller(scope: Scope) -> str:
    name = scope.get(CALLER)
    return f"token:{name}" if name else f"address:{(scope.get('client') or ('?',))[0]}"


def _too_many(wait: float) -> JSONResponse:
    seconds = max(1, round(wait))
    error = {
        "code": "too_many_requests",
        "message": f"too many requests; come again in {seconds} s",
        "retryable": True,
        "retry_after": seconds,
    }
    return JSONResponse({"error": error}, 429, {"Retry-After": str(seconds)})


#: What a streamed body may be over before it is cut off; the MCP transport refuses it in words.
_SLACK = 65_536


class BodyLimit:
    """ASGI middleware that refuses oversized headers and bodies, declared or streamed."""

    def __init__(self, app: ASGIApp, limits: Limits) -> None:
        self._app = app
        self._limits = limits

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request whose parts are within bounds."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if sum(len(k) + len(v) for k, v in scope["headers"]) > self._limits.headers:
            await _too_large(431, "headers", self._limits.headers)(scope, receive, send)
            return
        declared = Headers(scope=scope).get("content-length", "0")
        if not declared.isdigit() or int(declared) > self._limits.body:
            await _too_large(413, "body", self._limits.body)(scope, receive, send)
            return
        await self._app(scope, self._counted(receive), send)

    def _counted(self, receive: Receive) -> Receive:
        seen = 0

        async def limited() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            over = seen > self._limits.body + _SLACK
            return {"type": "http.disconnect"} if over else message

        return limited


def _too_large(status: int, part: str, limit: int) -> JSONResponse:
    message = f"the request's {part} are over {limit} bytes"
    return JSONResponse({"error": {"code": "too_large", "message": message}}, status)


class Ending:
    """ASGI middleware that answers calls which the end of the server cuts off."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; where it is cancelled before its answer began, say so."""
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self._app(scope, receive, watched)
        except asyncio.CancelledError:
            if scope["type"] != "http":
                raise
            if not started:
                await _ending()(scope, receive, send)
            else:
                await send({"type": "http.response.body", "body": b"", "more_body": False})


def _ending() -> JSONResponse:
    error = {"code": "ending", "message": "the server is ending; call again", "retryable": True}
    return JSONResponse({"error": error}, 503, {"Retry-After": "1"})
