"""Key pools: which key a call uses, and what a refusal does to it.

429, 432, 433, 401 and 403 (as an engine's verdicts rate_limited, quota, unauthorised) rest the
key, and the same request goes to the next one within the same call. Keys never leave this module
except into the request: not in errors, not in logs, not into the state database, where a key is
known by a digest.
"""

from __future__ import annotations

import asyncio
import hashlib
import time
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

from framework.types import Page, Verdict

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from middlewares.state import StateDatabase

__all__ = ["KeyPool", "KeyReport", "Rotation", "mark_of", "with_keys"]

#: Seconds that a verdict rests a key, where neither the answer nor the engine's file says.
KEY_RESTS: Mapping[Verdict, float] = {
    Verdict.RATE_LIMITED: 60.0,
    Verdict.QUOTA: 6 * 3600.0,
    Verdict.UNAUTHORISED: 24 * 3600.0,
}
_OTHER_REST = 60.0
#: No server rests a key for longer.
LONGEST_REST = 7 * 24 * 3600.0
#: A lone key is waited for up to this many seconds after a 429.
LONGEST_WAIT = 3.0
_RETIRED = 1e15


class Rotation(StrEnum):
    """Which of the free keys goes first."""

    LAST_GOOD = "last-good"
    LEAST_USED = "least-used"
    ROUND_ROBIN = "round-robin"


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyReport:
    """One key's state, by its number from 1; `until` is when it is free (None: it is)."""

    number: int
    uses: int = 0
    verdict: Verdict | None = None
    until: float | None = None
    retired: bool = False

    def text(self, now: float) -> str:
        """Say in words why the key rests and until when."""
        if self.verdict is None or self.until is None:
            return f"key {self.number} free"
        if self.retired:
            return f"key {self.number} {self.verdict}, retired"
        return f"key {self.number} {self.verdict}, free in {self.until - now:.0f} s"


@dataclass(frozen=True, slots=True)
class _Key:
    number: int
    secret: str = field(repr=False)
    mark: str


class KeyPool:
    """The keys of one service; states are shared through the state database.

    `spans` are the engine's own `cooldown`; verdicts in `rest_on` rest a key, those in `retire_on`
    end its use until it is replaced; all others burn no key. `clock` gives Unix seconds.
    """

    def __init__(
        self,
        name: str,
        secrets: Iterable[str],
        state: StateDatabase,
        *,
        rotation: Rotation = Rotation.LAST_GOOD,
        rest_on: Iterable[Verdict] = tuple(KEY_RESTS),
        retire_on: Iterable[Verdict] = (),
        spans: Mapping[Verdict, float] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self.name = name
        self._keys = tuple(
            _Key(number, secret, mark_of(name, secret)) for number, secret in enumerate(secrets, 1)
        )
        self._state = state
        self._rotation = rotation
        self._rest_on = frozenset(rest_on)
        self._retire_on = frozenset(retire_on)
        self._spans = spans or {}
        self._clock = clock
        for key in self._keys:
            state.execute("INSERT OR IGNORE INTO keys (pool, mark) VALUES (?, ?)", (name, key.mark))

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"KeyPool({self.name!r}, {len(self)} keys)"

    def judges(self, verdict: Verdict) -> bool:
        """Say whether this verdict is about a key rather than about the engine."""
        return verdict in self._rest_on or verdict in self._retire_on

    def reports(self) -> tuple[KeyReport, ...]:
        """Return every key's state, by number."""
        now = self._clock()
        return tuple(self._report(key, now) for key in self._keys)

    def _report(self, key: _Key, now: float) -> KeyReport:
        verdict, until, uses, *_ = self._row(key)
        if until <= now or not verdict:
            return KeyReport(number=key.number, uses=uses)
        return KeyReport(
            number=key.number,
            uses=uses,
            verdict=Verdict(verdict),
            until=until,
            retired=until >= _RETIRED,
        )

    def _row(self, key: _Key) -> tuple[str, float, int, float, float]:
        found = self._state.execute(
            "SELECT verdict, until, uses, used, good FROM keys WHERE pool = ? AND mark = ?",
            (self.name, key.mark),
        ).fetchone()
        return (str(found[0]), float(found[1]), int(found[2]), float(found[3]), float(found[4]))

    def choose(self, tried: Iterable[int] = ()) -> int | None:
        """Return the number of the key to use next, None where none is left to try.

        Free keys go by the pool's rotation; where every key rests and none was tried yet, the
        first to be free is chosen. Keys in `tried` and retired ones never are.
        """
        now, done = self._clock(), set(tried)
        states = [(self._report(key, now), self._row(key)) for key in self._keys]
        usable = [(r, row) for r, row in states if r.number not in done and not r.retired]
        free = [(report, row) for report, row in usable if report.until is None]
        if free:
            return min(free, key=lambda item: self._turn(*item))[0].number
        if done or not usable:
            return None
        return min(usable, key=lambda item: item[0].until or 0.0)[0].number

    def _turn(
        self, report: KeyReport, row: tuple[str, float, int, float, float]
    ) -> tuple[float, int]:
        _, _, uses, used, good = row
        order = {
            Rotation.LAST_GOOD: -good,
            Rotation.LEAST_USED: float(uses),
            Rotation.ROUND_ROBIN: used,
        }[self._rotation]
        return order, report.number

    def use(self, number: int) -> str:
        """Return a key's secret and count its use."""
        key = self._keys[number - 1]
        self._state.execute(
            "UPDATE keys SET uses = uses + 1,"
            " used = (SELECT max(used) + 1 FROM keys WHERE pool = ?) WHERE pool = ? AND mark = ?",
            (self.name, self.name, key.mark),
        )
        return key.secret

    def rest_of(self, number: int) -> float:
        """Return the Unix moment at which a key's last rest ends or ended; 0 if it had none."""
        return self._row(self._keys[number - 1])[1]

    def note(
        self,
        number: int,
        verdict: Verdict,
        retry_after: float | None = None,
        *,
        rest: float = _RETIRED,
    ) -> None:
        """Tell what came of a key's use: it may rest, retire, or have proved good.

        A good answer ends the key's rest, but none that came while it was under way: `rest` is
        what `rest_of` said when the key was taken.
        """
        key, now = self._keys[number - 1], self._clock()
        if verdict in {Verdict.OK, Verdict.EMPTY}:
            self._state.execute(
                "UPDATE keys SET good = :now,"
                " verdict = CASE WHEN until <= :rest THEN '' ELSE verdict END,"
                " until = CASE WHEN until <= :rest THEN 0 ELSE until END"
                " WHERE pool = :pool AND mark = :mark",
                {"now": now, "rest": rest, "pool": self.name, "mark": key.mark},
            )
        elif self.judges(verdict):
            until = (
                _RETIRED if verdict in self._retire_on else now + self._rest(verdict, retry_after)
            )
            self._state.execute(
                "UPDATE keys SET verdict = ?, until = ? WHERE pool = ? AND mark = ?",
                (verdict.value, until, self.name, key.mark),
            )

    def _rest(self, verdict: Verdict, retry_after: float | None) -> float:
        """429 rests for what the server says; other verdicts for the file's or default span."""
        if verdict is Verdict.RATE_LIMITED and retry_after is not None:
            return min(retry_after, LONGEST_REST)
        own = self._spans.get(verdict)
        return own if own is not None else KEY_RESTS.get(verdict, _OTHER_REST)

    def wait(self) -> float | None:
        """Return in how many seconds the first key is free; None where all are retired."""
        now = self._clock()
        reports = [report for report in self.reports() if not report.retired]
        return min((max(0.0, (r.until or now) - now) for r in reports), default=None)

    def explain(self) -> str:
        """List every key's reason by its number, never a key."""
        now = self._clock()
        return "; ".join(report.text(now) for report in self.reports())


def mark_of(pool: str, secret: str) -> str:
    """Return what a key is known by outside the request: a digest that does not tell it."""
    return hashlib.sha256(f"{pool}\0{secret}".encode()).hexdigest()[:16]


@dataclass(slots=True)
class _Turn:
    """The keys of one call: per pool the number in use with its rest, and those tried already."""

    pools: Mapping[str, KeyPool]
    numbers: dict[str, int] = field(default_factory=dict)
    rests: dict[str, float] = field(default_factory=dict)
    tried: dict[str, set[int]] = field(default_factory=dict)

    def start(self) -> None:
        for name, pool in self.pools.items():
            if (number := pool.choose()) is not None:
                self.take(name, number)

    def take(self, name: str, number: int) -> None:
        self.numbers[name] = number
        self.tried.setdefault(name, set()).add(number)

    def secrets(self) -> dict[str, str]:
        self.rests = {name: self.pools[name].rest_of(n) for name, n in self.numbers.items()}
        return {name: self.pools[name].use(number) for name, number in self.numbers.items()}

    def note(self, page: Page) -> str | None:
        """Tell the pools about an answer; return the pool whose key it refused."""
        refused = None
        for name, number in self.numbers.items():
            pool = self.pools[name]
            if refused is None and pool.judges(page.verdict):
                refused = name
                pool.note(number, page.verdict, page.retry_after)
            elif page.verdict in {Verdict.OK, Verdict.EMPTY}:
                pool.note(number, page.verdict, rest=self.rests[name])
        return refused

    def advance(self, name: str) -> bool:
        """Take the next key of a pool; False where there is none."""
        number = self.pools[name].choose(self.tried[name])
        if number is not None:
            self.take(name, number)
        return number is not None


async def with_keys(
    pools: Mapping[str, KeyPool],
    attempt: Callable[[Mapping[str, str]], Awaitable[Page]],
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Page:
    """Run one call with keys, going on to the next key where one is refused.

    `attempt` gets a key for each pool (none for an empty pool) and returns the engine's page. A
    lone key with a short 429 is waited for, once, up to 3 s. Where every key is refused the page
    keeps its verdict, says each key's reason by number, and when the first is free.
    """
    turn = _Turn(pools)
    turn.start()
    for name, pool in pools.items():
        if len(pool) and name not in turn.numbers:
            return Page(verdict=Verdict.UNAUTHORISED, detail=pool.explain())
    waited = False
    while True:
        page = await attempt(turn.secrets())
        refused = turn.note(page)
        if refused is None:
            return page
        if turn.advance(refused):
            continue
        pool = pools[refused]
        wait = pool.wait()
        if waited or not _is_short(pool, page.verdict, wait):
            return replace(page, detail=pool.explain(), retry_after=wait)
        waited = True
        await sleep(wait or 0.0)


def _is_short(pool: KeyPool, verdict: Verdict, wait: float | None) -> bool:
    lone = len(pool) == 1 and verdict is Verdict.RATE_LIMITED
    return lone and wait is not None and wait <= LONGEST_WAIT
