"""Redirects, followed one hop at a time, so that every hop passes proxy, guard and limits again."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin, urlsplit

from scrapy.exceptions import IgnoreRequest
from scrapy.http import HtmlResponse
from w3lib.html import get_meta_refresh

from middlewares.guard import allowed_networks, check_request
from middlewares.verdict import settles

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from middlewares.guard import Network

__all__ = ["RedirectMiddleware", "TooManyRedirectsError", "followed", "target"]

_REWRITING = {301, 302, 303}
_KEEPING = {307, 308}
#: Headers that may go to another origin; credentials can stand in any other one.
_HARMLESS = {b"Accept", b"Accept-Language", b"Accept-Encoding", b"User-Agent"}
_BODY_HEADERS = (b"Content-Type", b"Content-Length")
_REFRESH_WINDOW = 8192
_LONGEST_REFRESH = 10.0


class TooManyRedirectsError(IgnoreRequest):
    """Raised when an address leads on and on; never retried."""

    code = "too_many_redirects"


def target(response: Response, *, refresh: bool = False) -> str | None:
    """Return the absolute address that this answer leads to, or None.

    A `Location` with a redirect status counts; with `refresh` also an HTML refresh of at most
    10 s. Fragments of the answer's own address are inherited, as browsers do.
    """
    location = response.headers.get("Location")
    if response.status in _REWRITING | _KEEPING and location:
        joined = urljoin(response.url, _location_text(location))
        here = urldefrag(response.url)[1]
        return joined if "#" in joined or not here else f"{joined}#{here}"
    return _refresh(response) if refresh and response.status == 200 else None


def _location_text(raw: bytes) -> str:
    try:
        return raw.decode("utf-8").strip()
    except UnicodeDecodeError:
        return raw.decode("latin-1").strip()


def _refresh(response: Response) -> str | None:
    start = response.body[:_REFRESH_WINDOW]
    if b"http-equiv" not in start.lower() or not isinstance(response, HtmlResponse):
        return None
    delay, url = get_meta_refresh(start, response.url)
    wait = delay if delay is not None else _LONGEST_REFRESH + 1
    if url is None or wait > _LONGEST_REFRESH or urldefrag(url)[0] == urldefrag(response.url)[0]:
        return None
    return url


def followed(request: Request, status: int, url: str) -> Request:
    """Return the request for the next hop.

    301, 302 and 303 turn everything but HEAD into GET; 307 and 308 keep method and body. Another
    origin sees neither the body's headers nor any header that could be a credential.
    """
    keeps = status in _KEEPING or request.method in ("GET", "HEAD")
    headers = request.headers.copy()
    headers.pop(b"Cookie", None)
    if not keeps:
        for name in _BODY_HEADERS:
            headers.pop(name, None)
    if _origin(request.url) != _origin(url):
        for name in [name for name in headers if name not in _HARMLESS]:
            if name not in _BODY_HEADERS:
                headers.pop(name, None)
    meta = {**request.meta, "hops": [*request.meta.get("hops", ()), request.url]}
    return request.replace(
        url=url,
        method=request.method if keeps else "GET",
        body=request.body if keeps else b"",
        headers=headers,
        cookies={},
        meta=meta,
        dont_filter=True,
    )


def _origin(url: str) -> tuple[str, str]:
    parts = urlsplit(url)
    return parts.scheme, parts.netloc.lower()


class RedirectMiddleware:
    """Follows up to `REDIRECT_MAX_TIMES` hops, records them in `request.meta["hops"]`.

    `request.meta["refresh"]` switches HTML refreshes on. An answer for which the request's
    engine has a verdict is returned as it is.
    """

    def __init__(self, limit: int, allowed: tuple[Network, ...]) -> None:
        self.limit = limit
        self.allowed = allowed

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RedirectMiddleware:
        """Read limit and allowed networks from the crawler's settings."""
        settings = crawler.settings
        return cls(
            settings.getint("REDIRECT_MAX_TIMES"),
            allowed_networks(settings.getlist("CONSILIENCE_ALLOW_NETWORKS")),
        )

    def process_response(self, request: Request, response: Response) -> Request | Response:
        """Return the next hop's request, or the answer itself."""
        url = target(response, refresh=bool(request.meta.get("refresh")))
        if url is None or settles(request, response):
            return response
        if len(request.meta.get("hops", ())) >= self.limit:
            raise TooManyRedirectsError(f"more than {self.limit} redirects")
        following = followed(request, response.status, url)
        check_request(following, self.allowed, remote=bool(request.meta.get("proxy")))
        return following
