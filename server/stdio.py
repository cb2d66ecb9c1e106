"""MCP over standard input and output, with a life cycle that hosts can rely on.

Nothing but protocol reaches standard output, whatever a library prints: the process's own
descriptor 1 is pointed at standard error while serving. A line that is no JSON-RPC message is
answered with -32700 and service goes on. End of input, SIGTERM and SIGINT all close the
application and end with status 0; reading never sits in a thread, so nothing has to be killed.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import os
import signal
import stat
import sys
from io import BytesIO
from typing import TYPE_CHECKING, Any

import anyio
import mcp.types as types
from mcp.shared.message import SessionMessage
from pydantic_core import PydanticSerializationError

from server.instant import Handover

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator

    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    from server.surface import Surface

    Write = Callable[[str], Awaitable[None]]

__all__ = ["MAX_LINE", "serve"]

log = logging.getLogger(__name__)

#: The longest message that is read, in bytes; longer ones are answered with an error.
MAX_LINE = 16 * 1024 * 1024

_PARSE_ERROR = -32700
_INVALID_REQUEST = -32600


async def serve(surface: Surface, start: Handover | None = None) -> None:
    """Serve one client until its input ends or the process is told to stop.

    `start` is what was read from standard input before, and which of it is answered already.
    """
    with _claimed() as (source, sink):
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


@contextlib.contextmanager
def _claimed() -> Iterator[tuple[int, int]]:
    """Take descriptors 0 and 1 for the protocol; meanwhile 0 reads nothing and 1 is 2."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    try:
        yield source, sink
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


async def _converse(surface: Surface, source: int, sink: int, start: Handover) -> None:
    received, reading = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    writing, outgoing = anyio.create_memory_object_stream[SessionMessage](16)
    async with _writer(sink) as write, anyio.create_task_group() as group:
        group.start_soon(_receive, _lines(source, start.first), received, write)
        group.start_soon(_send, outgoing, write, group.cancel_scope, list(start.muted))
        await surface.serve(reading, writing)
        await writing.aclose()


async def _receive(
    lines: AsyncGenerator[bytes, None],
    received: MemoryObjectSendStream[SessionMessage | Exception],
    write: Write,
) -> None:
    async with received, contextlib.aclosing(lines):
        async for line in lines:
            message = _parsed(line)
            if isinstance(message, str):
                await write(message)
            else:
                await received.send(SessionMessage(message))


async def _send(
    outgoing: MemoryObjectReceiveStream[SessionMessage],
    write: Write,
    scope: anyio.CancelScope,
    muted: list[int | str],
) -> None:
    try:
        async with outgoing:
            async for item in outgoing:
                if _is_muted(item.message, muted):
                    continue
                await write(_dumped(item.message))
    except OSError:
        scope.cancel()


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


async def _lines(source: int, first: bytes) -> AsyncGenerator[bytes, None]:
    """Yield the lines of a descriptor; blank ones are skipped, too long ones come cut."""
    if stat.S_ISREG(os.fstat(source).st_mode):
        with open(source, "rb", closefd=False) as file:  # noqa: ASYNC230 - a plain file never blocks
            for line in BytesIO(first + file.read()):
                if line.strip():
                    yield line
        return
    reader = asyncio.StreamReader(limit=MAX_LINE)
    reader.feed_data(first)
    pipe = open(source, "rb", buffering=0, closefd=False)  # noqa: ASYNC230, SIM115
    transport, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(reader), pipe
    )
    try:
        while line := await _line(reader):
            if line.strip():
                yield line
    finally:
        transport.close()
        with contextlib.suppress(OSError):
            os.set_blocking(source, True)


async def _line(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as end:
        return bytes(end.partial)
    except asyncio.LimitOverrunError:
        return await _skip_line(reader)


async def _skip_line(reader: asyncio.StreamReader) -> bytes:
    """Read an over-long line to its end and hand on something that is no JSON."""
    while True:
        chunk = await reader.read(65_536)
        if not chunk or b"\n" in chunk:
            return b"too long\n"


@contextlib.asynccontextmanager
async def _writer(sink: int) -> AsyncIterator[Write]:
    """Give a function that writes one line; a slow reader makes its callers wait."""
    if not stat.S_ISFIFO(mode := os.fstat(sink).st_mode) and not stat.S_ISSOCK(mode):
        yield lambda line: _write_all(sink, line.encode() + b"\n")
        return
    loop = asyncio.get_running_loop()
    pipe = open(sink, "wb", buffering=0, closefd=False)  # noqa: ASYNC230, SIM115
    transport, protocol = await loop.connect_write_pipe(asyncio.streams.FlowControlMixin, pipe)
    stream = asyncio.StreamWriter(transport, protocol, None, loop)
    lock = asyncio.Lock()

    async def write(line: str) -> None:
        async with lock:
            stream.write(line.encode() + b"\n")
            await stream.drain()

    try:
        yield write
    finally:
        transport.abort()
        os.set_blocking(sink, True)


async def _write_all(sink: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]
