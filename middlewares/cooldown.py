"""Rests: after which verdict an engine is left alone, and for how long.

A rest is written to the state database, so it survives restarts and holds for every process.
"""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.types import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from middlewares.state import StateDatabase

__all__ = ["DEFAULT_RESTS", "LONGEST_REST", "Cooldown", "Rest", "rest_for"]

#: Seconds that a verdict rests an engine where neither the answer nor the engine's file says.
DEFAULT_RESTS: Mapping[Verdict, float] = {
    Verdict.CAPTCHA: 3600.0,
    Verdict.BLOCKED: 900.0,
    Verdict.CONSENT: 900.0,
    Verdict.UNRELATED: 600.0,
    Verdict.RATE_LIMITED: 60.0,
    Verdict.QUOTA: 6 * 3600.0,
    Verdict.UNAUTHORISED: 24 * 3600.0,
}
#: Verdicts whose rest a server may set itself.
_SERVER_SAYS = frozenset({Verdict.RATE_LIMITED, Verdict.QUOTA, Verdict.BLOCKED})
#: No server and no file rests an engine for longer.
LONGEST_REST = 7 * 24 * 3600.0
#: Hours that verdicts are remembered for reports.
_WEEK = 7 * 24
_HOUR = 3600.0
#: Seconds after which another process's rests are looked for.
_LOOK_EVERY = 0.2
#: Verdicts are written together: so many, or when the first of them is so many seconds old.
_BATCH = 64
_BATCH_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Rest:
    """An engine's rest: why, and until which Unix moment."""

    subject: str
    verdict: Verdict
    until: float
    reason: str = ""

    def remaining(self, now: float) -> float:
        """Seconds that are left of it."""
        return max(0.0, self.until - now)


def rest_for(
    verdict: Verdict,
    *,
    retry_after: float | None = None,
    spans: Mapping[Verdict, float] | None = None,
) -> float:
    """Return how many seconds a verdict rests an engine; 0 where it doesn't.

    What the server says (`retry_after`, for rate_limited, quota and blocked) goes first, then the
    engine's own `cooldown`, then `DEFAULT_RESTS`; never more than `LONGEST_REST`.
    """
    said = retry_after if verdict in _SERVER_SAYS else None
    own = (spans or {}).get(verdict)
    wanted = next(span for span in (said, own, DEFAULT_RESTS.get(verdict, 0.0)) if span is not None)
    return min(max(wanted, 0.0), LONGEST_REST)


class Cooldown:
    """Remembers which engines rest; `clock` gives Unix seconds.

    Rests are written at once and those of other processes seen within 0.2 s. The history counts
    verdicts by the hour, so a busy week takes no more room than a quiet one; it is written in
    batches, and when the state database is closed.
    """

    def __init__(self, state: StateDatabase, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._clock = clock
        self._rests: dict[str, Rest] = {}
        self._looked = float("-inf")
        self._seen = -1
        self._unwritten: list[tuple[str, int, str]] = []
        self._begun = clock()
        self._swept = 0
        state.before_close(self._write_history)

    def resting(self, subject: str) -> Rest | None:
        """Return the rest that an engine still has, or None."""
        self._look()
        rest = self._rests.get(subject)
        return rest if rest is not None and rest.until > self._clock() else None

    def remaining(self, subject: str) -> float:
        """Return how many seconds an engine still rests; 0 if it is free."""
        rest = self.resting(subject)
        return rest.remaining(self._clock()) if rest else 0.0

    def all(self) -> tuple[Rest, ...]:
        """Return every rest that still runs, the first to end first."""
        self._look()
        now = self._clock()
        running = (rest for rest in self._rests.values() if rest.until > now)
        return tuple(sorted(running, key=lambda rest: (rest.until, rest.subject)))

    def _look(self) -> None:
        """Read the rests again where another process has written since."""
        now = self._clock()
        if 0 <= now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        seen = self._state.changed_elsewhere()
        if seen != self._seen:
            self._seen = seen
            self._rests = self._read()

    def _read(self) -> dict[str, Rest]:
        rows = self._state.execute(
            "SELECT subject, verdict, until, reason FROM rests WHERE until > ?", (self._clock(),)
        )
        return {
            str(row[0]): Rest(
                subject=row[0], verdict=Verdict(row[1]), until=float(row[2]), reason=row[3]
            )
            for row in rows
        }

    def note(
        self,
        subject: str,
        verdict: Verdict,
        *,
        retry_after: float | None = None,
        spans: Mapping[Verdict, float] | None = None,
        reason: str = "",
    ) -> Rest | None:
        """Remember a verdict; return the rest that it brings, if any.

        An `ok` or `empty` answer ends a rest. A rest is never shortened by another verdict.
        """
        self.remember(subject, verdict)
        known = self.resting(subject)
        if verdict in {Verdict.OK, Verdict.EMPTY}:
            if known is not None:
                self.clear(subject)
            return None
        span = rest_for(verdict, retry_after=retry_after, spans=spans)
        until = self._clock() + span
        if span > 0 and (known is None or until > known.until):
            known = Rest(subject=subject, verdict=verdict, until=until, reason=reason)
            self._write(known)
        return known

    def _write(self, rest: Rest) -> None:
        self._rests[rest.subject] = rest
        self._state.execute(
            "INSERT INTO rests VALUES (?, ?, ?, ?) ON CONFLICT (subject) DO UPDATE SET"
            " verdict = excluded.verdict, until = excluded.until, reason = excluded.reason"
            " WHERE excluded.until > until",
            (rest.subject, rest.verdict.value, rest.until, rest.reason),
        )

    def clear(self, subject: str) -> None:
        """End an engine's rest."""
        self._rests.pop(subject, None)
        self._state.execute("DELETE FROM rests WHERE subject = ?", (subject,))

    def remember(self, subject: str, verdict: Verdict) -> None:
        """Count a verdict in the history without letting it rest anything."""
        now = self._clock()
        if not self._unwritten:
            self._begun = now
        self._unwritten.append((subject, int(now // _HOUR), verdict.value))
        if len(self._unwritten) >= _BATCH or now - self._begun > _BATCH_SECONDS:
            self._write_history()

    def _write_history(self) -> None:
        if not self._unwritten:
            return
        counts, self._unwritten = Counter(self._unwritten), []
        self._state.execute_many(
            "INSERT INTO answers VALUES (?, ?, ?, ?) ON CONFLICT (engine, hour, verdict)"
            " DO UPDATE SET count = count + excluded.count",
            [(*key, count) for key, count in counts.items()],
        )
        self._sweep(max(hour for _, hour, _ in counts))

    def _sweep(self, hour: int) -> None:
        """Forget what is older than a week, once in each hour."""
        if hour != self._swept:
            self._swept = hour
            self._state.execute("DELETE FROM answers WHERE hour < ?", (hour - _WEEK,))

    def history(self, subject: str, hours: int = _WEEK) -> dict[Verdict, int]:
        """Return how often each verdict fell in this hour and the last ones, at most a week."""
        self._write_history()
        rows = self._state.execute(
            "SELECT verdict, sum(count) FROM answers WHERE engine = ? AND hour >= ? GROUP BY 1",
            (subject, self._first(hours)),
        )
        return {Verdict(row[0]): int(row[1]) for row in rows}

    def hourly(self) -> tuple[tuple[str, float, Verdict, int], ...]:
        """Return the history of all engines, this hour and those of the last week.

        Each entry is the engine, the Unix moment at which the hour began, the verdict and how
        often it fell, the oldest first.
        """
        self._write_history()
        rows = self._state.execute(
            "SELECT engine, hour, verdict, count FROM answers WHERE hour >= ? ORDER BY hour",
            (self._first(_WEEK),),
        )
        return tuple((str(row[0]), row[1] * _HOUR, Verdict(row[2]), int(row[3])) for row in rows)

    def _first(self, hours: int) -> int:
        return int(self._clock() // _HOUR) - min(hours, _WEEK)
