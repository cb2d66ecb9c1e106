"""Reports and fetched pages that a caller may come back for: by an id that cannot be guessed.

They lie in the state database, so that every worker process can hand them out, until they expire
or newer ones need the room.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from middlewares.state import StateDatabase

__all__ = ["Download", "Downloads"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS downloads (
  id TEXT NOT NULL, shelf TEXT NOT NULL, caller TEXT NOT NULL, name TEXT NOT NULL,
  media_type TEXT NOT NULL, body BLOB NOT NULL, used REAL NOT NULL, until REAL NOT NULL,
  PRIMARY KEY (shelf, id, caller)
)
"""
_ROOM = 100 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Download:
    """One kept document; `until` is its end in Unix seconds."""

    id: str
    name: str
    media_type: str
    body: bytes
    until: float


class Downloads:
    """Keeps documents for `seconds` from their making (reading does not extend it).

    Together they take at most `room` bytes; the least recently used go first.
    """

    def __init__(
        self,
        state: StateDatabase,
        seconds: float,
        *,
        shelf: str = "report",
        room: int = _ROOM,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._db = state
        self._seconds = seconds
        self._shelf = shelf
        self._room = room
        self._clock = clock
        self._db.execute(_SCHEMA)

    def put(
        self,
        caller: str,
        name: str,
        body: bytes,
        media_type: str = "text/markdown; charset=utf-8",
        id: str | None = None,  # noqa: A002 - its name
    ) -> Download:
        """Keep a document, under a new unguessable id unless it has one of its own.

        Raises:
            ConsilienceError: `too_large`, where it alone would not fit.
        """
        if len(body) > self._room:
            raise ConsilienceError(
                f"{name} has {len(body)} bytes, more than the {self._room} that are kept",
                code="too_large",
            )
        now = self._clock()
        kept = Download(
            id or secrets.token_urlsafe(24), name, media_type, body, now + self._seconds
        )
        self._drop(kept.id, caller)
        self._sweep(now, len(body))
        self._db.execute(
            "INSERT OR REPLACE INTO downloads VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (kept.id, self._shelf, caller, name, media_type, body, now, kept.until),
        )
        return kept

    def get(self, id: str, caller: str | None) -> Download | None:  # noqa: A002 - its name
        """Return a document while it lasts, to its caller (None: to whoever knows the id)."""
        now = self._clock()
        found = self._db.execute(
            "SELECT name, media_type, body, until FROM downloads "
            "WHERE id = ? AND shelf = ? AND (caller = ? OR ? IS NULL) AND until > ?",
            (id, self._shelf, caller, caller, now),
        ).fetchone()
        if found is None:
            return None
        self._db.execute(
            "UPDATE downloads SET used = ? WHERE shelf = ? AND id = ?", (now, self._shelf, id)
        )
        return Download(id, found[0], found[1], bytes(found[2]), found[3])

    def ids(self, caller: str) -> tuple[str, ...]:
        """Return the ids of a caller's documents, the latest first."""
        rows = self._db.execute(
            "SELECT id FROM downloads WHERE shelf = ? AND caller = ? AND until > ? "
            "ORDER BY used DESC LIMIT 100",
            (self._shelf, caller, self._clock()),
        )
        return tuple(row[0] for row in rows)

    def _sweep(self, now: float, needed: int) -> None:
        self._db.execute("DELETE FROM downloads WHERE until <= ?", (now,))
        rows = self._db.execute(
            "SELECT id, caller, length(body) FROM downloads WHERE shelf = ? "
            "ORDER BY used DESC, rowid DESC",
            (self._shelf,),
        ).fetchall()
        for kept, caller, size in rows:
            needed += size
            if needed > self._room:
                self._drop(kept, caller)

    def _drop(self, id: str, caller: str) -> None:  # noqa: A002 - its name
        self._db.execute(
            "DELETE FROM downloads WHERE shelf = ? AND id = ? AND caller = ?",
            (self._shelf, id, caller),
        )
