"""A short soak: what a process holds after many searches is what it held after a few."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from types import ModuleType

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    sys.path.insert(0, str(SCRIPTS))
    spec = importlib.util.spec_from_file_location("soak_script", SCRIPTS / "soak.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["soak_script"] = module
    spec.loader.exec_module(module)
    sys.path.remove(str(SCRIPTS))
    return module


@pytest.mark.parametrize(
    ("growing", "told"),
    [
        ("", []),
        ("mb", ["memory: 120 MB became 152 MB"]),
        ("files", ["files: 120 became 152"]),
        ("tasks", ["tasks: 120 became 152"]),
        ("cost", ["CPU: a search costs 1.27 times what it did"]),
    ],
)
def test_what_grows_is_told(script: ModuleType, growing: str, told: list[str]) -> None:
    names = ("mb", "files", "tasks", "cpu_ms", "cost")
    samples = [
        script.Sample(
            searches=1000 * (number + 1),
            **{name: 100 + 2 * number * (name == growing) for name in names},
        )
        for number in range(30)
    ]
    assert script.leaks(samples) == told


def test_short_samples_say_nothing_of_cost(script: ModuleType) -> None:
    flat = {"mb": 1, "files": 1, "tasks": 1, "cpu_ms": 1}
    samples = [script.Sample(searches=40 * n, cost=n, **flat) for n in range(1, 21)]
    assert script.leaks(samples) == []


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="reads the process's own /proc")
def test_searches_leave_no_memory_files_or_tasks_behind() -> None:
    command = [sys.executable, str(SCRIPTS / "soak.py"), "--searches", "640", "--at-once", "8"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.rstrip().endswith("flat: memory, files, tasks and CPU")
