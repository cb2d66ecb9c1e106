"""Progress only grows, beats while nothing moves, and never fails the call."""

from __future__ import annotations

import asyncio

from server.progress import Progress


class Told:
    """Keeps what was sent; `enough` is set at the given count."""

    def __init__(self, count: int) -> None:
        self.sent: list[tuple[float, float | None, str | None]] = []
        self.enough = asyncio.Event()
        self._count = count

    async def __call__(self, done: float, total: float | None, message: str | None) -> None:
        self.sent.append((done, total, message))
        if len(self.sent) >= self._count:
            self.enough.set()


async def test_it_beats_below_the_next_step_while_nothing_moves() -> None:
    told = Told(8)
    progress = Progress(told, beat=0.001)
    async with progress.sending():
        progress.note(2, 5, "bing: ok")
        await told.enough.wait()

    numbers = [done for done, _, _ in told.sent]
    assert numbers == sorted(set(numbers))
    assert numbers[0] == 2
    assert all(number < 3 for number in numbers)
    assert {(total, message) for _, total, message in told.sent} == {(5, "bing: ok")}


async def test_a_smaller_number_is_never_sent() -> None:
    told = Told(3)
    progress = Progress(told, beat=0.001)
    async with progress.sending():
        await progress.report(3, 5, "three")
        await progress.report(1, 5, "one")
        await told.enough.wait()

    assert min(done for done, _, _ in told.sent) >= 3


async def test_a_client_that_cannot_be_told_does_not_fail_the_call() -> None:
    async def broken(done: float, total: float | None, message: str | None) -> None:
        raise ConnectionError("gone")

    progress = Progress(broken, beat=0.001)
    async with progress.sending():
        await progress.report(1)
        await asyncio.sleep(0.01)
        await progress.report(2)
