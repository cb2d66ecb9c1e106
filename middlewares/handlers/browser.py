"""Mode `impersonate`: TLS, HTTP/2 and headers of a real browser, through curl_cffi.

The profile's own headers go out in the profile's own order; a request adds only what it names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from curl_cffi import CurlECode, CurlOpt
from curl_cffi.curl import CURL_WRITEFUNC_ERROR
from curl_cffi.requests import AsyncSession, RequestsError
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

from middlewares.guard import (
    BlockedAddressError,
    allowed_networks,
    check_request,
    networks_for,
)
from middlewares.handlers.common import (
    BodyBuffer,
    CaBundle,
    answer,
    body_cap,
    connect_limit,
    proxy_of,
)
from middlewares.handlers.failures import (
    BodyTooLargeError,
    MalformedAnswerError,
    ProxyUnavailableError,
)
from middlewares.handlers.libcurl import GuardedSession, refusals
from middlewares.handlers.profiles import profile_named
from middlewares.handlers.sessions import SessionPool

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from middlewares.guard import Network
    from middlewares.handlers.common import Proxy
    from middlewares.handlers.profiles import Profile

    #: What a session is for: a proxy or none, the networks that it may reach, a browser.
    _Way = tuple[Proxy | None, tuple[Network, ...], Profile]

__all__ = ["BrowserHandler"]

_PROTOCOLS = b"http,https"
#: What every profile says; libcurl decodes a body only where it is told so itself.
_ENCODINGS = "gzip, deflate, br, zstd"
_CLIENTS = 64
_HTTP_NAMES = {1: "HTTP/1.0", 2: "HTTP/1.1", 3: "h2", 4: "h2", 30: "h3"}

#: What libcurl's error codes mean when they are not about a proxy.
_MEANINGS: dict[CurlECode, type[Exception]] = {
    CurlECode.OPERATION_TIMEDOUT: DownloadTimeoutError,
    CurlECode.COULDNT_RESOLVE_HOST: CannotResolveHostError,
    CurlECode.COULDNT_CONNECT: DownloadConnectionRefusedError,
    CurlECode.PARTIAL_FILE: ResponseDataLossError,
    CurlECode.BAD_CONTENT_ENCODING: ResponseDataLossError,
    CurlECode.WEIRD_SERVER_REPLY: MalformedAnswerError,
    CurlECode.UNSUPPORTED_PROTOCOL: MalformedAnswerError,
}
_PROXY_DOWN = {
    CurlECode.COULDNT_RESOLVE_PROXY,
    CurlECode.COULDNT_CONNECT,
    CurlECode.PROXY,
}
_NOT_CONNECTED = re.compile(r"[Cc]onnection time")
_READ_SECONDS = 3600.0
#: SOCKS5 replies that speak of the target, not of the proxy (RFC 1928, section 6).
_TARGET_REPLIES: dict[int, type[Exception]] = {
    3: DownloadConnectionRefusedError,
    4: CannotResolveHostError,
    5: DownloadConnectionRefusedError,
    6: DownloadTimeoutError,
}
_SOCKS_REPLY = re.compile(r"connection to .*\((\d+)\)")
_TUNNEL_REPLY = re.compile(r"CONNECT tunnel failed, response (\d+)")
_GATEWAY_STATUS = {"502", "503", "504"}


class BrowserHandler(BaseDownloadHandler):
    """Downloads with one curl session per proxy and profile; honours cap and guard.

    `request.meta["profile"]` or the setting `IMPERSONATE` names the browser. libcurl itself is
    limited to http and https, follows nothing and keeps no cookies.
    """

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._settings = crawler.settings
        self._allowed = allowed_networks(crawler.settings.getlist("CONSILIENCE_ALLOW_NETWORKS"))
        self._profile = crawler.settings.get("IMPERSONATE", "chrome")
        self._ca = CaBundle(crawler.settings)
        self._sessions: SessionPool[_Way, AsyncSession[Any]] = SessionPool(
            self._open, AsyncSession.close
        )

    async def close(self) -> None:
        """Close all sessions and their connections."""
        await self._sessions.aclose()
        self._ca.remove()

    async def download_request(self, request: Request) -> Response:
        """Return the answer to one request; raises Scrapy's exceptions."""
        proxy = proxy_of(request)
        check_request(request, self._allowed, remote=proxy is not None)
        networks = networks_for(request, self._allowed)
        profile = profile_named(request.meta.get("profile", self._profile))
        body = BodyBuffer(body_cap(request, self._settings))
        refused = refusals()
        try:
            async with self._sessions.borrow((proxy, networks, profile)) as session:
                return await self._transfer(session, request, profile, body)
        except RequestsError as error:
            if body.overflown:
                raise body.overflow() from error
            if refused:
                raise BlockedAddressError(f"the host is refused: {refused[-1]}") from error
            raise _translated(error, proxy) from error

    async def _transfer(
        self, session: AsyncSession[Any], request: Request, profile: Profile, body: BodyBuffer
    ) -> Response:
        secure = request.url.startswith("https:")
        reply = await session.request(
            cast(Any, request.method),
            request.url,
            data=request.body or None,
            headers=cast(Any, _headers(request, profile)),
            content_callback=_collector(body),
            accept_encoding=_ENCODINGS,
            quote=False,
            timeout=_timeouts(connect_limit(request, proxy_of(request))),
            # A browser asks for HTTP/2 in its handshake; on plain HTTP curl would say "h2c".
            http_version="v2tls" if secure else "v1",
        )
        return answer(
            request,
            status=reply.status_code,
            headers=[(name, value or "") for name, value in reply.headers.multi_items()],
            body=body.join(),
            protocol=_HTTP_NAMES.get(int(reply.http_version), "HTTP/1.1"),
            peer=None if proxy_of(request) else reply.primary_ip or None,
        )

    def _open(self, way: _Way) -> AsyncSession[Any]:
        proxy, networks, profile = way
        options: dict[str, Any] = {
            "impersonate": profile.target,
            "max_clients": _CLIENTS,
            "timeout": None,
            "verify": self._ca.path or True,
            "trust_env": False,
            "allow_redirects": False,
            "discard_cookies": True,
            "curl_options": _options(proxy, profile),
        }
        if proxy is None:
            return GuardedSession(networks, **options)
        return AsyncSession(**options)


def _timeouts(connect: float | None) -> tuple[float, float] | None:
    """curl_cffi's pair of limits: to connect, and to read (the dispatcher ends it before)."""
    return None if connect is None else (connect, _READ_SECONDS)


def _options(proxy: Proxy | None, profile: Profile) -> dict[CurlOpt, Any]:
    common: dict[CurlOpt, Any] = {
        CurlOpt.PROTOCOLS_STR: _PROTOCOLS,
        CurlOpt.REDIR_PROTOCOLS_STR: _PROTOCOLS,
    }
    if profile.order:
        common[CurlOpt.HTTPHEADER_ORDER] = ",".join(profile.order).encode()
    if proxy is None:
        return common
    scheme = "socks5h" if proxy.is_socks else proxy.scheme
    login: dict[CurlOpt, Any] = {}
    if proxy.user is not None:
        login = {
            CurlOpt.PROXYUSERNAME: proxy.user.encode(),
            CurlOpt.PROXYPASSWORD: (proxy.password or "").encode(),
        }
    return {
        **common,
        CurlOpt.PROXY: f"{scheme}://{proxy.host}:{proxy.port}".encode(),
        CurlOpt.PROXY_CREDENTIAL_NO_REUSE: 1,
        **login,
    }


def _headers(request: Request, profile: Profile) -> dict[str, str | None]:
    """What differs from the target's own headers; a referrer says where the visit is from."""
    own: dict[str, str | None] = {
        name.decode("latin-1"): b", ".join(values).decode("latin-1")
        for name, values in request.headers.items()
        if name not in (b"Proxy-Authorization", b"Accept-Encoding")
    }
    visit = {**dict(profile.headers), **_arrival(own.get("Referer"), request.url)}
    given = {name.lower() for name in own}
    return {**{k: v for k, v in visit.items() if k.lower() not in given}, **own}


def _arrival(referrer: str | None, url: str) -> dict[str, str]:
    if referrer is None:
        return {}
    here, there = urlsplit(url), urlsplit(referrer)
    same = (here.scheme, here.netloc) == (there.scheme, there.netloc)
    return {"Sec-Fetch-Site": "same-origin" if same else "cross-site"}


def _collector(body: BodyBuffer) -> Any:  # noqa: ANN401
    def collect(chunk: bytes) -> int:
        try:
            body.add(chunk)
        except BodyTooLargeError:
            # The only value with which curl_cffi really ends a transfer.
            return CURL_WRITEFUNC_ERROR
        return len(chunk)

    return collect


def _translated(error: RequestsError, proxy: Proxy | None) -> Exception:
    """The Scrapy exception that says what a curl error means."""
    code = CurlECode(int(error.code or 0))
    text = str(error).partition(" See https://")[0]
    if proxy is not None and (blame := _proxy_fault(code, text, proxy)) is not None:
        return blame
    return _MEANINGS.get(code, DownloadFailedError)(text)


def _proxy_fault(code: CurlECode, text: str, proxy: Proxy) -> Exception | None:
    if (tunnel := _TUNNEL_REPLY.search(text)) is not None:
        if tunnel[1] in _GATEWAY_STATUS:
            return DownloadConnectionRefusedError(f"{proxy} could not connect ({tunnel[1]})")
        return ProxyUnavailableError(f"{proxy} refuses with status {tunnel[1]}")
    if code is CurlECode.OPERATION_TIMEDOUT and _NOT_CONNECTED.search(text):
        return ProxyUnavailableError(f"{proxy} brings no connection about in time")
    if code not in _PROXY_DOWN:
        return None
    reply = _SOCKS_REPLY.search(text) if code is CurlECode.PROXY else None
    kind = _TARGET_REPLIES.get(int(reply[1])) if reply else None
    return kind(f"{proxy}: {text}") if kind else ProxyUnavailableError(f"{proxy}: {text}")
