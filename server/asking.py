"""Asking one engine: its keys, its pace, its rests, and the crawler behind them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol

from framework.errors import UnavailableError
from framework.merge.search import Member
from framework.spec.context import Variables
from framework.spec.environment import key_values, setting_values
from framework.types import Page, Verdict
from middlewares.cooldown import Cooldown
from middlewares.keys import KeyPool, Rotation, with_keys
from middlewares.pace import Pace, PaceRule, StateLedger

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from framework.spec.catalogue import Entry
    from framework.spec.compiler import Engine
    from framework.types import EngineReport, Next, Query
    from middlewares.state import StateDatabase

__all__ = ["Desk", "Hub", "cooldown_spans", "pace_rule"]

_UNASKED = frozenset({Verdict.RESTING, Verdict.DISABLED})


class Hub(Protocol):
    """What sends a request of an engine and reads the answer."""

    async def search_engine(
        self,
        engine: Engine,
        query: Query,
        after: Next | None = None,
        *,
        variables: Variables | None = None,
        timeout: float | None = None,
    ) -> Page:
        """Return what the engine says."""
        ...


@dataclass(slots=True)
class Desk:
    """Asks engines by their files' rules; several processes may share the state.

    `clock` gives Unix seconds.
    """

    environ: Mapping[str, str]
    state: StateDatabase
    clock: Callable[[], float] = time.time
    cooldown: Cooldown = field(init=False)
    _pace: Pace = field(init=False)
    _pools: dict[str, tuple[Engine, dict[str, KeyPool]]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self.cooldown = Cooldown(self.state, self.clock)
        self._pace = Pace(StateLedger(self.state), clock=self.clock)

    def member(self, entry: Entry) -> Member:
        """Return an engine as a member of a search: free, resting or disabled."""
        if entry.engine is None:
            return Member(id=entry.id, disabled=entry.disabled(self.environ))
        rest = self.cooldown.resting(entry.id)
        return Member(
            id=entry.id,
            index=entry.engine.index,
            weight=entry.engine.weight,
            official=entry.engine.spec.about.official_api,
            disabled=entry.disabled(self.environ),
            rest=rest.remaining(self.clock()) if rest else 0.0,
            rest_reason=f"rests after {rest.verdict}" if rest else "",
        )

    async def ask(
        self, hub: Hub, engine: Engine, query: Query, after: Next | None, timeout: float
    ) -> Page:
        """Ask one engine for one page; where its pace forbids it the page says `resting`."""
        end = self.clock() + min(timeout, engine.limits.timeout or timeout)
        longest = max(0.0, end - self.clock())
        turn = self._pace.turn(
            engine.id, pace_rule(engine), longest=longest, is_page=after is not None
        )

        async def attempt(keys: Mapping[str, str]) -> Page:
            variables = Variables(
                keys=keys,
                settings=setting_values(engine.spec, self.environ),
                now=datetime.fromtimestamp(self.clock(), UTC),
            )
            left = max(0.001, end - self.clock())
            return await hub.search_engine(engine, query, after, variables=variables, timeout=left)

        try:
            async with turn:
                return await with_keys(self.pools(engine), attempt)
        except UnavailableError as error:
            return Page(
                verdict=Verdict.RESTING, detail=error.message, retry_after=error.retry_after
            )

    def note(self, engine: Engine, report: EngineReport) -> None:
        """Remember what happened to an engine, and rest it where that verdict asks for it.

        A refused key rests by itself, so the engine goes on with the others.
        """
        if report.verdict in _UNASKED:
            return
        refused = any(report.verdict in key.rest_on for key in engine.keys.values())
        self.cooldown.note(
            engine.id,
            report.verdict,
            retry_after=report.retry_after,
            spans=dict.fromkeys(Verdict, 0.0) if refused else cooldown_spans(engine),
            reason=report.detail,
        )

    def pools(self, engine: Engine) -> Mapping[str, KeyPool]:
        """Return the key pools of an engine, made once for each version of its file."""
        known = self._pools.get(engine.id)
        if known is None or known[0] is not engine:
            known = (engine, self._made(engine))
            self._pools[engine.id] = known
        return known[1]

    def _made(self, engine: Engine) -> dict[str, KeyPool]:
        return {
            name: KeyPool(
                f"{engine.id}.{name}",
                key_values(key, self.environ),
                self.state,
                rotation=Rotation(key.rotate),
                rest_on=key.rest_on,
                retire_on=key.retire_on,
                spans=cooldown_spans(engine),
                clock=self.clock,
            )
            for name, key in engine.keys.items()
        }


def pace_rule(engine: Engine) -> PaceRule:
    """Return how often and how many at once an engine's file lets it be asked."""
    return PaceRule(rate=engine.limits.rate, concurrency=engine.limits.concurrency)


def cooldown_spans(engine: Engine) -> dict[Verdict, float]:
    """Return the seconds that an engine's file rests it for each verdict it names."""
    given = engine.limits.cooldown
    named: Iterable[tuple[Verdict, float | None]] = (
        (verdict, getattr(given, verdict.value, None)) for verdict in Verdict
    )
    return {verdict: span for verdict, span in named if span is not None}
