"""A soak on loopback: many searches in one process, whose memory, files and tasks must stay flat.

    python benchmarks/soak.py [--searches 20000] [--at-once 16]

Three engines answer small pages from a process beside it. Every hundredth search is cancelled on
its way and every fiftieth question asks an engine that fails, since leaks like such paths.
Ends with an error where the last quarter needs more than the second one.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import itertools
import statistics
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import local_engines, machine, page_server, resident, table, used

if TYPE_CHECKING:
    from server.app import Application

#: Memory may grow by this share between the second and the last quarter: allocators breathe.
ALLOWED = 1.08
_BROKEN = "bench-broken"
_BROKEN_FILE = """\
schema: 1
id: bench-broken
name: Broken
extends: duckduckgo
status: experimental
settings: {base: {env: BENCH_BASE}}
request: {url: "{{ settings.base }}/nowhere"}
fetch: {mode: http}
limits: {rate: null, concurrency: 64, cooldown: {error: 1s}}
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """What the process held after so many searches."""

    searches: int
    mb: float
    files: int
    tasks: int
    cpu_ms: float


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def one(app: Application, ids: tuple[str, ...], number: int) -> None:
    from framework.errors import ConsilienceError
    from framework.types import Query
    from server.requests import SearchRequest

    engines = (*ids, _BROKEN) if number % 50 == 0 else ids
    query = Query(text=f"caffeine javascript sleep tutorial {number}")
    search = app.search(SearchRequest(query=query, engines=engines, timeout=30))
    if number % 100 != 99:
        await search
        return
    with contextlib.suppress(TimeoutError, ConsilienceError):
        async with asyncio.timeout(0.002):
            await search


async def soak(port: int, searches: int, at_once: int, samples: int = 20) -> list[Sample]:
    """Run the searches; returns what was held along the way."""
    from server.app import Application
    from server.config import Environment

    found: list[Sample] = []
    with tempfile.TemporaryDirectory() as folder:
        environment, ids = local_engines(Path(folder), port, 3, ("duckduckgo",))
        (Path(folder) / "engines" / f"{_BROKEN}.yaml").write_text(_BROKEN_FILE)
        async with Application.create(environment=Environment(environment)) as app:
            numbers = itertools.count()

            async def worker(times: int) -> None:
                for _ in range(times):
                    await one(app, ids, next(numbers))

            each = max(1, searches // samples // at_once)
            for _ in range(samples):
                cpu = used()
                await asyncio.gather(*(worker(each) for _ in range(at_once)))
                cpu = (used() - cpu) / each / at_once * 1000
                await asyncio.sleep(0.05)
                gc.collect()
                done = (len(found) + 1) * each * at_once
                tasks = len(asyncio.all_tasks())
                found.append(Sample(done, resident(), open_files(), tasks, cpu))
    return found


def leaks(samples: list[Sample]) -> list[str]:
    """Say what the last quarter holds more of than the second one."""
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]

    def middle(part: list[Sample], name: str) -> float:
        return statistics.median(getattr(sample, name) for sample in part)

    found = [
        f"{name}: {middle(early, name):.0f} became {middle(late, name):.0f}"
        for name, slack in (("files", 16), ("tasks", 8))
        if middle(late, name) > middle(early, name) + slack
    ]
    if middle(late, "mb") > middle(early, "mb") * ALLOWED:
        found.append(f"memory: {middle(early, 'mb'):.0f} MB became {middle(late, 'mb'):.0f} MB")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--searches", type=int, default=20_000)
    parser.add_argument("--at-once", type=int, default=16)
    given = parser.parse_args()
    with page_server() as port:
        samples = asyncio.run(soak(port, given.searches, given.at_once))
    rows = [
        (f"{one.searches:,}", f"{one.mb:.0f}", one.files, one.tasks, f"{one.cpu_ms:.2f}")
        for one in samples
    ]
    print(machine())
    print(table(("searches", "MB", "open files", "tasks", "CPU ms a search"), rows))
    if found := leaks(samples):
        raise SystemExit("not flat: " + "; ".join(found))
    print("flat: memory, files and tasks")


if __name__ == "__main__":
    main()
