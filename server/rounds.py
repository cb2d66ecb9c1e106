"""Work that is done once although a call is repeated.

Since 2026-07-28 a server that needs its client's model ends the call with a question, and the
client repeats the call with the answer. What was searched or read before the question is kept here
between the rounds, in the state database, so that any worker process may serve the next round.
"""

from __future__ import annotations

import functools
import secrets
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from middlewares.state import StateDatabase

    T = TypeVar("T")

__all__ = ["Rounds", "Run"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS rounds (
  run TEXT NOT NULL, step TEXT NOT NULL, value BLOB NOT NULL, until REAL NOT NULL,
  PRIMARY KEY (run, step)
) WITHOUT ROWID
"""
_SECONDS = 600.0


@functools.cache
def _adapter(kind: type[object]) -> TypeAdapter[Any]:
    """Make the reader and writer of a type whose module imports its names for checking only."""
    adapter: TypeAdapter[Any] = TypeAdapter(kind)
    adapter.rebuild(force=True, _types_namespace={"Mapping": Mapping, "Sequence": Sequence})
    return adapter


class Rounds:
    """What calls keep between their rounds, for ten minutes after they last wrote something."""

    def __init__(self, state: StateDatabase, clock: Callable[[], float] = time.time) -> None:
        self._db = state
        self._clock = clock
        self._db.execute(_SCHEMA)

    def get(self, run: str, step: str) -> bytes | None:
        """Return what a step of a run kept, if it is still there."""
        found = self._db.execute(
            "SELECT value FROM rounds WHERE run = ? AND step = ? AND until > ?",
            (run, step, self._clock()),
        ).fetchone()
        return bytes(found[0]) if found else None

    def put(self, run: str, step: str, value: bytes) -> None:
        """Keep a step's value, and forget what is too old."""
        now = self._clock()
        self._db.execute("DELETE FROM rounds WHERE until <= ?", (now,))
        self._db.execute(
            "INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?)", (run, step, value, now + _SECONDS)
        )

    def forget(self, run: str) -> None:
        """Drop all of a run."""
        self._db.execute("DELETE FROM rounds WHERE run = ?", (run,))


class Run:
    """One call over all its rounds; `id` is unguessable and travels in the sealed request state."""

    def __init__(self, rounds: Rounds, id: str | None = None) -> None:  # noqa: A002 - its name
        self.id = id or secrets.token_urlsafe(16)
        self._rounds = rounds
        self._wrote = id is not None

    async def once(self, step: str, kind: type[T], work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` gives, done in the first round and remembered in later ones."""
        adapter: TypeAdapter[T] = _adapter(kind)  # type: ignore[arg-type] # a class is hashable
        kept = self._rounds.get(self.id, step)
        if kept is not None:
            return adapter.validate_json(kept)
        value = await work()
        self._rounds.put(self.id, step, adapter.dump_json(value))
        self._wrote = True
        return value

    def end(self) -> None:
        """Forget the run: its call is answered."""
        if self._wrote:
            self._rounds.forget(self.id)
