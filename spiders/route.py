"""The way out of an engine that takes something first: its steps and its search go together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from scrapy.utils.misc import load_object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.crawler import Crawler

    from framework.spec.compiler import Engine

__all__ = ["way_out"]

_ROUTER = "middlewares.proxy.ProxyMiddleware"


class _Router(Protocol):
    """What routes the crawl's requests; named by its path, as in Scrapy's settings."""

    def route(self, meta: Mapping[str, object]) -> str | None:
        """Return the proxy of a request with this meta, None for a direct connection."""


def way_out(crawler: Crawler, engine: Engine, meta: Mapping[str, object]) -> str | None:
    """Return the proxy that an engine's session steps and its search must share, if any.

    A value taken through one proxy is worth nothing through another, so the proxy is chosen before
    the first step. None where there is no step, no proxy, or an instance of the operator's own.
    Raises `UnavailableError` (`proxy_unavailable`) where a proxy must be used and none can be.
    """
    if not engine.steps or meta.get("configured") or meta.get("proxy"):
        return None
    router = crawler.get_downloader_middleware(load_object(_ROUTER))
    return cast("_Router", router).route(meta) if router is not None else None
