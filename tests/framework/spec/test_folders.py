"""Where engine files are looked for, and which folder wins."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from framework.spec.catalogue import packaged
from framework.spec.folders import VARIABLE, engine_folders

if TYPE_CHECKING:
    from pathlib import Path


def test_the_packaged_folder_stands_last(tmp_path: Path) -> None:
    assert engine_folders([], {}, tmp_path) == [packaged()]


def test_a_local_folder_goes_before_it(tmp_path: Path) -> None:
    (tmp_path / "engines.d").mkdir()
    assert engine_folders([], {}, tmp_path) == [tmp_path / "engines.d", packaged()]


def test_the_variable_names_several_and_replaces_the_local_one(tmp_path: Path) -> None:
    (tmp_path / "engines.d").mkdir()
    one, two = tmp_path / "one", tmp_path / "two"
    environ = {VARIABLE: f"{one}{os.pathsep}{two}{os.pathsep}"}
    assert engine_folders([], environ, tmp_path) == [one, two, packaged()]


def test_given_names_win_and_no_folder_counts_twice(tmp_path: Path) -> None:
    given = [str(tmp_path), f"{tmp_path}/../{tmp_path.name}", str(packaged())]
    found = engine_folders(given, {VARIABLE: "elsewhere"}, tmp_path)
    assert [path.resolve() for path in found] == [tmp_path.resolve(), packaged().resolve()]
