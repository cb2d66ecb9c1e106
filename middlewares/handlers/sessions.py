"""A bounded pool of client sessions: one per key, reused, closed when idle for longest."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Hashable

__all__ = ["SessionPool"]

K = TypeVar("K", bound="Hashable")
S = TypeVar("S")


@dataclass(slots=True)
class _Held(Generic[S]):
    session: S
    users: int = 0


class SessionPool(Generic[K, S]):
    """Lends one session per key and closes those least recently used beyond `limit`.

    A session in use is never closed under its user: the pool may then hold more than `limit`
    until one comes back. After `aclose` nothing may be borrowed.
    """

    def __init__(
        self, open_session: Callable[[K], S], close: Callable[[S], Awaitable[None]], limit: int = 64
    ) -> None:
        self._open = open_session
        self._close = close
        self._limit = limit
        self._held: dict[K, _Held[S]] = {}

    def __len__(self) -> int:
        return len(self._held)

    @asynccontextmanager
    async def borrow(self, key: K) -> AsyncIterator[S]:
        """Lend the session of this key, opening it at its first use."""
        held = self._held.pop(key, None) or _Held(self._open(key))
        self._held[key] = held
        held.users += 1
        try:
            yield held.session
        finally:
            held.users -= 1
            await self._shrink()

    async def _shrink(self) -> None:
        surplus = len(self._held) - self._limit
        idle = [key for key, held in self._held.items() if not held.users][: max(surplus, 0)]
        for key in idle:
            await self._close(self._held.pop(key).session)

    async def aclose(self) -> None:
        """Close every session."""
        while self._held:
            _, held = self._held.popitem()
            await self._close(held.session)
