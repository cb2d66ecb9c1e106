"""MCP over standard input and output, with a life cycle that hosts can rely on.

Nothing but protocol reaches standard output, whatever a library prints: the process's own
descriptor 1 is pointed at standard error while serving. A line that is no JSON-RPC message is
answered with -32700 and service goes on. End of input, SIGTERM and SIGINT all close the
application and end with status 0; reading never sits in a thread, so nothing has to be killed.

At the end of input the calls in flight may still end: somebody may have piped in a whole
conversation. A signal, or a client that no longer reads, ends the service at once.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import math
import signal
from typing import TYPE_CHECKING, Any

import anyio
import mcp.types as types
from mcp.shared.message import SessionMessage
from pydantic_core import PydanticSerializationError

from server import pipes
from server.instant import Handover

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Awaitable, Callable

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from server.surface import Surface

    Write = Callable[[str], Awaitable[None]]

__all__ = ["serve"]

log = logging.getLogger(__name__)

#: What calls in flight get after the end of input: hosts end a server that stays for longer, and
#: the usual ones send SIGTERM after two seconds, which is obeyed at once.
_GRACE = 3.0

#: What the last answers get to be read, in seconds.
_FLUSH = 1.0

#: Requests that by their nature stay open.
_ENDLESS = frozenset({"subscriptions/listen"})

_CANCELLED = "notifications/cancelled"
_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600


async def serve(surface: Surface, start: Handover | None = None) -> None:
    """Serve one client until its input ends or the process is told to stop.

    `start` is what was read from standard input before, and which of it is answered already.
    """
    with pipes.claimed() as (source, sink):
        loop = asyncio.get_running_loop()
        serving = asyncio.create_task(_converse(surface, source, sink, start or Handover()))
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, serving.cancel)
        try:
            await asyncio.wait([serving])
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)
        _conclude(serving)


def _conclude(serving: asyncio.Task[None]) -> None:
    """Raise what ended the service, unless it was told to end.

    The SDK's streams may break while they are being cancelled; that is no failure then.
    """
    told = serving.cancelled() or serving.cancelling()
    error = None if serving.cancelled() else serving.exception()
    if error is None:
        return
    if not told:
        raise error
    log.debug("failed while ending", exc_info=error)


class _Flight:
    """The requests that were handed on and not answered yet."""

    def __init__(self) -> None:
        self._open: set[int | str] = set()
        self._landed = asyncio.Event()

    def heard(self, message: types.JSONRPCMessage) -> None:
        """Note what the client sent."""
        if isinstance(message, types.JSONRPCRequest) and message.method not in _ENDLESS:
            self._open.add(message.id)
        elif isinstance(message, types.JSONRPCNotification) and message.method == _CANCELLED:
            self._close((message.params or {}).get("requestId"))

    def said(self, message: types.JSONRPCMessage) -> None:
        """Note what the client was sent."""
        if isinstance(message, types.JSONRPCResponse | types.JSONRPCError):
            self._close(message.id)

    def _close(self, number: object) -> None:
        if isinstance(number, int | str):
            self._open.discard(number)
        self._landed.set()

    async def over(self) -> None:
        """Return once every request is answered."""
        while self._open:
            self._landed.clear()
            await self._landed.wait()


async def _converse(surface: Surface, source: int, sink: int, start: Handover) -> None:
    received, reading = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    writing, outgoing = anyio.create_memory_object_stream[SessionMessage](16)
    flight = _Flight()
    async with anyio.create_task_group() as group:
        with pipes.Writer(sink, group.cancel_scope.cancel) as writer:
            coming = pipes.lines(source, start.first)
            write = _ending(writer.write, group.cancel_scope)
            patience = _patience(source, sink)
            group.start_soon(_receive, coming, received, write, flight, patience)
            group.start_soon(_send, outgoing, write, flight, list(start.muted))
            await surface.serve(reading, writing)
            await writing.aclose()
            group.cancel_scope.deadline = anyio.current_time() + _FLUSH


def _ending(write: Write, scope: anyio.CancelScope) -> Write:
    """Write, and where nobody can read it any more end the service."""

    async def written(line: str) -> None:
        try:
            await write(line)
        except OSError:
            scope.cancel()

    return written


def _patience(source: int, sink: int) -> float:
    """Return how long calls may go on after the end of input, in seconds.

    Between pipes a host may be waiting for the end. Who gives a file or reads at a terminal wants
    the answers; each call has a time limit of its own.
    """
    host = pipes.is_stream(source) and pipes.is_stream(sink)
    return _GRACE if host else math.inf


async def _receive(
    lines: AsyncGenerator[bytes, None],
    received: MemoryObjectSendStream[SessionMessage | Exception],
    write: Write,
    flight: _Flight,
    patience: float,
) -> None:
    async with received, contextlib.aclosing(lines):
        async for line in lines:
            message = _parsed(line)
            if isinstance(message, str):
                await write(message)
            else:
                flight.heard(message)
                await received.send(SessionMessage(message))
        with anyio.move_on_after(patience):
            await flight.over()


async def _send(
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    write: Write,
    flight: _Flight,
    muted: list[int | str],
) -> None:
    async with outgoing:
        async for item in outgoing:
            if not _is_muted(item.message, muted):
                await write(_dumped(item.message))
            flight.said(item.message)


def _is_muted(message: types.JSONRPCMessage, muted: list[int | str]) -> bool:
    """Whether a message answers what was answered before; each such answer comes once."""
    number = getattr(message, "id", None)
    if number not in muted or hasattr(message, "method"):
        return False
    muted.remove(number)
    return True


def _dumped(message: types.JSONRPCMessage) -> str:
    """Write a message as JSON; text that is no Unicode (half a pair) gets question marks."""
    try:
        return message.model_dump_json(by_alias=True, exclude_unset=True)
    except PydanticSerializationError:
        data = message.model_dump(by_alias=True, exclude_unset=True)
        text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
        return text.encode("utf-8", "replace").decode()


def _parsed(line: bytes) -> types.JSONRPCMessage | str:
    """Return the message, or the ready error line that answers what is none."""
    try:
        value: Any = json.loads(line)
    except (ValueError, RecursionError):
        return _error(_PARSE_ERROR, "Parse error: the line is not JSON", None)
    try:
        return types.jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValueError:
        given = value.get("id") if isinstance(value, dict) else None
        number = given if isinstance(given, (str, int)) and not isinstance(given, bool) else None
        return _error(_INVALID_REQUEST, "Invalid Request: no JSON-RPC 2.0 message", number)


def _error(code: int, message: str, number: str | int | None) -> str:
    body = {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": message}}
    return json.dumps(body, separators=(",", ":"))
