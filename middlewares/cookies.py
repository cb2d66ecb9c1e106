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

    def find(self, key: Hashable) -> CookieJar | None:
        """Return the jar of this key, which counts as used, or None."""
        if key in self._jars:
            self._jars.move_to_end(key)
        return self._jars.get(key)

    def jar(self, key: Hashable) -> CookieJar:
        """Return the jar of this key, a new one where there is none."""
        found = self.find(key)
        # An empty jar is false, so it must be asked for by name.
        if found is not None:
            return found
        jar = self._jars[key] = CookieJar()
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
        key = request.meta.get("jar")
        if key is not None:
            request.headers.pop("Cookie", None)
            if (jar := self.shelf.find(key)) is not None:
                jar.add_cookie_header(request)
        merged = {**_parsed(request.headers.get("Cookie") or b""), **_own_cookies(request)}
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
