"""MCP: start-up to tools/list against a minimal server, and a search through stdio.

    python benchmarks/mcp_overhead.py [--rounds 5] [--searches 60]

The minimal server is one tool on the SDK that we use, too. The search through MCP is compared with
the same search in process, by the CPU of the process that searches.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import IO, Any

from measuring import (
    ROOT,
    Report,
    emit,
    figures_table,
    in_process,
    local_engines,
    page_server,
    parser,
    progress,
    ratios_of,
    used,
    used_by,
)

QUERY = "does caffeine affect javascript sleep tutorial"
MINIMAL = """
from mcp.server import MCPServer
server = MCPServer("minimal")
@server.tool()
def add(a: int, b: int) -> int:
    return a + b
server.run("stdio")
"""
COMMANDS = {
    "minimal": [sys.executable, "-c", MINIMAL],
    "ours": [str(Path(sys.executable).with_name("consilience")), "mcp"],
    "bare python": [
        sys.executable,
        "-c",
        "import sys\nfor _ in sys.stdin: print('{}', flush=True)",
    ],
}
HELLO: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "benchmark", "version": "0"},
    },
}
READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


class Client:
    """A server as a child process, spoken to line by line."""

    def __init__(self, command: list[str], environment: dict[str, str] | None = None) -> None:
        self.child = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **(environment or {})},
        )

    def pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        assert self.child.stdin is not None
        assert self.child.stdout is not None
        return self.child.stdin, self.child.stdout

    def send(self, message: dict[str, Any]) -> None:
        self.pipes()[0].write(json.dumps(message).encode() + b"\n")
        self.pipes()[0].flush()

    def ask(self, message: dict[str, Any]) -> dict[str, Any]:
        self.send(message)
        while line := self.pipes()[1].readline():
            answer: dict[str, Any] = json.loads(line)
            if answer.get("id", message["id"]) == message["id"]:
                return answer
        raise SystemExit("the server ended")

    def close(self) -> None:
        self.pipes()[0].close()
        self.child.wait(20)
        self.pipes()[1].close()


def start_up(name: str) -> dict[str, float]:
    """Seconds and CPU from the start of the process to the answer of tools/list."""
    start = time.perf_counter()
    client = Client(COMMANDS[name])
    client.ask(HELLO)
    client.send(READY)
    client.ask({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}})
    seconds = time.perf_counter() - start
    client.child.kill()
    client.child.wait(20)
    return {"seconds": seconds}


def call(ids: tuple[str, ...], number: int) -> dict[str, Any]:
    arguments = {"query": QUERY, "engines": list(ids)}
    params = {"name": "web_search", "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def through_mcp(port: int, searches: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        environment, ids = local_engines(Path(folder), port)
        client = Client(COMMANDS["ours"], environment)
        client.ask(HELLO)
        client.send(READY)
        for number in range(10):
            answer = client.ask(call(ids, number + 2))
            if answer.get("result", {}).get("isError", True):
                raise SystemExit(f"the search failed: {str(answer)[:500]}")
        cpu = used_by([client.child.pid])
        for number in range(searches):
            client.ask(call(ids, number + 100))
        cpu = used_by([client.child.pid]) - cpu
        client.close()
    return {"cpu_ms": cpu / searches * 1000}


async def in_this_process(port: int, searches: int) -> dict[str, float]:
    from framework.types import Query
    from server.app import Application
    from server.config import Environment
    from server.requests import SearchRequest

    with tempfile.TemporaryDirectory() as folder:
        environment, ids = local_engines(Path(folder), port)
        request = SearchRequest(query=Query(text=QUERY), engines=ids, timeout=15)
        async with Application.create(environment=Environment(environment)) as app:
            for _ in range(10):
                await app.search(request)
            cpu = used()
            for _ in range(searches):
                await app.search(request)
            return {"cpu_ms": (used() - cpu) / searches * 1000}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--searches", type=int, default=60)
    given = options.parse_args()
    if given.one:
        port, searches = map(int, given.one)
        print(json.dumps(asyncio.run(in_this_process(port, searches))))
        return
    script = str(Path(__file__))
    rounds = []
    with page_server() as port:
        for _ in progress(given.rounds):
            one = {name: start_up(name) for name in COMMANDS}
            one["search through MCP"] = through_mcp(port, given.searches)
            one["search in process"] = in_process(script, port, given.searches)
            rounds.append(one)
    pairs = (
        ("ours", "minimal", "seconds", 0.2),
        ("search through MCP", "search in process", "cpu_ms", 1.3),
    )
    emit(
        Report(
            title="MCP: start-up and calls",
            ratios=ratios_of(rounds, pairs),
            tables=[figures_table(rounds)],
            rounds=given.rounds,
        ),
        given.json,
    )


if __name__ == "__main__":
    assert ROOT
    main()
