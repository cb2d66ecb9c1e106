"""Mode `render`: the page as a real Chromium shows it, through scrapy-playwright.

Each render has a context of its own, so nothing is shared between callers, and a filter proxy of
its own, which is Chromium's only way out.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import logging
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeout
from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import DownloadFailedError, DownloadTimeoutError
from scrapy_playwright.handler import ScrapyPlaywrightDownloadHandler
from scrapy_playwright.page import PageMethod

from framework.headers import decoded
from middlewares.guard import allowed_networks, check_url
from middlewares.handlers.budget import RenderBudget, Watch
from middlewares.handlers.chromium import launch_options, user_agent
from middlewares.handlers.common import BodyBuffer, answer, body_cap, proxy_of, tls_context
from middlewares.handlers.failures import (
    BrowserUnavailableError,
    RenderBudgetError,
    RenderFailedError,
)
from middlewares.handlers.filter_proxy import FilterProxy

if TYPE_CHECKING:
    from playwright.async_api import Request as PlaywrightRequest
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["RenderHandler"]

#: Headers that the browser sets itself, or that are for another hop.
_OWN_HEADERS = frozenset({"host", "user-agent", "accept-encoding", "proxy-authorization"})


class _Browser(ScrapyPlaywrightDownloadHandler):  # type: ignore[misc]
    """scrapy-playwright, started at the first render and closed without Twisted's own pool."""

    def __init__(self, crawler: Crawler, options: dict[str, object]) -> None:
        super().__init__(crawler)
        self.config.launch_options = options
        self.config.target_closed_max_retries = 0
        self.process_request_headers = _merged_headers
        self._starting: asyncio.Task[str] | None = None

    async def version(self) -> str:
        """Start the browser where it does not run, and return its version.

        All callers share one start, which goes on where one of them leaves.
        """
        if self._starting is None:
            self._starting = asyncio.ensure_future(self._start())
            self._starting.add_done_callback(self._has_started)
        return await asyncio.shield(self._starting)

    async def _start(self) -> str:
        if not hasattr(self, "browser_provider"):
            try:
                await self._launch()
            except BaseException:
                if hasattr(self, "browser_provider"):
                    del self.browser_provider  # the next caller begins anew
                raise
        await self._maybe_launch_browser()
        return str(self.browser.version)

    def _has_started(self, start: asyncio.Task[str]) -> None:
        self._starting = None
        if not start.cancelled():
            start.exception()  # nobody may be left to hear of it

    async def forget(self, context: str) -> None:
        """Close a context with all its pages."""
        wrapper = self.context_wrappers.get(context)
        if wrapper is not None:
            with contextlib.suppress(PlaywrightError):
                await wrapper.context.close()

    async def close(self) -> None:
        if self._starting is not None:
            await asyncio.gather(self._starting, return_exceptions=True)
        with contextlib.suppress(PlaywrightError):
            await self._close()


async def _merged_headers(
    browser_type_name: str,
    playwright_request: PlaywrightRequest,
    scrapy_request_data: dict[str, Any],
) -> dict[str, str]:
    """The browser's own headers; for the page itself also those of the request."""
    headers: dict[str, str] = await playwright_request.all_headers()
    if not playwright_request.is_navigation_request():
        return headers
    own = scrapy_request_data["headers"].to_unicode_dict()
    return {**headers, **{k.lower(): v for k, v in own.items() if k.lower() not in _OWN_HEADERS}}


class RenderHandler(BaseDownloadHandler):
    """Renders pages within the operator's budgets; at most `RENDER_CONCURRENCY` (2) at once.

    `request.meta["wait"]` is `load` or `networkidle`; `request.meta["screenshot"]` a list that
    gets a JPEG. Codes: `browser_unavailable`, `render_failed`, `render_budget_exceeded`, and those
    of connections.
    """

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        settings = crawler.settings
        # It logs whole addresses, which hold queries, at lower levels.
        logging.getLogger("scrapy-playwright").setLevel(logging.CRITICAL)
        self._settings = settings
        self._allowed = allowed_networks(settings.getlist("CONSILIENCE_ALLOW_NETWORKS"))
        self._tls = tls_context(settings)
        self._budget = RenderBudget.from_settings(settings)
        self._places = asyncio.Semaphore(settings.getint("RENDER_CONCURRENCY"))
        self._browser: _Browser | None = None
        self._names = itertools.count(1)
        self._leftovers: set[asyncio.Task[None]] = set()

    async def close(self) -> None:
        """Close the browser."""
        await asyncio.gather(*self._leftovers, return_exceptions=True)
        browser, self._browser = self._browser, None
        if browser is not None:
            await browser.close()

    async def download_request(self, request: Request) -> Response:
        """Return the rendered page as an HTML answer; raises Scrapy's exceptions."""
        proxy = proxy_of(request)
        check_url(request.url, self._allowed, remote=proxy is not None)
        limit = self._budget.network_bytes
        async with (
            self._places,
            FilterProxy(proxy, self._allowed, self._tls, limit) as way,
        ):
            return await self._render(request, way)

    async def _render(self, request: Request, way: FilterProxy) -> Response:
        watch = Watch(
            self._budget,
            quiet=request.meta.get("wait") == "networkidle",
            shots=request.meta.get("screenshot"),
        )
        browser, agent = await self._started()
        inner = _inner_request(request, f"render-{next(self._names)}", watch, way, agent)
        page = asyncio.ensure_future(browser.download_request(inner))
        try:
            shown = await self._within_budget(page, watch, way)
        except PlaywrightError as error:
            raise _translated(error, way) from error
        finally:
            page.cancel()
            await self._clean_up(browser, inner.meta["playwright_context"])
        return self._answer(request, inner, shown)

    async def _within_budget(
        self, page: asyncio.Future[Response], watch: Watch, way: FilterProxy
    ) -> Response:
        alarms: set[asyncio.Future[Any]] = {
            asyncio.ensure_future(watch.breached.wait()),
            asyncio.ensure_future(way.exceeded.wait()),
        }
        try:
            done, _ = await asyncio.wait(
                {page, *alarms},
                timeout=self._budget.seconds,
                return_when=asyncio.FIRST_COMPLETED,
            )
        finally:
            for alarm in alarms:
                alarm.cancel()
        if page in done and not watch.breach and not way.exceeded.is_set():
            return page.result()
        if not done:
            watch.over(f"{self._budget.seconds:g} s")
        limit = watch.breach or f"{self._budget.network_bytes} bytes from the network"
        raise RenderBudgetError(f"the page takes more than {limit}")

    async def _started(self) -> tuple[_Browser, str]:
        if self._browser is None:
            self._browser = _Browser(self.crawler, launch_options(self._settings))
        try:
            return self._browser, user_agent(await self._browser.version())
        except (PlaywrightError, OSError) as error:
            reason = str(error).strip().partition("\n")[0]
            raise BrowserUnavailableError(f"Chromium does not start: {reason}") from error

    async def _clean_up(self, browser: _Browser, context: str) -> None:
        """Close the context even where the caller is being cancelled."""
        closing = asyncio.ensure_future(browser.forget(context))
        self._leftovers.add(closing)
        closing.add_done_callback(self._leftovers.discard)
        await asyncio.shield(closing)

    def _answer(self, request: Request, inner: Request, shown: Response) -> Response:
        body = BodyBuffer(body_cap(request, self._settings))
        body.add(shown.body)
        if hops := inner.meta.get("redirect_urls"):
            request.meta["hops"] = [*request.meta.get("hops", ()), *hops]
        return answer(
            request,
            status=shown.status,
            headers=decoded(shown.headers.items()),
            body=body.join(),
            protocol="rendered",
            peer=None,
            url=shown.url,
        )


def _inner_request(
    request: Request, context: str, watch: Watch, way: FilterProxy, agent: str
) -> Request:
    return Request(
        request.url,
        method=request.method,
        headers=request.headers,
        body=request.body,
        dont_filter=True,
        meta={
            "playwright": True,
            "playwright_context": context,
            "playwright_context_kwargs": {
                "proxy": {"server": way.url},
                "user_agent": agent,
                "service_workers": "block",
                "accept_downloads": False,
            },
            "playwright_page_init_callback": watch.attach,
            "playwright_page_goto_kwargs": {"wait_until": "load", "timeout": 0},
            "playwright_page_methods": [PageMethod(watch.settle)],
        },
    )


def _translated(error: PlaywrightError, way: FilterProxy) -> Exception:
    """The Scrapy exception that says why a page was not shown."""
    reason = error.message.partition("\n")[0].removeprefix("Page.goto: ")
    if way.failures and "SOCKS" in reason:
        return way.failures[-1]
    if isinstance(error, PlaywrightTimeout):
        return DownloadTimeoutError(reason)
    if "net::ERR_CERT" in reason or "net::ERR_SSL" in reason:
        return DownloadFailedError(f"TLS fails: {reason}")
    if "net::" in reason and "ERR_ABORTED" not in reason:
        return DownloadFailedError(reason)
    return RenderFailedError(reason)
