"""Where the CPU of a search and of reading a page goes: a sampled profile by stage.

    python benchmarks/where.py [--searches 600] [--pages 40]

Every millisecond of CPU the stack is looked at, and the innermost frame that belongs to a stage
counts for it: what a stage calls in libraries is its own. Shares are of one process; they say what
a faster stage could win at most.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import signal
from collections import Counter
from typing import TYPE_CHECKING

from measuring import ROOT, page_server, table
from read import SETS, SHARED, load
from search import service

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType

#: Seconds of CPU between two looks.
TICK = 0.001
#: Stages by what their files start with, from the checkout or from site-packages.
SEARCH: Mapping[str, tuple[str, ...]] = {
    "parsing pages (lexbor, compiled)": ("framework/spec/documents", "framework/spec/hostile"),
    "planning requests": (
        *("framework/spec/plan", "framework/spec/request", "framework/spec/context"),
        *("framework/spec/templates", "framework/spec/template_filters"),
    ),
    "reading rows and verdicts": ("framework/spec/",),
    "merging": ("framework/merge/",),
    "transfers (aiohttp, sockets)": ("aiohttp/", "yarl/", "multidict/", "middlewares/handlers/"),
    "requests and middlewares": ("scrapy/", "w3lib/", "middlewares/", "spiders/"),
    "the service around": ("server/", "prometheus_client/"),
}
READING: Mapping[str, tuple[str, ...]] = {
    "decoding": ("framework/reading/charset", "framework/reading/sniff"),
    "parsing (lexbor, compiled) and flattening": (
        *("framework/reading/dom", "framework/reading/shallow", "framework/reading/hints"),
    ),
    "choosing the content": (
        *("framework/reading/content", "framework/reading/measure"),
        *("framework/reading/surroundings", "framework/reading/leftovers"),
        "framework/reading/callouts",
    ),
    "metadata": (
        *("framework/reading/metadata", "framework/reading/headtags", "framework/reading/date"),
        *("framework/reading/structured", "framework/reading/titles"),
    ),
    "trimming": ("framework/reading/trim", "framework/reading/closings"),
    "threads and footnotes": (
        *("framework/reading/threads", "framework/reading/post", "framework/reading/footnotes"),
    ),
    "writing Markdown": ("framework/reading/",),
}


@contextlib.contextmanager
def looks(stages: Mapping[str, tuple[str, ...]]) -> Iterator[Counter[str]]:
    """Count looks by stage while the block runs."""
    found: Counter[str] = Counter()
    known: dict[str, str] = {}

    def stage(file: str) -> str:
        if file not in known:
            inside = file.removeprefix(f"{ROOT}/").rpartition("site-packages/")[2]
            named = (name for name, starts in stages.items() if inside.startswith(starts))
            known[file] = next(named, "")
        return known[file]

    def look(_signal: int, frame: FrameType | None) -> None:
        while frame is not None and not stage(frame.f_code.co_filename):
            frame = frame.f_back
        found[stage(frame.f_code.co_filename) if frame is not None else "elsewhere"] += 1

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, TICK, TICK)
    try:
        yield found
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, signal.SIG_IGN)


def shares(found: Counter[str]) -> str:
    """Write the stages with their shares, the largest first."""
    rows = [(name, f"{100 * count / found.total():.0f} %") for name, count in found.most_common()]
    return table(("stage", "share of CPU"), rows)


async def searching(port: int, count: int) -> Counter[str]:
    """Search so often, one at a time, and return the looks."""
    async with service(port, "http") as search:
        for _ in range(20):
            await search()
        with looks(SEARCH) as found:
            for _ in range(count):
                await search()
    return found


def reading(pages: int) -> Counter[str]:
    """Read about so many pages of each set, five times over, and return the looks."""
    from framework.reading import read

    chosen = [(page["body"], page["url"]) for name in SETS for page in load(name, pages)]
    for body, url in chosen:
        read(body, url)
    with looks(READING) as found:
        for _ in range(5):
            for body, url in chosen:
                read(body, url)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--searches", type=int, default=600)
    parser.add_argument("--pages", type=int, default=40, help="about how many of each set")
    given = parser.parse_args()
    with page_server() as port:
        found = asyncio.run(searching(port, given.searches))
    print(f"## A search over three engines\n\n{shares(found)}\n")
    if SHARED.exists():
        print(f"## Reading a page\n\n{shares(reading(given.pages))}\n")
    print(NEEDED)


NEEDED = """\
## What faster would need

Of a search, parsing and transfers are compiled code already and are most of what any design must
do. The rest is spread over some two hundred small selections, each of which costs more to call
than to carry out: half of ddgs' CPU at one search at a time needs them in compiled code, or a
selector library that keeps compiled selectors. Parsing in threads wins nothing: whoever comes back
waits for the interpreter's lock. uvloop wins 3 %.

Of reading, what is compiled is a tenth; flattening the tree, choosing and writing are Python, and
none of them has a hot spot above a tenth of the whole. mypyc over all of `framework.reading` gave
1.2 times the speed; eight pages for one of trafilatura's needs the flat tree and the writer in
compiled code, which would cost every installation a compiler or a wheel for each platform."""


if __name__ == "__main__":
    main()
