"""Crawls ask engines by the rules of the service: disabled, rests, pace, keys."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import IgnoreRequest
from scrapy.http import Response

from framework.errors import InvalidInputError
from framework.spec.environment import disabled
from framework.types import Page, Verdict
from middlewares.policy import EnginePolicy
from middlewares.state import STATE_FILE, StateDatabase, default_folder

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from framework.spec.compiler import Engine
    from middlewares.policy import Attempt

__all__ = ["CONCURRENCY", "PolicyMiddleware"]

#: How many questions a crawl has with one engine at once, where its file says nothing.
CONCURRENCY = 4
#: Least seconds between two searches, and two further pages; `DOWNLOAD_DELAY` holds for both.
_GAPS = ("CONSILIENCE_SEARCH_GAP", "CONSILIENCE_PAGE_GAP")
#: Seconds that a crawl waits for an engine's turn: nobody is waiting for one answer.
_PATIENCE = 3600.0
#: A rest that ends within an engine's own time limit is waited for; seconds where it has none.
_SHORT_REST = 10.0


class PolicyMiddleware:
    """Answers a request that asks an engine, which is itself never sent.

    `request.meta["ask"]` asks the engine `request.meta["engine"]` once, with a key of each pool;
    it may be called several times, with another key each time. What came of it is put into
    `request.meta["page"]`. So no key stands in a request that waits, is logged or is kept on disk.
    All other requests pass. The state database is opened when an engine is asked first; a crawl
    that ends (`going` says False) asks nothing more.
    """

    def __init__(
        self,
        policy: Callable[[], EnginePolicy],
        *,
        going: Callable[[], bool] = lambda: True,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._open = policy
        self._policy: EnginePolicy | None = None
        self._going = going
        self._sleep = sleep
        self._places: dict[str, asyncio.Semaphore] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> PolicyMiddleware:
        """Use the state in `CONSILIENCE_STATE_DIR`; recordings know neither rest nor pace."""
        settings = crawler.settings
        enabled = not settings.get("REPLAY")
        folder = Path(settings.get("CONSILIENCE_STATE_DIR") or default_folder())
        delay = _seconds(settings, "DOWNLOAD_DELAY")
        gaps = [max(delay, _seconds(settings, name)) for name in _GAPS]

        def opened() -> EnginePolicy:
            state = StateDatabase(folder / STATE_FILE if enabled else None)
            return EnginePolicy.create(
                state, os.environ, search_gap=gaps[0], page_gap=gaps[1], enabled=enabled
            )

        middleware = cls(opened, going=lambda: crawler.crawling)
        crawler.signals.connect(middleware.close, signals.spider_closed)
        return middleware

    @property
    def policy(self) -> EnginePolicy:
        """The rules; opened at first use."""
        if self._policy is None:
            self._policy = self._open()
        return self._policy

    def close(self) -> None:
        """Write what is left to write and close the state database."""
        if self._policy is not None:
            self._policy.state.close()
            self._policy = None

    async def process_request(self, request: Request) -> Response | None:
        """Have the engine asked and return an empty answer.

        Raises `IgnoreRequest` where the crawl ends, else what the asking raises.
        """
        ask = request.meta.get("ask")
        if ask is None:
            return None
        engine = request.meta["engine"]
        async with self._place(engine):
            if not self._going():
                raise IgnoreRequest("the crawl ends")
            is_page = bool(request.meta.get("is_page"))
            request.meta["page"] = await self._page(engine, ask, is_page)
        return Response(request.url)

    def _place(self, engine: Engine) -> asyncio.Semaphore:
        places = engine.limits.concurrency or CONCURRENCY
        return self._places.setdefault(engine.id, asyncio.Semaphore(places))

    async def _page(self, engine: Engine, attempt: Attempt, is_page: bool) -> Page:
        reason = disabled(engine.spec, self.policy.environ) if self.policy.enabled else ""
        if reason:
            return Page(verdict=Verdict.DISABLED, detail=reason)
        rest = self.policy.rest(engine.id)
        wait = self.policy.remaining(engine.id)
        if rest is not None and wait > (engine.limits.timeout or _SHORT_REST):
            detail = f"rests after {rest.verdict}"
            return Page(verdict=Verdict.RESTING, detail=detail, retry_after=wait)
        if wait > 0:
            await self._sleep(wait)
        return await self.policy.consult(engine, attempt, deadline=_PATIENCE, is_page=is_page)


def _seconds(settings: BaseSettings, name: str) -> float:
    try:
        return settings.getfloat(name)
    except ValueError:
        given = settings.get(name)
        raise InvalidInputError(f"{name} must be a number of seconds, not {given!r}") from None
