"""The pool of sessions: one per key, reused, bounded, never closed under its user."""

from __future__ import annotations

from middlewares.handlers.sessions import SessionPool


class Session:
    def __init__(self, key: str) -> None:
        self.key = key
        self.closed = False

    async def close(self) -> None:
        self.closed = True


def pool(limit: int = 2) -> SessionPool[str, Session]:
    return SessionPool(Session, Session.close, limit)


async def test_a_session_is_reused() -> None:
    sessions = pool()
    async with sessions.borrow("a") as first:
        pass
    async with sessions.borrow("a") as second:
        assert first is second


async def test_the_longest_idle_one_is_closed() -> None:
    sessions, seen = pool(), []
    for key in ("a", "b", "a", "c"):
        async with sessions.borrow(key) as session:
            seen.append(session)
    assert [session.key for session in seen if session.closed] == ["b"]
    assert len(sessions) == 2


async def test_one_in_use_stays_open() -> None:
    sessions = pool(limit=1)
    async with sessions.borrow("a") as first, sessions.borrow("b"):
        open_inside = not first.closed
    async with sessions.borrow("c"):
        pass
    assert (open_inside, first.closed, len(sessions)) == (True, True, 1)


async def test_closing_closes_all() -> None:
    sessions = pool()
    async with sessions.borrow("a") as first:
        pass
    await sessions.aclose()
    assert first.closed
    assert len(sessions) == 0
