"""CPU per fetch of each mode against its bare client, and the cost of a warm render, in one run.

A process on loopback serves one page. Every candidate runs in its own process; candidates take
turns for some rounds, and ratios are taken within each round.

    python benchmarks/fetch.py [--rounds 5] [--fetches 400] [--renders 12] [--json FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import ROOT, Ratio, Report, emit, progress, spread, table

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    Fetch = Callable[[str], Awaitable[int]]

PAGE = b"<!doctype html><title>t</title><body>" + b"<p>some words in a paragraph</p>" * 4700
SMALL = b"<!doctype html><title>t</title><body><p id=a>x</p><script>a.textContent='y'</script>"
LOOPBACK = {"CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.0/8"]}
#: Candidates and the bare client that each is compared with; the target is a ratio.
PAIRS = {"http": ("aiohttp", 2.5), "impersonate": ("curl_cffi", 2.0), "render": ("playwright", 2.0)}


class Server(asyncio.Protocol):
    """Answers every request on kept-alive connections, as cheaply as Python can."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        for _ in range(data.count(b"\r\n\r\n")):
            body = SMALL if b" /small" in data else PAGE
            head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}"
            self.transport.write(head.encode() + b"\r\n\r\n" + body)


async def serve() -> None:
    server = await asyncio.get_running_loop().create_server(Server, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# The candidates


async def bare_aiohttp(work: Callable[[Fetch], Awaitable[None]]) -> None:
    import aiohttp

    async with aiohttp.ClientSession() as session:

        async def fetch(url: str) -> int:
            async with session.get(url) as answer:
                return len(await answer.read())

        await work(fetch)


async def bare_curl(work: Callable[[Fetch], Awaitable[None]]) -> None:
    from curl_cffi.requests import AsyncSession

    async with AsyncSession(impersonate="chrome152", max_clients=64) as session:

        async def fetch(url: str) -> int:
            return len((await session.get(url, http_version="v1")).content)

        await work(fetch)


async def bare_playwright(work: Callable[[Fetch], Awaitable[None]]) -> None:
    from playwright.async_api import async_playwright

    async with async_playwright() as play:
        path = shutil.which("chromium")
        browser = await play.chromium.launch(executable_path=path, args=["--no-sandbox"])

        async def fetch(url: str) -> int:
            context = await browser.new_context()
            page = await context.new_page()
            await page.goto(url)
            size = len(await page.content())
            await context.close()
            return size

        await work(fetch)
        await browser.close()


def ours(mode: str) -> Callable[[Callable[[Fetch], Awaitable[None]]], Awaitable[None]]:
    async def run(work: Callable[[Fetch], Awaitable[None]]) -> None:
        from framework.types import FetchMode, HttpRequest
        from spiders.hub import Hub

        async with Hub(LOOPBACK) as hub:

            async def fetch(url: str) -> int:
                answer = await hub.fetch(HttpRequest(url=url), mode=FetchMode(mode), timeout=60)
                return len(answer.body)

            await work(fetch)

    return run


CANDIDATES = {
    "aiohttp": bare_aiohttp,
    "curl_cffi": bare_curl,
    "playwright": bare_playwright,
    **{mode: ours(mode) for mode in PAIRS},
}


# Measuring


async def measure(name: str, port: int, fetches: int, at_once: int) -> dict[str, float]:
    url = f"http://127.0.0.1:{port}/{'small' if name in ('render', 'playwright') else 'page'}"
    figures: dict[str, float] = {}

    async def work(fetch: Fetch) -> None:
        for _ in range(3):
            await fetch(url)
        figures.update(await timed(fetch, url, fetches, at_once))

    await CANDIDATES[name](work)
    return figures


async def timed(fetch: Fetch, url: str, fetches: int, at_once: int) -> dict[str, float]:
    left, taken = iter(range(fetches)), []

    async def worker() -> None:
        for _ in left:
            start = time.perf_counter()
            await fetch(url)
            taken.append((time.perf_counter() - start) * 1000)

    cpu = time.process_time()
    await asyncio.gather(*(worker() for _ in range(at_once)))
    return {
        "cpu_ms": (time.process_time() - cpu) * 1000 / fetches,
        "median_ms": statistics.median(taken),
    }


def rounds(names: list[str], port: int, options: argparse.Namespace) -> Iterator[tuple[str, dict]]:
    for _ in progress(options.rounds):
        for name in names:
            slow = name in ("render", "playwright")
            count = options.renders if slow else options.fetches
            at_once = 1 if slow else options.at_once
            argv = ["--one", name, str(port), str(count), str(at_once)]
            command = [sys.executable, __file__, *argv]
            environ = {**os.environ, "PYTHONPATH": str(ROOT)}
            shown = subprocess.run(command, capture_output=True, text=True, check=True, env=environ)
            yield name, json.loads(shown.stdout.splitlines()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--fetches", type=int, default=400)
    parser.add_argument("--renders", type=int, default=12)
    parser.add_argument("--at-once", type=int, default=8)
    parser.add_argument("--modes", default="http,impersonate,render")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve())
    elif options.one:
        name, *numbers = options.one
        print(json.dumps(asyncio.run(measure(name, *map(int, numbers)))))
    else:
        report(options)


def report(options: argparse.Namespace) -> None:
    modes = [mode for mode in options.modes.split(",") if mode in PAIRS]
    if shutil.which("chromium") is None and "render" in modes:
        print("Chromium is not installed: render is left out", file=sys.stderr)
        modes.remove("render")
    names = [name for mode in modes for name in (PAIRS[mode][0], mode)]
    command = [sys.executable, __file__, "--serve"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        port = int(server.stdout.readline())
        found: dict[str, list[dict[str, float]]] = {name: [] for name in names}
        for name, figures in rounds(names, port, options):
            found[name].append(figures)
        server.terminate()
    ratios = []
    for mode in modes:
        bare, target = PAIRS[mode]
        key = "median_ms" if mode == "render" else "cpu_ms"
        pairs = zip(found[mode], found[bare], strict=True)
        values = [own[key] / other[key] for own, other in pairs]
        ratios.append(Ratio(name=f"{mode} : {bare}, {key}", values=values, target=target))
    rows = [
        (name, *(spread([one[key] for one in results]) for key in ("cpu_ms", "median_ms")))
        for name, results in found.items()
    ]
    tables = [table(("candidate", "CPU ms", "median ms"), rows)]
    whole = Report(title="Fetch modes", ratios=ratios, tables=tables, rounds=options.rounds)
    emit(whole, options.json)


if __name__ == "__main__":
    main()
