"""All rules about an engine's request in their order: rest, pace, keys, then what came of it.

Composed by the server (or a script) from its parts; the transfer itself is a function given by the
caller, so every rule can be tested with a scripted server and clock.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlsplit

from framework.errors import UnavailableError
from framework.spec.environment import key_values
from framework.types import Page, Verdict
from middlewares.cooldown import Cooldown
from middlewares.keys import KeyPool, Rotation, mark_of, with_keys
from middlewares.pace import Pace, PaceRule, StateLedger, TooSoonError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from framework.spec.compiler import Engine
    from framework.spec.model import Key
    from middlewares.cooldown import Rest
    from middlewares.state import StateDatabase

__all__ = ["HOST_RULE", "Attempt", "EnginePolicy", "cooldown_spans", "pace_rule"]


_ANSWERED = frozenset({Verdict.OK, Verdict.EMPTY})
#: How hard one host may be asked for pages: ten a second, six at once.
HOST_RULE = PaceRule(rate=(10, 1.0), concurrency=6)
#: What the engines of one host share; how often each is asked stands in its file.
ENGINE_HOST_RULE = PaceRule(concurrency=16)


class Attempt(Protocol):
    """Asks the engine once, with one key of each pool (by the pool's name in its file)."""

    def __call__(self, keys: Mapping[str, str]) -> Awaitable[Page]:
        """Return the engine's page; a failure may be a page or an exception."""


def cooldown_spans(engine: Engine) -> dict[Verdict, float]:
    """Return the rests in seconds that an engine's file states."""
    cooldown = engine.limits.cooldown
    stated = {verdict: getattr(cooldown, verdict.value, None) for verdict in Verdict}
    return {verdict: float(span) for verdict, span in stated.items() if span is not None}


def pace_rule(engine: Engine, *, search_gap: float = 0.0, page_gap: float = 0.0) -> PaceRule:
    """Return how an engine may be asked, from its file's limits and the operator's gaps."""
    limits = engine.limits
    return PaceRule(
        rate=limits.rate,
        concurrency=limits.concurrency,
        search_gap=search_gap,
        page_gap=page_gap,
    )


@dataclass(slots=True)
class EnginePolicy:
    """The rules of all engines; `environ` holds the keys, `state` what outlives the process.

    `pace` is that of engines (shared by processes), `hosts` that of hosts (this process's own).
    `search_gap` and `page_gap` are the operator's least seconds between two searches, and two
    pages, of one engine. With `enabled` False (recordings) nothing rests, waits or is noted.
    """

    state: StateDatabase
    environ: Mapping[str, str] = field(repr=False)
    cooldown: Cooldown
    pace: Pace
    hosts: Pace = field(default_factory=Pace)
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    search_gap: float = 0.0
    page_gap: float = 0.0
    enabled: bool = True
    _pools: dict[tuple[str, Key], KeyPool] = field(default_factory=dict, repr=False)

    @classmethod
    def create(
        cls,
        state: StateDatabase,
        environ: Mapping[str, str],
        *,
        search_gap: float = 0.0,
        page_gap: float = 0.0,
        enabled: bool = True,
    ) -> EnginePolicy:
        """Build the rules over a state database with the system's clock."""
        return cls(
            state,
            environ,
            Cooldown(state),
            Pace(StateLedger(state)),
            search_gap=search_gap,
            page_gap=page_gap,
            enabled=enabled,
        )

    def rest(self, engine_id: str) -> Rest | None:
        """Return the rest an engine still has, or None."""
        return self.cooldown.resting(engine_id) if self.enabled else None

    def remaining(self, engine_id: str) -> float:
        """Return how many seconds an engine still rests; 0 if it is free."""
        return self.cooldown.remaining(engine_id) if self.enabled else 0.0

    def pools(self, engine: Engine) -> dict[str, KeyPool]:
        """Return an engine's key pools by their names in its file, empty ones included."""
        if not engine.keys:
            return {}
        spans = cooldown_spans(engine)
        return {name: self._pool(engine.id, name, key, spans) for name, key in engine.keys.items()}

    def _pool(self, engine_id: str, name: str, key: Key, spans: Mapping[Verdict, float]) -> KeyPool:
        """Named by its variables, so that engines that share a key share its rests."""
        known = (engine_id, key)
        secrets = key_values(key, self.environ)
        pool = self._pools.get(known)
        if pool is None:
            pool = self._pools[known] = KeyPool(
                " ".join(key.env),
                secrets,
                self.state,
                rotation=Rotation(key.rotate),
                rest_on=key.rest_on,
                retire_on=key.retire_on,
                spans=spans,
            )
        return pool

    async def consult(
        self, engine: Engine, attempt: Attempt, *, deadline: float, is_page: bool = False
    ) -> Page:
        """Ask an engine by its rules; `deadline` is in seconds from now.

        Waits for its pace (a wait beyond the deadline is `rate_limited` at once), rotates its
        keys, and notes the verdict: it may rest the engine. Verdicts that are about a key rest
        the key alone, and with keys the rate is each key's own. Raises what `attempt` raises,
        after noting it.
        """
        if not self.enabled:
            return await attempt(self._first_keys(engine))
        rule = pace_rule(engine, search_gap=self.search_gap, page_gap=self.page_gap)
        pools = self.pools(engine)
        keyed = any(len(pool) for pool in pools.values())
        own = replace(rule, rate=None) if keyed else rule
        turn = self.pace.turn(engine.id, own, longest=deadline, is_page=is_page)
        url = engine.spec.request.url
        async with turn as waited, self._host_turn(url, deadline - waited, ENGINE_HOST_RULE):
            if keyed and rule.rate:
                attempt = self._paced(attempt, engine, pools, deadline - waited)
            return await self._ask(engine, pools, attempt)

    async def try_key(
        self, engine: Engine, name: str, number: int, attempt: Attempt, *, deadline: float
    ) -> Page:
        """Ask an engine with one key of a pool, resting or not, and note what came of that key.

        Other pools give the key that is their turn. The pace of the file is kept, `deadline`
        being in seconds. Raises what `attempt` raises.
        """
        pools = self.pools(engine)
        chosen = {other: pool.choose() for other, pool in pools.items() if len(pool)}
        numbers = {**chosen, name: number}
        keys = {other: pools[other].use(n) for other, n in numbers.items() if n is not None}
        page = await self._paced(attempt, engine, pools, deadline)(keys)
        pools[name].note(number, page.verdict, page.retry_after)
        return page

    def _paced(
        self, attempt: Attempt, engine: Engine, pools: Mapping[str, KeyPool], longest: float
    ) -> Attempt:
        """The same attempt, at the pace that the file allows each key."""
        rule = PaceRule(rate=engine.limits.rate)

        async def paced(keys: Mapping[str, str]) -> Page:
            marks = sorted(mark_of(pools[name].name, key) for name, key in keys.items())
            subject = " ".join((engine.id, "key", *marks))
            async with self.pace.turn(subject, rule, longest=longest, name=engine.id):
                return await attempt(keys)

        return paced

    def page_turn(
        self, url: str, *, deadline: float
    ) -> contextlib.AbstractAsyncContextManager[float]:
        """Return the turn of a page fetch by its host; `deadline` is in seconds from now.

        Raises UnavailableError (`rate_limited`) where the host's pace would outlast it.
        """
        return self._host_turn(url, deadline, HOST_RULE)

    def _host_turn(
        self, url: str, longest: float, rule: PaceRule
    ) -> contextlib.AbstractAsyncContextManager[float]:
        host = _host(url) if self.enabled else None
        if host is None:
            return contextlib.nullcontext(0.0)
        return self.hosts.turn(host, rule, longest=longest)

    def _first_keys(self, engine: Engine) -> dict[str, str]:
        pools = {name: key_values(key, self.environ) for name, key in engine.keys.items()}
        return {name: keys[0] for name, keys in pools.items() if keys}

    async def _ask(self, engine: Engine, pools: Mapping[str, KeyPool], attempt: Attempt) -> Page:
        before = self.cooldown.resting(engine.id)
        try:
            page = await with_keys(pools, attempt, sleep=self.sleep)
        except TooSoonError:
            raise
        except UnavailableError as error:
            self._note(engine, _verdict(error.code), pools.values(), error.retry_after, str(error))
            raise
        if page.verdict in _ANSWERED and self.cooldown.resting(engine.id) != before:
            # Another question found a block while this one was under way: its rest stays.
            self.cooldown.remember(engine.id, page.verdict)
            return page
        rest = self._note(engine, page.verdict, pools.values(), page.retry_after, page.detail)
        if rest is None or page.verdict in _ANSWERED:
            return page
        return replace(page, retry_after=self.remaining(engine.id))

    def _note(
        self,
        engine: Engine,
        verdict: Verdict,
        pools: Iterable[KeyPool],
        retry_after: float | None,
        reason: str,
    ) -> Rest | None:
        if any(len(pool) and pool.judges(verdict) for pool in pools):
            self.cooldown.remember(engine.id, verdict)
            return None
        return self.cooldown.note(
            engine.id,
            verdict,
            retry_after=retry_after,
            spans=None if verdict in _ANSWERED else cooldown_spans(engine),
            reason=reason,
        )


@lru_cache(maxsize=1024)
def _host(url: str) -> str | None:
    """The host of an address; None for a template or what is no address."""
    with contextlib.suppress(ValueError):
        return urlsplit(url).hostname if "{" not in url else None
    return None


def _verdict(code: str) -> Verdict:
    known = {verdict.value for verdict in Verdict}
    return Verdict(code) if code in known else Verdict.ERROR
