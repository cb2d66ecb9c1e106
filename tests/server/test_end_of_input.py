"""What becomes of calls in flight when the stdio server's input ends, or its client leaves."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from framework.types import Query
from server import stdio
from server.app import Application
from server.config import Environment, load
from server.instant import Handover
from server.requests import SearchRequest
from server.surface import build
from tests.support.local_engines import write_local
from tests.support.mcp_pipe import META, started
from tests.support.site import Reply, Site, hang

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

HANDSHAKE = (
    {
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "script", "version": "0"},
        },
    },
    {"method": "tools/call", "params": {"name": "web_search", "arguments": {"query": "tutorial"}}},
)
CURRENT: tuple[dict[str, Any], ...] = (
    {"method": "server/discover", "params": {"_meta": META}},
    {
        "method": "tools/call",
        "params": {"name": "web_search", "arguments": {"query": "tutorial"}, "_meta": META},
    },
)
SLOW = {"query": "cats", "timeout": 60}


def script(*messages: dict[str, Any]) -> bytes:
    """A whole conversation as somebody would pipe it in, numbered from 1."""
    numbered = [{"jsonrpc": "2.0", "id": n, **message} for n, message in enumerate(messages, 1)]
    return b"".join(json.dumps(message).encode() + b"\n" for message in numbered)


def slow_call() -> bytes:
    return script(
        {"method": "tools/call", "params": {"name": "web_search", "arguments": SLOW, "_meta": META}}
    )


def answers(output: bytes) -> dict[Any, dict[str, Any]]:
    return {message["id"]: message for message in map(json.loads, output.splitlines())}


@pytest.mark.parametrize("messages", [HANDSHAKE, CURRENT], ids=["handshake", "current"])
async def test_a_piped_conversation_is_answered_whole(
    tmp_path: Path, messages: tuple[dict[str, Any], ...]
) -> None:
    async with started("mcp", "--replay", state=tmp_path) as process:
        output, _ = await asyncio.wait_for(process.communicate(script(*messages)), 60)

    found = answers(output)
    assert process.returncode == 0
    assert set(found) == {1, 2}
    assert found[2]["result"]["structuredContent"]["results"]


async def test_a_conversation_in_a_file_is_answered_whole(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(script(*CURRENT))
    with (tmp_path / "in").open("rb") as source, (tmp_path / "out").open("wb") as sink:
        async with started("mcp", "--replay", state=tmp_path, source=source, sink=sink) as process:
            assert await asyncio.wait_for(process.wait(), 60) == 0

    assert answers((tmp_path / "out").read_bytes())[2]["result"]["structuredContent"]["results"]


async def test_one_socket_serves_both_ways(tmp_path: Path) -> None:
    ours, theirs = socket.socketpair()
    end = theirs.fileno()
    async with started("mcp", "--replay", state=tmp_path, source=end, sink=end) as process:
        theirs.close()
        reader, writer = await asyncio.open_connection(sock=ours, limit=2**24)
        for number in (1, 2, 3):
            writer.write(script(*CURRENT).replace(b'"id": 2', b'"id": %d' % (number + 1)))
            writer.write(b"\n")
            lines = [await asyncio.wait_for(reader.readline(), 60) for _ in range(2)]
            assert {json.loads(line)["id"] for line in lines} == {1, number + 1}
        writer.write_eof()

        assert await asyncio.wait_for(process.wait(), 60) == 0
        writer.close()


@pytest.mark.parametrize("line", [b"no JSON\n" * 3, script(*CURRENT), b"half a line"])
async def test_a_client_that_hangs_up_a_socket_is_no_failure(tmp_path: Path, line: bytes) -> None:
    """Nothing of what is written is read, so that the kernel reports a reset connection."""
    ours, theirs = socket.socketpair()
    end = theirs.fileno()
    async with started("mcp", "--replay", state=tmp_path, source=end, sink=end) as process:
        theirs.close()
        ours.sendall(script(CURRENT[0]) + line)
        await asyncio.to_thread(ours.recv, 1)
        ours.close()
        _, errors = await asyncio.wait_for(process.communicate(), 60)

    assert (process.returncode, errors) == (0, b"")


@asynccontextmanager
async def hanging(state: Path) -> AsyncIterator[tuple[Site, dict[str, str]]]:
    """A site whose one page never comes, and the variables of an engine that asks it."""
    async with Site({"/": Reply(stream=hang)}) as site:
        yield site, write_local(state / "engines", slow=site.url(""))


async def test_between_pipes_a_call_gets_a_while_and_then_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stdio, "_GRACE", 0.2)
    async with hanging(tmp_path) as (site, environment):
        given = Environment({**environment, "CONSILIENCE_STATE_DIR": str(tmp_path)})
        surface = build(Application.create(load(given), given))
        (source, feed), (output, sink) = os.pipe(), os.pipe()
        os.write(feed, slow_call())
        conversing = asyncio.create_task(stdio._converse(surface, source, sink, Handover()))
        await asyncio.wait_for(site.arrived.wait(), 60)
        os.close(feed)

        await asyncio.wait_for(conversing, 15)
        said = os.read(output, 65_536)
        for end in (source, output, sink):
            os.close(end)

    assert answers(said)[1]["error"]["code"] == -32000


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_a_signal_ends_the_wait_for_calls(tmp_path: Path, number: signal.Signals) -> None:
    """The file that is written to makes it wait for the call's own 60 seconds."""
    async with hanging(tmp_path) as (site, environment):
        with (tmp_path / "out").open("wb") as sink:
            async with started("mcp", state=tmp_path, environment=environment, sink=sink) as server:
                assert server.stdin is not None
                server.stdin.write(slow_call())
                server.stdin.close()
                await asyncio.wait_for(site.arrived.wait(), 60)
                server.send_signal(number)

                assert await asyncio.wait_for(server.wait(), 15) == 0


async def test_a_client_that_no_longer_reads_ends_it(tmp_path: Path) -> None:
    async with hanging(tmp_path) as (site, environment):
        output, sink = os.pipe()
        async with started("mcp", state=tmp_path, environment=environment, sink=sink) as server:
            os.close(sink)
            assert server.stdin is not None
            server.stdin.write(slow_call())
            await asyncio.wait_for(site.arrived.wait(), 60)
            os.close(output)

            assert await asyncio.wait_for(server.wait(), 15) == 0


async def test_an_open_subscription_is_no_call_to_wait_for(tmp_path: Path) -> None:
    notifications = {"toolsListChanged": True}
    listening = {
        "method": "subscriptions/listen",
        "params": {"notifications": notifications, "_meta": META},
    }
    with (tmp_path / "out").open("wb") as sink:
        async with started("mcp", state=tmp_path, sink=sink) as process:
            await asyncio.wait_for(process.communicate(script(listening, CURRENT[1])), 60)

    assert process.returncode == 0
    assert b"subscriptions/acknowledged" in (tmp_path / "out").read_bytes()


async def test_a_cancelled_call_is_none_to_wait_for(tmp_path: Path) -> None:
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    async with hanging(tmp_path) as (site, environment):
        with (tmp_path / "out").open("wb") as sink:
            async with started("mcp", state=tmp_path, environment=environment, sink=sink) as server:
                assert server.stdin is not None
                server.stdin.write(slow_call())
                await asyncio.wait_for(site.arrived.wait(), 60)
                server.stdin.write(json.dumps(cancel).encode() + b"\n")
                server.stdin.close()

                assert await asyncio.wait_for(server.wait(), 15) == 0


async def test_an_application_that_is_cancelled_is_closed_all_the_same(tmp_path: Path) -> None:
    environment = Environment({"CONSILIENCE_STATE_DIR": str(tmp_path)})
    before = asyncio.all_tasks()
    with anyio.CancelScope() as scope:
        async with Application.create(environment=environment, replay=True) as app:
            await app.search(SearchRequest(query=Query(text="javascript tutorial")))
            scope.cancel()
            await anyio.sleep_forever()
    assert scope.cancelled_caught
    assert asyncio.all_tasks() == before
