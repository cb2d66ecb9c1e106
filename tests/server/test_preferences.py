"""Preferences survive a restart and belong to their caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

from middlewares.state import StateDatabase
from server.preferences import Preferences

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_is_set_at_first() -> None:
    with StateDatabase() as state:
        assert Preferences(state).get("ann", "engines") is None


def test_callers_do_not_see_each_other() -> None:
    with StateDatabase() as state:
        kept = Preferences(state)
        kept.set("ann", "engines", ["bing"])

        assert kept.get("ann", "engines") == ["bing"]
        assert kept.get("bob", "engines") is None


def test_a_later_value_replaces_the_earlier() -> None:
    with StateDatabase() as state:
        kept = Preferences(state)
        kept.set("ann", "sampling", True)
        kept.set("ann", "sampling", False)

        assert kept.get("ann", "sampling") is False


def test_values_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.db"
    with StateDatabase(path) as state:
        Preferences(state).set("ann", "engines", ["brave"])

    with StateDatabase(path) as state:
        assert Preferences(state).get("ann", "engines") == ["brave"]


def test_two_processes_may_write(tmp_path: Path) -> None:
    with StateDatabase(tmp_path / "s.db") as one, StateDatabase(tmp_path / "s.db") as two:
        first, second = Preferences(one), Preferences(two)
        first.set("ann", "a", 1)
        second.set("ann", "b", 2)

        assert (first.get("ann", "b"), second.get("ann", "a")) == (2, 1)
