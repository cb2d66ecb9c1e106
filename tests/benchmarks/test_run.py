"""The page of benchmarks: every script has its section, and what fails is named."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

FOLDER = Path(__file__).parents[2] / "benchmarks"
#: Scripts that are asked for by themselves, or serve others.
_APART = {"batch", "evaluate", "load", "measuring", "run"}


@pytest.fixture(scope="module")
def run() -> Iterator[ModuleType]:
    spec = importlib.util.spec_from_file_location("benchmark_run", FOLDER / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(FOLDER))
    try:
        spec.loader.exec_module(module)
        yield module
    finally:
        sys.path.remove(str(FOLDER))
        sys.modules.pop("measuring", None)


def test_every_benchmark_has_its_section(run: ModuleType) -> None:
    scripts = {file.stem for file in FOLDER.glob("*.py") if not file.stem.startswith("train_")}

    assert {*run.REPORTS, *run.PRINTED} == scripts - _APART


def test_the_page_holds_what_was_measured(run: ModuleType, tmp_path: Path) -> None:
    ratio = sys.modules["measuring"].Ratio(name="a : b", values=[1.0, 2.0, 3.0], target=2.0)
    report = sys.modules["measuring"].Report(title="Scale", ratios=[ratio], rounds=3)
    sys.modules["measuring"].emit(report, tmp_path / "scale.json")
    (tmp_path / "soak.txt").write_text("a line\n| x |\n| --- |\n| 1 |\n")

    text = run.page(tmp_path, tmp_path)

    assert "| a : b | 1 / 2 / 3 | ≤ 2 | met |" in text
    assert "| [Scale](#scale) | a : b | 1 / 2 / 3 | ≤ 2 | met |" in text
    assert "](benchmarks/scale.svg)" in text
    assert (tmp_path / "benchmarks" / "scale.svg").read_text().startswith("<svg")
    assert "## Soak" in text
    assert "## Start-up" not in text


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("a  1\nb  2", "```text\na  1\nb  2\n```"),
        ("## A\n\n| x |\n| --- |\n\n## B", "### A\n\n| x |\n| --- |\n\n### B"),
    ],
    ids=["lines", "tables"],
)
def test_printed_tables_stay_tables(run: ModuleType, printed: str, expected: str) -> None:
    assert run.as_markdown(printed) == expected


def test_an_unknown_benchmark_is_refused() -> None:
    command = [sys.executable, str(FOLDER / "run.py"), "--only", "sacle"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    assert done.returncode == 2
    assert "no benchmark sacle; there are search," in done.stderr
