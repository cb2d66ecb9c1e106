"""Counters of several workers read as one."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from server.metrics import Metrics
from server.worker_metrics import WorkerMetrics

if TYPE_CHECKING:
    from pathlib import Path

CALLS = 'consilience_tool_calls_total{outcome="ok",tool="web_search"}'
BUCKET = 'consilience_tool_seconds_bucket{le="0.5",tool="web_search"}'


@pytest.fixture
def dead() -> int:
    """The number of a process that ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


def counted(folder: Path, worker: int, *seconds: float, running: int = 0) -> WorkerMetrics:
    """A worker that answered calls, and has some under way."""
    metrics = Metrics()
    for span in seconds:
        metrics.started()
        metrics.ended("web_search", "ok", span)
    for _ in range(running):
        metrics.started()
    workers = WorkerMetrics(metrics, folder, worker)
    workers.publish()
    return workers


def value(text: str, sample: str) -> float:
    return float(next(line for line in text.splitlines() if line.startswith(sample)).split()[-1])


def test_counts_and_histograms_are_added(tmp_path: Path) -> None:
    one = counted(tmp_path, os.getpid(), 0.1, 0.4, 5, running=1)
    counted(tmp_path, os.getppid(), 0.4, 20, running=2)
    text = one.text()

    assert value(text, CALLS) == 5
    assert value(text, BUCKET) == 3
    assert value(text, 'consilience_tool_seconds_sum{tool="web_search"}') == pytest.approx(25.9)
    assert value(text, "consilience_tool_calls_in_flight") == 3
    assert value(text, "consilience_workers") == 2
    assert text.count("# TYPE consilience_tool_calls_total counter") == 1


def test_what_a_dead_worker_counted_stays_and_what_it_had_under_way_goes(
    tmp_path: Path, dead: int
) -> None:
    one = counted(tmp_path, os.getpid(), 0.1, running=1)
    counted(tmp_path, dead, 0.1, 0.1, running=5)
    text = one.text()

    assert value(text, CALLS) == 3
    assert value(text, "consilience_tool_calls_in_flight") == 1
    assert value(text, "consilience_workers") == 1


def test_one_worker_says_what_it_said_alone(tmp_path: Path) -> None:
    metrics = Metrics()
    metrics.started()
    metrics.ended("web_search", "ok", 0.3)
    text = WorkerMetrics(metrics, tmp_path).text()

    assert set(metrics.text().splitlines()) <= set(text.splitlines())


def test_a_file_is_written_only_where_something_changed(tmp_path: Path) -> None:
    worker = counted(tmp_path, os.getpid(), 0.1)
    file = tmp_path / f"{os.getpid()}.json"
    file.unlink()

    worker.publish()
    assert not file.exists()


def test_a_broken_file_or_folder_is_no_failure(tmp_path: Path) -> None:
    worker = counted(tmp_path, os.getpid(), 0.1)
    (tmp_path / "1.json").write_text("{")
    (tmp_path / "note.json").write_text("{}")
    assert value(worker.text(), CALLS) == 1

    lost = counted(tmp_path / "gone", os.getpid(), 0.1)
    assert value(lost.text(), CALLS) == 1
