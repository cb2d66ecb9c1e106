"""Running the command line in this process."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import pytest

from server.cli import main

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Done", "Run", "runner"]


@dataclass(frozen=True)
class Done:
    """What a command printed and how it ended."""

    code: int
    out: str
    error: str


class Run(Protocol):
    """Runs one command with these words."""

    def __call__(self, *words: str) -> Done: ...


class _Terminal:
    """Standard input that nothing is piped into."""

    def isatty(self) -> bool:
        return True


def runner(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, state: Path, **env: str
) -> Run:
    """Return a function that runs commands with their own state folder and variables."""
    monkeypatch.setattr(sys, "stdin", _Terminal())
    monkeypatch.setenv("CONSILIENCE_STATE_DIR", str(state))
    monkeypatch.setenv("COLUMNS", "200")
    for name, value in env.items():
        monkeypatch.setenv(name, value)

    def run(*words: str) -> Done:
        with pytest.raises(SystemExit) as ended:
            main(words)
        code: Any = ended.value.code
        captured = capsys.readouterr()
        return Done(int(code or 0), captured.out, captured.err)

    return run
