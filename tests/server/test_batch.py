"""Batches: one line a query whatever happens, exactly once over any number of ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framework.errors import InvalidInputError, UnavailableError
from framework.merge.search import NoAnswerError
from framework.types import EngineReport, Query, SearchAnswer, Verdict
from server.batch import Batch, Journal, Pause, read_queries, run_batch

if TYPE_CHECKING:
    from collections.abc import Callable


def answer(text: str) -> SearchAnswer:
    report = EngineReport(id="plain", verdict=Verdict.OK, rows=0)
    return SearchAnswer(query=Query(text=text), results=(), engines=(report,))


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


async def run(
    path: Path, queries: list[str], search: Callable[[str], SearchAnswer], **options: object
) -> Batch:
    async def asked(text: str) -> SearchAnswer:
        return search(text)

    with Journal(path) as journal:
        return await run_batch(
            queries, journal, asked, batch=Batch(total=len(queries)), **options  # type: ignore[arg-type]
        )  # fmt: skip


def test_queries_are_one_a_line_each_once() -> None:
    text = "moon\n\n  night sky \nmoon\r\nMoon\n"

    assert list(read_queries(text.splitlines())) == ["moon", "night sky", "Moon"]


async def test_each_query_becomes_a_line(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "out.jsonl"
    batch = await run(path, ["a", "b", "c"], answer)

    assert (batch.done, batch.failed) == (3, 0)
    assert sorted(str(line["query"]) for line in lines(path)) == ["a", "b", "c"]


async def test_what_is_done_is_not_asked_again(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    asked: list[str] = []

    def search(text: str) -> SearchAnswer:
        asked.append(text)
        return answer(text)

    await run(path, ["a", "b"], search)
    await run(path, ["b", "c", "a"], search)

    assert asked == ["a", "b", "c"]
    assert len(lines(path)) == 3


async def test_a_line_that_was_cut_off_is_done_again(tmp_path: Path) -> None:
    path = tmp_path / "out.jsonl"
    await run(path, ["a", "b"], answer)
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    await run(path, ["a", "b"], answer)

    assert [line["query"] for line in lines(path)] == ["a", "b"]


async def test_an_error_stands_in_its_line_and_ends_nothing(tmp_path: Path) -> None:
    def search(text: str) -> SearchAnswer:
        if text == "bad":
            raise NoAnswerError((EngineReport(id="x", verdict=Verdict.DISABLED, detail="no key"),))
        return answer(text)

    path = tmp_path / "out.jsonl"
    batch = await run(path, ["a", "bad", "b"], search, pause=Pause(retries=0))
    bad = next(line for line in lines(path) if line["query"] == "bad")

    assert (batch.done, batch.failed) == (3, 1)
    assert bad["results"] == []
    assert bad["engines"] == [{"id": "x", "verdict": "disabled", "detail": "no key"}]
    assert isinstance(bad["error"], dict)


async def test_a_fault_of_ours_stands_in_its_line_too(tmp_path: Path) -> None:
    def search(text: str) -> SearchAnswer:
        if text == "bad":
            raise ZeroDivisionError("oh")
        return answer(text)

    path = tmp_path / "out.jsonl"
    batch = await run(path, ["bad", "a"], search)

    assert (batch.done, batch.failed) == (2, 1)
    assert lines(path)[0]["error"] == {"code": "unexpected", "message": "ZeroDivisionError: oh"}


async def test_engines_that_rest_are_waited_for(tmp_path: Path) -> None:
    waits: list[float] = []
    tries: Counter[str] = Counter()

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    def search(text: str) -> SearchAnswer:
        tries[text] += 1
        if tries[text] < 3:
            raise UnavailableError("all rest", retry_after=7.0)
        return answer(text)

    batch = await run(tmp_path / "o", ["a"], search, pause=Pause(retries=2, sleep=sleep))

    assert waits == [7.0, 7.0]
    assert batch.failed == 0


async def test_a_long_rest_is_not_waited_for(tmp_path: Path) -> None:
    def search(text: str) -> SearchAnswer:
        raise UnavailableError("all rest", retry_after=4000)

    path = tmp_path / "o"
    await run(path, ["a"], search)

    assert lines(path)[0]["error"] == {
        "code": "unavailable", "message": "all rest", "retry_after": 4000,
    }  # fmt: skip


def test_a_strangers_file_is_not_written_to(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("my notes\n")

    with pytest.raises(InvalidInputError, match=r"notes\.txt:1: no line of a batch"), Journal(path):
        pass
    assert path.read_text() == "my notes\n"


def test_two_batches_cannot_write_one_file(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    path = tmp_path / "out.jsonl"

    with Journal(path), pytest.raises(InvalidInputError, match="another batch"), Journal(path):
        pass


COUNT = 300


def start(folder: Path) -> subprocess.Popen[bytes]:
    program = Path(sys.executable).parent / "consilience"
    command = [str(program), "batch", "queries.txt", "--engines", "mojeek,duckduckgo"]
    return subprocess.Popen(
        [*command, "-o", "out.jsonl", "--replay"],
        cwd=folder,
        env={**os.environ, "CONSILIENCE_STATE_DIR": str(folder / "state")},
        stderr=subprocess.PIPE,
    )


def test_killed_and_resumed_every_query_stands_once(tmp_path: Path) -> None:
    queries = [f"query number {number}" for number in range(COUNT)]
    (tmp_path / "queries.txt").write_text("\n".join(queries))
    output = tmp_path / "out.jsonl"
    first = start(tmp_path)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and first.poll() is None:
        if output.exists() and output.read_bytes().count(b"\n") >= COUNT // 3:
            break
        time.sleep(0.02)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    killed = output.read_bytes().count(b"\n")
    second = start(tmp_path)
    said = second.communicate(timeout=100)[1].decode()

    assert COUNT // 3 <= killed < COUNT
    assert second.returncode == 0, said
    assert f"of {COUNT} queries are done; going on" in said
    assert Counter(str(line["query"]) for line in lines(output)) == Counter(queries)
