"""Research runs that are under way: kept in the state database, so that one can be continued.

A run that was interrupted (a crash, a cancelled call, a pause for the client's model) is continued
by the same call of the same caller within an hour. A run that is at work belongs to its process; a
second equal call meanwhile is a run of its own.
"""

from __future__ import annotations

import asyncio
import os
import secrets
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from framework.evidence.nli import judge
from framework.research.facts import Memo
from framework.research.state import dump, load

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.evidence.models import ModelStore
    from framework.research.state import State
    from middlewares.state import StateDatabase

__all__ = ["DeepRuns", "Lease"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS deep_runs (
  run TEXT PRIMARY KEY, owner INTEGER NOT NULL, state BLOB NOT NULL, until REAL NOT NULL
) WITHOUT ROWID
"""
_SECONDS = 3_600.0
#: Pages that all runs of a process hold in memory at once, while they are read.
_PAGES = 6


@dataclass(frozen=True, slots=True)
class Lease:
    """A run taken up; `state` is where it stood, None for a new one."""

    run: str
    state: State | None = None


class DeepRuns:
    """The runs of all callers.

    `room` bounds the pages that they read at the same time, `judge` compares texts for all of them.
    """

    def __init__(
        self,
        state: StateDatabase,
        models: ModelStore | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._db = state
        self._clock = clock
        self._active: set[str] = set()
        self.room = asyncio.Semaphore(_PAGES)
        self.judge = Memo(partial(judge, store=models))
        self._db.execute(_SCHEMA)

    def take(self, run: str) -> Lease:
        """Take a run up where it stood, or begin it."""
        row = self._db.execute(
            "SELECT owner, state FROM deep_runs WHERE run = ? AND until > ?", (run, self._clock())
        ).fetchone()
        if run in self._active or (row is not None and _is_other(int(row[0]))):
            run, row = f"{run} {secrets.token_hex(8)}", None
        self._active.add(run)
        return Lease(run, _read(bytes(row[1])) if row else None)

    def save(self, lease: Lease, state: State) -> None:
        """Keep where a run stands."""
        self._db.execute(
            "INSERT OR REPLACE INTO deep_runs VALUES (?, ?, ?, ?)",
            (lease.run, os.getpid(), dump(state), self._clock() + _SECONDS),
        )

    def pause(self, lease: Lease) -> None:
        """Let go of a run that may be continued, by any process."""
        self._active.discard(lease.run)
        self._db.execute("UPDATE deep_runs SET owner = 0 WHERE run = ?", (lease.run,))

    def end(self, lease: Lease) -> None:
        """Forget a run that is done, and all that are too old."""
        self._active.discard(lease.run)
        self._db.execute(
            "DELETE FROM deep_runs WHERE run = ? OR until <= ?", (lease.run, self._clock())
        )


def _read(text: bytes) -> State | None:
    """A state that an older version wrote may not fit: that run begins anew."""
    try:
        return load(text)
    except ValueError:
        return None


def _is_other(owner: int) -> bool:
    """Whether another process that still lives works on a run."""
    if owner in (0, os.getpid()) or os.name == "nt":
        return False
    try:
        os.kill(owner, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
