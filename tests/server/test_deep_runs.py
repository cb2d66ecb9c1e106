"""Runs that are kept: taken up again, never by two at once, forgotten in time."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from framework.research.state import State, Task
from middlewares.state import StateDatabase
from server.deep_runs import DeepRuns

STATE = State(task=Task(objective="what there is to know", today="2026-11-29"), queries=("q",))


@pytest.fixture
def database() -> StateDatabase:
    return StateDatabase()


def test_a_paused_run_is_continued_and_a_finished_one_is_not(database: StateDatabase) -> None:
    runs = DeepRuns(database)
    lease = runs.take("run")
    assert lease.state is None
    runs.save(lease, STATE)
    runs.pause(lease)

    again = runs.take("run")
    assert again.state == STATE
    runs.end(again)

    assert runs.take("run").state is None


def test_a_run_at_work_is_left_alone(database: StateDatabase) -> None:
    runs = DeepRuns(database)
    first = runs.take("run")
    runs.save(first, STATE)

    second = runs.take("run")

    assert second.run != first.run
    assert second.state is None


def owned_by(database: StateDatabase, pid: int) -> DeepRuns:
    runs = DeepRuns(database)
    lease = runs.take("run")
    runs.save(lease, STATE)
    database.execute("UPDATE deep_runs SET owner = ?", (pid,))
    return DeepRuns(database)


def test_a_living_process_keeps_its_run_and_a_dead_one_loses_it(database: StateDatabase) -> None:
    with subprocess.Popen([sys.executable, "-c", "pass"]) as ended:
        ended.wait()

    assert owned_by(database, os.getppid()).take("run").state is None
    assert owned_by(database, ended.pid).take("run").state == STATE


def test_runs_are_forgotten_after_an_hour(database: StateDatabase) -> None:
    now = [1_000.0]
    runs = DeepRuns(database, clock=lambda: now[0])
    lease = runs.take("run")
    runs.save(lease, STATE)
    runs.pause(lease)
    now[0] += 3_601

    assert runs.take("run").state is None


def test_a_state_of_another_version_begins_anew(database: StateDatabase) -> None:
    runs = owned_by(database, 0)
    database.execute("UPDATE deep_runs SET state = ?", (b'{"task": 1}',))

    assert runs.take("run").state is None
