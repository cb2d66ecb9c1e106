"""The one download handler: hands each request to the fetch mode that it names."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Protocol
from weakref import WeakKeyDictionary

from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import DownloadCancelledError, DownloadTimeoutError, NotSupported
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


class Call(Protocol):
    """The caller's interest in a request, found in `request.meta["call"]`."""

    cancelled: bool
    transfers: set[asyncio.Task[Response]]


class DispatchHandler(BaseDownloadHandler):
    """Chooses by `request.meta["fetch"]`, keeps the deadline, and ends a transfer nobody waits for.

    `request.meta["download_timeout"]` is in seconds and holds for the whole transfer. A request
    whose caller left while it waited is not sent. Cancellation never escapes into Scrapy, which
    would keep such a request for ever: it becomes `DownloadCancelledError`.
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
        call: Call | None = request.meta.get("call")
        if call is not None and call.cancelled:
            raise DownloadCancelledError("the caller has left")
        transfer = asyncio.ensure_future(handler.download_request(request))
        if call is not None:
            call.transfers.add(transfer)
        try:
            return await self._in_time(transfer, request)
        finally:
            if call is not None:
                call.transfers.discard(transfer)

    async def _in_time(self, transfer: asyncio.Task[Response], request: Request) -> Response:
        limit = float(request.meta.get("download_timeout") or self._timeout)
        started = time.monotonic()
        try:
            async with asyncio.timeout(limit):
                return await transfer
        except TimeoutError:
            raise DownloadTimeoutError(f"no complete answer within {limit:g} s") from None
        except asyncio.CancelledError:
            raise DownloadCancelledError("the caller has left") from None
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
