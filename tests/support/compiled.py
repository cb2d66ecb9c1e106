"""The packaged engines, compiled once a process for all the catalogues that tests make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.spec import catalogue
from framework.spec.compiler import compile_source
from framework.spec.source import load_file, shown

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from framework.spec.compiler import Compiled
    from framework.spec.inherit import Parents
    from framework.spec.source import Source

__all__ = ["share_packaged"]


class _Shared:
    """Reads and compiles as a catalogue does, but a packaged file once while it stays the same."""

    def __init__(self) -> None:
        self._folder = catalogue.packaged()
        self._sources: dict[tuple[str, int], Source] = {}
        self._known: set[int] = set()
        self._compiled: dict[int, tuple[Mapping[str, Source | None], Compiled]] = {}

    def load(self, path: Path) -> Source:
        if path.parent != self._folder:
            return load_file(path)
        key = (shown(path), path.stat().st_mtime_ns)
        if key not in self._sources:
            self._sources[key] = load_file(path)
            self._known.add(id(self._sources[key]))
        return self._sources[key]

    def compile(self, source: Source, parents: Parents, stem: str | None = None) -> Compiled:
        if id(source) not in self._known:
            return compile_source(source, parents, stem)
        used, compiled = self._compiled.get(id(source), ({}, None))
        # Asking for all parents again tells the catalogue too whose children these are.
        if compiled is None or any(parents(name) is not it for name, it in used.items()):
            used = {}
            compiled = compile_source(source, _noting(parents, used), stem)
            self._compiled[id(source)] = (used, compiled)
        return compiled


def _noting(parents: Parents, used: dict[str, Source | None]) -> Parents:
    def find(name: str) -> Source | None:
        used[name] = parents(name)
        return used[name]

    return find


def share_packaged() -> None:
    """Let catalogues share what they make of the packaged files: engines are frozen values."""
    shared = _Shared()
    vars(catalogue).update(load_file=shared.load, compile_source=shared.compile)
