"""A proxy for tests and for trying things offline: it answers for real host names itself.

One loopback port speaks SOCKS5, HTTP CONNECT and absolute-form HTTP. With `answer` it ends TLS
with certificates of its own authority and replies from recordings; without, it connects onwards,
by `hosts` where a name is listed there. Every connection is logged with the name as it was sent.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import contextlib
import ipaddress
import ssl
import struct
import tempfile
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote, urlsplit

import trustme

from framework.types import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import TracebackType

__all__ = ["Connection", "Fault", "ReplayProxy"]

_T = TypeVar("_T")
_LINE = b"\r\n"
_OWN_HEADERS = {"content-length", "content-encoding", "transfer-encoding", "connection"}
_CLOSED = (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ssl.SSLError)


class Fault(StrEnum):
    """How the proxy misbehaves once it knows the target."""

    REFUSE = "refuse"
    HANG = "hang"
    CLOSE = "close"
    GARBAGE = "garbage"
    SLOW = "slow"


@dataclass(slots=True)
class Connection:
    """One connection to the proxy: `host` is the name or address exactly as the client sent it."""

    kind: str = ""
    user: str | None = None
    host: str = ""
    port: int = 0
    outcome: str = "open"


@dataclass(slots=True)
class _Link:
    """The two ends of a client's connection and its line in the log."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    entry: Connection

    async def send(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()


@dataclass(slots=True, frozen=True)
class _Replies:
    """What a protocol says when the target was reached, and when it was not."""

    reached: bytes
    refused: bytes


_SOCKS = _Replies(b"\x05\x00\x00\x01" + bytes(6), b"\x05\x05\x00\x01" + bytes(6))
_CONNECT = _Replies(
    b"HTTP/1.1 200 Connection established\r\n\r\n",
    b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n",
)
_AUTH_WANTED = (
    b"HTTP/1.1 407 Proxy Authentication Required\r\n"
    b'Proxy-Authenticate: Basic realm="replay"\r\nContent-Length: 0\r\n\r\n'
)


@dataclass(slots=True, frozen=True)
class _Head:
    """The first part of an HTTP message."""

    method: str
    target: str
    headers: tuple[tuple[str, str], ...] = field(default=())

    def get(self, name: str, default: str = "") -> str:
        return next((v for k, v in self.headers if k.lower() == name), default)


class ReplayProxy:
    """Serves as proxy on a loopback port of the running loop; an async context manager.

    `users` (name to password) makes it ask for a login. `hosts` maps names to addresses of local
    servers. `answer` turns a request into a recorded response, None meaning "not recorded"
    (status 404). `secure` wraps the proxy's own port in TLS (`https` scheme). `fault` makes it
    misbehave. `log` holds a line per connection, `served` every request that it answered itself;
    with `remember` only the last so many are kept.
    Leaving closes every connection.
    """

    def __init__(
        self,
        *,
        users: Mapping[str, str] | None = None,
        hosts: Mapping[str, tuple[str, int]] | None = None,
        answer: Callable[[HttpRequest], HttpResponse | None] | None = None,
        ca: trustme.CA | None = None,
        fault: Fault | None = None,
        secure: bool = False,
        tls_ports: frozenset[int] = frozenset({443, 8443}),
        remember: int | None = None,
    ) -> None:
        self.users = dict(users or {})
        self.hosts = dict(hosts or {})
        self.answer = answer
        self.ca = ca or (trustme.CA() if answer or secure else None)
        self.fault = fault
        self.secure = secure
        self.log: list[Connection] = []
        self.served: list[HttpRequest] = []
        self.port = 0
        self._remember = remember
        self._tls_ports = tls_ports
        self._contexts: dict[str, ssl.SSLContext] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> ReplayProxy:
        context = self._context("127.0.0.1") if self.secure else None
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0, ssl=context)
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
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def url(self, scheme: str = "socks5h", user: str | None = None, password: str = "") -> str:
        """Return the proxy's URL; the password of a known user is filled in, escaped."""
        if user is None:
            return f"{scheme}://127.0.0.1:{self.port}"
        secret = quote(password or self.users.get(user, ""), safe="")
        return f"{scheme}://{quote(user, safe='')}:{secret}@127.0.0.1:{self.port}"

    def _context(self, host: str) -> ssl.SSLContext:
        if host not in self._contexts:
            if self.ca is None:
                raise RuntimeError("this proxy has no certificate authority")
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            _load_chain(context, self.ca, host)
            context.set_alpn_protocols(["http/1.1"])
            self._contexts[host] = context
        return self._contexts[host]

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None  # noqa: S101 - a stream handler always runs as a task
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        link = _Link(reader, writer, Connection())
        _push(self.log, link.entry, self._remember)
        try:
            await self._converse(link)
        except (*_CLOSED, asyncio.CancelledError, ValueError) as problem:
            # Swallowing the cancellation of our own shutdown keeps asyncio from reporting it.
            link.entry.outcome = type(problem).__name__
            if isinstance(problem, asyncio.CancelledError):
                writer.transport.abort()  # the other side may be gone: TLS waits for its farewell
        finally:
            writer.close()
            with contextlib.suppress(*_CLOSED, asyncio.CancelledError):
                await writer.wait_closed()

    async def _converse(self, link: _Link) -> None:
        first = await link.reader.readexactly(1)
        if first == b"\x05":
            await self._socks(link)
        else:
            await self._http(link, first)

    async def _socks(self, link: _Link) -> None:
        reader, entry = link.reader, link.entry
        entry.kind = "socks5"
        methods = await reader.readexactly((await reader.readexactly(1))[0])
        if self.users and not await self._socks_login(link, methods):
            return
        if not self.users:
            await link.send(b"\x05\x00")
        _, command, _, kind = await reader.readexactly(4)
        entry.host = await _socks_host(reader, kind)
        (entry.port,) = struct.unpack(">H", await reader.readexactly(2))
        if command != 1:
            entry.outcome = "no such command"
            await link.send(b"\x05\x07\x00\x01" + bytes(6))
            return
        await self._serve(link, _SOCKS)

    async def _socks_login(self, link: _Link, methods: bytes) -> bool:
        if 2 not in methods:
            link.entry.outcome = "no login offered"
            await link.send(b"\x05\xff")
            return False
        await link.send(b"\x05\x02")
        await link.reader.readexactly(1)
        user = (await _counted(link.reader)).decode()
        password = (await _counted(link.reader)).decode()
        good = self.users.get(user) == password
        await link.send(b"\x01" + (b"\x00" if good else b"\x01"))
        link.entry.user, link.entry.outcome = (user, "open") if good else (None, "bad login")
        return good

    async def _http(self, link: _Link, first: bytes) -> None:
        raw = first + await link.reader.readuntil(_LINE * 2)
        head = _parse_head(raw)
        link.entry.kind = "connect" if head.method == "CONNECT" else "absolute"
        if self.users and not self._http_login(link, head):
            link.entry.outcome = "bad login"
            await link.send(_AUTH_WANTED)
            return
        if head.method == "CONNECT":
            host, _, port = head.target.rpartition(":")
            link.entry.host, link.entry.port = host.strip("[]"), int(port)
            await self._serve(link, _CONNECT)
        else:
            await self._absolute(link, head)

    def _http_login(self, link: _Link, head: _Head) -> bool:
        try:
            text = base64.b64decode(head.get("proxy-authorization")[6:]).decode()
        except (binascii.Error, UnicodeDecodeError):
            return False
        user, _, password = text.partition(":")
        link.entry.user = user if self.users.get(user) == password else None
        return link.entry.user is not None

    async def _absolute(self, link: _Link, head: _Head) -> None:
        parts = urlsplit(head.target)
        link.entry.host, link.entry.port = parts.hostname or "", parts.port or 80
        if self.fault is not None:
            await self._misbehave(link, _CONNECT)
        elif self.answer is not None:
            await self._replay(link, "http", head)
        else:
            await self._forward(link, head)

    async def _forward(self, link: _Link, head: _Head) -> None:
        """Pass one absolute-form request on in origin form, then the bytes both ways."""
        parts = urlsplit(head.target)
        path = parts._replace(scheme="", netloc="").geturl() or "/"
        kept = [(k, v) for k, v in head.headers if not k.lower().startswith("proxy-")]
        await self._tunnel(link, _Replies(b"", _CONNECT.refused), _head_bytes(head, path, kept))

    async def _serve(self, link: _Link, replies: _Replies) -> None:
        if self.fault is not None:
            await self._misbehave(link, replies)
        elif self.answer is not None:
            await link.send(replies.reached)
            await self._replay(link, await self._maybe_tls(link))
        else:
            await self._tunnel(link, replies)

    async def _maybe_tls(self, link: _Link) -> str:
        if link.entry.port not in self._tls_ports:
            return "http"
        await link.writer.start_tls(self._context(link.entry.host))
        return "https"

    async def _misbehave(self, link: _Link, replies: _Replies) -> None:
        link.entry.outcome = str(self.fault)
        match self.fault:
            case Fault.REFUSE:
                await link.send(replies.refused)
            case Fault.GARBAGE:
                await link.send(b"\x00garbage\xff" * 64)
            case Fault.HANG:
                await link.reader.read()
            case Fault.SLOW:
                await _drip(link, replies.reached + b"HTTP/1.1 200 OK\r\n\r\n" + b"." * 3600)

    async def _tunnel(self, link: _Link, replies: _Replies, opening: bytes = b"") -> None:
        entry = link.entry
        address = self.hosts.get(entry.host, (entry.host, entry.port))
        try:
            reader, writer = await asyncio.open_connection(*address)
        except OSError:
            entry.outcome = "unreachable"
            await link.send(replies.refused)
            return
        await link.send(replies.reached)
        writer.write(opening)
        entry.outcome = "connected"
        try:
            await asyncio.gather(_pump(link.reader, writer), _pump(reader, link.writer))
        finally:
            writer.close()
            with contextlib.suppress(*_CLOSED, asyncio.CancelledError):
                await writer.wait_closed()

    async def _replay(self, link: _Link, scheme: str, head: _Head | None = None) -> None:
        """Answer requests of one kept-alive connection until the client closes it."""
        link.entry.outcome = "replayed"
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = head or _parse_head(await link.reader.readuntil(_LINE * 2))
                request = await _request(link.reader, scheme, head)
                _push(self.served, request, self._remember)
                found = self.answer(request) if self.answer else None
                await link.send(_response_bytes(found, request))
                head = None


def _push(items: list[_T], item: _T, most: int | None) -> None:
    items.append(item)
    if most is not None and len(items) > 2 * most:
        del items[:-most]


def _load_chain(context: ssl.SSLContext, ca: trustme.CA, host: str) -> None:
    """Present the authority's own certificate too: Chromium looks for its key in the chain."""
    leaf = ca.issue_cert(host).private_key_and_cert_chain_pem.bytes()
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(leaf + ca.cert_pem.bytes())
        file.flush()
        context.load_cert_chain(file.name)


async def _counted(reader: asyncio.StreamReader) -> bytes:
    return await reader.readexactly((await reader.readexactly(1))[0])


async def _socks_host(reader: asyncio.StreamReader, kind: int) -> str:
    if kind == 3:
        return (await _counted(reader)).decode()
    return str(ipaddress.ip_address(await reader.readexactly(4 if kind == 1 else 16)))


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(*_CLOSED):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _drip(link: _Link, data: bytes) -> None:
    for one in data:
        await link.send(bytes([one]))
        await asyncio.sleep(1)


def _parse_head(raw: bytes) -> _Head:
    first, *lines = raw.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = first.split(" ", 2)
    pairs = (line.partition(":") for line in lines)
    return _Head(method, target, tuple((name.strip(), value.strip()) for name, _, value in pairs))


def _head_bytes(head: _Head, path: str, headers: list[tuple[str, str]]) -> bytes:
    lines = [f"{head.method} {path} HTTP/1.1", *(f"{k}: {v}" for k, v in headers), "", ""]
    return "\r\n".join(lines).encode("latin-1")


async def _request(reader: asyncio.StreamReader, scheme: str, head: _Head) -> HttpRequest:
    body = await reader.readexactly(int(head.get("content-length", "0")))
    absolute = not head.target.startswith("/")
    url = head.target if absolute else f"{scheme}://{head.get('host')}{head.target}"
    return HttpRequest(url=url, method=head.method, headers=head.headers, body=body)


def _response_bytes(found: HttpResponse | None, request: HttpRequest) -> bytes:
    missing = HttpResponse(url=request.url, status=404, body=b"not recorded")
    answer = found or missing
    kept = [(k, v) for k, v in answer.headers if k.lower() not in _OWN_HEADERS]
    lines = [f"HTTP/1.1 {answer.status} Recorded", *(f"{k}: {v}" for k, v in kept)]
    lines += [f"Content-Length: {len(answer.body)}", "", ""]
    body = b"" if request.method == "HEAD" else answer.body
    return "\r\n".join(lines).encode("latin-1", "replace") + body
