"""What callers chose for themselves, kept in the state database."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Preferences"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS preferences (
  caller TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (caller, name)
) WITHOUT ROWID
"""


class Preferences:
    """A small table of (caller, name) → value; each change is on disk when the call returns.

    Several processes may share the file. `path` None keeps everything in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path or ":memory:", timeout=5, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise ConsilienceError(
                f"the state database {path} cannot be opened: {error}",
                code="state_unavailable",
                hint="set CONSILIENCE_STATE_DIR to a folder that may be written to",
            ) from error

    def get(self, caller: str, name: str) -> object:
        """Return what the caller set, or None."""
        found = self._db.execute(
            "SELECT value FROM preferences WHERE caller = ? AND name = ?", (caller, name)
        ).fetchone()
        value: object = json.loads(found[0]) if found else None
        return value

    def set(self, caller: str, name: str, value: object) -> None:
        """Keep a JSON value for the caller, in place of any earlier one."""
        self._db.execute(
            "INSERT INTO preferences VALUES (?, ?, ?) "
            "ON CONFLICT (caller, name) DO UPDATE SET value = excluded.value",
            (caller, name, json.dumps(value)),
        )

    def close(self) -> None:
        """Release the database."""
        self._db.close()
