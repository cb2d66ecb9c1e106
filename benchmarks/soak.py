"""A soak on loopback: many searches in one process, whose cost and holdings must stay flat.

    python benchmarks/soak.py [--searches 20000] [--at-once 16]

Three engines answer pages of three rows from a process beside it: what leaks, leaks by the search
and not by the row. Every hundredth search is cancelled on its way and every fiftieth question asks
an engine that fails, since leaks like such paths.
Ends with an error where the last quarter holds more than the second one: memory, files, tasks,
or CPU of a search, which is measured against a fixed computation since the machine may be busy.
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

from measuring import machine, page_server, resident, table, used

if TYPE_CHECKING:
    from server.app import Application

#: Memory may grow by this share between the second and the last quarter: allocators breathe.
ALLOWED = 1.08
#: A search may become dearer by this share, as what a busy machine adds is never quite even; told
#: from samples of so many searches on.
DEARER = 1.15
_ENOUGH = 500
_ENGINES = ("soak-a", "soak-b", "soak-c")
_BROKEN = "soak-broken"
_ENGINE = """\
schema: 1
id: {id}
name: {id}
about: {{site: "https://site.example", index: {id}}}
kind: web
status: experimental
settings: {{base: {{env: BENCH_BASE}}}}
request: {{url: "{{{{ settings.base }}}}/{id}", query: {{q: "{{{{ query }}}}"}}}}
response:
  format: html
  rows: {{each: li}}
  fields:
    title: a
    url: a::attr(href)
    snippet: p
fetch: {{mode: http}}
limits: {{rate: null, concurrency: 64, cooldown: {{error: 1s}}}}
"""
_PAGE = "<!doctype html><title>Results</title><ol>{rows}</ol>"
_ROW = """\
<li><a href="https://{number}.site.example/sleep">Caffeine and sleep, part {number}</a>
<p>What a tutorial in JavaScript says about coffee, caffeine and the sleep of programmers.</p></li>
"""


def _answer(body: str, status: str = "200 OK") -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
    return (head + body).encode()


class Pages(asyncio.Protocol):
    """Answers every request with three rows; what asks the broken engine gets a 404."""

    _FINE = _answer(_PAGE.format(rows="".join(_ROW.format(number=one) for one in range(3))))
    _NOWHERE = _answer("", "404 Not Found")

    def __init__(self) -> None:
        self._read = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        *heads, self._read = (self._read + data).split(b"\r\n\r\n")
        for head in heads:
            broken = head.startswith(f"GET /{_BROKEN}".encode())
            self._transport.write(self._NOWHERE if broken else self._FINE)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Pages, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def engine_files(folder: Path, port: int) -> dict[str, str]:
    """Write the engines' files; returns the environment that finds them and lets them out."""
    engines = folder / "engines"
    engines.mkdir()
    for name in (*_ENGINES, _BROKEN):
        (engines / f"{name}.yaml").write_text(_ENGINE.format(id=name), encoding="utf-8")
    return {
        "BENCH_BASE": f"http://127.0.0.1:{port}",
        "CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8",
        "CONSILIENCE_ENGINES_DIR": str(engines),
        "CONSILIENCE_STATE_DIR": str(folder / "state"),
    }


@dataclass(frozen=True, slots=True)
class Sample:
    """What the process held after so many searches."""

    searches: int
    mb: float
    files: int
    tasks: int
    cpu_ms: float
    cost: float
    """CPU of a search as a multiple of the yardstick's."""


def yardstick() -> float:
    """Return the CPU seconds of a fixed computation, as fast as the machine now is."""
    start = used()
    table = {str(number): number for number in range(20_000)}
    assert sum(table[str(number)] for number in range(20_000)) == 199_990_000
    return used() - start


def open_files() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def one(app: Application, number: int) -> None:
    from framework.errors import ConsilienceError
    from framework.types import Query
    from server.requests import SearchRequest

    engines = (*_ENGINES, _BROKEN) if number % 50 == 0 else _ENGINES
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
        environment = engine_files(Path(folder), port)
        async with Application.create(environment=Environment(environment)) as app:
            numbers = itertools.count()

            async def worker(times: int) -> None:
                for _ in range(times):
                    await one(app, next(numbers))

            each = max(1, searches // samples // at_once)
            for _ in range(samples):
                before, cpu = yardstick(), used()
                await asyncio.gather(*(worker(each) for _ in range(at_once)))
                cpu = (used() - cpu) / each / at_once
                cost = cpu / statistics.mean((before, yardstick()))
                await asyncio.sleep(0.05)
                gc.collect()
                done = (len(found) + 1) * each * at_once
                tasks = len(asyncio.all_tasks())
                held = (resident(), open_files(), tasks)
                found.append(Sample(done, *held, cpu_ms=cpu * 1000, cost=cost))
    return found


def leaks(samples: list[Sample]) -> list[str]:
    """Say what the last quarter holds or costs more of than the second one."""
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
    dearer = middle(late, "cost") / middle(early, "cost")
    if samples[0].searches >= _ENOUGH and dearer > DEARER:
        found.append(f"CPU: a search costs {dearer:.2f} times what it did")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--searches", type=int, default=20_000)
    parser.add_argument("--at-once", type=int, default=16)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve())
        return
    with page_server("soak.py") as port:
        samples = asyncio.run(soak(port, given.searches, given.at_once))
    rows = [
        (
            f"{one.searches:,}",
            f"{one.mb:.0f}",
            one.files,
            one.tasks,
            f"{one.cpu_ms:.2f}",
            f"{one.cost:.3f}",
        )
        for one in samples
    ]
    print(machine())
    head = ("searches", "MB", "open files", "tasks", "CPU ms a search", "yardsticks a search")
    print(f"\n{table(head, rows)}\n")
    if found := leaks(samples):
        raise SystemExit("not flat: " + "; ".join(found))
    print("flat: memory, files, tasks and CPU")


if __name__ == "__main__":
    main()
