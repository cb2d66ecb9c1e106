"""Runs of the loop over the made-up world."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from framework.errors import UnavailableError
from framework.evidence.models import ModelStore
from framework.evidence.nli import judge
from framework.reading import read
from framework.research.loop import Research
from framework.research.report import build
from framework.research.state import State, Step, Task
from framework.research.steps import Tools
from framework.types import FetchMode, HttpResponse
from middlewares.cache import Cache, CacheKey
from middlewares.state import StateDatabase
from server.deep_runs import DeepRuns
from tests.research_world.model import Model
from tests.research_world.world import OBJECTIVE, World, markup, sites

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from framework.evidence.nli import Judgement
    from framework.reading import Document

__all__ = ["lexical", "research", "task", "tools"]

_NO_MODELS = ModelStore(records=())


def lexical(pairs: Sequence[tuple[str, str]]) -> Sequence[Judgement]:
    """The judge that every installation has: no models."""
    return judge(pairs, _NO_MODELS)


def task(**bounds: Any) -> Task:
    given: dict[str, Any] = {"max_citation_urls": -1, "max_loops": 6, **bounds}
    return Task(objective=OBJECTIVE, today="2026-11-29", language="en", **given)


def tools(world: World, model: Any, **more: Any) -> Tools:
    given: dict[str, Any] = {"clock": time.monotonic, "room": asyncio.Semaphore(4), **more}
    return Tools(search=world.search, fetch=world.fetch, llm=model, judge=lexical, **given)


def research(world: World, model: Any, state: State | None = None, **bounds: Any) -> Research:
    return Research(state or State(task=task(**bounds)), tools(world, model))


class _Logged(World):
    """A world behind the page cache that writes what is fetched to a file, and dies when told."""

    def __init__(self, folder: Path, die: Callable[[], bool]) -> None:
        super().__init__()
        self._log = folder / "fetched.txt"
        self._cache = Cache(folder / "pages.db")
        self._die = die

    async def fetch(self, url: str) -> Document:
        if self._die():
            os.kill(os.getpid(), signal.SIGKILL)

        async def load(headers: tuple[tuple[str, str], ...]) -> tuple[HttpResponse, int | None]:
            with self._log.open("a") as file:
                file.write(f"{url}\n")
            status = sites()[url].status
            body = markup(url, self.filler)
            return HttpResponse(url=url, status=status, headers=HEADERS, body=body), None

        found = await self._cache.fetch(CacheKey(url, FetchMode.HTTP, ()), 8_388_608, load)
        if found.response.status != 200:
            raise UnavailableError(f"{url} answered status {found.response.status}")
        return read(found.response.body, url, dict(HEADERS))


HEADERS = (("content-type", "text/html; charset=utf-8"),)


async def _main(folder: Path, die_in: int) -> None:
    with StateDatabase(folder / "state.db") as database:
        runs = DeepRuns(database)
        lease = runs.take("one")
        state = lease.state or State(task=task(max_loops=3))
        fetched = 0

        def die() -> bool:
            nonlocal fetched
            fetched += run.state.round == die_in and run.state.step is Step.READ
            return fetched > 2

        world = _Logged(folder, die)
        model = Model(tireless=True)
        run = Research(state, tools(world, model), save=lambda one: runs.save(lease, one))
        last = await run.run()
        sys.stdout.write(build(last).markdown)


if __name__ == "__main__":
    asyncio.run(_main(Path(sys.argv[1]), int(sys.argv[2])))
