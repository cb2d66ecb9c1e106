"""The stdio server as a host meets it: a process with pipes."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.command import runner
from tests.support.mcp_pipe import spawned

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.support.command import Run

    Piped = Callable[[bytes], None]


BROKEN: tuple[tuple[bytes, int, object], ...] = (
    (b"this is no JSON", -32700, None),
    (b'{"jsonrpc": "2.0", "id": 1', -32700, None),
    (b"\xff\xfe\x00", -32700, None),
    (b"[" * 50_000, -32700, None),
    (b'{"id": 7, "method": "ping"}', -32600, 7),
    (b'{"jsonrpc": "1.0", "id": "a", "method": "ping"}', -32600, "a"),
    (b"[]", -32600, None),
    (b"null", -32600, None),
)


async def test_broken_lines_are_answered_and_service_goes_on(tmp_path: Path) -> None:
    async with spawned("mcp", state=tmp_path) as pipe:
        for line, code, number in BROKEN:
            answer = await pipe.raw(line)

            assert (answer["error"]["code"], answer["id"]) == (code, number), line
            assert "result" in await pipe.request("server/discover")
        assert await pipe.close() == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signals_end_it_with_status_0(tmp_path: Path, number: signal.Signals) -> None:
    async with spawned("mcp", state=tmp_path) as pipe:
        await pipe.request("server/discover")

        pipe.process.send_signal(number)

        assert await asyncio.wait_for(pipe.process.wait(), 30) == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_signals_end_it_while_a_call_runs(tmp_path: Path, number: signal.Signals) -> None:
    async with spawned("mcp", "--replay", state=tmp_path) as pipe:
        await pipe.request("server/discover")
        await pipe.start("tools/call", name="web_search", arguments={"query": "javascript"})

        pipe.process.send_signal(number)

        assert await asyncio.wait_for(pipe.process.wait(), 30) == 0


async def test_end_of_input_ends_it(tmp_path: Path) -> None:
    async with spawned("mcp", state=tmp_path) as pipe:
        await pipe.request("tools/list")

        assert await pipe.close() == 0


async def test_a_pipe_without_arguments_starts_it(tmp_path: Path) -> None:
    async with spawned(state=tmp_path) as pipe:
        assert "result" in await pipe.request("server/discover")
        assert await pipe.close() == 0


@pytest.fixture
def piped(monkeypatch: pytest.MonkeyPatch) -> Iterator[Piped]:
    """Puts a text into this process's standard input, as far as one fits into a pipe."""
    kept = os.dup(0)

    def put(text: bytes) -> None:
        source, feed = os.pipe()
        os.write(feed, text)
        os.close(feed)
        os.dup2(source, 0)
        os.close(source)
        monkeypatch.setattr(sys, "stdin", open(0, closefd=False))  # noqa: SIM115

    yield put
    os.dup2(kept, 0)
    os.close(kept)


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    return runner(capsys, monkeypatch, tmp_path)


def test_an_empty_pipe_says_what_could_be_piped(run: Run, piped: Piped) -> None:
    piped(b"")
    done = run()

    assert (done.code, done.out) == (0, "")
    assert '{"tool": "web_search"' in done.error


async def test_one_call_as_json(tmp_path: Path) -> None:
    async with spawned(state=tmp_path) as pipe:
        line = json.dumps({"tool": "get_engines", "args": {}}).encode()
        out, _ = await asyncio.wait_for(pipe.process.communicate(line), 60)

    assert pipe.process.returncode == 0
    assert json.loads(out)["default"] == ["bing", "duckduckgo", "brave"]


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ({"tool": "get_engine", "args": {}}, "invalid_input"),
        ({"tool": "web_search", "args": {"query": ""}}, "invalid_arguments"),
        ({"tool": "web_search", "args": {"query": "a", "engines": ["bingo"]}}, "unknown_engine"),
    ],
    ids=["tool", "argument", "engine"],
)
def test_a_wrong_call_is_an_error_as_json(
    run: Run, piped: Piped, call: dict[str, object], code: str
) -> None:
    piped(json.dumps(call).encode())
    done = run()

    assert done.code == 1
    assert json.loads(done.out)["error"]["code"] == code
    assert "Traceback" not in done.error


async def test_a_wrong_call_ends_the_process_with_1(tmp_path: Path) -> None:
    async with spawned(state=tmp_path) as pipe:
        out, _ = await asyncio.wait_for(pipe.process.communicate(b'{"tool": 3}'), 60)

    assert pipe.process.returncode == 1
    assert json.loads(out)["error"]["code"] == "invalid_input"


async def test_only_protocol_reaches_standard_output(tmp_path: Path) -> None:
    async with spawned("mcp", "--replay", "--debug", state=tmp_path) as pipe:
        await pipe.call("web_search", query="javascript tutorial")
        await pipe.close()

        assert pipe.process.stdout is not None
        rest = await pipe.process.stdout.read()

    assert rest == b""
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in pipe.lines)


async def test_two_calls_run_at_the_same_time_and_answers_keep_their_ids(tmp_path: Path) -> None:
    async with spawned("mcp", "--replay", state=tmp_path) as pipe:
        ids = [
            await pipe.start("tools/call", name="web_search", arguments={"query": word})
            for word in ("javascript", "tutorial")
        ]
        answers = {message["id"]: message for message in [await pipe.next(), await pipe.next()]}

        assert set(answers) == set(ids)
        assert [answers[n]["result"]["structuredContent"]["query"] for n in ids] == [
            "javascript",
            "tutorial",
        ]


async def test_a_request_that_is_cancelled_gets_no_answer(tmp_path: Path) -> None:
    async with spawned("mcp", "--replay", state=tmp_path) as pipe:
        await pipe.request("server/discover")
        number = await pipe.start("tools/call", name="web_search", arguments={"query": "a"})
        cancel = {
            "jsonrpc": "2.0",
            "method": "notifications/cancelled",
            "params": {"requestId": number},
        }
        await pipe.put(json.dumps(cancel).encode())

        assert "result" in await pipe.request("tools/list")
        assert await pipe.close() == 0
        assert all(json.loads(line).get("id") != number for line in pipe.lines)
