"""Many engines from several folders, reloaded one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.errors import NotFoundError
from framework.spec.catalogue import Catalogue, packaged, packaged_fixtures, packaged_schema
from framework.spec.problems import SpecProblemsError
from framework.spec.schema import NAME
from framework.types import Verdict
from tests.support.specs import GOOD, spec_text

if TYPE_CHECKING:
    from pathlib import Path


def write(folder: Path, name: str, text: str = GOOD) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.yaml"
    path.write_text(text.replace("id: plain", f"id: {name}"))
    return path


def child(parent: str, name: str = "Child") -> str:
    return f"schema: 1\nid: plain\nextends: {parent}\nname: {name}\n"


def test_a_broken_file_never_stops_the_others(tmp_path: Path) -> None:
    write(tmp_path, "a")
    write(tmp_path, "b", "id: plain\nkind: [")
    write(tmp_path, "c", spec_text(kind="webb"))
    (tmp_path / "notes.txt").write_text("not an engine")
    catalogue = Catalogue(tmp_path)
    assert catalogue.ids() == ("a",)
    assert [(entry.id, entry.ok, len(entry.problems)) for entry in catalogue.entries()] == [
        ("a", True, 0),
        ("b", False, 1),
        ("c", False, 1),
    ]
    assert [item.file for item in catalogue.problems()] == [
        str(tmp_path / "b.yaml"),
        str(tmp_path / "c.yaml"),
    ]
    assert catalogue.entry("c").values["name"] == "Plain"


def test_earlier_folders_hide_files_of_later_ones(tmp_path: Path) -> None:
    write(tmp_path / "own", "a", spec_text(name="Mine"))
    write(tmp_path / "own", "c", child("b"))
    write(tmp_path / "packaged", "a", spec_text(name="Theirs"))
    write(tmp_path / "packaged", "b", spec_text(name="Theirs"))
    catalogue = Catalogue([tmp_path / "own", tmp_path / "packaged"])
    assert [(engine.id, engine.name) for engine in catalogue.engines()] == [
        ("a", "Mine"),
        ("b", "Theirs"),
        ("c", "Child"),
    ]
    assert catalogue.get("c").index == "b"
    assert catalogue.entry("a").path == tmp_path / "own" / "a.yaml"


def test_a_folder_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert Catalogue([tmp_path / "gone"]).entries() == ()


def test_an_unknown_id_offers_the_nearest(tmp_path: Path) -> None:
    write(tmp_path, "duckduckgo")
    with pytest.raises(NotFoundError, match='did you mean "duckduckgo"') as caught:
        Catalogue(tmp_path).get("duckduckg")
    assert caught.value.code == "unknown_engine"


def test_a_file_that_was_never_usable_raises_its_problems(tmp_path: Path) -> None:
    write(tmp_path, "a", spec_text(kind="webb"))
    with pytest.raises(SpecProblemsError, match=r"a\.yaml:4:7: kind"):
        Catalogue(tmp_path).get("a")


def test_nothing_changed_keeps_every_entry(tmp_path: Path) -> None:
    path = write(tmp_path, "a")
    catalogue = Catalogue(tmp_path)
    before = catalogue.get("a")
    assert catalogue.reload([]) == ()
    assert catalogue.get("a") is before
    assert catalogue.reload([path]) == ("a",)


def test_new_changed_and_removed_files_are_seen(tmp_path: Path) -> None:
    first = write(tmp_path, "a")
    second = write(tmp_path, "b")
    catalogue = Catalogue(tmp_path)
    untouched = catalogue.get("b")
    write(tmp_path, "a", spec_text(name="New"))
    third = write(tmp_path, "c")
    assert catalogue.reload([first, third]) == ("a", "c")
    assert catalogue.get("a").name == "New"
    assert catalogue.get("b") is untouched
    second.unlink()
    assert catalogue.reload([second]) == ("b",)
    assert catalogue.ids() == ("a", "c")


def test_a_file_that_becomes_broken_keeps_its_last_good_engine(tmp_path: Path) -> None:
    path = write(tmp_path, "a")
    catalogue = Catalogue(tmp_path)
    good = catalogue.get("a")
    path.write_text("id: [")
    assert catalogue.reload([path]) == ("a",)
    entry = catalogue.entry("a")
    assert (entry.engine, entry.stale, entry.ok) == (good, True, False)
    assert [item.line for item in entry.problems] == [1]
    path.write_text("still: [broken")
    catalogue.reload([path])
    assert catalogue.get("a") is good
    write(tmp_path, "a", spec_text(name="Mended"))
    catalogue.reload([path])
    assert (catalogue.get("a").name, catalogue.entry("a").stale) == ("Mended", False)


def test_children_follow_their_parents(tmp_path: Path) -> None:
    parent = write(tmp_path, "a")
    write(tmp_path, "b", child("a"))
    write(tmp_path, "c", child("b"))
    write(tmp_path, "d")
    catalogue = Catalogue(tmp_path)
    write(tmp_path, "a", spec_text(paging="{by: offset, size: 10, max: 2}"))
    assert catalogue.reload([parent]) == ("a", "b", "c")
    assert catalogue.get("c").max_page == 2


def test_a_parent_may_come_later(tmp_path: Path) -> None:
    write(tmp_path, "b", child("a"))
    catalogue = Catalogue(tmp_path)
    assert catalogue.ids() == ()
    assert catalogue.entry("b").problems[0].code == "E401"
    assert catalogue.reload([write(tmp_path, "a")]) == ("a", "b")
    assert catalogue.ids() == ("a", "b")


def test_reload_without_names_reads_everything(tmp_path: Path) -> None:
    write(tmp_path, "a")
    write(tmp_path, "b")
    catalogue = Catalogue(tmp_path)
    write(tmp_path, "b", spec_text(name="New"))
    assert "b" in catalogue.reload()
    assert catalogue.get("b").name == "New"


def test_engines_without_their_key_are_disabled(tmp_path: Path) -> None:
    write(tmp_path, "a", spec_text(keys="{k: {env: [A_KEYS, A_KEY]}}"))
    write(tmp_path, "b", "id: [")
    catalogue = Catalogue(tmp_path)
    assert catalogue.entry("a").disabled({}) == "no key in A_KEYS or A_KEY"
    assert catalogue.entry("a").disabled({"A_KEY": "x"}) == ""
    assert "b.yaml:1" in catalogue.entry("b").disabled({})


def test_fixtures_of_an_engine(tmp_path: Path) -> None:
    write(tmp_path / "engines", "a")
    for case, status in (("ok", 200), ("blocked", 403)):
        folder = tmp_path / "fixtures" / "a" / case
        folder.mkdir(parents=True)
        (folder / "response.html").write_text("<p>x")
        (folder / "meta.yaml").write_text(f"source: recording\nstatus: {status}\n")
    catalogue = Catalogue(tmp_path / "engines", tmp_path / "fixtures")
    found = catalogue.fixtures("a")
    assert [(item.case, item.response.status) for item in found] == [("blocked", 403), ("ok", 200)]
    assert catalogue.get("a").read(found[0].response).verdict is Verdict.BLOCKED


def test_the_packaged_files_are_found() -> None:
    assert (packaged() / "bing.yaml").is_file()
    assert packaged_fixtures().is_dir()
    assert packaged_schema().name == NAME


def test_all_packaged_engines_are_usable() -> None:
    catalogue = Catalogue()
    assert [str(item) for item in catalogue.problems()] == []
    assert len(catalogue.ids()) == len(list(packaged().glob("*.yaml"))) >= 22
