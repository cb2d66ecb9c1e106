"""A short soak: what a process holds after many searches is what it held after a few."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "benchmarks"


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="reads the process's own /proc")
def test_searches_leave_no_memory_files_or_tasks_behind() -> None:
    command = [sys.executable, str(SCRIPTS / "soak.py"), "--searches", "640", "--at-once", "8"]

    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert done.stdout.rstrip().endswith("flat: memory, files and tasks")
