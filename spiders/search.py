"""One engine's search over a crawler: way out, session steps, mirrors, one time limit for all.

The service and `scrapy crawl` both search through here, so that they cannot drift apart.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Protocol

from framework.errors import ConsilienceError, UnavailableError
from spiders.asking import Asking, ask
from spiders.crawler import download
from spiders.exchange import engine_meta, http_response, scrapy_request
from spiders.failures import explained, failed_page
from spiders.route import way_out

if TYPE_CHECKING:
    from collections.abc import Awaitable, Mapping

    from scrapy.crawler import Crawler

    from framework.spec.compiler import Engine
    from framework.spec.context import Variables
    from framework.types import HttpRequest, HttpResponse, Next, Page, Query
    from spiders.bootstrap import Send, Sessions

__all__ = ["Transfer", "search_engine", "transfer"]

#: How often a session is made anew because its proxy died.
_OTHER_WAYS = 2


class Transfer(Protocol):
    """Sends one request with these facts for the middlewares, within `timeout` seconds."""

    def __call__(
        self, request: HttpRequest, facts: Mapping[str, object], timeout: float
    ) -> Awaitable[HttpResponse]:
        """Return the answer; raises a `ConsilienceError` whose `code` says what failed."""


async def transfer(
    crawler: Crawler,
    request: HttpRequest,
    facts: Mapping[str, object],
    timeout: float,
    places: contextlib.AbstractAsyncContextManager[object] | None = None,
) -> HttpResponse:
    """Return the answer to a request that carries `facts` as its meta.

    `timeout` (seconds) holds for everything, waiting for one of the `places` included. Raises a
    `ConsilienceError` whose `code` says what failed.
    """
    meta = {**facts, "download_timeout": timeout}
    try:
        async with asyncio.timeout(timeout), places or contextlib.nullcontext():
            answer = await download(crawler, scrapy_request(request, meta))
    except TimeoutError:
        raise UnavailableError(
            f"no complete answer within {round(timeout, 1):g} s", code="timeout"
        ) from None
    except ConsilienceError:
        raise
    except Exception as error:
        raise explained(error) from error
    return http_response(answer)


async def search_engine(
    crawler: Crawler,
    engine: Engine,
    query: Query,
    after: Next | None = None,
    *,
    variables: Variables,
    sessions: Sessions,
    send: Transfer,
    timeout: float | None = None,
    proxy: str | None = None,
) -> Page:
    """Return one page of an engine: that of the query, or the one that `after` announces.

    Session steps go first; they and the search leave by one proxy, and where that one dies they
    are made anew through another. `timeout` (seconds; default: the engine's own) holds for all
    requests together. Only cancellation is raised: a failure is a page that says so.
    """
    meta = engine_meta(engine, query, variables, proxy)
    limit = timeout or float(str(meta["download_timeout"]))
    end = asyncio.get_running_loop().time() + limit
    tried: tuple[str, ...] = ()
    while True:
        route = None
        try:
            route = way_out(crawler, engine, {**meta, "proxy": proxy, "tried": tried})
            way = {"proxy": route, "routed": True, "pinned": True} if route else {"proxy": proxy}
            asking = Asking(
                engine=engine,
                query=query,
                variables=variables,
                sessions=sessions,
                proxy=route or proxy or "",
            )
            return await ask(asking, _until(end, send, {**meta, **way}), after)
        except ConsilienceError as error:
            lost = route if error.code == "proxy_unavailable" else None
            if lost is None or len(tried) == _OTHER_WAYS:
                return failed_page(error)
            tried = (*tried, lost)


def _until(end: float, send: Transfer, facts: Mapping[str, object]) -> Send:
    """Send each request in the time that is left."""

    async def sent(request: HttpRequest) -> HttpResponse:
        return await send(request, facts, end - asyncio.get_running_loop().time())

    return sent
