"""The guard of rendered pages: a local SOCKS5 proxy that Chromium has to go through.

Chromium hands over names, never addresses. The proxy resolves a name itself, refuses what is not
public and connects to that very address; or it passes the name on to the upstream proxy, with the
login that Chromium could not do. It counts what comes in.
"""

from __future__ import annotations

import asyncio
import contextlib
import ipaddress
import socket
import struct
from typing import TYPE_CHECKING

from python_socks import ProxyConnectionError, ProxyError, ProxyTimeoutError, ProxyType
from python_socks.async_.asyncio.v2 import Proxy as Upstream
from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
)

from middlewares.guard import BlockedAddressError, check_url, forbidden
from middlewares.handlers.failures import ProxyUnavailableError

if TYPE_CHECKING:
    import ssl
    from types import TracebackType

    from middlewares.guard import Network
    from middlewares.handlers.common import Proxy

__all__ = ["FilterProxy"]

_OK = b"\x05\x00\x00\x01" + bytes(6)
_NOT_ALLOWED = b"\x05\x02\x00\x01" + bytes(6)
_CONNECT = 1
_CONNECT_SECONDS = 10.0
_BROKEN = (OSError, asyncio.IncompleteReadError)
#: SOCKS5 replies of an upstream proxy that speak of the target (RFC 1928, section 6).
_TARGET_REPLIES = frozenset({3, 4, 5, 6})
_GATEWAY_STATUS = frozenset({502, 503, 504})


class FilterProxy:
    """Serves one rendered page on a loopback port of the running loop; an async context manager.

    `failures` lists why connections were not made, in order; `received` counts bytes from the
    network; `exceeded` is set, and every connection closed, once they are more than `max_bytes`.
    """

    def __init__(
        self,
        upstream: Proxy | None,
        allowed: tuple[Network, ...],
        tls: ssl.SSLContext,
        max_bytes: int,
    ) -> None:
        self.failures: list[Exception] = []
        self.received = 0
        self.exceeded = asyncio.Event()
        self.port = 0
        self._upstream = upstream
        self._allowed = allowed
        self._tls = tls
        self._max_bytes = max_bytes
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> FilterProxy:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()
        self._hang_up()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        """The proxy's address, as Chromium takes it."""
        return f"socks5://127.0.0.1:{self.port}"

    def _hang_up(self) -> None:
        for task in tuple(self._tasks):
            task.cancel()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a stream handler always runs as a task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        # A cancellation is our own hanging up; asyncio would report it if it left here.
        with contextlib.suppress(*_BROKEN, asyncio.CancelledError):
            await self._serve(reader, writer)
        writer.close()
        with contextlib.suppress(*_BROKEN, asyncio.CancelledError):
            await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        host, port = await _target(reader, writer)
        try:
            far_reader, far_writer = await self._dial(host, port)
        except Exception as error:  # noqa: BLE001 - told to whoever renders the page
            self.failures.append(_translated(error, host, self._upstream))
            writer.write(_NOT_ALLOWED)
            await writer.drain()
            return
        writer.write(_OK)
        try:
            await asyncio.gather(
                self._pump(reader, far_writer, 0), self._pump(far_reader, writer, 1)
            )
        finally:
            far_writer.close()
            with contextlib.suppress(*_BROKEN, asyncio.CancelledError):
                await far_writer.wait_closed()

    async def _pump(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, counted: int
    ) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(65_536):
                self.received += counted * len(data)
                if self.received > self._max_bytes:
                    self.exceeded.set()
                    self._hang_up()
                    return
                writer.write(data)
                await writer.drain()
        writer.close()

    async def _dial(
        self, host: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        shown = f"[{host}]" if ":" in host else host
        check_url(f"http://{shown}/", self._allowed, remote=self._upstream is not None)
        if self._upstream is None:
            return await self._direct(host, port)
        stream = await _upstream(self._upstream, self._tls).connect(
            host, port, timeout=_CONNECT_SECONDS
        )
        return stream.reader, stream.writer

    async def _direct(
        self, host: str, port: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        loop = asyncio.get_running_loop()
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        public = [one for one in addresses if not forbidden(one, self._allowed)]
        if not public:
            why = forbidden(addresses[0], self._allowed)
            raise BlockedAddressError(f"{host} is at {addresses[0]}, {why}")
        return await _first_that_answers(public, port)


async def _first_that_answers(
    addresses: list[str], port: int
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    for address in addresses[:-1]:
        with contextlib.suppress(OSError):
            return await asyncio.open_connection(address, port)
    return await asyncio.open_connection(addresses[-1], port)


async def _target(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> tuple[str, int]:
    """Read a client's SOCKS5 greeting and request; raises `OSError` for any other command."""
    _, count = await reader.readexactly(2)
    await reader.readexactly(count)
    writer.write(b"\x05\x00")
    _, command, _, kind = await reader.readexactly(4)
    if kind == 3:
        host = (await reader.readexactly((await reader.readexactly(1))[0])).decode()
    else:
        host = str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))
    (port,) = struct.unpack(">H", await reader.readexactly(2))
    if command != _CONNECT:
        raise OSError("only CONNECT is served")
    return host, port


def _upstream(proxy: Proxy, tls: ssl.SSLContext) -> Upstream:
    return Upstream(
        proxy_type=ProxyType.SOCKS5 if proxy.is_socks else ProxyType.HTTP,
        host=proxy.host,
        port=proxy.port,
        username=proxy.user,
        password=proxy.password,
        rdns=True,
        proxy_ssl=tls if proxy.scheme == "https" else None,
    )


def _translated(error: Exception, host: str, proxy: Proxy | None) -> Exception:
    if isinstance(error, BlockedAddressError):
        return error
    if proxy is not None:
        return _proxy_fault(error, host, proxy)
    if isinstance(error, socket.gaierror):
        return CannotResolveHostError(f"no address for {host}")
    if isinstance(error, OSError):
        return DownloadConnectionRefusedError(f"{host} refuses: {error.strerror}")
    return DownloadFailedError(f"{host} cannot be reached: {type(error).__name__}")


def _proxy_fault(error: Exception, host: str, proxy: Proxy) -> Exception:
    code = getattr(error, "error_code", None)
    if isinstance(error, ProxyError) and code in _TARGET_REPLIES | _GATEWAY_STATUS:
        return DownloadConnectionRefusedError(f"{proxy} could not connect to {host} ({code})")
    if isinstance(error, ProxyConnectionError | OSError):
        return ProxyUnavailableError(f"{proxy} cannot be reached")
    if isinstance(error, ProxyTimeoutError):
        return ProxyUnavailableError(f"{proxy} does not answer")
    return ProxyUnavailableError(f"{proxy} does not do its job: {type(error).__name__}")
