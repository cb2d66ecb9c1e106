"""Reading pages locally, or by a remote reader where that is asked for or helps."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError
from server.pages import Pages, checked_url
from server.readers import READERS, Ask, RemoteReaders

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from framework.types import HttpRequest, HttpResponse
    from server.pages import Fetched, PageRequest
    from server.stores import Stores
    from spiders.hub import Hub

__all__ = ["PageReading"]

#: Failures of a page that a remote reader may not share.
_UNREADABLE = frozenset({"blocked", "http_status", "render_failed", "timeout", "download_failed"})
#: The part of the time limit after which a remote reader that could help is asked.
_LOCAL_SHARE = 0.6


class PageReading:
    """Reads pages through one crawler; its parts are made at first use."""

    def __init__(
        self, hub: Callable[[], Awaitable[Hub]], stores: Stores, values: Mapping[str, str]
    ) -> None:
        self._hub = hub
        self._stores = stores
        self._values = values
        self._local: Pages | None = None
        self._remote: RemoteReaders | None = None

    @property
    def local(self) -> Pages:
        """Who fetches and reads pages without anybody's help."""
        if self._local is None:
            self._local = Pages(self._hub, self._stores.page_cache, self._stores.policy)
        return self._local

    @property
    def remote(self) -> RemoteReaders:
        """Services that read pages for us."""
        if self._remote is None:
            self._remote = RemoteReaders(self._send, self._values, self._stores.policy.state)
        return self._remote

    async def read(
        self, request: PageRequest, reader: str, query: str | None, chunks: int
    ) -> Fetched:
        """Fetch and read a page.

        `auto` reads locally, and where the page is blocked or cannot be read asks the first remote
        reader that has a key; the request's time limit holds for both together. Raises what
        `Pages.fetch` and `RemoteReaders.read` raise.
        """
        ask = Ask(request.url, query, chunks)
        if reader in READERS:
            return await self._read_remotely(reader, ask, request.timeout)
        able = self.remote.configured() if reader == "auto" and request.render != "always" else ()
        if not able:
            return await self.local.fetch(request)
        clock = asyncio.get_running_loop().time
        end = clock() + request.timeout
        try:
            return await self.local.fetch(replace(request, timeout=request.timeout * _LOCAL_SHARE))
        except ConsilienceError as error:
            if error.code not in _UNREADABLE:
                raise
        return await self._read_remotely(able[0], ask, end - clock())

    async def _read_remotely(self, reader: str, ask: Ask, timeout: float) -> Fetched:
        return await self.remote.read(reader, replace(ask, url=checked_url(ask.url)), timeout)

    async def _send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        hub = await self._hub()
        return await hub.fetch(request, timeout=timeout)

    def close(self) -> None:
        """Forget the parts, whose stores are being closed."""
        self._local = self._remote = None
