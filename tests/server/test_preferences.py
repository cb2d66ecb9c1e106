"""Preferences survive a restart and belong to their caller."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.errors import ConsilienceError
from server.preferences import Preferences

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_is_set_at_first() -> None:
    kept = Preferences(None)

    assert kept.get("ann", "engines") is None
    kept.close()


def test_callers_do_not_see_each_other() -> None:
    kept = Preferences(None)
    kept.set("ann", "engines", ["bing"])

    assert kept.get("ann", "engines") == ["bing"]
    assert kept.get("bob", "engines") is None
    kept.close()


def test_a_later_value_replaces_the_earlier() -> None:
    kept = Preferences(None)
    kept.set("ann", "sampling", True)
    kept.set("ann", "sampling", False)

    assert kept.get("ann", "sampling") is False
    kept.close()


def test_values_survive_a_restart(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.db"
    first = Preferences(path)
    first.set("ann", "engines", ["brave"])
    first.close()

    second = Preferences(path)

    assert second.get("ann", "engines") == ["brave"]
    second.close()


def test_two_processes_may_write(tmp_path: Path) -> None:
    one, two = Preferences(tmp_path / "s.db"), Preferences(tmp_path / "s.db")
    one.set("ann", "a", 1)
    two.set("ann", "b", 2)

    assert (one.get("ann", "b"), two.get("ann", "a")) == (2, 1)
    one.close()
    two.close()


def test_a_folder_that_cannot_be_written_is_named_with_a_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises(ConsilienceError, match="CONSILIENCE_STATE_DIR"):
        Preferences(tmp_path / "file" / "state.db")
