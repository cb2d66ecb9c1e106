"""`consilience serve` as a process: how it starts, refuses, ends, and what workers share."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
import pytest

from server.http.serving import Plan
from tests.support.command import runner
from tests.support.http_server import served
from tests.support.local_engines import write_local
from tests.support.site import Reply, Site, hang
from tests.support.waiting import eventually
from tests.support.wire import call, legacy_session, message_of, post

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.command import Run

SCRIPT = [sys.executable, "-c", "from server.cli import main; main()", "serve"]


@pytest.fixture
def run(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Iterator[Run]:
    """The command line in this process, whose signals it leaves as they were."""
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield runner(capsys, monkeypatch, tmp_path)
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize(
    ("arguments", "environment", "words"),
    [
        (["--host", "0.0.0.0"], {}, "without a token"),
        (["--host", "0.0.0.0"], {"CONSILIENCE_TOKEN": "long-enough"}, "names"),
        (["--host", "203.0.113.9"], {}, "without a token"),
        (["--cors"], {}, "every web page"),
        (["--port", "{taken}"], {}, "cannot listen"),
        ([], {"CONSILIENCE_PORT": "many"}, "CONSILIENCE_PORT"),
    ],
    ids=["token", "names", "address", "cors", "port", "setting"],
)
def test_a_start_that_is_not_safe_is_refused_in_one_sentence(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    arguments: list[str],
    environment: dict[str, str],
    words: str,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run("serve", *(part.format(taken=taken.getsockname()[1]) for part in arguments))

    assert done.code == 1
    assert words in done.error
    assert done.error.startswith("consilience: ")
    assert "Traceback" not in done.error
    assert "long-enough" not in done.error


def test_a_process_that_is_refused_ends_with_one_sentence(tmp_path: Path) -> None:
    ended = subprocess.run(
        [*SCRIPT, "--tools", "web_serch"],
        env={**os.environ, "CONSILIENCE_STATE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert ended.returncode == 1
    assert "web_search" in ended.stderr
    assert ended.stderr.startswith("consilience: ")
    assert "Traceback" not in ended.stderr


async def test_sigterm_ends_it_with_status_0_and_answers_the_call_that_runs(
    tmp_path: Path,
) -> None:
    async with Site({"/": Reply(stream=hang)}) as site:
        environment = write_local(tmp_path / "engines", slow=site.url(""))
        with served(state=tmp_path, environment=environment) as server:
            async with httpx2.AsyncClient(base_url=server.url, timeout=60) as http:
                headers = await legacy_session(http)
                listening = asyncio.create_task(http.get("/mcp", headers=headers))
                arguments = {"query": "cats", "timeout": 60}
                calling = asyncio.create_task(
                    post(http, "tools/call", name="web_search", arguments=arguments)
                )
                await asyncio.wait_for(site.arrived.wait(), 30)

                server.process.send_signal(signal.SIGTERM)
                status = await asyncio.to_thread(server.process.wait, 30)
                answer = await calling
                await asyncio.wait([listening])

    assert status == 0
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "ending")


def test_sigint_ends_it_with_status_0(tmp_path: Path) -> None:
    with served(state=tmp_path) as server:
        server.process.send_signal(signal.SIGINT)

        assert server.process.wait(30) == 0


@pytest.mark.skipif(sys.platform != "linux", reason="worker processes are found in /proc")
async def test_workers_share_settings_and_counts_and_survive_the_death_of_one(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "tmp"
    folder.mkdir()
    with served("--workers", "2", state=tmp_path, environment={"TMPDIR": str(folder)}) as server:
        alone = httpx2.Limits(max_keepalive_connections=0)
        async with httpx2.AsyncClient(base_url=server.url, timeout=60, limits=alone) as http:
            await _ready(http)
            headers = await legacy_session(http)
            await call(http, "set_engines", engines=["mojeek"])
            calls = await _called_on_both(http, folder)
            for _ in range(6):
                await _counted(http, calls)

            first = _children(server.process.pid)[0]
            os.kill(first, signal.SIGKILL)
            await eventually(lambda: len(set(_children(server.process.pid)) - {first}) == 2, 60)

            for _ in range(4):
                found = await call(http, "get_engines")
                assert found["structuredContent"]["default"] == ["mojeek"]
            for _ in range(6):
                await _counted(http, calls)
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            answer = await http.post("/mcp", json=listing, headers=headers)
            assert message_of(answer)["result"]["tools"]
        server.process.send_signal(signal.SIGTERM)
        assert await asyncio.to_thread(server.process.wait, 30) == 0

    assert "Mcp-Session-Id" not in headers
    assert not list(folder.glob("consilience-*"))


async def _called_on_both(http: httpx2.AsyncClient, folder: Path) -> int:
    """Call a tool until both workers have counted a call, and return how often."""
    calls = 0
    async with asyncio.timeout(60):
        while not all(map(_calls_in, _files(folder, 2))):
            await call(http, "get_sampling")
            calls += 1
            await asyncio.sleep(0.05)  # they write down what they count every few seconds
    await eventually(lambda: sum(map(_calls_in, _files(folder, 2))) == calls)
    return calls


def _files(folder: Path, workers: int) -> list[Path | None]:
    """The files in which so many workers leave what they count; None for one that has none yet."""
    found: list[Path | None] = [*folder.glob("consilience-*/*.json")]
    return found + [None] * (workers - len(found))


def _calls_in(file: Path | None) -> float:
    """How many calls of the tool a worker has written down."""
    families: list[dict[str, Any]] = json.loads(file.read_text()) if file else []
    samples = [sample for family in families for sample in family["samples"]]
    return sum(
        float(value)
        for name, labels, value in samples
        if (name, labels.get("tool")) == ("consilience_tool_calls_total", "get_sampling")
    )


async def _counted(http: httpx2.AsyncClient, calls: int) -> None:
    """Wait until whichever worker is asked has heard of so many calls."""
    wanted = f'consilience_tool_calls_total{{outcome="ok",tool="get_sampling"}} {calls}.0'
    async with asyncio.timeout(60):
        while wanted not in (await http.get("/metrics")).text:  # noqa: ASYNC110
            await asyncio.sleep(0.1)


async def _ready(http: httpx2.AsyncClient) -> None:
    async with asyncio.timeout(60):
        while not await _alive(http):  # noqa: ASYNC110 - another process has no event
            await asyncio.sleep(0.1)


async def _alive(http: httpx2.AsyncClient) -> bool:
    try:
        return (await http.get("/healthz")).status_code == 200
    except httpx2.TransportError:
        return False


def _children(pid: int) -> list[int]:
    """The worker processes of a server, as the kernel lists them."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(n) for n in listed if b"spawn_main" in Path(f"/proc/{n}/cmdline").read_bytes()]


def test_a_plan_survives_its_way_to_a_worker() -> None:
    plan = Plan(
        overrides={"host": "127.0.0.1", "port": 0},
        tools=("web_search",),
        replay=True,
        workers=2,
        key=b"k" * 32,
    )

    assert Plan.loaded(plan.dumped()) == plan
