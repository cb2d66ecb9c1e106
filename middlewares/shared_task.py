"""Work that several callers wait for, and that ends when the last of them leaves."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

__all__ = ["SharedTask"]

_T = TypeVar("_T")


class SharedTask(Generic[_T]):
    """Runs `work` once for all who wait for it.

    A caller that is cancelled leaves the work to the others; the last to leave ends it where it
    still runs. `left` is called each time nobody waits any more, before that.
    """

    __slots__ = ("_left", "_task", "_waiting")

    def __init__(
        self, work: Coroutine[object, object, _T], *, name: str, left: Callable[[], None]
    ) -> None:
        self._task = asyncio.create_task(work, name=name)
        self._left = left
        self._waiting = 0

    @property
    def is_done(self) -> bool:
        """Whether the work has ended, well or not."""
        return self._task.done()

    async def result(self) -> _T:
        """Wait for the work's result; raises what it raised."""
        self._waiting += 1
        try:
            return await asyncio.shield(self._task)
        finally:
            self._waiting -= 1
            if not self._waiting:
                self._left()
                self._task.cancel()
