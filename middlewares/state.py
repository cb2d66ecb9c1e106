"""The state database: what must outlive the process and be seen by all processes of an operator.

One SQLite file in WAL mode holds rests, verdicts, key states and the pace of engines; each module
owns its tables, and this one their creation. The schema's number is SQLite's `user_version`.
"""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["MIGRATIONS", "STATE_FILE", "StateDatabase", "default_folder", "transaction"]

#: The state database's name in its folder.
STATE_FILE = "state.db"

#: One script a version; a released script never changes, a new one is added.
MIGRATIONS: tuple[str, ...] = (
    """
    CREATE TABLE rests (
      subject TEXT PRIMARY KEY, verdict TEXT NOT NULL, until REAL NOT NULL, reason TEXT NOT NULL
    ) WITHOUT ROWID;
    CREATE TABLE verdicts (engine TEXT NOT NULL, at REAL NOT NULL, verdict TEXT NOT NULL);
    CREATE INDEX verdicts_by_engine ON verdicts (engine, at);
    CREATE TABLE keys (
      pool TEXT NOT NULL, mark TEXT NOT NULL, verdict TEXT NOT NULL DEFAULT '',
      until REAL NOT NULL DEFAULT 0, uses INTEGER NOT NULL DEFAULT 0, used REAL NOT NULL DEFAULT 0,
      good REAL NOT NULL DEFAULT 0,
      PRIMARY KEY (pool, mark)
    ) WITHOUT ROWID;
    CREATE TABLE pace (subject TEXT PRIMARY KEY, due REAL NOT NULL) WITHOUT ROWID;
    """,
    """
    CREATE TABLE answers (
      engine TEXT NOT NULL, hour INTEGER NOT NULL, verdict TEXT NOT NULL, count INTEGER NOT NULL,
      PRIMARY KEY (engine, hour, verdict)
    ) WITHOUT ROWID;
    INSERT INTO answers
      SELECT engine, CAST(at / 3600 AS INTEGER), verdict, count(*) FROM verdicts GROUP BY 1, 2, 3;
    DROP TABLE verdicts;
    """,
)

_BUSY_SECONDS = 5.0
_Value = str | float | bytes | None


@contextlib.contextmanager
def transaction(db: sqlite3.Connection) -> Iterator[None]:
    """Run the block's statements as one, with no other process writing in between.

    What it raises undoes them all and is raised on.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        db.execute("ROLLBACK")
        raise
    db.execute("COMMIT")


def default_folder() -> Path:
    """Return the folder of the state database where the operator names none."""
    from platformdirs import user_state_path

    return user_state_path("consilience", appauthor=False)


class StateDatabase:
    """One connection to the state file; a context manager, safe to share within one thread.

    `path` None keeps everything in memory. The folder is made for its owner alone. Raises
    ConsilienceError (`state_unavailable`) where the file cannot be used, and (`state_newer`)
    where a newer version of the program wrote it.
    """

    def __init__(self, path: Path | None = None) -> None:
        self._path = path
        self._before_close: list[Callable[[], None]] = []
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = sqlite3.connect(
                path or ":memory:", timeout=_BUSY_SECONDS, isolation_level=None
            )
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._migrate()
        except (OSError, sqlite3.Error) as error:
            raise self._unavailable(error) from error

    def _unavailable(self, error: Exception) -> ConsilienceError:
        return ConsilienceError(
            f"the state database {self._path} cannot be used: {error}",
            code="state_unavailable",
            hint="set CONSILIENCE_STATE_DIR to a folder that may be written to",
        )

    def _migrate(self) -> None:
        if self.version == len(MIGRATIONS):
            return
        with self.transaction():
            version = self.version
            if version > len(MIGRATIONS):
                raise ConsilienceError(
                    f"the state database {self._path} was written by a newer version",
                    code="state_newer",
                    hint="update the program, or set CONSILIENCE_STATE_DIR to another folder",
                )
            for script in MIGRATIONS[version:]:
                for statement in filter(str.strip, script.split(";")):
                    self._db.execute(statement)
            self._db.execute(f"PRAGMA user_version = {len(MIGRATIONS)}")

    @property
    def version(self) -> int:
        """The schema's number in the file."""
        return int(self._db.execute("PRAGMA user_version").fetchone()[0])

    def __enter__(self) -> StateDatabase:
        return self

    def __exit__(self, *failure: object) -> None:
        self.close()

    def before_close(self, action: Callable[[], None]) -> None:
        """Have something written before the connection closes."""
        self._before_close.append(action)

    def close(self) -> None:
        """Close the connection; what was written is on disk already."""
        while self._before_close:
            self._before_close.pop()()
        self._db.close()

    def execute(
        self, statement: str, values: Sequence[_Value] | Mapping[str, _Value] = ()
    ) -> sqlite3.Cursor:
        """Run one statement; outside of a transaction it is on disk when the call returns."""
        return self._db.execute(statement, values)

    def execute_many(self, statement: str, values: Iterable[Sequence[_Value]]) -> None:
        """Run one statement for each tuple of values, as one transaction."""
        with self.transaction():
            self._db.executemany(statement, values)

    def changed_elsewhere(self) -> int:
        """Return a number that is another one after any other connection has written."""
        return int(self._db.execute("PRAGMA data_version").fetchone()[0])

    def transaction(self) -> contextlib.AbstractContextManager[None]:
        """Run several statements as one, with no other process writing in between."""
        return transaction(self._db)
