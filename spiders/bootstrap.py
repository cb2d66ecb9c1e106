"""Session steps: what an engine must be asked before the search itself, remembered for a while."""

from __future__ import annotations

import time
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from framework.types import Page
from spiders.refusals import refusal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable, Mapping

    from framework.spec.compiler import Engine
    from framework.spec.context import Variables
    from framework.spec.plan import Step
    from framework.types import HttpRequest, HttpResponse, Query

    Send = Callable[[HttpRequest], Awaitable[HttpResponse]]

__all__ = ["Sessions"]


@dataclass(frozen=True, slots=True)
class _Taken:
    values: Mapping[str, str]
    until: float


class Sessions:
    """Remembers the values of session steps per engine, proxy and query, as each step's scope says.

    What was taken with one key is never used with another.
    `clock` counts seconds and never goes back. At most `limit` steps are remembered.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, limit: int = 4096) -> None:
        self._clock = clock
        self._limit = limit
        self._taken: OrderedDict[Hashable, _Taken] = OrderedDict()

    def __len__(self) -> int:
        return len(self._taken)

    async def fill(
        self, engine: Engine, query: Query, page: int, variables: Variables, send: Send, proxy: str
    ) -> Variables | Page:
        """Return the variables with every step's values, making the steps that are not remembered.

        A step that meets a block or yields nothing ends the search: its page is returned instead.
        `proxy` keys what may be shared; raises what `send` raises.
        """
        for step in engine.steps:
            key = (*_key(engine, step, query, page, proxy), *sorted(variables.keys.items()))
            values = self._remembered(key)
            if values is None:
                answer = await send(engine.plan_step(step, query, page, variables))
                taken = engine.take(step, answer)
                if isinstance(taken, Page):
                    return refusal(engine, taken, answer, variables.keys)
                values = self._remember(key, step, taken)
            variables = replace(variables, session={**variables.session, step.id: values})
        return variables

    def forget(self, engine: Engine) -> None:
        """Drop everything of this engine, so that its next search makes the steps anew."""
        for key in [key for key in self._taken if isinstance(key, tuple) and key[0] == engine.id]:
            del self._taken[key]

    def _remembered(self, key: Hashable) -> Mapping[str, str] | None:
        taken = self._taken.get(key)
        return taken.values if taken is not None and self._clock() < taken.until else None

    def _remember(self, key: Hashable, step: Step, values: Mapping[str, str]) -> Mapping[str, str]:
        self._taken[key] = _Taken(values, self._clock() + step.ttl)
        self._taken.move_to_end(key)
        while len(self._taken) > self._limit:
            self._taken.popitem(last=False)
        return values


def _key(engine: Engine, step: Step, query: Query, page: int, proxy: str) -> tuple[Hashable, ...]:
    shared: dict[str, tuple[Hashable, ...]] = {
        "engine": (),
        "proxy": (proxy,),
        "query": (proxy, query_key(query), page if step.per_page else 0),
    }
    return (engine.id, step.id, *shared[step.scope])


def query_key(query: Query) -> Hashable:
    """Return what makes two questions the same to an engine: everything but page and count."""
    return replace(query, page=1, max_results=1)
