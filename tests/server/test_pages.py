"""Pages that several callers want at once: one transfer, and each caller's own time limit."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from framework.errors import UnavailableError
from framework.types import HttpResponse
from middlewares.cache import Cache
from server.app import Application
from server.config import Environment
from server.pages import PageRequest, Pages
from tests.support.site import Reply, Seen, Site
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path
    from typing import Any

HTML = {"Content-Type": "text/html"}
PAGE = b"<title>Tides</title><p>They come and go.</p>"


class Slow:
    """A page that comes when it is let; `late` counts who waits for it."""

    def __init__(self, quick_from: int) -> None:
        self.gate = asyncio.Event()
        self.asked = 0
        self._quick_from = quick_from

    def __call__(self, seen: Seen) -> Reply:
        self.asked += 1
        if self.asked >= self._quick_from:
            return Reply(200, HTML, PAGE)
        return Reply(200, HTML, stream=self._late)

    async def _late(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await self.gate.wait()
        writer.write(PAGE)


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Application]:
    values = {
        "CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8",
        "CONSILIENCE_STATE_DIR": str(tmp_path),
        "CONSILIENCE_ROBOTS": "off",
    }
    async with Application.create(environment=Environment(values)) as app:
        yield app


def wanting(app: Application, url: str, timeout: float) -> asyncio.Task[str | None]:
    async def read() -> str | None:
        request = PageRequest(url=url, timeout=timeout, render="never")
        return (await app.page_service.fetch(request)).document.metadata.title

    return asyncio.create_task(read())


async def test_who_has_less_time_leaves_without_ending_the_others_transfer(
    app: Application,
) -> None:
    slow = Slow(quick_from=9)
    async with Site({"/": slow}) as site:
        patient = wanting(app, site.url(), 60)
        await eventually(lambda: slow.asked == 1)
        with pytest.raises(UnavailableError, match="within 1 s") as caught:
            await wanting(app, site.url(), 1)
        assert caught.value.code == "timeout"
        assert not patient.done()
        slow.gate.set()
        assert await patient == "Tides"
        assert slow.asked == 1


async def test_who_has_more_time_goes_on_where_the_first_had_too_little(app: Application) -> None:
    slow = Slow(quick_from=2)
    async with Site({"/": slow}) as site:
        hasty = wanting(app, site.url(), 1)
        await eventually(lambda: slow.asked == 1)
        patient = wanting(app, site.url(), 60)
        assert await patient == "Tides"
        with pytest.raises(UnavailableError, match="within 1 s"):
            await hasty
        assert slow.asked == 2
        assert app.page_cache.stats().shared == 1


async def test_waiting_for_the_sites_pace_is_part_of_the_time_limit() -> None:
    given: list[float] = []

    class Paced:
        @contextlib.asynccontextmanager
        async def page_turn(self, url: str, *, deadline: float) -> AsyncIterator[float]:
            yield 4.0

    class Asked:
        async def fetch(self, *_: object, timeout: float, **__: object) -> HttpResponse:
            given.append(timeout)
            return HttpResponse(url="https://a.example/", headers=tuple(HTML.items()), body=PAGE)

    async def hub() -> Any:
        return Asked()

    pace: Any = Paced()
    pages = Pages(hub, Cache(), pace)
    await pages.fetch(PageRequest(url="https://a.example/", timeout=10, render="never"))
    assert given == [pytest.approx(6.0, abs=0.5)]


@pytest.mark.parametrize(("ttl", "asked"), [("0", 2), ("3600", 1)])
async def test_after_its_time_a_page_is_asked_about_not_fetched_again(
    tmp_path: Path, ttl: str, asked: int
) -> None:
    def answer(seen: Seen) -> Reply:
        known = seen.headers.get("if-none-match") == '"tides-1"'
        return Reply(304) if known else Reply(200, {**HTML, "ETag": '"tides-1"'}, PAGE)

    values = {
        "CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8",
        "CONSILIENCE_STATE_DIR": str(tmp_path),
        "CONSILIENCE_ROBOTS": "off",
        "CONSILIENCE_CACHE_TTL": ttl,
    }
    async with Site({"/": answer}) as site:
        for _ in range(2):  # the second one finds the page on disk
            async with Application.create(environment=Environment(values)) as app:
                assert await wanting(app, site.url(), 20) == "Tides"
                stats = app.page_cache.stats()
        assert len(site.seen) == asked
    assert (stats.revalidated, stats.hits) == ((1, 0) if ttl == "0" else (0, 1))


async def test_the_operators_gaps_reach_the_rules(tmp_path: Path) -> None:
    values = {
        "CONSILIENCE_STATE_DIR": str(tmp_path),
        "CONSILIENCE_SEARCH_GAP": "2.5",
        "CONSILIENCE_PAGE_GAP": "1",
    }
    async with Application.create(environment=Environment(values)) as app:
        assert (app.policy.search_gap, app.policy.page_gap) == (2.5, 1.0)
