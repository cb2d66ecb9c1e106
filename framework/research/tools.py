"""What a run works with, and how it runs several things at once."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, Iterable

    from framework.llm import LLM
    from framework.reading import Document
    from framework.research.facts import Judge
    from framework.research.state import State
    from framework.types import SearchAnswer

__all__ = ["Fetch", "Search", "Tools", "all_of"]

_T = TypeVar("_T")


class Search(Protocol):
    """Asks the engines one query."""

    def __call__(self, query: str, language: str | None) -> Awaitable[SearchAnswer]:
        """Return the merged answer; raises ConsilienceError where no engine answers."""


class Fetch(Protocol):
    """Fetches and reads one page."""

    def __call__(self, url: str) -> Awaitable[Document]:
        """Return the page; raises ConsilienceError where it cannot be had."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What a run works with; `room` bounds the pages that are held in memory at once.

    Runs that share a `room` hold no more pages together than it has places.
    """

    search: Search
    fetch: Fetch
    llm: LLM
    judge: Judge
    clock: Callable[[], float]
    room: asyncio.Semaphore
    keep: Callable[[State], None] = lambda _state: None


async def all_of(work: Iterable[Coroutine[object, object, _T]]) -> list[_T]:
    """Run all at once; the first exception cancels the rest and is raised itself."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
    except BaseExceptionGroup as raised:
        raise raised.exceptions[0] from None
    return [task.result() for task in tasks]
