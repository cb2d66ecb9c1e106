"""Mode `http`: a minimal client over aiohttp that looks like no browser.

Direct connections are checked at connect time; behind a proxy the name goes to the proxy.
"""

from __future__ import annotations

import base64
import socket
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, cast

import aiohttp
from aiohttp.abc import AbstractResolver
from aiohttp.resolver import ThreadedResolver
from aiohttp_socks import ProxyConnectionError, ProxyConnector, ProxyError, ProxyTimeoutError
from aiohttp_socks import ProxyType as SocksType
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)
from yarl import URL

from middlewares.guard import (
    BlockedAddressError,
    allowed_networks,
    check_request,
    forbidden,
    networks_for,
)
from middlewares.handlers.common import (
    BodyBuffer,
    answer,
    body_cap,
    connect_limit,
    proxy_of,
    tls_context,
)
from middlewares.handlers.failures import (
    BodyTooLargeError,
    MalformedAnswerError,
    ProxyUnavailableError,
)
from middlewares.handlers.sessions import SessionPool

if TYPE_CHECKING:
    from aiohttp.abc import ResolveResult
    from aiohttp.client_reqrep import ClientRequest
    from aiohttp.connector import AddrInfoType, Connection
    from aiohttp.tracing import Trace
    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.http import Response

    from middlewares.guard import Network
    from middlewares.handlers.common import Proxy

    #: What a session is for: a proxy or none, and the networks that may be connected to.
    _Way = tuple[Proxy | None, tuple[Network, ...]]

__all__ = ["StandardHandler", "user_agent"]

#: SOCKS5 replies that speak of the target, not of the proxy (RFC 1928, section 6).
_TARGET_REPLIES = {
    3: DownloadConnectionRefusedError,
    4: CannotResolveHostError,
    5: DownloadConnectionRefusedError,
    6: DownloadTimeoutError,
}
_GATEWAY_STATUS = {502, 503, 504}
#: Encodings that aiohttp undoes; any other one would come through as it is.
_DECODED = frozenset({"", "identity", "gzip", "deflate", "br", "zstd"})
_OWN_HEADERS = ("Accept", "Accept-Encoding", "Content-Type", "User-Agent")


def user_agent() -> str:
    """Return the honest name under which the `http` mode asks."""
    try:
        return f"consilience/{version('consilience')}"
    except PackageNotFoundError:  # pragma: no cover - a source tree on the path, not installed
        return "consilience"


class _PublicResolver(AbstractResolver):
    """Resolves names here and keeps only the addresses that may be connected to."""

    def __init__(self, allowed: tuple[Network, ...]) -> None:
        self._inner = ThreadedResolver()
        self._allowed = allowed

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._inner.resolve(host, port, family)
        public = [one for one in found if not forbidden(one["host"], self._allowed)]
        if found and not public:
            raise _refusal(host, found[0]["host"], self._allowed)
        return public

    async def close(self) -> None:
        await self._inner.close()


def _refusal(host: str, address: str, allowed: tuple[Network, ...]) -> BlockedAddressError:
    return BlockedAddressError(f"{host} is at {address}, {forbidden(address, allowed)}")


class _Response(aiohttp.ClientResponse):
    """Remembers the peer, which the connection has forgotten once the body is read."""

    peer: str | None = None

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        if connection.transport is not None:
            name = connection.transport.get_extra_info("peername")
            self.peer = name[0] if name else None
        return await super().start(connection)


class _TunnelConnector(aiohttp.TCPConnector):
    """Connects through an HTTP proxy and blames the proxy where the tunnel does not come up."""

    async def connect(
        self, req: ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        try:
            return await super().connect(req, traces, timeout)
        except aiohttp.ClientHttpProxyError:
            raise
        except (aiohttp.ServerDisconnectedError, aiohttp.ClientResponseError) as error:
            raise ProxyUnavailableError("the proxy does not speak HTTP CONNECT") from error


class _SocksConnector(ProxyConnector):
    """Connects through a SOCKS5 proxy and blames the proxy where it hangs up or cannot log in."""

    async def connect(
        self, req: ClientRequest, traces: list[Trace], timeout: aiohttp.ClientTimeout
    ) -> Connection:
        try:
            return await super().connect(req, traces, timeout)
        except EOFError as error:
            raise ProxyUnavailableError("the proxy hung up") from error
        except UnicodeEncodeError:
            raise ProxyUnavailableError("a SOCKS5 user and password must be ASCII here") from None


class StandardHandler(BaseDownloadHandler):
    """Downloads with a session (a pool of connections) per proxy; honours cap and guard.

    Redirects, cookies and deadlines are not its business: middlewares and the dispatcher do
    these. It decodes bodies itself, so that the cap counts what a body unpacks to.
    """

    lazy = True

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        self._settings = crawler.settings
        self._allowed = allowed_networks(crawler.settings.getlist("CONSILIENCE_ALLOW_NETWORKS"))
        self._tls = tls_context(crawler.settings)
        self._sessions: SessionPool[_Way, aiohttp.ClientSession] = SessionPool(
            self._open, aiohttp.ClientSession.close
        )
        self._defaults = {
            "User-Agent": user_agent(),
            "Accept": "*/*",
            "Accept-Encoding": "gzip, deflate, br, zstd",
        }

    async def close(self) -> None:
        """Close all sessions and their connections."""
        await self._sessions.aclose()

    async def download_request(self, request: Request) -> Response:
        """Return the answer to one request; raises Scrapy's exceptions."""
        proxy = proxy_of(request)
        check_request(request, self._allowed, remote=proxy is not None)
        networks = networks_for(request, self._allowed)
        try:
            async with self._sessions.borrow((proxy, networks)) as session:
                return await self._transfer(session, request, proxy)
        except (aiohttp.ClientError, ProxyError, ProxyConnectionError, ProxyTimeoutError) as error:
            raise _translated(error, proxy) from error

    async def _transfer(
        self, session: aiohttp.ClientSession, request: Request, proxy: Proxy | None
    ) -> Response:
        body = BodyBuffer(body_cap(request, self._settings))
        tunnel = proxy if proxy and not proxy.is_socks else None
        login = _login(tunnel) if tunnel else ()
        secure = request.url.startswith("https:")
        async with session.request(
            request.method,
            URL(request.url, encoded=True),
            data=request.body or None,
            headers=[*self._headers(request), *(() if secure else login)],
            allow_redirects=False,
            proxy=str(tunnel) if tunnel else None,
            proxy_headers=dict(login) if secure else None,
            timeout=aiohttp.ClientTimeout(total=None, connect=connect_limit(request, proxy)),
        ) as reply:
            await _read(reply, body)
        if tunnel and reply.status == 407:
            raise ProxyUnavailableError(f"{proxy} refuses the user or the password")
        return answer(
            request,
            status=reply.status,
            headers=reply.headers.items(),
            body=body.join(),
            protocol="HTTP/1.1",
            peer=None if proxy else cast(_Response, reply).peer,
        )

    def _headers(self, request: Request) -> list[tuple[str, str]]:
        given = [
            (name.decode("latin-1"), value.decode("latin-1"))
            for name, values in request.headers.items()
            for value in values
            if name != b"Proxy-Authorization"
        ]
        names = {name.lower() for name, _ in given}
        return [*given, *((k, v) for k, v in self._defaults.items() if k.lower() not in names)]

    def _open(self, way: _Way) -> aiohttp.ClientSession:
        return aiohttp.ClientSession(
            connector=self._connector(*way),
            cookie_jar=aiohttp.DummyCookieJar(),
            response_class=_Response,
            timeout=aiohttp.ClientTimeout(total=None, sock_connect=None),
            trust_env=False,
            skip_auto_headers=_OWN_HEADERS,
            max_line_size=16_384,
            max_field_size=32_768,
            max_headers=256,
        )

    def _connector(
        self, proxy: Proxy | None, networks: tuple[Network, ...]
    ) -> aiohttp.TCPConnector:
        if proxy is None:
            return aiohttp.TCPConnector(
                ssl=self._tls,
                limit=0,
                resolver=_PublicResolver(networks),
                socket_factory=partial(_public_socket, networks),
            )
        if not proxy.is_socks:
            return _TunnelConnector(ssl=self._tls, limit=0)
        return _SocksConnector(
            proxy.host,
            proxy.port,
            SocksType.SOCKS5,
            proxy.user,
            proxy.password,
            rdns=True,
            ssl=self._tls,
            limit=0,
        )


def _public_socket(networks: tuple[Network, ...], info: AddrInfoType) -> socket.socket:
    family, kind, protocol, _, address = info
    host = str(address[0])
    if forbidden(host, networks):
        raise _refusal("the host", host, networks)
    return socket.socket(family, kind, protocol)


async def _read(reply: aiohttp.ClientResponse, body: BodyBuffer) -> None:
    try:
        encoding = reply.headers.get("Content-Encoding", "identity").strip().lower()
        if encoding not in _DECODED:
            raise MalformedAnswerError(
                f"the body is encoded as {encoding!r}, which nobody asked for"
            )
        if not body.fits(reply.content_length or 0):
            raise body.overflow()
        async for chunk in reply.content.iter_any():
            body.add(chunk)
    except (BodyTooLargeError, MalformedAnswerError):
        reply.close()
        raise


def _login(proxy: Proxy) -> tuple[tuple[str, str], ...]:
    if proxy.user is None:
        return ()
    secret = base64.b64encode(f"{proxy.user}:{proxy.password or ''}".encode()).decode()
    return (("Proxy-Authorization", f"Basic {secret}"),)


def _causes(error: BaseException) -> list[BaseException]:
    found: list[BaseException] = []
    step: BaseException | None = error
    while step is not None and step not in found:
        found.append(step)
        step = getattr(step, "os_error", None) or step.__cause__
    return found


def _translated(error: Exception, proxy: Proxy | None) -> Exception:
    """The Scrapy exception that says what an aiohttp or SOCKS error means."""
    blocked = [one for one in _causes(error) if isinstance(one, BlockedAddressError)]
    if blocked:
        return blocked[0]
    if isinstance(error, aiohttp.ClientProxyConnectionError | ProxyConnectionError):
        return ProxyUnavailableError(f"{proxy} cannot be reached")
    if proxy is not None and isinstance(error, aiohttp.ConnectionTimeoutError):
        return ProxyUnavailableError(f"{proxy} brings no connection about in time")
    if isinstance(error, ProxyTimeoutError):
        return ProxyUnavailableError(f"{proxy} does not answer")
    if isinstance(error, ProxyError):
        kind = _TARGET_REPLIES.get(error.error_code or -1)
        return (
            kind(f"{proxy} reports: {error}")
            if kind
            else ProxyUnavailableError(f"{proxy}: {error}")
        )
    if isinstance(error, aiohttp.ClientHttpProxyError):
        if error.status in _GATEWAY_STATUS:
            return DownloadConnectionRefusedError(f"{proxy} could not connect ({error.status})")
        return ProxyUnavailableError(f"{proxy} refuses with status {error.status}")
    return _plain(error)


def _plain(error: Exception) -> Exception:
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return CannotResolveHostError(f"no address for {error.host}")
    if isinstance(error, aiohttp.ClientSSLError):
        return DownloadFailedError(f"TLS with {error.host} fails: {error.os_error}")
    if isinstance(error, aiohttp.ClientConnectorError):
        return DownloadConnectionRefusedError(f"{error.host} refuses: {error.os_error}")
    if isinstance(error, aiohttp.ClientPayloadError):
        return ResponseDataLossError(f"the body broke off or is garbled: {error}")
    if isinstance(error, aiohttp.ClientResponseError):
        return MalformedAnswerError(f"no valid HTTP answer: {error.message}")
    return DownloadFailedError(str(error) or type(error).__name__)
