"""What callers chose for themselves, kept in the state database."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from middlewares.state import StateDatabase

__all__ = ["Preferences"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS preferences (
  caller TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (caller, name)
) WITHOUT ROWID
"""


class Preferences:
    """A small table of (caller, name) → value; each change is on disk when the call returns."""

    def __init__(self, state: StateDatabase) -> None:
        self._db = state
        self._db.execute(_SCHEMA)

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
