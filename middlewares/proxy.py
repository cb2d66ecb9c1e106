"""Which proxy a request leaves through, and that nothing leaves without the one it must.

A spec's `direct` only says that the engine works without a proxy: where the operator set one, it is
used there, too. Only the operator's own list (`CONSILIENCE_ALLOW_DIRECT`) makes an exception.
"""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from framework.errors import InvalidInputError, UnavailableError
from middlewares.guard import is_configured, is_local
from middlewares.pools import Member, Pool, parse_proxy
from middlewares.pools_file import load_pools

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["DEFAULT", "DIRECT", "Proxies", "ProxyMiddleware", "proxies_from"]

_log = logging.getLogger(__name__)

DEFAULT = "default"
DIRECT = "direct"

#: The variables that hold a proxy, the strongest first, with the scheme of a bare address.
_ADDRESSES = (("SOCKS5_PROXY", "socks5h"), ("HTTPS_PROXY", "http"), ("HTTP_PROXY", "http"))
#: Variables that other programs obey and this one only mentions.
_IGNORED = ("ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "SOCKS5_PROXY", "SOCKS_PROXY")
#: An engine's cookie jar is named by (engine, proxy, query).
_JAR_PARTS = 3
_YES = frozenset({"1", "true", "yes", "on"})


class Fetching(Protocol):
    """What a spec says about a way out."""

    @property
    def proxy(self) -> str:
        """A pool's name, or `direct`."""

    @property
    def sticky(self) -> str | None:
        """Whose requests share one proxy: `query`, `engine` or nobody's."""


@dataclass(frozen=True, slots=True)
class Proxies:
    """The operator's pools and exceptions.

    `pools` by name, the pool `default` being used wherever an engine names no other;
    `allow_direct` are engine ids that may bypass it; `warnings` are for start-up and `proxies`.
    """

    pools: Mapping[str, Pool] = field(default_factory=dict)
    allow_direct: frozenset[str] = frozenset()
    warnings: tuple[str, ...] = ()

    def __deepcopy__(self, memo: object) -> Proxies:
        """Stay one object where Scrapy copies its settings: health is known once, not per copy."""
        return self

    def pool_for(self, wanted: str = DEFAULT, engine: str = "") -> Pool | None:
        """Return the pool a request must use; None where it may leave directly.

        Raises UnavailableError (`proxy_unavailable`) for a pool that does not exist: a misspelt
        name never means a direct connection.
        """
        if engine and engine in self.allow_direct:
            return None
        if wanted in {DEFAULT, DIRECT}:
            return self.pools.get(DEFAULT)
        if wanted in self.pools:
            return self.pools[wanted]
        known = ", ".join(self.pools) or "none"
        raise UnavailableError(
            f"there is no proxy pool {wanted!r}",
            code="proxy_unavailable",
            hint=f"name it in the pools file (CONSILIENCE_PROXIES); known: {known}",
            retryable=False,
        )

    def route(
        self,
        wanted: str = DEFAULT,
        *,
        engine: str = "",
        sticky: str | None = None,
        tried: Iterable[str] = (),
    ) -> str | None:
        """Return the proxy's address to use next, None for a direct connection.

        `tried` are addresses that this call has used already. Raises UnavailableError
        (`proxy_unavailable`) where a proxy must be used and none can be.
        """
        pool = self.pool_for(wanted, engine)
        return pool.pick(sticky=sticky, tried=tried).url if pool else None

    def route_engine(
        self, engine: str, fetch: Fetching, query: str = "", tried: Iterable[str] = ()
    ) -> str | None:
        """Return an engine's way out for one query, by its file's `fetch`."""
        keys = {"query": f"{engine}\0{query}", "engine": engine}
        sticky = keys.get(fetch.sticky or "")
        return self.route(fetch.proxy, engine=engine, sticky=sticky, tried=tried)

    def owner(self, url: str) -> Pool | None:
        """Return the pool that a proxy's address belongs to."""
        return next((pool for pool in self.pools.values() if url in pool), None)


def proxies_from(
    environ: Mapping[str, str],
    *,
    proxy: str | None = None,
    pools_file: Path | None = None,
    allow_direct: Iterable[str] = (),
) -> Proxies:
    """Build the operator's policy.

    The default pool is `proxy` (the option `--proxy`), else the pools file's `default`, else, where
    ENABLE_PROXY is on, SOCKS5_PROXY before HTTPS_PROXY before HTTP_PROXY. Raises InvalidInputError
    for an address that is none, and where ENABLE_PROXY is on without an address.
    """
    pools = load_pools(pools_file, environ) if pools_file else {}
    enabled = _enabled(environ)
    if proxy:
        pools[DEFAULT] = _single(proxy, "--proxy", "http")
    elif DEFAULT not in pools and enabled:
        pools[DEFAULT] = _from_environment(environ)
    warnings = () if DEFAULT in pools else tuple(_warnings(environ))
    return Proxies(pools, frozenset(allow_direct), warnings)


def _enabled(environ: Mapping[str, str]) -> bool:
    value = environ.get("CONSILIENCE_ENABLE_PROXY") or environ.get("ENABLE_PROXY") or ""
    return value.strip().lower() in _YES


def _single(text: str, source: str, scheme: str) -> Pool:
    return Pool(DEFAULT, [Member(parse_proxy(text, scheme=scheme, source=source))])


def _from_environment(environ: Mapping[str, str]) -> Pool:
    for name, scheme in _ADDRESSES:
        text = environ.get(name) or environ.get(name.lower())
        if text:
            return _single(text, name, scheme)
    raise InvalidInputError(
        "ENABLE_PROXY is on but no proxy is given",
        hint=f"set one of {', '.join(name for name, _ in _ADDRESSES)}",
    )


def _warnings(environ: Mapping[str, str]) -> Iterable[str]:
    found = [name for name in _IGNORED if environ.get(name) or environ.get(name.lower())]
    if found:
        yield (
            f"{', '.join(found)} is set but not used: requests leave directly; "
            "set ENABLE_PROXY=true, or give --proxy, to use it"
        )


class Judge(Protocol):
    """The engine behind a request, as far as its way out is concerned."""

    @property
    def id(self) -> str:
        """The engine's id."""

    @property
    def fetch(self) -> Fetching:
        """Its file's `fetch`."""


class ProxyMiddleware:
    """Gives every request its proxy, and tells the pools how their members did.

    A request that names a proxy keeps it, at every attempt. Any other one, `None` included, is
    routed by the policy: by its engine (`request.meta["judge"]`) or by `request.meta["pool"]`; so
    a caller that forgets the proxy cannot leak. `request.meta["tried"]` lists the proxies used
    before by this call.
    """

    def __init__(self, proxies: Proxies) -> None:
        self.proxies = proxies

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ProxyMiddleware:
        """Take the policy from the settings (`CONSILIENCE_PROXY_POLICY`), else the environment."""
        given = crawler.settings.get("CONSILIENCE_PROXY_POLICY")
        if isinstance(given, Proxies):
            return cls(given)
        found = _of_environment(crawler)
        for warning in () if crawler.settings.get("REPLAY") else found.warnings:
            _log.warning("%s", warning)
        return cls(found)

    def process_request(self, request: Request) -> None:
        """Set `request.meta["proxy"]`; raises where a proxy must be used and none can be."""
        meta = request.meta
        if meta.get("proxy"):
            meta.setdefault("routed", False)
            return
        if is_configured(request) and is_local(request.url):
            return  # no proxy elsewhere could reach the operator's own machine
        meta["proxy"], meta["routed"] = self.route(meta), True
        jar = meta.get("jar")
        if isinstance(jar, tuple) and len(jar) == _JAR_PARTS:
            meta["jar"] = (jar[0], meta["proxy"], jar[2])  # cookies never move to another proxy

    def route(self, meta: Mapping[str, Any]) -> str | None:
        """Return the proxy of a request with this meta, None for a direct connection.

        Raises UnavailableError (`proxy_unavailable`) where a proxy must be used and none can be.
        """
        tried = meta.get("tried", ())
        judge: Judge | None = meta.get("judge")
        if judge is None:
            return self.proxies.route(meta.get("pool", DEFAULT), tried=tried)
        jar = meta.get("jar")
        query = str(jar[-1]) if isinstance(jar, tuple) else ""
        return self.proxies.route_engine(judge.id, judge.fetch, query, tried)

    def process_response(self, request: Request, response: Response) -> Response:
        """Note that the proxy carried the request, and that those that did not are to blame."""
        url = request.meta.get("proxy")
        if url and (pool := self.proxies.owner(url)):
            pool.succeeded(url)
            for suspect in set(request.meta.pop("suspects", ())) - {url}:
                pool.failed(suspect, "no answer where another proxy got one")
        return response

    def process_exception(self, request: Request, exception: Exception) -> None:
        """Bench the proxy where the failure is its own."""
        if getattr(exception, "code", None) != "proxy_unavailable":
            return
        url = request.meta.get("proxy")
        if url and (pool := self.proxies.owner(url)):
            pool.failed(url, str(exception).partition("\n")[0])


def _of_environment(crawler: Crawler) -> Proxies:
    settings = crawler.settings
    environ = os.environ
    file = settings.get("CONSILIENCE_PROXIES") or environ.get("CONSILIENCE_PROXIES")
    direct = environ.get("CONSILIENCE_ALLOW_DIRECT", "")
    return proxies_from(
        environ,
        proxy=settings.get("CONSILIENCE_PROXY") or environ.get("CONSILIENCE_PROXY"),
        pools_file=Path(file) if file else None,
        allow_direct=[name.strip() for name in direct.split(",") if name.strip()],
    )
