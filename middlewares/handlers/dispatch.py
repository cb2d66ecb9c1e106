"""The one download handler: hands each request to the fetch mode that it names."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import DownloadTimeoutError, NotSupported
from scrapy.utils.misc import load_object

from framework.types import FetchMode

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["MODES", "DispatchHandler"]

#: The handler of each mode; imported at its first use, since each brings a large library.
MODES: dict[FetchMode, str] = {
    FetchMode.HTTP: "middlewares.handlers.standard.StandardHandler",
    FetchMode.IMPERSONATE: "middlewares.handlers.browser.BrowserHandler",
    FetchMode.RENDER: "middlewares.handlers.render.RenderHandler",
}

_of_crawler: WeakKeyDictionary[Crawler, DispatchHandler] = WeakKeyDictionary()


class DispatchHandler(BaseDownloadHandler):
    """Chooses by `request.meta["fetch"]` and keeps the deadline of each attempt.

    `request.meta["download_timeout"]` is in seconds and holds for the whole transfer; cancelling
    the download ends the transfer.
    """

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._timeout = crawler.settings.getfloat("DOWNLOAD_TIMEOUT")
        self._handlers: dict[FetchMode, BaseDownloadHandler] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> DispatchHandler:
        """Return the crawler's one dispatcher: Scrapy asks once for each scheme."""
        if crawler not in _of_crawler:
            _of_crawler[crawler] = cls(crawler)
        return _of_crawler[crawler]

    async def close(self) -> None:
        """Close the handlers that were used."""
        while self._handlers:
            _, handler = self._handlers.popitem()
            await handler.close()

    async def download_request(self, request: Request) -> Response:
        """Return the answer to one request, by its own mode and deadline."""
        handler = self._handler(request.meta.get("fetch", FetchMode.HTTP))
        limit = float(request.meta.get("download_timeout") or self._timeout)
        started = time.monotonic()
        try:
            async with asyncio.timeout(limit):
                return await handler.download_request(request)
        except TimeoutError:
            raise DownloadTimeoutError(f"no complete answer within {limit:g} s") from None
        finally:
            request.meta["download_latency"] = time.monotonic() - started

    def _handler(self, mode: str) -> BaseDownloadHandler:
        try:
            wanted = FetchMode(mode)
        except ValueError:
            raise NotSupported(f"no fetch mode {mode!r}; choose from {', '.join(MODES)}") from None
        if wanted not in self._handlers:
            self._handlers[wanted] = load_object(MODES[wanted]).from_crawler(self.crawler)
        return self._handlers[wanted]
