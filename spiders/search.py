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
    from spiders.bootstrap import Sessions

__all__ = ["Transfer", "search_engine", "transfer"]


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

    Session steps go first. `timeout` (seconds; default: the engine's own) holds for all its
    requests together. Only cancellation is raised: a failure is a page that says so.
    """
    meta = engine_meta(engine, query, variables, proxy)
    limit = timeout or float(str(meta["download_timeout"]))
    end = asyncio.get_running_loop().time() + limit
    try:
        route = proxy or way_out(crawler, engine, meta)
        chosen = {"proxy": route, "routed": True} if route and not proxy else {"proxy": route}
        asking = Asking(
            engine=engine,
            query=query,
            variables=variables,
            sessions=sessions,
            proxy=route or "",
        )

        async def sent(request: HttpRequest) -> HttpResponse:
            left = end - asyncio.get_running_loop().time()
            return await send(request, {**meta, **chosen}, left)

        return await ask(asking, sent, after)
    except ConsilienceError as error:
        return failed_page(error)
