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
    os.set_blocking(source, False)
    pending = bytearray(first)
    known = 0  # how much of it holds no line's end
    too_long = False
    while True:
        while end := pending.find(b"\n", known) + 1:
            line = _TOO_LONG if too_long else bytes(pending[:end])
            del pending[:end]
            known, too_long = 0, False
            if line.strip():
                yield line
        if len(pending) > MAX_LINE:
            pending.clear()
            too_long = True
        known = len(pending)
        chunk = await _more(source)
        if not chunk:
            break
        pending += chunk
    if too_long or pending.strip():
        yield _TOO_LONG if too_long else bytes(pending)


#: Stands for a line that is not kept: no JSON.
_TOO_LONG = b"too long\n"


async def _more(source: int) -> bytes:
    """Wait for more; nothing means the end, a connection that was reset included."""
    loop = asyncio.get_running_loop()
    while True:
        try:
            return os.read(source, 65_536)
        except BlockingIOError:
            await _ready(source, loop.add_reader, loop.remove_reader)
        except OSError:
            return b""


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
        loop = asyncio.get_running_loop()
        async with self._lock:
            left = memoryview(line.encode() + b"\n")
            while left:
                try:
                    left = left[os.write(self._sink, left) :]
                except BlockingIOError:
                    await _ready(self._sink, loop.add_writer, loop.remove_writer)


def _tells_its_end(sink: int) -> bool:
    """Whether readiness to read means that the reader has left: so at a pipe's writing end."""
    if not stat.S_ISFIFO(os.fstat(sink).st_mode):
        return False
    return fcntl.fcntl(sink, fcntl.F_GETFL) & os.O_ACCMODE == os.O_WRONLY


async def _ready(
    descriptor: int, add: Callable[..., object], remove: Callable[[int], object]
) -> None:
    ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    add(descriptor, _wake, ready)
    try:
        await ready
    finally:
        remove(descriptor)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
