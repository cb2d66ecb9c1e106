"""The figures that the benchmarks print: ratios, targets, tables and plots."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "measuring.py"


@pytest.fixture(scope="module")
def measuring() -> ModuleType:
    spec = importlib.util.spec_from_file_location("benchmark_measuring", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("values", "target", "at_least", "verdict"),
    [
        pytest.param([0.3, 0.4, 0.9], 0.4, False, "met", id="the median is what counts"),
        pytest.param([0.3, 0.5, 0.5], 0.4, False, "missed", id="above the most"),
        pytest.param([2.0, 2.4, 2.5], 2.2, True, "met", id="at least"),
        pytest.param([1.0], None, False, "", id="no target, no verdict"),
    ],
)
def test_a_ratio_is_judged_by_its_median(
    measuring: ModuleType, values: list[float], target: float | None, at_least: bool, verdict: str
) -> None:
    ratio = measuring.Ratio(name="a : b", values=values, target=target, at_least=at_least)
    assert ratio.verdict == verdict


def test_ratios_are_taken_within_each_round(measuring: ModuleType) -> None:
    rounds = [{"a": {"s": 1.0}, "b": {"s": 2.0}}, {"a": {"s": 9.0}, "b": {"s": 3.0}}]
    (ratio,) = measuring.ratios_of(rounds, [("a", "b", "s", None)])
    assert ratio.values == [0.5, 3.0]


def test_a_plot_is_well_formed_whatever_names_hold(measuring: ModuleType) -> None:
    ratio = measuring.Ratio(name="<a> & b", values=[1.0, 2.0], target=1.5)
    root = ElementTree.fromstring(measuring.svg([ratio], "x < y"))
    texts = [one.text for one in root.iter("{http://www.w3.org/2000/svg}text")]
    assert "<a> & b" in texts


def test_a_report_is_read_back_as_it_was_written(measuring: ModuleType, tmp_path: Path) -> None:
    ratio = measuring.Ratio(name="a : b", values=[1.0], target=2.0)
    report = measuring.Report(title="T", ratios=[ratio], tables=["| x |"], rounds=1)
    measuring.emit(report, tmp_path / "one.json")
    assert measuring.loaded(tmp_path / "one.json") == report
