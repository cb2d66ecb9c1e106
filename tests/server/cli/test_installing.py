"""`consilience install`: what is asked on a terminal, and which clients are meant."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command import Run


class Terminal:
    """Somebody who answers a question."""

    def __init__(self, said: str) -> None:
        self._said = said

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self._said


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CONFIG_HOME", "APPDATA", "USERPROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.parametrize(
    ("said", "written"),
    [("y\n", True), ("Yes\n", True), ("n\n", False), ("\n", False), ("", False)],
    ids=["y", "yes", "n", "return", "end"],
)
def test_a_change_is_shown_and_made_when_agreed(
    run: Run, home: Path, monkeypatch: pytest.MonkeyPatch, said: str, written: bool
) -> None:
    monkeypatch.setattr(sys, "stdin", Terminal(said))
    file = home / ".cursor" / "mcp.json"
    done = run("install", "cursor")

    assert '+    "consilience"' in done.out
    assert f"Write this to {file}?" in done.error
    assert file.exists() is written
    assert ("left as it is" in done.out) is not written


def test_yes_asks_nothing_and_the_second_time_there_is_nothing_to_do(run: Run, home: Path) -> None:
    first, second = run("install", "cursor", "--yes"), run("install", "cursor", "--yes")
    entry = json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]["consilience"]

    assert first.error == ""
    assert entry["args"] == ["mcp"]
    assert second.out == "Cursor: nothing to change\n"


def test_uninstalling_takes_the_entry_out_and_keeps_the_old_file(run: Run, home: Path) -> None:
    run("install", "cursor", "--yes")
    done = run("install", "cursor", "--uninstall", "--yes")

    assert "the old file is " in done.out
    assert (
        "consilience" not in json.loads((home / ".cursor" / "mcp.json").read_text())["mcpServers"]
    )


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("cursr",), "did you mean cursor?"),
        (("nothing-like-it",), "known: "),
        ((), "none of the known clients is here"),
    ],
    ids=["nearly", "unknown", "none"],
)
def test_a_client_that_is_not_there(
    run: Run, home: Path, words: tuple[str, ...], reason: str
) -> None:
    done = run("install", *words)

    assert done.code == 1
    assert reason in done.error
    assert not (home / ".cursor").exists()


def test_a_file_that_cannot_be_read_does_not_stop_the_others(run: Run, home: Path) -> None:
    broken = home / ".cursor" / "mcp.json"
    broken.parent.mkdir()
    broken.write_text("{ no json")
    done = run("install", "cursor", "claude-code", "--yes")

    assert done.code == 1
    assert str(broken) in done.error
    assert broken.read_text() == "{ no json"
    assert "consilience" in (home / ".claude.json").read_text()
