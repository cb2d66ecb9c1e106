"""Whatever arrives: no crash, no line that is no protocol, no traceback in an answer."""

from __future__ import annotations

import asyncio
import contextlib
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from server import instant
from server.app import Application
from server.config import Environment, Settings
from server.http.app import http_app
from server.http.limits import Limits
from server.http.security import Access
from server.surface import build
from tests.support.hostile import lines, requests
from tests.support.http_server import hosted
from tests.support.mcp_pipe import META, Pipe, spawned

#: The same cases each run; what one of them breaks is shrunk to its smallest form.
HOSTILE = settings(
    max_examples=1_000,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example],
)

SNAPSHOT = json.loads(Path(instant.SNAPSHOT).read_text())

#: Signs of something that failed inside: none of them may reach a client.
INSIDE = ("Traceback", 'File "', "errors.pydantic.dev", "internal_error", "Internal server error")
_MASKED = (0, -32603)


def check(message: Any) -> None:
    """Fail for a message that is no JSON-RPC, or that shows a failure inside."""
    assert message["jsonrpc"] == "2.0"
    assert message.get("error", {}).get("code") not in _MASKED, message
    text = json.dumps(message)
    assert not [sign for sign in INSIDE if sign in text], message


class Piped:
    """A stdio server that is started again once it fell over, so that a case can be shrunk."""

    def __init__(self, state: Path) -> None:
        self._state = state
        self._stack = contextlib.AsyncExitStack()
        self._pipe: Pipe | None = None
        self._number = 0

    async def send(self, line: bytes) -> None:
        """Send a line and a request, and check all that comes up to the request's answer."""
        pipe = self._pipe or await self._opened()
        self._pipe = None
        self._number += 1
        name = f"after-{self._number}"
        after = {"jsonrpc": "2.0", "id": name, "method": "server/discover"}
        await pipe.put(line)
        await pipe.put(json.dumps({**after, "params": {"_meta": META}}).encode())
        while (message := await pipe.next()).get("id") != name:
            check(message)
        assert message["result"]["serverInfo" if "serverInfo" in message["result"] else "_meta"]
        self._pipe = pipe

    async def _opened(self) -> Pipe:
        await self._stack.aclose()
        pipe = await self._stack.enter_async_context(
            spawned("mcp", "--replay", state=self._state, environment={"CONSILIENCE_LOG": "off"})
        )
        await pipe.request("server/discover")
        return pipe

    async def close(self) -> int:
        """End its input; return its exit status."""
        status = await self._pipe.close() if self._pipe else -1
        await self._stack.aclose()
        return status


@pytest.mark.untraced
def test_a_thousand_broken_lines_on_a_pipe(tmp_path: Path) -> None:
    server = Piped(tmp_path)
    with asyncio.Runner() as runner:

        @HOSTILE
        @given(lines())
        def each(line: bytes) -> None:
            runner.run(server.send(line))

        try:
            each()
        finally:
            status = runner.run(server.close())

    assert status == 0


@pytest.mark.untraced
@HOSTILE
@given(st.lists(lines(), min_size=1, max_size=4))
def test_the_instant_start_answers_soundly_or_leaves_it_to_the_server(told: list[bytes]) -> None:
    conversation = instant.Conversation(SNAPSHOT, SNAPSHOT["full"])
    for line in told:
        answer = conversation.answer(line)
        if not answer:
            continue
        message = json.loads(answer)
        check(message)
        assert message["id"] == json.loads(line)["id"]
        assert "result" in message


async def exchanged(url: str, request: bytes) -> bytes:
    """Send bytes as they are and return the whole answer, up to the server's end of it."""
    place = urlsplit(url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    try:
        writer.write(request)
        if b"99999999999" in request or b"chunked" in request or b"Content-Length: 1\r" in request:
            writer.write_eof()  # else the server rightly waits for the rest of the body
        return await asyncio.wait_for(reader.read(), 60)
    except ConnectionError:
        return b""
    finally:
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()


def check_http(answer: bytes) -> None:
    """Fail for an answer that shows a failure inside; none at all is fine for broken HTTP."""
    if not answer:
        return
    status = int(answer.split(b" ", 2)[1])
    assert status not in {500, 501, 502}, answer
    text = answer.decode("utf-8", "replace")
    assert not [sign for sign in INSIDE if sign in text], text


@pytest.mark.untraced
def test_a_thousand_broken_requests_over_http(tmp_path: Path) -> None:
    application = Application.create(Settings(state_dir=tmp_path), Environment({}), replay=True)
    limits = Limits(per_minute=10**6, burst=10**6)
    app = http_app(build(application), Access(), limits)
    stack = contextlib.AsyncExitStack()
    with asyncio.Runner() as runner:
        url = runner.run(stack.enter_async_context(hosted(app)))

        @HOSTILE
        @given(requests())
        def each(request: bytes) -> None:
            check_http(runner.run(exchanged(url, request)))

        try:
            each()
            sound = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
            assert runner.run(exchanged(url, sound)).startswith(b"HTTP/1.1 200")
        finally:
            runner.run(stack.aclose())


@pytest.mark.parametrize("line", [b"[" * 200_000, b'{"a":' * 100_000, b"\x00" * 1_000])
async def test_deeply_nested_lines_are_answered(tmp_path: Path, line: bytes) -> None:
    async with spawned("mcp", state=tmp_path) as pipe:
        answer = await pipe.raw(line)

        assert answer["error"]["code"] in {-32700, -32600}
        assert await pipe.close() == 0


WRONG_TYPES: tuple[tuple[str, dict[str, object]], ...] = (
    ("tools/call", {"name": [], "arguments": {}}),
    ("tools/call", {"name": {}, "arguments": {}}),
    ("prompts/get", {"name": []}),
    ("prompts/get", {"name": "research_a_topic", "arguments": 3}),
    ("prompts/get", {"name": "research_a_topic", "arguments": ["topic"]}),
)


async def test_a_name_or_arguments_of_another_type_are_refused(tmp_path: Path) -> None:
    async with spawned("mcp", state=tmp_path) as pipe:
        for method, params in WRONG_TYPES:
            answer = await pipe.request(method, **params)

            assert answer["error"]["code"] == -32602, params
