"""Whatever arrives: no crash, no line that is no protocol, no traceback in an answer."""

from __future__ import annotations

import asyncio
import copy
import json
import random
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from server.app import Application
from server.config import Environment, Settings
from server.http.app import http_app
from server.http.limits import Limits
from server.http.security import Access
from server.surface import build
from tests.support.http_server import hosted
from tests.support.mcp_pipe import META, spawned
from tests.support.wire import current

if TYPE_CHECKING:
    from pathlib import Path

COUNT = 1_000
COUNT_HTTP = 250
SEEDS: tuple[dict[str, Any], ...] = (
    {"method": "server/discover", "params": {"_meta": META}},
    {"method": "tools/list", "params": {"_meta": META}},
    {"method": "tools/call", "params": {"name": "get_sampling", "arguments": {}, "_meta": META}},
    {"method": "prompts/get", "params": {"name": "research_a_topic", "_meta": META}},
    {"method": "resources/read", "params": {"uri": "consilience://engines", "_meta": META}},
    {"method": "completion/complete", "params": {"ref": {}, "argument": {}, "_meta": META}},
    {"method": "ping"},
    {"method": "notifications/cancelled", "params": {"requestId": 1}},
)
JUNK: tuple[object, ...] = (
    None, True, -1, 2**80, 1e308, "", "\x00", "\ud800", "𝔘" * 50, [], [[]], {}, {"a": {}},
    "../../etc/passwd", "consilience://engine/../../x", "x" * 5_000,
)  # fmt: skip


def mutated(chance: random.Random, seed: dict[str, Any]) -> bytes:
    """One message with parts exchanged, then perhaps bytes exchanged, cut or doubled."""
    message = {"jsonrpc": "2.0", "id": chance.randrange(10_000), **json.loads(json.dumps(seed))}
    for _ in range(chance.randrange(3)):
        _exchange(chance, message)
    line = bytearray(json.dumps(message).encode())
    for _ in range(chance.choice((0, 0, 1, 3, 20))):
        at = chance.randrange(len(line)) if line else 0
        chance.choice((_flip, _cut, _double))(chance, line, at)
    return bytes(line).replace(b"\n", b" ")


def _exchange(chance: random.Random, message: dict[str, Any]) -> None:
    inner = message
    while chance.random() < 0.5:
        deeper = [value for value in inner.values() if isinstance(value, dict) and value]
        if not deeper:
            break
        inner = chance.choice(deeper)
    key = chance.choice([*inner, "extra"])
    if chance.random() < 0.3:
        inner.pop(key, None)
    else:
        inner[key] = copy.deepcopy(chance.choice(JUNK))


def _flip(chance: random.Random, line: bytearray, at: int) -> None:
    if line:
        line[at] = chance.randrange(256)


def _cut(chance: random.Random, line: bytearray, at: int) -> None:
    del line[at : at + chance.randrange(1, 30)]


def _double(chance: random.Random, line: bytearray, at: int) -> None:
    line[at:at] = line[at : at + chance.randrange(1, 30)]


def messages(seed: int, count: int) -> list[bytes]:
    chance = random.Random(seed)
    return [mutated(chance, chance.choice(SEEDS)) for _ in range(count)]


def drawn() -> int:
    """A new seed each run; a failing one stands in the test's output."""
    return random.SystemRandom().randrange(2**32)


async def test_a_thousand_broken_lines_on_a_pipe(tmp_path: Path) -> None:
    seed = drawn()
    async with spawned("mcp", "--replay", state=tmp_path) as pipe:
        assert pipe.process.stdin is not None
        assert pipe.process.stdout is not None
        assert pipe.process.stderr is not None
        complaints = asyncio.create_task(pipe.process.stderr.read())
        reading = asyncio.create_task(_until(pipe.process.stdout, b'"id":"last"'))
        closing = {"jsonrpc": "2.0", "id": "last", "method": "tools/list"}
        last = json.dumps({**closing, "params": {"_meta": META}}).encode()
        for line in [*messages(seed, COUNT), last]:
            pipe.process.stdin.write(line + b"\n")
            await pipe.process.stdin.drain()
        output = await asyncio.wait_for(reading, 60)
        pipe.process.stdin.close()
        status = await asyncio.wait_for(pipe.process.wait(), 60)
        output += await pipe.process.stdout.read()
        errors = await complaints

    assert status == 0, f"seed {seed}: {errors[-2_000:]!r}"
    for line in output.splitlines():
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0", f"seed {seed}"
        assert "Traceback" not in line.decode()
    assert b'"id":"last"' in output, f"seed {seed}"


async def _until(stream: asyncio.StreamReader, mark: bytes) -> bytes:
    """Read lines up to the one that holds a mark, or to the end."""
    seen = b""
    while line := await stream.readline():
        seen += line
        if mark in line:
            break
    return seen


TARGETS = ("/mcp", "/mcp?tools=%00", "/mcp?tools=web_search", "/search?q=%ff", "/search?q=",
    "/download/..%2f..%2fx", "/read?url=file:///etc/passwd", "/metrics?x=1", "//x", "/%00",
)  # fmt: skip


async def test_broken_requests_over_http(tmp_path: Path) -> None:
    seed = drawn()
    chance = random.Random(seed)
    known = [("Accept", "application/json, text/event-stream"), *_headers()]
    application = Application.create(Settings(state_dir=tmp_path), Environment({}), replay=True)
    limits = Limits(per_minute=10**6, burst=10**6)
    app = http_app(build(application), Access(), limits)
    async with hosted(app) as url, httpx2.AsyncClient(base_url=url, timeout=30) as http:
        for body in messages(seed, COUNT_HTTP):
            headers = dict(chance.sample(known, chance.randrange(1, 6)))
            method = chance.choice(("POST", "POST", "POST", "GET", "DELETE", "OPTIONS", "PUT"))
            if method == "GET":
                headers["Accept"] = "application/json"
            target = chance.choice(("/mcp",) * 30 + TARGETS)
            sent = [(n.encode(), v.encode("latin-1")) for n, v in headers.items()]
            try:
                answer = await http.request(method, target, content=body, headers=sent)
            except (httpx2.LocalProtocolError, httpx2.RemoteProtocolError):
                continue
            assert answer.status_code not in {500, 501}, f"seed {seed}: {method} {target} {body!r}"
            assert "Traceback" not in answer.text, f"seed {seed}"
        assert (await current(http, "tools/list"))["result"]["tools"]


def _headers() -> list[tuple[str, str]]:
    return [
        ("Content-Type", "application/json"),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "get_sampling"),
        ("Mcp-Name", "x" * 3_000),
        ("Mcp-Session-Id", "../x"),
        ("Accept", "text/html"),
        ("Authorization", "Bearer \xe9"),
        ("Last-Event-ID", "1"),
    ]


@pytest.mark.parametrize("line", [b"[" * 200_000, b'{"a":' * 100_000, b"\x00" * 1_000])
async def test_deeply_nested_lines_are_answered(tmp_path: Path, line: bytes) -> None:
    async with spawned("mcp", state=tmp_path) as pipe:
        answer = await pipe.raw(line)

        assert answer["error"]["code"] in {-32700, -32600}
        assert await pipe.close() == 0
