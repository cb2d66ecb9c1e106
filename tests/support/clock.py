"""A clock that only moves when it is told to, or slept on."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Clock:
    """Seconds as a value: `clock()` reads it, `await clock.sleep(n)` moves it and notes n."""

    now: float = 1_000_000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
