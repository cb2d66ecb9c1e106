"""Crawls of many questions: errors in the output, going on where a crawl stopped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from framework.types import Query
from spiders.progress import Progress

if TYPE_CHECKING:
    from pathlib import Path

MOON = Query(text="moon")


def test_what_is_done_is_known_to_the_next_run(tmp_path: Path) -> None:
    first = Progress(str(tmp_path / "job"))
    first.add("plain", MOON)
    first.add("plain", MOON)
    second = Progress(str(tmp_path / "job"))

    assert second.has("plain", MOON)
    assert not second.has("other", MOON)
    assert not second.has("plain", Query(text="moon", region="de-DE"))
    assert len(second) == 1


def test_pages_that_are_done_are_known_to_the_next_run(tmp_path: Path) -> None:
    first = Progress(str(tmp_path))
    first.add("plain", MOON, 1)
    first.add("plain", replace(MOON, page=2), 2)
    second = Progress(str(tmp_path))

    assert second.pages("plain", MOON) == 2
    assert not second.has("plain", MOON)
    assert second.pages("other", MOON) == 0
    second.add("plain", MOON)
    assert Progress(str(tmp_path)).has("plain", replace(MOON, page=3))


def test_without_a_folder_nothing_is_kept() -> None:
    progress = Progress()
    progress.add("plain", MOON)

    assert not progress.has("plain", MOON)
