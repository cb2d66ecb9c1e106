"""How cost grows: searches at once, engines of one search, rows to merge, pages in the cache.

    python benchmarks/scale.py [--rounds 5]

Each figure is CPU of one unit of work; growth is linear where it stays the same.
"""

from __future__ import annotations

import asyncio
import json
import random
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import (
    Ratio,
    Report,
    emit,
    in_process,
    local_engines,
    page_server,
    parser,
    progress,
    resident,
    spread,
    table,
    used,
)

if TYPE_CHECKING:
    from collections.abc import Callable

QUERY = "does caffeine affect javascript sleep tutorial"
AT_ONCE = (1, 16, 64, 256)
ENGINES = (3, 15, 60)
ROWS = (100, 1_000)
#: Both are more than SQLite keeps in memory.
PAGES = (1_000, 10_000)


async def searches(
    port: int, engines: int, at_once: int, count: int, small: int = 0
) -> dict[str, float]:
    """CPU milliseconds of a search, and the megabytes that it all takes."""
    from framework.types import Query
    from server.app import Application
    from server.config import Environment
    from server.requests import SearchRequest

    parents = ("duckduckgo",) if small else ("bing", "duckduckgo", "brave")
    with tempfile.TemporaryDirectory() as folder:
        environment, ids = local_engines(Path(folder), port, engines, parents)
        request = SearchRequest(query=Query(text=QUERY), engines=ids, timeout=60)
        async with Application.create(environment=Environment(environment)) as app:

            async def worker(times: int) -> None:
                for _ in range(times):
                    answer = await app.search(request)
                    bad = [one for one in answer.engines if one.verdict != "ok"]
                    if bad:
                        raise SystemExit(f"an engine failed: {bad[0]}")

            await asyncio.gather(*(worker(1) for _ in range(at_once)))
            before, cpu = resident(), used()
            each = max(1, count // at_once)
            await asyncio.gather(*(worker(each) for _ in range(at_once)))
            cpu = (used() - cpu) / (each * at_once) * 1000
            return {"cpu_ms": cpu, "mb": resident(), "grown_mb": resident() - before}


def merging(rows: int) -> dict[str, float]:
    """CPU microseconds a row, of rows that ten engines give and half of which are given twice."""
    from framework.merge.consensus import Ballot, merge
    from framework.types import Row

    def ballot(number: int, run: int) -> Ballot:
        size = rows // 10
        given = tuple(
            Row(
                title=f"page {at}",
                url=f"https://site{at % 97}.test/{run}/{(number // 2 * size + at)}",
                rank=at + 1,
            )
            for at in range(size)
        )
        return Ballot(engine=f"e{number}", rows=given)

    cpu, runs = 0.0, 4_000 // rows
    for run in range(runs):
        ballots = [ballot(number, run) for number in range(10)]
        start = used()
        merge(ballots)
        cpu += used() - start
    return {"cpu_us": cpu / runs / rows * 1_000_000}


def caching(pages: int) -> dict[str, float]:
    """CPU microseconds to find one page among so many on disk, and to keep one more, sweeps too."""
    from framework.types import FetchMode, HttpResponse
    from middlewares.cache import Cache, CacheKey

    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder) / "pages.db", memory=1)
        body = random.Random(1).randbytes(20_000)

        def key(number: int) -> CacheKey:
            return CacheKey(f"https://site.test/{number}", FetchMode.HTTP)

        def keep(number: int) -> None:
            cache.put(key(number), HttpResponse(url=f"https://site.test/{number}", body=body))

        for number in range(pages):
            keep(number)
        cpu = used()
        for number in range(500):
            # A prime step: every one is another page, far from the one before.
            if cache.get(key(number * 7_919 % pages), 2**20) is None:
                raise SystemExit("a page is missing from the cache")
        cpu = used() - cpu
        kept = used()
        for number in range(pages, pages + 256):
            keep(number)
        kept = used() - kept
        cache.close()
    return {"cpu_us": cpu / 500 * 1_000_000, "keep_us": kept / 256 * 1_000_000}


ONES: dict[str, Callable[..., dict[str, float]]] = {
    "searches": lambda *given: asyncio.run(searches(*given)),
    "merging": merging,
    "caching": caching,
}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--searches", type=int, default=256)
    given = options.parse_args()
    if given.one:
        name, *numbers = given.one
        print(json.dumps(ONES[name](*map(int, numbers))))
        return
    script, rounds = str(Path(__file__)), []
    with page_server() as port:
        for _ in progress(given.rounds):
            one: dict[tuple[str, int], dict[str, float]] = {}
            for level in AT_ONCE:
                one["at once", level] = in_process(
                    script, "searches", port, 3, level, given.searches
                )
            for engines in ENGINES:
                count = max(8, 240 // engines)
                found = in_process(script, "searches", port, engines, 1, count, 1)
                one["engines", engines] = {"cpu_ms": found["cpu_ms"] / engines}
            for rows in ROWS:
                one["rows merged", rows] = in_process(script, "merging", rows)
            for pages in PAGES:
                one["pages cached", pages] = in_process(script, "caching", pages)
            rounds.append(one)
    report(rounds, given.json)


def report(rounds: list[dict[tuple[str, int], dict[str, float]]], file: Path | None) -> None:
    def growth(kind: str, many: int, few: int, key: str, target: float, how: str = "") -> Ratio:
        values = [one[kind, many][key] / one[kind, few][key] for one in rounds]
        name = f"{kind}{how}: each of {many:,} over each of {few:,}"
        return Ratio(name=name, values=values, target=target)

    ratios = [
        growth("at once", 256, 16, "cpu_ms", 1.5),
        growth("engines", 60, 3, "cpu_ms", 1.5),
        growth("rows merged", 1_000, 100, "cpu_us", 1.5),
        growth("pages cached", 10_000, 1_000, "cpu_us", 1.5),
        growth("pages cached", 10_000, 1_000, "keep_us", 1.5, ", one more"),
    ]
    rows = [
        (kind, f"{size:,}", key, spread([one[kind, size][key] for one in rounds]))
        for kind, size in rounds[0]
        for key in rounds[0][kind, size]
    ]
    tables = [table(("what", "size", "figure of one", "min / median / max"), rows)]
    emit(Report(title="Scale", ratios=ratios, tables=tables, rounds=len(rounds)), file)


if __name__ == "__main__":
    main()
