"""The state database: schema, sharing, errors."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING

import pytest

from framework.errors import ConsilienceError
from middlewares.state import MIGRATIONS, StateDatabase

if TYPE_CHECKING:
    from pathlib import Path


def test_the_schema_has_a_number_and_the_file_write_ahead_logging(tmp_path: Path) -> None:
    with StateDatabase(tmp_path / "deep" / "state.db") as state:
        assert state.version == len(MIGRATIONS)
        assert state.execute("PRAGMA journal_mode").fetchone()[0] == "wal"
    with StateDatabase(tmp_path / "deep" / "state.db") as state:
        assert state.version == len(MIGRATIONS)


def test_what_one_process_writes_another_reads(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with StateDatabase(path) as one, StateDatabase(path) as other:
        one.execute("INSERT INTO pace VALUES ('a', 1.0)")
        assert other.execute("SELECT due FROM pace").fetchall() == [(1.0,)]


def test_the_verdicts_of_the_first_schema_are_kept_as_counts(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    old = sqlite3.connect(path)
    old.executescript(f"{MIGRATIONS[0]}; PRAGMA user_version = 1")
    told = [("a", 3600.0, "ok"), ("a", 7199.0, "ok"), ("a", 7200.0, "ok"), ("b", 1.0, "captcha")]
    old.executemany("INSERT INTO verdicts VALUES (?, ?, ?)", told)
    old.execute("INSERT INTO pace VALUES ('a', 1.0)")
    old.commit()
    old.close()
    with StateDatabase(path) as state:
        assert state.version == len(MIGRATIONS)
        assert state.execute("SELECT * FROM answers ORDER BY 1, 2").fetchall() == [
            ("a", 1, "ok", 2),
            ("a", 2, "ok", 1),
            ("b", 0, "captcha", 1),
        ]
        assert state.execute("SELECT due FROM pace").fetchall() == [(1.0,)]


def test_a_failed_transaction_leaves_nothing() -> None:
    def fail(state: StateDatabase) -> None:
        with state.transaction():
            state.execute("INSERT INTO pace VALUES ('a', 1.0)")
            raise KeyError

    with StateDatabase() as state:
        with pytest.raises(KeyError):
            fail(state)
        assert state.execute("SELECT count(*) FROM pace").fetchone()[0] == 0


def test_a_newer_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    with StateDatabase(path) as state:
        state.execute("PRAGMA user_version = 999")
    with pytest.raises(ConsilienceError, match="newer version") as caught:
        StateDatabase(path)
    assert caught.value.code == "state_newer"


def test_an_unusable_file_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(ConsilienceError, match="CONSILIENCE_STATE_DIR") as caught:
        StateDatabase(tmp_path / "state.db")
    assert caught.value.code == "state_unavailable"


def test_several_may_open_a_new_file_at_once(tmp_path: Path) -> None:
    failures: list[Exception] = []

    def open_it() -> None:
        try:
            StateDatabase(tmp_path / "state.db").close()
        except (ConsilienceError, sqlite3.Error) as error:
            failures.append(error)

    threads = [threading.Thread(target=open_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
