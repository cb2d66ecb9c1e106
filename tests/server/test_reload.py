"""Engine files that change, come and go are seen while the server runs."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from framework.spec.catalogue import Catalogue
from server.reload import follow
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SPEC = """\
schema: 1
id: {id}
name: {name}
kind: web
status: experimental
request: {{url: "https://search.example/find", query: {{q: "{{{{ query }}}}"}}}}
response: {{format: html, rows: {{each: li}}, fields: {{title: a, url: "a::attr(href)"}}}}
"""


def write(folder: Path, name: str, title: str) -> None:
    (folder / f"{name}.yaml").write_text(SPEC.format(id=name, name=title))


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Catalogue]:
    write(tmp_path, "one", "One")
    catalogue = Catalogue(tmp_path)
    stop, ready = asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(follow(catalogue, stop, started=ready.set, debounce_ms=50))
    await asyncio.wait_for(ready.wait(), 20)
    yield catalogue
    stop.set()
    await task


async def test_a_changed_file(watched: Catalogue, tmp_path: Path) -> None:
    write(tmp_path, "one", "Changed")

    await eventually(lambda: watched.get("one").name == "Changed")


async def test_a_new_and_a_removed_file(watched: Catalogue, tmp_path: Path) -> None:
    write(tmp_path, "two", "Two")
    await eventually(lambda: watched.ids() == ("one", "two"))

    (tmp_path / "two.yaml").unlink()

    await eventually(lambda: watched.ids() == ("one",))


async def test_a_broken_file_keeps_its_last_good_version_and_shows_the_problem(
    watched: Catalogue, tmp_path: Path
) -> None:
    (tmp_path / "one.yaml").write_text("schema: 1\nid: one\nnmae: One\n")

    await eventually(lambda: bool(watched.entry("one").problems))

    assert watched.get("one").name == "One"
    assert any('"nmae"' in str(problem) for problem in watched.entry("one").problems)


async def test_a_mended_file_is_good_again(watched: Catalogue, tmp_path: Path) -> None:
    (tmp_path / "one.yaml").write_text("schema: 1\n")
    await eventually(lambda: bool(watched.entry("one").problems))

    write(tmp_path, "one", "Mended")

    await eventually(lambda: watched.get("one").name == "Mended")
    assert not watched.entry("one").problems


async def test_missing_folders_are_no_error(tmp_path: Path) -> None:
    await follow(Catalogue(tmp_path / "none"), asyncio.Event())
