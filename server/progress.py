"""Progress of one call: told where it moves, and at least once a second where it does not."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    Send = Callable[[float, float | None, str | None], Awaitable[None]]

__all__ = ["Progress"]

_BEAT = 1.0


class Progress:
    """Hands progress on to a client; the numbers it sends only ever grow, as the protocol asks.

    While nothing is reported, a beat of `beat` seconds repeats the last message with a number that
    nears the next whole step, so that clients with a time-out keep waiting.
    """

    def __init__(self, send: Send, beat: float = _BEAT) -> None:
        self._send = send
        self._beat = beat
        self._done = 0.0
        self._total: float | None = None
        self._message = "working"
        self._sent = -1.0
        self._moved = asyncio.Event()

    async def report(self, done: float, total: float | None = None, message: str = "") -> None:
        """Tell that `done` of `total` steps are done; less than was told before changes nothing."""
        self.note(done, total, message)
        await asyncio.sleep(0)

    def note(self, done: float, total: float | None = None, message: str = "") -> None:
        """Do the same from code that cannot wait."""
        self._done = max(self._done, done)
        self._total = total
        self._message = message or self._message
        self._moved.set()

    @contextlib.asynccontextmanager
    async def sending(self) -> AsyncIterator[None]:
        """Send while the body runs; what cannot be sent ends the sending, never the body."""
        task = asyncio.create_task(self._loop(), name="progress")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])

    async def _loop(self) -> None:
        while True:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._beat):
                    await self._moved.wait()
            self._moved.clear()
            await self._tell()

    async def _tell(self) -> None:
        low = max(self._sent, self._done)
        step = self._done if self._done > self._sent else low + (int(low) + 1 - low) / 2
        self._sent = step
        await self._send(step, self._total, self._message)
