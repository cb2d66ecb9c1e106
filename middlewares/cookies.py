"""Cookie jars apart from each other: one per engine, proxy and query, the oldest ones forgotten.

Scrapy's own middleware keeps one jar for all, never frees one, and downloads a list of public
suffixes over a direct connection; so it is replaced.
"""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from scrapy.http.cookies import CookieJar

if TYPE_CHECKING:
    from collections.abc import Hashable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["CookiesMiddleware", "JarShelf"]


class JarShelf:
    """Holds at most `limit` jars by key; the least recently used one goes first."""

    def __init__(self, limit: int = 1024) -> None:
        self._limit = limit
        self._jars: OrderedDict[Hashable, CookieJar] = OrderedDict()

    def __len__(self) -> int:
        return len(self._jars)

    def jar(self, key: Hashable) -> CookieJar:
        """Return the jar of this key, a new one where there is none."""
        # An empty jar is false, so it must be asked for by name.
        jar = self._jars.pop(key) if key in self._jars else CookieJar()
        self._jars[key] = jar
        while len(self._jars) > self._limit:
            self._jars.popitem(last=False)
        return jar


class CookiesMiddleware:
    """Sends and keeps cookies for requests that name a jar in `request.meta["jar"]`.

    The request's own `cookies` go along too and win over the jar's. A request without a jar
    keeps nothing.
    """

    def __init__(self) -> None:
        self.shelf = JarShelf()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> CookiesMiddleware:
        """Build the middleware; it has no settings."""
        return cls()

    def process_request(self, request: Request) -> None:
        """Set the `Cookie` header from the jar and the request's own cookies."""
        own = _own_cookies(request)
        key = request.meta.get("jar")
        if key is not None:
            request.headers.pop("Cookie", None)
            self.shelf.jar(key).add_cookie_header(request)
        kept = _parsed(request.headers.get("Cookie") or b"")
        merged = {**kept, **own}
        if merged:
            request.headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in merged.items())

    def process_response(self, request: Request, response: Response) -> Response:
        """Keep what the answer sets."""
        key = request.meta.get("jar")
        if key is not None and b"Set-Cookie" in response.headers:
            self.shelf.jar(key).extract_cookies(response, request)
        return response


def _own_cookies(request: Request) -> dict[str, str]:
    cookies = request.cookies
    if isinstance(cookies, dict):
        return {str(name): str(value) for name, value in cookies.items()}
    return {str(one["name"]): str(one["value"]) for one in cookies}


def _parsed(header: bytes) -> dict[str, str]:
    pairs = (part.partition("=") for part in header.decode("latin-1").split(";"))
    return {name.strip(): value.strip() for name, _, value in pairs if name.strip()}
