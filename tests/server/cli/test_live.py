"""The table that grows while engines answer."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from rich.console import Console

from framework.spec.catalogue import Catalogue
from framework.types import EngineReport, Row, Verdict
from server.cli.live import Growing, watched
from server.cli.output import plain

if TYPE_CHECKING:
    from pathlib import Path

    from rich.console import RenderableType

COMMAND = ("search", "javascript tutorial", "--replay", "--max-results", "2")


def rows(*names: str) -> tuple[Row, ...]:
    return tuple(
        Row(title=name, url=f"https://{name}.example/", rank=rank)
        for rank, name in enumerate(names, 1)
    )


def text(drawn: RenderableType) -> str:
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(drawn)
    return capture.get()


def test_it_grows_with_each_answer(root: Path) -> None:
    drawn: list[RenderableType] = []
    growing = Growing(Catalogue([root / "engines.d"]), drawn.append)
    growing.heard(EngineReport(id="bing", verdict=Verdict.OK, rows=2), rows("one", "two"))
    growing.heard(EngineReport(id="mojeek", verdict=Verdict.BLOCKED), ())
    growing.heard(EngineReport(id="brave", verdict=Verdict.OK, rows=1), rows("two"))
    first, second, third = map(text, drawn)

    assert "bing#1" in first
    assert "mojeek blocked" in second
    assert "mojeek" not in first
    assert third.index("two") < third.index("one")
    assert "bing#2 brave#1" in third


def test_it_shows_no_more_rows_than_were_asked_for(root: Path) -> None:
    drawn: list[RenderableType] = []
    growing = Growing(Catalogue([root / "engines.d"]), drawn.append, rows=1)
    growing.heard(EngineReport(id="bing", verdict=Verdict.OK, rows=2), rows("one", "two"))

    assert "one" in text(drawn[0])
    assert "two" not in text(drawn[0])


def test_nobody_watches_a_pipe(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with watched(Catalogue([root / "engines.d"]), wanted=True) as heard:
        assert heard is None


def test_a_terminal_sees_it_grow_and_a_pipe_sees_no_colours(tmp_path: Path) -> None:
    terminal = _on_a_terminal(tmp_path)
    piped = subprocess.run(
        _program(), env=_variables(tmp_path), capture_output=True, check=True, timeout=60
    ).stdout

    assert terminal.count(b"bing#1") >= 2
    assert b"\x1b[" in terminal
    assert b"\x1b" not in piped
    assert piped.count(b"JavaScript Tutorial") == 1


def _on_a_terminal(state: Path) -> bytes:
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        _program(), stdin=theirs, stdout=theirs, stderr=theirs, env=_variables(state)
    )
    os.close(theirs)
    seen = b""
    try:
        while chunk := os.read(ours, 65_536):
            seen += chunk
    except OSError:  # the terminal's other end is closed
        pass
    os.close(ours)
    assert process.wait(60) == 0
    return seen


def _program() -> list[str]:
    return [sys.executable, "-c", "from server.cli import main; main()", *COMMAND]


def _variables(state: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    size = {"COLUMNS": "160", "LINES": "60", "TERM": "xterm-256color"}
    return {**kept, **size, "CONSILIENCE_STATE_DIR": str(state)}


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("plain", "plain"),
        ("\x1b]0;owned\x07", " ]0;owned "),
        ("a\x9b31mb", "a 31mb"),
        ("one\ntwo", "one\ntwo"),
        ("שלום 你好", "שלום 你好"),
    ],
    ids=["plain", "title", "c1", "lines", "scripts"],
)
def test_texts_cannot_steer_a_terminal(given: str, kept: str) -> None:
    assert plain(given) == kept
