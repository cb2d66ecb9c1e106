"""What is kept on disk: opened when it is first used, closed once, and open to be used again."""

from __future__ import annotations

import sqlite3
from typing import TYPE_CHECKING

import pytest

from server.config import Settings
from server.stores import Stores

if TYPE_CHECKING:
    from pathlib import Path


def test_nothing_is_opened_before_it_is_used(tmp_path: Path) -> None:
    stores = Stores(Settings(state_dir=tmp_path / "state"), {}, live=True)
    stores.close()

    assert not (tmp_path / "state").exists()
    assert not stores.cache_counts()


def test_what_was_kept_is_there_after_closing(tmp_path: Path) -> None:
    stores = Stores(Settings(state_dir=tmp_path), {}, live=True)
    stores.preferences.set("ann", "engines", ["bing"])
    kept = stores.reports.put("ann", "report.md", b"# Found")
    state = stores.policy.state
    stores.close()

    with pytest.raises(sqlite3.ProgrammingError):
        state.execute("SELECT 1")
    assert stores.preferences.get("ann", "engines") == ["bing"]
    assert (found := stores.reports.get(kept.id, "ann")) is not None
    assert found.body == b"# Found"
    stores.close()


def test_parts_share_one_database(tmp_path: Path) -> None:
    stores = Stores(Settings(state_dir=tmp_path), {}, live=True)
    assert stores.policy is stores.policy
    assert stores.rounds is stores.rounds
    assert stores.pages is not stores.reports
    assert not stores.cache_counts()
    assert stores.page_cache is stores.page_cache
    assert stores.cache_counts()["hit"] == 0
    assert {path.name for path in tmp_path.glob("*.db")} == {"state.db", "pages.db"}
    stores.close()


def test_recordings_leave_nothing_on_disk_unless_a_folder_is_named(tmp_path: Path) -> None:
    settings = Settings(cache_dir=tmp_path)
    stores = Stores(settings, {}, live=False)
    stores.preferences.set("ann", "sampling", True)
    assert stores.page_cache is not None
    assert not stores.policy.enabled
    stores.close()

    assert not list(tmp_path.iterdir())
    assert stores.preferences.get("ann", "sampling") is None
    stores.close()
