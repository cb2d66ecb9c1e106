"""CPU and latency of one three-engine search: ours against ddgs and against the floor, in one run.

A process on loopback serves one recorded results page each of Bing, DuckDuckGo and Brave (the real
recordings beside the checkout where they are, else the fixtures). Every candidate runs in its own
process, candidates take turns for some rounds, and only ratios within a round are compared: the
machine may be busy, but it is equally busy for all.

    python benchmarks/search.py [--rounds 5] [--searches 120] [--at-once 1,16] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from measuring import ROOT, Ratio, Report, emit, page_server, spread, table, used

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

CAPTURES = ROOT.parent / "shared" / "captures"
PAGES = {
    "bing": ("bing/celina_caffeine_2026.html", "bing/ok/response.html"),
    "duckduckgo": ("duckduckgo/celina_caffeine_html_2026.html", "duckduckgo/ok/response.html"),
    "brave": ("brave/sanguinary_javascript_tutorial_2026.html", "brave/ok/response.html"),
}
PATHS = {"bing": "bing/search", "duckduckgo": "duckduckgo/html/", "brave": "brave/search"}
QUERY = "does caffeine affect javascript sleep tutorial"

SPEC = """\
schema: 1
id: {id}
name: {id}
extends: {parent}
status: experimental
settings: {{base: {{env: BENCH_BASE}}}}
request: {{url: "{{{{ settings.base }}}}/{path}"}}
fetch: {{mode: {mode}}}
limits: {{rate: null}}
"""


# The pages


def bodies() -> dict[str, bytes]:
    """Return one results page for each engine."""
    found = {}
    for name, (capture, fixture) in PAGES.items():
        real = CAPTURES / capture
        found[name] = (real if real.exists() else ROOT / "fixtures" / fixture).read_bytes()
    return found


_NOWHERE = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"


async def serve() -> None:
    """Answer any request below `/ENGINE/` with that engine's page, on a free port."""
    answers = {
        name: b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: "
        + str(len(body)).encode()
        + b"\r\n\r\n"
        + body
        for name, body in bodies().items()
    }

    async def converse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                length = [
                    int(line.partition(":")[2])
                    for line in head.split("\r\n")
                    if line.lower().startswith("content-length:")
                ]
                await reader.readexactly(length[0] if length else 0)
                target = urlsplit(head.split(" ", 2)[1]).path
                writer.write(answers.get(target.split("/")[1], _NOWHERE))
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(converse, "127.0.0.1", 0, backlog=512)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# The candidates: each runs `count` searches, `at_once` at a time, and says how many rows it found


async def measure(
    search: Callable[[], Awaitable[int]], count: int, at_once: int
) -> dict[str, float]:
    """Warm up, then run the searches and return CPU and wall milliseconds of each."""
    waits: list[float] = []
    rows = 0

    async def worker(times: int) -> None:
        nonlocal rows
        for _ in range(times):
            start = time.perf_counter()
            rows = await search()
            waits.append((time.perf_counter() - start) * 1000)

    await asyncio.gather(*(worker(3) for _ in range(at_once)))
    waits.clear()
    start, cpu = time.perf_counter(), used()
    await asyncio.gather(*(worker(count // at_once) for _ in range(at_once)))
    wall, cpu = time.perf_counter() - start, used() - cpu
    done = len(waits)
    return {
        "rows": rows,
        "cpu_ms": cpu / done * 1000,
        "latency_ms": statistics.median(waits),
        "per_second": done / wall,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


@contextlib.asynccontextmanager
async def service(port: int, mode: str) -> AsyncIterator[Callable[[], Awaitable[int]]]:
    """The whole service (rests, pace, keys, crawler, reading, merge), as a search to repeat."""
    from framework.types import Query
    from server.app import Application
    from server.config import Environment
    from server.requests import SearchRequest

    with tempfile.TemporaryDirectory() as folder:
        engines = Path(folder) / "engines"
        engines.mkdir()
        for name, path in PATHS.items():
            text = SPEC.format(id=f"bench-{name}", parent=name, path=path, mode=mode)
            (engines / f"bench-{name}.yaml").write_text(text)
        environment = Environment(
            {
                "BENCH_BASE": f"http://127.0.0.1:{port}",
                "CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8",
                "CONSILIENCE_ENGINES_DIR": str(engines),
                "CONSILIENCE_STATE_DIR": folder,
            }
        )
        ids = tuple(f"bench-{name}" for name in PATHS)
        request = SearchRequest(query=Query(text=QUERY, max_results=10), engines=ids, timeout=30)
        async with Application.create(environment=environment, watch=True) as app:

            async def search() -> int:
                answer = await app.search(request)
                bad = [report for report in answer.engines if report.verdict != "ok"]
                if bad:
                    raise SystemExit(f"an engine failed: {bad}")
                return answer.total

            yield search


async def ours(port: int, count: int, at_once: int, mode: str) -> dict[str, float]:
    """The whole service."""
    async with service(port, mode) as search:
        return await measure(search, count, at_once)


async def floor(port: int, count: int, at_once: int) -> dict[str, float]:
    """The least that any design must do: fetch three pages and parse them."""
    import aiohttp
    from selectolax.lexbor import LexborHTMLParser

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as session:

        async def page(path: str) -> int:
            async with session.get(f"http://127.0.0.1:{port}/{path}") as answer:
                tree = LexborHTMLParser(await answer.read())
            return len(tree.css("a"))

        async def search() -> int:
            return sum(await asyncio.gather(*(page(path) for path in PATHS.values())))

        return await measure(search, count, at_once)


async def fetch_only(port: int, count: int, at_once: int, *, hub: bool) -> dict[str, float]:
    """One page through the hub, or through plain aiohttp."""
    url = f"http://127.0.0.1:{port}/{PATHS['bing']}"
    if not hub:
        import aiohttp

        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def plain() -> int:
                async with session.get(url) as answer:
                    return len(await answer.read())

            return await measure(plain, count, at_once)
    from framework.types import HttpRequest
    from spiders.hub import Hub

    async with Hub({"CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.0/8"], "LOG_ENABLED": False}) as it:

        async def through() -> int:
            return len((await it.fetch(HttpRequest(url=url))).body)

        return await measure(through, count, at_once)


def ddgs(port: int, count: int, at_once: int) -> dict[str, float]:
    """ddgs with its three engine classes pointed at the loopback server, one instance a thread."""
    import threading
    from concurrent.futures import ThreadPoolExecutor

    from ddgs import DDGS
    from ddgs.engines import ENGINES
    from ddgs.engines.bing import Bing
    from ddgs.engines.brave import Brave
    from ddgs.engines.duckduckgo import Duckduckgo

    for kind, name in ((Bing, "bing"), (Duckduckgo, "duckduckgo"), (Brave, "brave")):
        kind.search_url = f"http://127.0.0.1:{port}/{PATHS[name]}"
    Bing.disabled = False
    ENGINES["text"]["bing"] = Bing
    Duckduckgo.provider = "duckduckgo"
    local = threading.local()

    def one(_: int) -> tuple[float, int]:
        if not hasattr(local, "it"):
            local.it = DDGS(timeout=20)
        start = time.perf_counter()
        rows = local.it.text(QUERY, backend="bing,duckduckgo,brave", max_results=30)
        return (time.perf_counter() - start) * 1000, len(rows)

    with ThreadPoolExecutor(at_once) as threads:
        list(threads.map(one, range(at_once * 3)))
        start, cpu = time.perf_counter(), used()
        done = list(threads.map(one, range(count)))
        wall, cpu = time.perf_counter() - start, used() - cpu
    return {
        "rows": done[0][1],
        "cpu_ms": cpu / count * 1000,
        "latency_ms": statistics.median(wait for wait, _ in done),
        "per_second": count / wall,
        "rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


CANDIDATES: dict[str, Callable[[int, int, int], Any]] = {
    "ddgs": ddgs,
    "ours, http": lambda *given: asyncio.run(ours(*given, mode="http")),
    "ours, impersonate": lambda *given: asyncio.run(ours(*given, mode="impersonate")),
    "floor: aiohttp and lexbor": lambda *given: asyncio.run(floor(*given)),
    "one page, aiohttp": lambda *given: asyncio.run(fetch_only(*given, hub=False)),
    "one page, hub": lambda *given: asyncio.run(fetch_only(*given, hub=True)),
}
#: Two candidates, a figure, and the targets at 1 and at 16 at once.
RATIOS: tuple[tuple[str, str, str, dict[int, float]], ...] = (
    ("ours, http", "ddgs", "cpu_ms", {16: 0.4}),
    ("ours, impersonate", "ddgs", "cpu_ms", {}),
    ("ours, http", "ddgs", "latency_ms", {1: 0.8}),
    ("ours, http", "ddgs", "per_second", {16: 2.2}),
    ("ours, http", "floor: aiohttp and lexbor", "cpu_ms", {}),
    ("one page, hub", "one page, aiohttp", "cpu_ms", {16: 2.5}),
)


# The run


def run(name: str, port: int, count: int, at_once: int) -> dict[str, float]:
    """Run one candidate in its own process."""
    given = [str(port), str(count), str(at_once)]
    done = subprocess.run(
        [sys.executable, __file__, "--candidate", name, *given],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{name} failed:\n{done.stderr[-2000:]}")
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def report(rounds: list[dict[tuple[str, int], dict[str, float]]], levels: list[int]) -> Report:
    """Take ratios within each round, and list what each candidate needed."""
    ratios = [
        Ratio(
            name=f"{left} : {right}, {key}, {level} at once",
            values=[one[left, level][key] / one[right, level][key] for one in rounds],
            target=targets.get(level),
            at_least=key == "per_second",
        )
        for left, right, key, targets in RATIOS
        for level in levels
    ]
    keys = ("cpu_ms", "latency_ms", "per_second", "rss_mb")
    rows = [
        (name, level, *(spread([one[name, level][key] for one in rounds]) for key in keys))
        for name in CANDIDATES
        for level in levels
    ]
    head = ("candidate", "at once", "CPU ms", "latency ms", "per second", "RSS MB")
    return Report(
        title="A search over three engines",
        ratios=ratios,
        tables=[table(head, rows)],
        rounds=len(rounds),
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--searches", type=int, default=120)
    parser.add_argument("--at-once", default="1,16")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--candidate", nargs=4, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        with contextlib.suppress(KeyboardInterrupt):
            asyncio.run(serve())
        return
    if given.candidate:
        name, *numbers = given.candidate
        print(json.dumps(CANDIDATES[name](*map(int, numbers))))
        return
    levels = [int(text) for text in given.at_once.split(",")]
    with page_server() as port:
        rounds = [
            {
                (name, level): run(name, port, given.searches, level)
                for name in CANDIDATES
                for level in levels
            }
            for _ in range(given.rounds)
        ]
    emit(report(rounds, levels), given.json)


if __name__ == "__main__":
    main()
