"""One caller cannot take the whole server, and no request is bigger than allowed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from server.http.limits import BodyLimit, Bucket, CallerLimit, Limits
from server.http.security import CALLER

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def call(app: ASGIApp, *, bodies: tuple[bytes, ...] = (b"",), **scope: Any) -> int:
    sent: list[Message] = []
    parts = list(bodies)

    async def receive() -> Message:
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message: Message) -> None:
        sent.append(message)

    full = {"type": "http", "method": "POST", "path": "/mcp", "headers": [], **scope}
    await app(full, receive, send)
    return int(sent[0]["status"])


async def ok(_scope: Scope, receive: Receive, send: Send) -> None:
    more = True
    status = 200
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            status = 499
            break
        more = message.get("more_body", False)
    await send({"type": "http.response.start", "status": status, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def test_a_bucket_gives_its_burst_and_then_its_rate() -> None:
    bucket = Bucket(per_minute=60, burst=2, now=0)

    assert [bucket.take(0), bucket.take(0)] == [0, 0]
    assert bucket.take(0) == pytest.approx(1)
    assert bucket.take(0.5) == pytest.approx(0.5)
    assert bucket.take(1.0) == 0


def test_a_bucket_never_holds_more_than_its_burst() -> None:
    bucket = Bucket(per_minute=60, burst=2, now=0)

    assert [bucket.take(1000), bucket.take(1000)] == [0, 0]
    assert bucket.take(1000) > 0


async def test_callers_have_their_own_allowance() -> None:
    app = CallerLimit(ok, Limits(per_minute=60, burst=1), Clock())

    ann: dict[str, Any] = {CALLER: "ann"}
    bob: dict[str, Any] = {CALLER: "bob"}

    assert await call(app, **ann) == 200
    assert await call(app, **ann) == 429
    assert await call(app, **bob) == 200


async def test_tokenless_callers_are_told_apart_by_address() -> None:
    app = CallerLimit(ok, Limits(per_minute=60, burst=1), Clock())

    assert await call(app, client=("10.0.0.1", 1)) == 200
    assert await call(app, client=("10.0.0.1", 2)) == 429
    assert await call(app, client=("10.0.0.2", 1)) == 200


async def test_health_checks_are_not_counted() -> None:
    app = CallerLimit(ok, Limits(per_minute=60, burst=1), Clock())

    answers = [await call(app, method="GET", path="/healthz") for _ in range(5)]

    assert answers == [200] * 5


async def test_calls_in_flight_are_bounded_and_freed() -> None:
    gate = asyncio.Event()

    async def waits(scope: Scope, receive: Receive, send: Send) -> None:
        await gate.wait()
        await ok(scope, receive, send)

    app = CallerLimit(waits, Limits(in_flight=1), Clock())
    first = asyncio.create_task(call(app))
    await asyncio.sleep(0)

    assert await call(app) == 429
    gate.set()
    assert await first == 200
    assert await call(app) == 200


@pytest.mark.parametrize(
    ("headers", "bodies", "status"),
    [
        ([], (b"x" * 10,), 200),
        ([], (b"x" * 6, b"x" * 6), 200),
        ([], (b"x" * 6, b"x" * 70_000), 499),
        ([(b"content-length", b"11")], (b"x" * 11,), 413),
        ([(b"content-length", b"-1")], (b"",), 413),
        ([(b"content-length", b"many")], (b"",), 413),
        ([(b"x-long", b"y" * 100)], (b"",), 431),
    ],
    ids=[
        "fits",
        "streams over it",
        "streams too much",
        "declares too much",
        "negative",
        "no number",
        "headers",
    ],
)
async def test_sizes(
    headers: list[tuple[bytes, bytes]], bodies: tuple[bytes, ...], status: int
) -> None:
    app = BodyLimit(ok, Limits(body=10, headers=50))

    assert await call(app, headers=headers, bodies=bodies) == status
