"""What a shell offers after the tabulator key."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from server.cli.options import complete_engines


def offered(shell: str, *words: str) -> list[str]:
    """Ask as the shell's completion script does, with nothing on standard input."""
    asked = {
        "_CONSILIENCE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": " ".join(("consilience", *words)),
        "COMP_CWORD": str(len(words)),
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
        "_TYPER_COMPLETE_ARGS": " ".join(("consilience", *words)),
    }
    done = subprocess.run(
        [sys.executable, "-c", "from server.cli import main; main()"],
        env={**os.environ, **asked},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        text=True,
        timeout=60,
    )
    return done.stdout.split()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_commands_are_completed(shell: str) -> None:
    assert "search" in " ".join(offered(shell, "sea"))


def test_engine_ids_are_completed() -> None:
    assert offered("bash", "search", "x", "--engines", "moje") == ["mojeek"]


def test_a_list_of_engines_goes_on_after_a_comma() -> None:
    assert complete_engines("bing,moje") == ["bing,mojeek"]
    assert complete_engines("mojeek,mojeek") == []
    assert len(complete_engines("")) > 50
