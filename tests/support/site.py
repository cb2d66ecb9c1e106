"""A local site for tests: a path is answered by a function of the request."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    import ssl
    from collections.abc import Awaitable, Callable
    from types import TracebackType

__all__ = ["Reply", "Routes", "Seen", "Site", "hang"]


@dataclass(slots=True)
class Seen:
    """One request as it arrived; `names` keeps the spelling and order of the headers."""

    method: str
    target: str
    names: list[str]
    headers: dict[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return urlsplit(self.target).path


@dataclass(slots=True)
class Reply:
    """What to answer; `stream` writes the body itself, with `open_head` also further headers."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""
    stream: Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]] | None = None
    open_head: bool = False

    def head(self) -> bytes:
        lines = [f"HTTP/1.1 {self.status} Test"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if self.open_head:
            return ("\r\n".join(lines) + "\r\n").encode("latin-1")
        if self.stream is None:
            lines.append(f"Content-Length: {len(self.body)}")
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Send nothing until the client closes the connection."""
    await reader.read()


Routes = dict[str, "Reply | Callable[[Seen], Reply]"]


class Site:
    """An HTTP/1.1 server on loopback; `routes` maps paths to functions or fixed replies.

    `connections` counts what was accepted, `open` what is still open, `seen` lists requests.
    """

    def __init__(
        self,
        routes: dict[str, Reply | Callable[[Seen], Reply]] | None = None,
        *,
        address: str = "127.0.0.1",
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.routes = routes or {}
        self.seen: list[Seen] = []
        self.connections = 0
        self.arrived = asyncio.Event()
        self.port = 0
        self._address = address
        self._tls = tls
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Site:
        self._server = await asyncio.start_server(self._connected, self._address, 0, ssl=self._tls)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def open(self) -> int:
        return len(self._tasks)

    def url(self, path: str = "/", host: str | None = None) -> str:
        scheme = "https" if self._tls else "http"
        return f"{scheme}://{host or self._address}:{self.port}{path}"

    async def until_idle(self) -> None:
        """Wait until every connection is closed by its client."""
        if self._tasks:
            await asyncio.wait(set(self._tasks), timeout=10)
        assert all(task.done() for task in self._tasks), "connections are still open"

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        self.connections += 1
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while await self._answer(reader, writer):
                pass
        writer.close()
        with contextlib.suppress(OSError, asyncio.CancelledError):
            await writer.wait_closed()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        first, *lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")[:-4].split("\r\n")
        method, target, _ = first.split(" ", 2)
        pairs = [
            (name, value.strip()) for name, _, value in (line.partition(":") for line in lines)
        ]
        headers = {name.lower(): value for name, value in pairs}
        body = await reader.readexactly(int(headers.get("content-length", "0")))
        seen = Seen(method, target, [name for name, _ in pairs], headers, body)
        self.seen.append(seen)
        self.arrived.set()
        route = self.routes.get(seen.path, Reply(404))
        reply = route(seen) if callable(route) else route
        writer.write(reply.head() + (b"" if method == "HEAD" else reply.body))
        await writer.drain()
        if reply.stream is None:
            return True
        await reply.stream(reader, writer)
        return False
