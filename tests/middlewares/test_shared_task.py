"""Shared work: one result for all, an end with the last who leaves."""

from __future__ import annotations

import asyncio

import pytest

from middlewares.shared_task import SharedTask


class Work:
    """Runs until it is let go, and says how it ended."""

    def __init__(self) -> None:
        self.started, self.go = asyncio.Event(), asyncio.Event()
        self.left = 0
        self.cancelled = False

    async def run(self) -> str:
        self.started.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return "done"

    def note(self) -> None:
        self.left += 1

    def share(self) -> SharedTask[str]:
        return SharedTask(self.run(), name="work", left=self.note)


async def test_all_who_wait_get_the_one_result() -> None:
    work = Work()
    shared = work.share()
    callers = [asyncio.create_task(shared.result()) for _ in range(3)]
    await work.started.wait()
    assert not shared.is_done
    work.go.set()
    assert await asyncio.gather(*callers) == ["done"] * 3
    assert (shared.is_done, work.left, work.cancelled) == (True, 1, False)
    assert await shared.result() == "done"


async def test_the_work_goes_on_while_anyone_waits_and_ends_with_the_last() -> None:
    work = Work()
    shared = work.share()
    first, last = (asyncio.create_task(shared.result()) for _ in range(2))
    await work.started.wait()
    first.cancel()
    await asyncio.wait([first])
    assert (shared.is_done, work.left) == (False, 0)
    last.cancel()
    await asyncio.wait([last])
    with pytest.raises(asyncio.CancelledError):
        await shared.result()
    assert (shared.is_done, work.cancelled) == (True, True)
    assert work.left >= 1


async def test_a_failure_reaches_all_who_wait() -> None:
    async def fail() -> None:
        raise LookupError("gone")

    shared = SharedTask(fail(), name="work", left=lambda: None)
    found = await asyncio.gather(shared.result(), shared.result(), return_exceptions=True)
    assert [str(error) for error in found] == ["gone", "gone"]
