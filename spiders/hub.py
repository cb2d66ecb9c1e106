"""The hub: searches and page fetches of a server through one long-lived crawler."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from framework.types import FetchMode
from spiders.bootstrap import Sessions
from spiders.crawler import LongLivedCrawler
from spiders.exchange import PAGE_CAP
from spiders.operator import operator_values
from spiders.search import search_engine, transfer

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from types import TracebackType

    from framework.spec.compiler import Engine
    from framework.spec.context import Variables
    from framework.types import HttpRequest, HttpResponse, Next, Page, Query

__all__ = ["Hub"]


class Hub:
    """Fetches through one crawler in the running loop; an async context manager.

    `settings` are changes to `spiders.settings`. At most `concurrency` downloads run at once;
    further ones wait within their own deadline. A caller that is cancelled, or whose deadline
    passes, ends its transfer. After closing nothing is left running; it may be opened again.
    """

    def __init__(
        self, settings: Mapping[str, object] | None = None, *, concurrency: int = 64
    ) -> None:
        self._crawler = LongLivedCrawler(settings)
        self._places = asyncio.Semaphore(concurrency)
        self._sessions = Sessions()

    async def __aenter__(self) -> Hub:
        await self._crawler.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._crawler.close()

    async def fetch(
        self,
        request: HttpRequest,
        *,
        mode: FetchMode = FetchMode.HTTP,
        proxy: str | None = None,
        timeout: float = 15.0,
        maxsize: int = PAGE_CAP,
        jar: Hashable = None,
        judge: Engine | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> HttpResponse:
        """Return the answer to one request, whatever its status.

        `timeout` (seconds) holds for everything: waiting for a place, redirects, retries, body.
        `maxsize` is in decoded bytes. `jar` keys the cookie jar, None keeping no cookies. With
        `judge` a redirect that means something to the engine is not followed. Raises
        `UnavailableError` whose `code` says what failed.
        """
        facts = {
            "fetch": mode,
            "proxy": proxy,
            "download_maxsize": maxsize,
            "jar": jar,
            "judge": judge,
            **(meta or {}),
        }
        return await self._transfer(request, facts, timeout)

    async def search_engine(
        self,
        engine: Engine,
        query: Query,
        after: Next | None = None,
        *,
        variables: Variables | None = None,
        timeout: float | None = None,
        proxy: str | None = None,
    ) -> Page:
        """Return one page of an engine: that of the query, or the one that `after` announces.

        Session steps go first. `variables` carries keys and settings (default: those of the
        environment). `timeout` (seconds; default: the engine's own) holds for all its requests
        together. Only cancellation is raised: a failure is a page whose verdict and detail say so.
        """
        return await search_engine(
            self._crawler.crawler,
            engine,
            query,
            after,
            variables=variables or operator_values(engine),
            sessions=self._sessions,
            send=self._transfer,
            timeout=timeout,
            proxy=proxy,
        )

    async def _transfer(
        self, request: HttpRequest, facts: Mapping[str, object], timeout: float
    ) -> HttpResponse:
        return await transfer(self._crawler.crawler, request, facts, timeout, self._places)
