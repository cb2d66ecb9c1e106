"""The instant start: what it answers, what it leaves to the full server, and the way over."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from server import instant, snapshot
from server.instant import SNAPSHOT, Conversation, Front
from tests.support.mcp_pipe import spawned

if TYPE_CHECKING:
    from collections.abc import Sequence

HELLO = snapshot.request(
    "initialize",
    protocolVersion="2025-06-18",
    capabilities={},
    clientInfo={"name": "tests", "version": "0"},
)
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}
LISTING = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
PING = {"jsonrpc": "2.0", "id": "p", "method": "ping"}


def line(message: object) -> bytes:
    return json.dumps(message).encode() + b"\n"


def modern(method: str, number: int = 1, **params: object) -> dict[str, Any]:
    return snapshot.request(method, number, _meta=snapshot.envelope(), **params)


def conversation(*arguments: str) -> Conversation | None:
    read, write = os.pipe()
    try:
        return instant._conversation(arguments, {}, read)
    finally:
        os.close(read)
        os.close(write)


def answers(messages: Sequence[object], *arguments: str) -> list[Any]:
    talk = conversation(*arguments)
    assert talk is not None
    found = [talk.answer(line(message)) for message in messages]
    return [None if one is None else json.loads(one or b'""') for one in found]


def test_the_snapshot_is_what_the_server_says() -> None:
    live = snapshot.render(asyncio.run(snapshot.record()))

    assert Path(SNAPSHOT).read_text(encoding="utf-8") == live, "run `make snapshot`, and commit it"


@pytest.mark.parametrize(
    ("messages", "tools"),
    [
        ([HELLO, READY, LISTING, PING], ()),
        ([{**HELLO, "params": {**HELLO["params"], "protocolVersion": "1999-01-01"}}, PING], ()),
        ([HELLO, READY, LISTING], ("compact",)),
        ([modern("tools/list"), modern("server/discover", 2)], ("web_search", "get_engines")),
    ],
    ids=["handshake", "unknown-version", "compact", "some"],
)
async def test_answers_equal_those_of_the_full_server(
    messages: list[dict[str, Any]], tools: tuple[str, ...]
) -> None:
    live = await snapshot.ask(messages, tools)
    options = ("--tools", ",".join(tools)) if tools else ()

    assert [one for one in answers(messages, *options) if one] == live


@pytest.mark.parametrize(
    "messages",
    [
        [LISTING],
        [PING],
        [READY],
        [HELLO, HELLO],
        [HELLO, modern("tools/list")],
        [HELLO, {**LISTING, "params": {"cursor": "x"}}],
        [HELLO, {**LISTING, "id": True}],
        [HELLO, {**LISTING, "id": None}],
        [HELLO, {**LISTING, "jsonrpc": "1.0"}],
        [HELLO, {**LISTING, "params": []}],
        [HELLO, {**LISTING, "method": "resources/list"}],
        [modern("ping")],
        [modern("tools/list"), HELLO],
        [snapshot.request("tools/list", _meta=snapshot.envelope("2031-01-01"))],
        [{**HELLO, "params": {**HELLO["params"], "clientInfo": {}}}],
        [[]],
        ["text"],
    ],
)
def test_what_it_does_not_know_is_left_to_the_full_server(messages: list[object]) -> None:
    assert answers(messages)[-1] is None


@pytest.mark.parametrize(
    "arguments",
    [
        ("--help",),
        ("--tools", "no_such_tool"),
        ("--compact", "--tools", "web_search"),
        ("--tools=compact,web_search",),
    ],
    ids=["help", "unknown", "both", "mixed"],
)
def test_options_that_no_snapshot_fits_keep_the_plain_start(arguments: tuple[str, ...]) -> None:
    assert conversation(*arguments) is None


def test_tools_chosen_by_a_variable_or_a_file_keep_the_plain_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not instant._chosen_elsewhere({"CONSILIENCE_TOOLS": ""})
    assert instant._chosen_elsewhere({"CONSILIENCE_TOOLS": "compact"})

    (tmp_path / ".env").write_text("WEBFETCH_MCP_TOOL_MODE=compact\n", encoding="utf-8")
    assert instant._chosen_elsewhere({})


def test_the_rest_of_the_pipe_is_handed_over_in_order() -> None:
    ours, theirs = os.pipe()
    out, sink = os.pipe()
    front = Front(conversation(), line(HELLO), source=ours, sink=sink)
    rest = line(modern("nonsense")) + line(PING) + b'{"half":'
    os.write(theirs, line(READY) + line(LISTING) + rest)
    seen = b""
    while seen.count(b"\n") < 2:
        seen += os.read(out, 65_536)
    handed = front.finish()

    assert handed.first + _waiting(ours) == line(HELLO) + line(READY) + rest
    assert handed.muted == (1,)
    for number in (ours, theirs, out, sink):
        os.close(number)


def _waiting(source: int) -> bytes:
    os.set_blocking(source, False)
    try:
        return os.read(source, 65_536)
    except BlockingIOError:
        return b""


async def test_the_handshake_goes_on_in_the_full_server(tmp_path: Path) -> None:
    async with spawned("mcp", "--replay", state=tmp_path) as pipe:
        call = {"name": "get_engines", "arguments": {}}
        for message in (HELLO, READY, LISTING, snapshot.request("tools/call", 3, **call), PING):
            await pipe.put(line(message).strip())
        found = {message["id"]: message for message in [await pipe.next() for _ in range(4)]}

        assert set(found) == {1, 2, 3, "p"}
        assert not found[3]["result"].get("isError")
        assert await pipe.close() == 0
        assert len(pipe.lines) == 4


async def test_the_first_answer_needs_nothing_but_the_snapshot(tmp_path: Path) -> None:
    """A server that can never finish loading answers all the same."""
    state = tmp_path / "file"
    state.write_text("no folder", encoding="utf-8")
    async with spawned("mcp", "--proxy", "nonsense", state=state) as pipe:
        answer = await pipe.request("tools/list")

        assert answer["result"]["tools"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signals_while_loading_end_it_with_status_0(
    tmp_path: Path, number: signal.Signals
) -> None:
    async with spawned("mcp", state=tmp_path) as pipe:
        await pipe.request("tools/list")
        pipe.process.send_signal(number)

        assert await pipe.process.wait() == 0


async def test_a_bare_pipe_is_answered_at_once_too(tmp_path: Path) -> None:
    async with spawned(state=tmp_path) as pipe:
        assert "result" in await pipe.raw(line(HELLO).strip())
        await pipe.put(line(READY).strip())
        assert (await pipe.raw(line(PING).strip()))["result"] == {}
        assert await pipe.close() == 0
