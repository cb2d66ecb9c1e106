"""Rests: after which verdict an engine is left alone, and for how long.

A rest is written to the state database, so it survives restarts and holds for every process.
"""

from __future__ import annotations

import time
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
#: Seconds that verdicts are remembered for reports.
_HISTORY = 7 * 24 * 3600.0
_CLEAN_EVERY = 256


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
    """Remembers which engines rest; `clock` gives Unix seconds."""

    def __init__(self, state: StateDatabase, clock: Callable[[], float] = time.time) -> None:
        self._state = state
        self._clock = clock
        self._noted = 0

    def resting(self, subject: str) -> Rest | None:
        """Return the rest that an engine still has, or None."""
        found = self._state.execute(
            "SELECT verdict, until, reason FROM rests WHERE subject = ? AND until > ?",
            (subject, self._clock()),
        ).fetchone()
        if found is None:
            return None
        return Rest(
            subject=subject, verdict=Verdict(found[0]), until=float(found[1]), reason=str(found[2])
        )

    def remaining(self, subject: str) -> float:
        """Return how many seconds an engine still rests; 0 if it is free."""
        rest = self.resting(subject)
        return rest.remaining(self._clock()) if rest else 0.0

    def all(self) -> tuple[Rest, ...]:
        """Return every rest that still runs, the first to end first."""
        rows = self._state.execute(
            "SELECT subject, verdict, until, reason FROM rests WHERE until > ? ORDER BY until",
            (self._clock(),),
        )
        return tuple(
            Rest(subject=row[0], verdict=Verdict(row[1]), until=float(row[2]), reason=row[3])
            for row in rows
        )

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
        now = self._clock()
        self.remember(subject, verdict)
        if verdict in {Verdict.OK, Verdict.EMPTY}:
            self.clear(subject)
            return None
        span = rest_for(verdict, retry_after=retry_after, spans=spans)
        if span > 0:
            self._rest(Rest(subject=subject, verdict=verdict, until=now + span, reason=reason))
        return self.resting(subject)

    def _rest(self, rest: Rest) -> None:
        self._state.execute(
            "INSERT INTO rests VALUES (?, ?, ?, ?) ON CONFLICT (subject) DO UPDATE SET"
            " verdict = excluded.verdict, until = excluded.until, reason = excluded.reason"
            " WHERE excluded.until > until",
            (rest.subject, rest.verdict.value, rest.until, rest.reason),
        )

    def clear(self, subject: str) -> None:
        """End an engine's rest."""
        self._state.execute("DELETE FROM rests WHERE subject = ?", (subject,))

    def remember(self, subject: str, verdict: Verdict) -> None:
        """Count a verdict in the history without letting it rest anything."""
        now = self._clock()
        self._state.execute("INSERT INTO verdicts VALUES (?, ?, ?)", (subject, now, verdict.value))
        self._noted += 1
        if self._noted % _CLEAN_EVERY == 1:
            self._state.execute("DELETE FROM verdicts WHERE at < ?", (now - _HISTORY,))

    def history(self, subject: str, span: float = _HISTORY) -> dict[Verdict, int]:
        """Return how often each verdict fell in the last `span` seconds, at most a week."""
        rows = self._state.execute(
            "SELECT verdict, count(*) FROM verdicts WHERE engine = ? AND at >= ? GROUP BY verdict",
            (subject, self._clock() - span),
        )
        return {Verdict(row[0]): int(row[1]) for row in rows}
