"""What a site sees of us: a local server that reports a client's TLS and HTTP/2 openings."""

from __future__ import annotations

import asyncio
import contextlib
import ssl
import struct
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import trustme
from hpack import Decoder

from framework.types import HttpRequest
from spiders.client_hello import ja4, parse_client_hello
from spiders.hub import Hub

if TYPE_CHECKING:
    from collections.abc import Mapping
    from types import TracebackType

    from framework.types import FetchMode

__all__ = ["Fingerprint", "FingerprintServer", "what_a_site_sees"]

_PREFACE = 24
_FRAME_HEAD = 9
_HEADERS, _PRIORITY, _SETTINGS, _WINDOW_UPDATE = 1, 2, 4, 8
_ACK, _PADDED, _PRIORITISED = 0x1, 0x8, 0x20
_BODY = b"ok"
_BROKEN = (OSError, asyncio.IncompleteReadError, ValueError)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """One request as a site sees it.

    `ja4` is the TLS fingerprint. `http2` is the opening in Akamai's form: settings, window update,
    priorities, order of pseudo headers; empty over HTTP/1.1. `headers` are the names and values in
    the order of arrival.
    """

    ja4: str
    protocol: str = ""
    http2: str = ""
    headers: tuple[tuple[str, str], ...] = ()


class FingerprintServer:
    """A TLS server on loopback that answers every request and keeps what it saw in `seen`.

    The ClientHello is read in front of the TLS layer. `ca_file` is the authority to trust.
    """

    def __init__(self) -> None:
        self.seen: list[Fingerprint] = []
        self.port = 0
        self.ca = trustme.CA()
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        _load_chain(self._context, self.ca)
        self._context.set_alpn_protocols(["h2", "http/1.1"])
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._hellos: dict[int, str] = {}

    async def __aenter__(self) -> FingerprintServer:
        inner = await asyncio.start_server(self._answer, "127.0.0.1", 0, ssl=self._context)
        outer = await asyncio.start_server(self._look, "127.0.0.1", 0)
        self._servers = [inner, outer]
        self.port = outer.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for server in self._servers:
            server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def url(self) -> str:
        """Where to send a request."""
        return f"https://localhost:{self.port}/"

    async def _look(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with _task(self._tasks, writer):
            raw, message = await _first_message(reader)
            address = self._servers[0].sockets[0].getsockname()
            far_reader, far_writer = await asyncio.open_connection(*address)
            self._hellos[far_writer.get_extra_info("sockname")[1]] = ja4(
                parse_client_hello(message)
            )
            far_writer.write(raw)
            await asyncio.gather(_pump(reader, far_writer), _pump(far_reader, writer))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        async with _task(self._tasks, writer):
            port = writer.get_extra_info("peername")[1]
            known = Fingerprint(ja4=self._hellos.pop(port, ""))
            tls = writer.get_extra_info("ssl_object")
            read = _http2 if tls.selected_alpn_protocol() == "h2" else _http1
            self.seen.append(await read(reader, writer, known))


class _task:  # noqa: N801 - used like a function
    """Registers a connection's task, swallows the end of its client, closes its writer."""

    def __init__(self, tasks: set[asyncio.Task[None]], writer: asyncio.StreamWriter) -> None:
        self._tasks = tasks
        self._writer = writer

    async def __aenter__(self) -> None:
        task = asyncio.current_task()
        if task is not None:
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        self._writer.close()
        with contextlib.suppress(*_BROKEN, asyncio.CancelledError):
            await self._writer.wait_closed()
        return isinstance(error, (*_BROKEN, asyncio.CancelledError))


def _load_chain(context: ssl.SSLContext, ca: trustme.CA) -> None:
    """Present the authority's own certificate too: Chromium looks for its key in the chain."""
    leaf = ca.issue_cert("localhost", "127.0.0.1").private_key_and_cert_chain_pem.bytes()
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        file.write(leaf + ca.cert_pem.bytes())
        file.flush()
        context.load_cert_chain(file.name)


async def _first_message(reader: asyncio.StreamReader) -> tuple[bytes, bytes]:
    """Read the first handshake message; large key shares spread it over several records."""
    raw, message = b"", b""
    while len(message) < 4 or len(message) < 4 + int.from_bytes(message[1:4], "big"):
        head = await reader.readexactly(5)
        body = await reader.readexactly(int.from_bytes(head[3:5], "big"))
        raw, message = raw + head + body, message + body
    return raw, message


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(*_BROKEN):
        while data := await reader.read(65_536):
            writer.write(data)
            await writer.drain()
    writer.close()


async def _http1(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, known: Fingerprint
) -> Fingerprint:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    pairs = (line.partition(": ") for line in head.split("\r\n")[1:] if line)
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n" + _BODY)
    await writer.drain()
    headers = tuple((name, value) for name, _, value in pairs)
    return replace(known, protocol="http/1.1", headers=headers)


async def _frame(reader: asyncio.StreamReader) -> tuple[int, int, int, bytes]:
    head = await reader.readexactly(_FRAME_HEAD)
    payload = await reader.readexactly(int.from_bytes(head[:3], "big"))
    return head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFFFFFF, payload


async def _http2(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, known: Fingerprint
) -> Fingerprint:
    await reader.readexactly(_PREFACE)
    settings, window, priorities = "", 0, []
    while True:
        kind, flags, stream, payload = await _frame(reader)
        if kind == _SETTINGS and not flags & _ACK:
            pairs = struct.iter_unpack(">HI", payload)
            settings = ";".join(f"{name}:{value}" for name, value in pairs)
        elif kind == _WINDOW_UPDATE and stream == 0:
            window = int.from_bytes(payload, "big")
        elif kind == _PRIORITY:
            priorities.append(str(stream))
        elif kind == _HEADERS:
            break
    fields = _decoded(payload, flags)
    await _reply(writer, stream)
    order = ",".join(name[1] for name, _ in fields if name.startswith(":"))
    return replace(
        known,
        protocol="h2",
        http2=f"{settings}|{window}|{','.join(priorities) or '0'}|{order}",
        headers=tuple(pair for pair in fields if not pair[0].startswith(":")),
    )


def _decoded(payload: bytes, flags: int) -> list[tuple[str, str]]:
    if flags & _PADDED:
        payload = payload[1 : len(payload) - payload[0]]
    if flags & _PRIORITISED:
        payload = payload[5:]
    return [(_text(name), _text(value)) for name, value in Decoder().decode(payload)]


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")


async def _reply(writer: asyncio.StreamWriter, stream: int) -> None:
    """Send settings, their acknowledgement, `:status 200` (index 8 of the static table), a body."""
    number = struct.pack(">I", stream)
    writer.write(
        b"\0\0\0\x04\0\0\0\0\0"
         b"\0\0\0\x04\x01\0\0\0\0"
         b"\0\0\x01\x01\x04" + number + b"\x88"
        + len(_BODY).to_bytes(3, "big") + b"\0\x01" + number + _BODY
    )  # fmt: skip
    await writer.drain()


async def what_a_site_sees(
    mode: FetchMode, profile: str | None = None, settings: Mapping[str, object] | None = None
) -> Fingerprint:
    """Return the fingerprint of a fetch mode (and browser profile), sent to a server of our own.

    Raises what `Hub.fetch` raises.
    """
    with tempfile.TemporaryDirectory() as folder:
        async with FingerprintServer() as server:
            ca_file = Path(folder) / "ca.pem"
            server.ca.cert_pem.write_to_path(str(ca_file))
            own = {"CONSILIENCE_CA_FILE": ca_file, "CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.0/8"]}
            async with Hub({**(settings or {}), **own}) as hub:
                facts = {"profile": profile} if profile else {}
                await hub.fetch(HttpRequest(url=server.url), mode=mode, meta=facts)
            return server.seen[-1]
