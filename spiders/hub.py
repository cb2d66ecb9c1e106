"""The hub: searches and page fetches of a server through one long-lived crawler."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from scrapy import Request

from framework.errors import ConsilienceError, UnavailableError
from framework.types import FetchMode, HttpResponse
from spiders.crawler import LongLivedCrawler
from spiders.failures import explained

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping
    from types import TracebackType

    from scrapy.http import Response

    from framework.types import HttpRequest, Verdict

__all__ = ["Call", "Hub", "Judge", "http_response", "scrapy_request"]

PAGE_CAP = 8 * 1024 * 1024


class Judge(Protocol):
    """An engine, as far as a fetch needs it: the verdict of its conditions on an answer."""

    def verdict(self, response: HttpResponse) -> Verdict | None:
        """Return the first verdict whose condition holds, or None."""


@dataclass(slots=True, eq=False)
class Call:
    """One caller's interest in its transfers; the fetch handlers look at it."""

    cancelled: bool = False
    transfers: set[asyncio.Task[Response]] = field(default_factory=set)

    def cancel(self) -> None:
        """End the transfers that run, and keep those that wait from being sent."""
        self.cancelled = True
        for transfer in tuple(self.transfers):
            transfer.cancel()


def scrapy_request(request: HttpRequest, meta: Mapping[str, object]) -> Request:
    """Return the framework's request as Scrapy's, never filtered as a duplicate."""
    return Request(
        request.url,
        method=request.method,
        headers=list(request.headers),
        cookies=[{"name": name, "value": value} for name, value in request.cookies],
        body=request.body,
        meta=dict(meta),
        dont_filter=True,
    )


def http_response(response: Response) -> HttpResponse:
    """Return Scrapy's response as the framework's, with the hops that led to it."""
    hops = response.meta.get("hops", ()) if response.request is not None else ()
    return HttpResponse(
        url=response.url,
        status=response.status,
        headers=tuple(
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in response.headers.items()
            for value in values
        ),
        body=response.body,
        hops=tuple(hops),
    )


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
        judge: Judge | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> HttpResponse:
        """Return the answer to one request, whatever its status.

        `timeout` (seconds) holds for everything: waiting for a place, redirects, retries, body.
        `maxsize` is in decoded bytes. `jar` keys the cookie jar, None keeping no cookies. With
        `judge` a redirect that means something to the engine is not followed. Raises
        `UnavailableError` whose `code` says what failed.
        """
        call = Call()
        facts = {
            "fetch": mode,
            "proxy": proxy,
            "download_timeout": timeout,
            "download_maxsize": maxsize,
            "jar": jar,
            "judge": judge,
            "call": call,
            **(meta or {}),
        }
        try:
            async with asyncio.timeout(timeout), self._places:
                answer = await self._crawler.download(scrapy_request(request, facts))
        except TimeoutError:
            raise UnavailableError(
                f"no complete answer within {timeout:g} s", code="timeout"
            ) from None
        except (ConsilienceError, asyncio.CancelledError):
            raise
        except Exception as error:
            raise explained(error) from error
        finally:
            call.cancel()
        return http_response(answer)
