"""One long-lived Scrapy crawler in the caller's running loop."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from scrapy import Request, Spider
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from scrapy.utils.reactor import install_reactor

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["LongLivedCrawler", "download", "project_settings"]

_REACTOR = "twisted.internet.asyncioreactor.AsyncioSelectorReactor"


class _IdleSpider(Spider):
    """Never idle: its start waits for the end, so the engine neither closes it nor polls."""

    name = "hub"

    def __init__(self, *, ready: asyncio.Event, stop: asyncio.Event) -> None:
        super().__init__()
        self._ready = ready
        self._stop = stop

    async def start(self) -> AsyncIterator[Request]:
        """Tell that the engine runs, then wait; no request is ever scheduled."""
        self._ready.set()
        await self._stop.wait()
        nothing: tuple[Request, ...] = ()
        for request in nothing:
            yield request


def project_settings(changes: Mapping[str, object] | None = None) -> Settings:
    """Return the project's settings with these changes, which win over everything."""
    settings = Settings()
    settings.setmodule("spiders.settings", priority="project")
    settings.set("SPIDER_LOADER_CLASS", "scrapy.spiderloader.DummySpiderLoader", priority="cmdline")
    settings.setdict(dict(changes or {}), priority="cmdline")
    return settings


class LongLivedCrawler:
    """A crawler that stays open between downloads; opened and closed as often as wanted.

    Twisted's reactor is installed on the running loop and never started: components that need
    Twisted's own networking or threads would hang, so none is configured.
    """

    def __init__(self, settings: Mapping[str, object] | None = None) -> None:
        self._settings = project_settings(settings)
        self._ready = asyncio.Event()
        self._stop = asyncio.Event()
        self._crawler: Crawler | None = None
        self._task: asyncio.Task[None] | None = None

    @property
    def is_open(self) -> bool:
        """Whether downloads can be asked for."""
        return self._crawler is not None

    @property
    def crawler(self) -> Crawler:
        """Scrapy's crawler; raises `RuntimeError` while closed."""
        if self._crawler is None:
            raise RuntimeError("the crawler is not open; use it inside `async with`")
        return self._crawler

    async def open(self) -> None:
        """Start the crawler in this loop; raises what its start raised."""
        install_reactor(_REACTOR)
        runner = AsyncCrawlerRunner(self._settings)
        crawler = runner.create_crawler(_IdleSpider)
        self._ready.clear()
        self._stop.clear()
        self._task = runner.crawl(crawler, ready=self._ready, stop=self._stop)
        ready = asyncio.ensure_future(self._ready.wait())
        await asyncio.wait([self._task, ready], return_when=asyncio.FIRST_COMPLETED)
        if self._task.done():
            ready.cancel()
            await asyncio.gather(ready, return_exceptions=True)
            self._task.result()
            raise RuntimeError("the crawler ended before it was ready")
        self._crawler = crawler

    async def close(self) -> None:
        """Stop the crawler and wait until its handlers have closed their connections."""
        crawler, self._crawler = self._crawler, None
        if crawler is None or self._task is None:
            return
        self._stop.set()
        await crawler.stop_async()
        await self._task

    async def download(self, request: Request) -> Response:
        """Return the answer after all downloader middlewares; raises what they or it raised."""
        return await download(self.crawler, request)


async def download(crawler: Crawler, request: Request) -> Response:
    """Return the answer after all downloader middlewares; raises what they or it raised.

    This is what Scrapy's `download_async` does without its slots, signals and deferreds, which
    cost half of a fetch here and are not used: waiting and pacing are the caller's, and a
    cancellation reaches the transfer itself.
    """
    downloader = crawler.engine.downloader
    step: Request | Response = request
    while isinstance(step, Request):
        asked = step
        step = await downloader.middleware.download_async(
            downloader.handlers.download_request_async, asked
        )
    if step.request is None:
        step.request = asked
    return step
