"""Lines over this process's standard streams, whatever they are: pipes, sockets, files, terminals.

Nothing here sits in a thread or blocks the loop on a pipe, so reading and writing can be cancelled
at any time. One socket may be both ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import os
import stat
import sys
from io import BytesIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Iterator

__all__ = ["MAX_LINE", "Writer", "claimed", "is_stream", "lines"]

#: The longest line that is read, in bytes; a longer one is read as something that is no message.
MAX_LINE = 16 * 1024 * 1024


@contextlib.contextmanager
def claimed() -> Iterator[tuple[int, int]]:
    """Take descriptors 0 and 1 for the protocol; meanwhile 0 reads nothing and 1 is 2."""
    sys.stdout.flush()
    source, sink = os.dup(0), os.dup(1)
    blocking = [(end, os.get_blocking(end)) for end in (source, sink)]
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    os.close(null)
    try:
        yield source, sink
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
        for end, before in blocking:
            os.set_blocking(end, before)
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)


def is_stream(descriptor: int) -> bool:
    """Whether a descriptor is a pipe or a socket, behind which there may be another program."""
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)


# Reading


async def lines(source: int, first: bytes = b"") -> AsyncGenerator[bytes, None]:
    """Yield `first` and a descriptor's lines; blank ones are skipped, too long ones come cut."""
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


# Writing


class Writer:
    """Writes whole lines to a descriptor, one after the other; a slow reader makes callers wait.

    `on_gone` is called once where the reader of a pipe goes away while this is open.
    """

    def __init__(self, sink: int, on_gone: Callable[[], object] = lambda: None) -> None:
        self._sink = sink
        self._on_gone = on_gone
        self._lock = asyncio.Lock()

    def __enter__(self) -> Writer:
        if is_stream(self._sink):
            os.set_blocking(self._sink, False)
        if _tells_its_end(self._sink):
            asyncio.get_running_loop().add_reader(self._sink, self._gone)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.get_running_loop().remove_reader(self._sink)

    def _gone(self) -> None:
        asyncio.get_running_loop().remove_reader(self._sink)
        self._on_gone()

    async def write(self, line: str) -> None:
        """Return when the line is written whole; raises OSError where nobody can read it."""
        async with self._lock:
            left = memoryview(line.encode() + b"\n")
            while left:
                try:
                    left = left[os.write(self._sink, left) :]
                except BlockingIOError:
                    await _writable(self._sink)


def _tells_its_end(sink: int) -> bool:
    """Whether readiness to read means that the reader has left: so at a pipe's writing end."""
    if not stat.S_ISFIFO(os.fstat(sink).st_mode):
        return False
    return fcntl.fcntl(sink, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY


async def _writable(sink: int) -> None:
    loop = asyncio.get_running_loop()
    ready: asyncio.Future[None] = loop.create_future()
    loop.add_writer(sink, _wake, ready)
    try:
        await ready
    finally:
        loop.remove_writer(sink)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
