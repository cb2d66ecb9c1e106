"""Searches a second of `consilience serve` with one and with two workers, in one run.

    python benchmarks/http_throughput.py [--rounds 5] [--searches 300] [--at-once 16]

Pages come from a process on loopback. The load and that process need CPU of their own: on two
cores two workers cannot be twice as fast, so CPU per search is reported, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
from measuring import (
    Ratio,
    Report,
    emit,
    local_engines,
    page_server,
    parser,
    progress,
    spread,
    table,
    used_by,
)

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextlib.contextmanager
def served(environment: dict[str, str], workers: int) -> Iterator[tuple[int, int]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [str(Path(sys.executable).with_name("consilience")), "serve"]
    child = subprocess.Popen(
        [*command, "--port", str(port), "--workers", str(workers)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env={**os.environ, **environment},
    )
    try:
        yield port, child.pid
    finally:
        child.terminate()
        child.wait(20)


def family(pid: int) -> list[int]:
    """A process and its children."""
    tasks = Path(f"/proc/{pid}/task").glob("*/children")
    return [pid, *(int(one) for task in tasks for one in task.read_text().split())]


async def load(port: int, pid: int, ids: tuple[str, ...], count: int, at_once: int) -> list[float]:
    url = f"http://127.0.0.1:{port}/search"
    params = {"q": "does caffeine affect javascript sleep tutorial", "engines": ",".join(ids)}
    # one connection a request spreads them over the workers
    connector = aiohttp.TCPConnector(limit=0, force_close=True)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def one() -> None:
            async with session.get(url, params=params) as answer:
                body = await answer.read()
                silent = json.loads(body).get("unresponsive_engines")
                if answer.status != 200 or silent:
                    raise SystemExit(f"status {answer.status}: {silent or body[:300]!r}")

        async def worker(left: Iterator[int]) -> None:
            for _ in left:
                await one()

        deadline = time.monotonic() + 60
        while True:
            try:
                await one()
                break
            except aiohttp.ClientError:
                if time.monotonic() > deadline:
                    raise
                await asyncio.sleep(0.1)
        await asyncio.gather(*(worker(iter(range(4))) for _ in range(at_once)))
        left = iter(range(count))
        start, cpu = time.perf_counter(), used_by(family(pid))
        await asyncio.gather(*(worker(left) for _ in range(at_once)))
        wall, cpu = time.perf_counter() - start, used_by(family(pid)) - cpu
        return [count / wall, cpu / count * 1000]


def measured(port: int, workers: int, count: int, at_once: int) -> list[float]:
    with tempfile.TemporaryDirectory() as folder:
        environment, ids = local_engines(Path(folder), port)
        with served(environment, workers) as (own, pid):
            return asyncio.run(load(own, pid, ids, count, at_once))


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--searches", type=int, default=300)
    options.add_argument("--at-once", type=int, default=16)
    given = options.parse_args()
    found: dict[int, list[list[float]]] = {1: [], 2: []}
    with page_server() as port:
        for _ in progress(given.rounds):
            for workers, results in found.items():
                results.append(measured(port, workers, given.searches, given.at_once))
    pairs = list(zip(found[1], found[2], strict=True))
    ratios = [
        Ratio(
            name="searches a second, 2 workers : 1",
            values=[two[0] / one[0] for one, two in pairs],
            target=1.8,
            at_least=True,
        ),
        Ratio(
            name="CPU of a search, 2 workers : 1",
            values=[two[1] / one[1] for one, two in pairs],
            target=1.15,
        ),
    ]
    rows = [
        (n, spread([one[0] for one in results]), spread([one[1] for one in results]))
        for n, results in found.items()
    ]
    tables = [table(("workers", "searches a second", "CPU ms a search"), rows)]
    emit(
        Report(title="HTTP throughput", ratios=ratios, tables=tables, rounds=given.rounds),
        given.json,
    )


if __name__ == "__main__":
    main()
