"""Pace: how often and how many at once an engine or a host may be asked.

A rate is kept by the generic cell rate algorithm (the leaky-bucket form of ITU-T I.371): one number
per subject, the moment at which the bucket is empty again, says how long the next request waits.
Unlike a counter it needs no polling and serves waiters in order. Kept in the state database, the
number holds for all processes.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from framework.errors import UnavailableError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

    from middlewares.state import StateDatabase

__all__ = [
    "Ledger",
    "MemoryLedger",
    "Pace",
    "PaceRule",
    "StateLedger",
    "TooSoonError",
    "due_after",
]

#: At most so many subjects are remembered in memory.
_MAX_SUBJECTS = 4096


class TooSoonError(UnavailableError):
    """Raised before anything is sent, where a turn would come later than the caller can wait."""

    def __init__(self, subject: str, wait: float) -> None:
        super().__init__(
            f"{subject} is asked as often as its file allows",
            code="rate_limited",
            hint=f"free in {wait:.1f} s",
            retry_after=wait,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PaceRule:
    """How a subject may be asked: `rate` as (requests, seconds), `concurrency` at once.

    `search_gap` and `page_gap` are the least seconds between two searches, and between two pages of
    searches; the whole burst of a rate may be used at once after a pause.
    """

    rate: tuple[int, float] | None = None
    concurrency: int | None = None
    search_gap: float = 0.0
    page_gap: float = 0.0

    def cells(self, subject: str, *, is_page: bool) -> tuple[tuple[str, float, float], ...]:
        """Return (name, interval, burst span) of every bucket that a request goes through."""
        found = []
        if self.rate is not None:
            count, span = self.rate
            found.append((subject, span / count, span - span / count))
        gap = self.page_gap if is_page else self.search_gap
        if gap > 0:
            found.append((f"{subject} {'page' if is_page else 'search'}", gap, 0.0))
        return tuple(found)


def due_after(due: float, now: float, interval: float, burst: float) -> tuple[float, float]:
    """Return (seconds to wait, the bucket's new moment) for one more request.

    `due` is the moment at which the bucket is empty (theoretical arrival time), `interval` the
    seconds per request and `burst` how far requests may run ahead.
    """
    start = max(due, now)
    return max(0.0, start - burst - now), start + interval


class Ledger(Protocol):
    """Where the moments of all buckets are kept."""

    def reserve(
        self, subject: str, now: float, interval: float, burst: float, longest: float
    ) -> float:
        """Return the seconds to wait; reserve the place unless they are more than `longest`."""


class MemoryLedger:
    """Moments of one process; subjects that have been idle the longest are forgotten."""

    def __init__(self) -> None:
        self._due: dict[str, float] = {}

    def reserve(
        self, subject: str, now: float, interval: float, burst: float, longest: float
    ) -> float:
        """Return the seconds to wait; reserve the place unless they are more than `longest`."""
        wait, due = due_after(self._due.get(subject, 0.0), now, interval, burst)
        if wait <= longest:
            self._due.pop(subject, None)
            self._due[subject] = due
            while len(self._due) > _MAX_SUBJECTS:
                del self._due[next(iter(self._due))]
        return wait


class StateLedger:
    """Moments in the state database, shared by all processes and kept over restarts."""

    def __init__(self, state: StateDatabase) -> None:
        self._state = state

    def reserve(
        self, subject: str, now: float, interval: float, burst: float, longest: float
    ) -> float:
        """Return the seconds to wait; reserve the place unless they are more than `longest`."""
        reserved = self._state.execute(
            "INSERT INTO pace VALUES (:subject, :now + :interval) ON CONFLICT (subject) DO UPDATE"
            " SET due = max(due, :now) + :interval WHERE max(due, :now) - :burst - :now <= :longest"
            " RETURNING due",
            {
                "subject": subject,
                "now": now,
                "interval": interval,
                "burst": burst,
                "longest": longest,
            },
        ).fetchone()
        if reserved is not None:
            return max(0.0, float(reserved[0]) - interval - burst - now)
        due = self._state.execute("SELECT due FROM pace WHERE subject = ?", (subject,)).fetchone()
        return due_after(float(due[0]), now, interval, burst)[0]


class Pace:
    """Lets requests go at the pace of their engine and host.

    `clock` gives Unix seconds (the ledger may be shared); `sleep` waits that many.
    """

    def __init__(
        self,
        ledger: Ledger | None = None,
        *,
        clock: Callable[[], float] = time.time,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._ledger = ledger or MemoryLedger()
        self._clock = clock
        self._sleep = sleep
        self._places: dict[str, asyncio.Semaphore] = {}

    @contextlib.asynccontextmanager
    async def turn(
        self,
        subject: str,
        rule: PaceRule,
        *,
        longest: float,
        is_page: bool = False,
        name: str = "",
    ) -> AsyncIterator[float]:
        """Wait for a turn and hold a place for the block; yields the seconds waited.

        Raises TooSoonError (`rate_limited`, with `retry_after`) at once, and takes no turn,
        where the pace would make the request wait longer than `longest` seconds. `name` is what
        the error calls the subject.
        """
        waited = 0.0
        for cell, interval, burst in rule.cells(subject, is_page=is_page):
            wait = self._ledger.reserve(cell, self._clock(), interval, burst, longest - waited)
            if wait > longest - waited:
                raise TooSoonError(name or subject, wait)
            if wait > 0:
                await self._sleep(wait)
                waited += wait
        async with self._place(subject, rule.concurrency):
            yield waited

    def _place(
        self, subject: str, concurrency: int | None
    ) -> contextlib.AbstractAsyncContextManager[object]:
        """The subject's places; forgotten again while nobody holds or awaits one."""
        if concurrency is None:
            return contextlib.nullcontext()
        name = f"{subject} {concurrency}"
        if len(self._places) >= _MAX_SUBJECTS:
            self._places = {n: s for n, s in self._places.items() if s.locked()}
        return self._places.setdefault(name, asyncio.Semaphore(concurrency))
