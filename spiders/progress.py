"""What a crawl of many questions has done already, kept in its `JOBDIR`."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from framework.types import Query

__all__ = ["Progress"]

_NAME = "questions.done"


class Progress:
    """The questions that an earlier run with the same `JOBDIR` finished; without one, none.

    A line is written when the last row of a question has been handed on, so a crawl that is
    stopped (Ctrl-C, SIGTERM) goes on exactly where it was. A crawl that is killed may ask the
    questions that were under way again.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._path = Path(folder) / _NAME if folder else None
        self._done: set[str] = set()
        if self._path is not None and self._path.is_file():
            self._done.update(self._path.read_text(encoding="ascii").split())

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Progress:
        """Read what stands in the crawl's `JOBDIR`, if it has one."""
        return cls(settings.get("JOBDIR") or None)

    def __len__(self) -> int:
        return len(self._done)

    def has(self, engine: str, query: Query) -> bool:
        """Whether an engine's question was finished before."""
        return _mark(engine, query) in self._done

    def add(self, engine: str, query: Query) -> None:
        """Note that an engine's question is finished."""
        mark = _mark(engine, query)
        if self._path is None or mark in self._done:
            return
        self._done.add(mark)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="ascii") as file:
            file.write(mark + "\n")


def _mark(engine: str, query: Query) -> str:
    return hashlib.blake2b(f"{engine}\0{query!r}".encode(), digest_size=12).hexdigest()
