"""1,000 calls at 50 in flight over HTTP: errors, times, and what is left behind.

python benchmarks/load.py [CALLS] [IN_FLIGHT]
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

import httpx2

from tests.support.http_server import served
from tests.support.wire import call

_ARGUMENTS = {"query": "javascript tutorial", "engines": ["bing", "brave"]}


def resident(pid: int) -> float:
    """The resident memory of a process in MB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * 4_096 / 1e6


def descriptors(pid: int) -> int:
    """How many file descriptors a process has open."""
    return len(list(Path(f"/proc/{pid}/fd").iterdir()))


async def round_of(http: httpx2.AsyncClient, calls: int, flying: int) -> tuple[int, list[float]]:
    gate = asyncio.Semaphore(flying)
    times: list[float] = []
    errors = 0

    async def one() -> None:
        nonlocal errors
        async with gate:
            start = time.perf_counter()
            result = await call(http, "web_search", **_ARGUMENTS)
            times.append(time.perf_counter() - start)
            errors += bool(result["isError"])

    await asyncio.gather(*(one() for _ in range(calls)))
    return errors, times


async def main(calls: int, flying: int) -> None:
    limits = httpx2.Limits(max_connections=flying)
    with (
        tempfile.TemporaryDirectory() as state,
        served("--replay", state=Path(state)) as server,
    ):
        pid = server.process.pid
        async with httpx2.AsyncClient(base_url=server.url, timeout=120, limits=limits) as http:
            await round_of(http, calls // 5, flying)
        await asyncio.sleep(1)
        before, opened = resident(pid), descriptors(pid)
        async with httpx2.AsyncClient(base_url=server.url, timeout=120, limits=limits) as http:
            start = time.perf_counter()
            errors, times = await round_of(http, calls, flying)
            took = time.perf_counter() - start
        await asyncio.sleep(1)
        print(f"{calls} calls, {flying} in flight: {errors} errors, {calls / took:.0f} a second")
        deciles = statistics.quantiles(times, n=20)
        print(f"median {statistics.median(times) * 1e3:.0f} ms, p95 {deciles[-1] * 1e3:.0f} ms")
        print(f"resident {before:.0f} MB before, {resident(pid):.0f} MB after")
        print(f"descriptors {opened} before, {descriptors(pid)} after")


if __name__ == "__main__":
    given = [int(part) for part in sys.argv[1:]]
    asyncio.run(main(*(given or [1_000, 50])))
