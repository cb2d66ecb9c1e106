"""What a crawl of many questions has done already, kept in its `JOBDIR`."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scrapy.settings import BaseSettings

    from framework.types import Query

__all__ = ["Progress"]

_NAME = "questions.done"


class Progress:
    """What an earlier run with the same `JOBDIR` finished; without one, nothing.

    A line is written when the last row of a page has been handed on, so a crawl that is stopped
    (Ctrl-C, SIGTERM) goes on exactly where it was. A crawl that is killed may ask again for the
    pages that were under way.
    """

    def __init__(self, folder: str | None = None) -> None:
        self._path = Path(folder) / _NAME if folder else None
        self._done: set[str] = set()
        self._pages: dict[str, int] = {}
        if self._path is not None and self._path.is_file():
            for line in self._path.read_text(encoding="ascii").splitlines():
                mark, _, pages = line.partition(" ")
                self._note(mark, int(pages) if pages.isdecimal() else 0)

    def _note(self, mark: str, pages: int) -> None:
        if pages:
            self._pages[mark] = max(pages, self._pages.get(mark, 0))
        else:
            self._done.add(mark)

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Progress:
        """Read what stands in the crawl's `JOBDIR`, if it has one."""
        return cls(settings.get("JOBDIR") or None)

    def __len__(self) -> int:
        return len(self._done)

    def has(self, engine: str, query: Query) -> bool:
        """Whether an engine's question was finished before."""
        return _mark(engine, query) in self._done

    def pages(self, engine: str, query: Query) -> int:
        """How many pages of an engine's question were finished before."""
        return self._pages.get(_mark(engine, query), 0)

    def add(self, engine: str, query: Query, pages: int = 0) -> None:
        """Note that an engine's question is finished, or only so many of its pages."""
        mark = _mark(engine, query)
        if self._path is None or mark in self._done:
            return
        self._note(mark, pages)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="ascii") as file:
            file.write(f"{mark} {pages}\n" if pages else f"{mark}\n")


def _mark(engine: str, query: Query) -> str:
    asked = replace(query, page=1)
    return hashlib.blake2b(f"{engine}\0{asked!r}".encode(), digest_size=12).hexdigest()
