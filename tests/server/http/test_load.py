"""A thousand calls, fifty at a time: none fails, and nothing of them stays behind."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections import Counter
from pathlib import Path

import httpx2
import pytest

from server.app import Application
from server.config import Environment, Settings
from server.http.app import http_app
from server.http.limits import Limits
from server.http.security import Access
from server.surface import build
from tests.support.http_server import hosted
from tests.support.waiting import eventually
from tests.support.wire import call

CALLS = 1_000
IN_FLIGHT = 50
#: One call in so many is a search over recordings; the others stay within the server.
SEARCH_EVERY = 25


def descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.untraced
@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="open descriptors are counted in /proc")
async def test_a_thousand_calls_leave_nothing_behind(tmp_path: Path) -> None:
    application = Application.create(Settings(state_dir=tmp_path), Environment({}), replay=True)
    limits = Limits(per_minute=10**6, burst=10**6, in_flight=IN_FLIGHT + 1)
    app = http_app(build(application), Access(), limits)
    async with hosted(app) as url:
        await calls(url, 2 * SEARCH_EVERY)
        gc.collect()
        tasks, open_before = len(asyncio.all_tasks()), descriptors()

        found = await calls(url, CALLS)

        assert found == Counter({False: CALLS})
        await eventually(lambda: len(asyncio.all_tasks()) <= tasks)
        await eventually(lambda: gc.collect() >= 0 and descriptors() <= open_before)


async def calls(url: str, number: int) -> Counter[bool]:
    """Call so many times over new connections; return how many failed."""
    found: Counter[bool] = Counter()
    numbers = iter(range(number))
    async with httpx2.AsyncClient(base_url=url, timeout=120) as http:

        async def one_after_the_other() -> None:
            for n in numbers:
                if n % SEARCH_EVERY:
                    result = await call(http, "get_sampling")
                else:
                    result = await call(http, "web_search", query=f"tutorial {n}", engines=["bing"])
                found[bool(result.get("isError"))] += 1

        await asyncio.gather(*(one_after_the_other() for _ in range(IN_FLIGHT)))
    return found
