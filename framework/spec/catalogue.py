"""The engines of several folders: compiled once, reloaded file by file, the last good one kept."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import NotFoundError
from framework.spec.compiler import Compiled, Engine, compile_source
from framework.spec.environment import disabled
from framework.spec.fixtures import Fixture, fixture_folders, load_fixture
from framework.spec.problems import SpecProblemsError, suggest
from framework.spec.source import Source, load_file

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from framework.spec.problems import Problem

__all__ = ["Catalogue", "Entry", "packaged", "packaged_fixtures", "packaged_schema"]

_PACKAGE = Path(__file__).resolve().parent.parent


def _packaged(name: str) -> Path:
    beside = _PACKAGE.parent / name
    in_checkout = beside.exists() and (_PACKAGE.parent / "pyproject.toml").is_file()
    return beside if in_checkout else _PACKAGE / "data" / name


def packaged() -> Path:
    """Return the folder of the engines that come with the program; a checkout's own goes first."""
    return _packaged("engines.d")


def packaged_fixtures() -> Path:
    """Return the folder of the recorded answers that come with the program."""
    return _packaged("fixtures")


def packaged_schema() -> Path:
    """Return the file of the language's JSON Schema."""
    return _packaged("engine-v1.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One engine file as it stands.

    `engine` is the last good version and None where there never was one; with `stale` it is older
    than the file, whose problems are in `problems`. `values` are the file's merged values as far
    as they could be read.
    """

    id: str
    path: Path
    engine: Engine | None
    problems: tuple[Problem, ...] = ()
    values: Mapping[str, object]
    stale: bool = False

    @property
    def ok(self) -> bool:
        """The file as it stands is usable."""
        return self.engine is not None and not self.stale

    def disabled(self, environ: Mapping[str, str]) -> str:
        """Say why the engine cannot be used here, or nothing where it can."""
        if self.engine is None:
            return str(self.problems[0]) if self.problems else "not usable"
        return disabled(self.engine.spec, environ)


class Catalogue:
    """All engines of some folders; a file in an earlier folder hides that of the same id later.

    A broken file never stops the others: it is listed with its problems. Nothing is read again
    until `reload` is called.
    """

    def __init__(
        self, folders: Path | Sequence[Path] | None = None, fixtures: Path | None = None
    ) -> None:
        given = [packaged()] if folders is None else folders
        self.folders = (given,) if isinstance(given, Path) else tuple(given)
        self.fixtures_folder = fixtures
        self._sources: dict[Path, Source] = {}
        self._used: dict[str, dict[str, Source | None]] = {}
        self._entries: dict[str, Entry] = {}
        self.reload()

    def ids(self) -> tuple[str, ...]:
        """Return the ids of all usable engines, sorted."""
        return tuple(name for name, entry in self._entries.items() if entry.engine is not None)

    def entries(self) -> tuple[Entry, ...]:
        """Return every engine file, usable or not, sorted by id."""
        return tuple(self._entries.values())

    def engines(self) -> tuple[Engine, ...]:
        """Return all usable engines, sorted by id."""
        return tuple(entry.engine for entry in self._entries.values() if entry.engine is not None)

    def entry(self, name: str) -> Entry:
        """Return the file of that id; raises NotFoundError with the nearest ids."""
        found = self._entries.get(name)
        if found is None:
            raise NotFoundError(
                f'there is no engine "{name}"',
                code="unknown_engine",
                hint=suggest(name, self._entries, "known"),
            )
        return found

    def get(self, name: str) -> Engine:
        """Return a usable engine.

        Raises NotFoundError for an unknown id, SpecProblemsError where the file was never usable.
        """
        entry = self.entry(name)
        if entry.engine is None:
            raise SpecProblemsError(entry.problems)
        return entry.engine

    def problems(self) -> tuple[Problem, ...]:
        """Return the problems of all files, each once, sorted by place."""
        return tuple(sorted({item for entry in self._entries.values() for item in entry.problems}))

    def reload(self, changed: Iterable[Path] | None = None) -> tuple[str, ...]:
        """Read changed, new and removed files again, all files without `changed`.

        Children of a changed file are compiled again too. A file that has become broken keeps its
        last good engine. Returns the ids whose entries are new, different or gone.
        """
        stale = set(self._sources) if changed is None else {path.resolve() for path in changed}
        self._sources = {key: it for key, it in self._sources.items() if key not in stale}
        files = self._files()
        before = self._entries
        self._entries = {name: self._entry(name, files) for name in sorted(files)}
        names = before.keys() | self._entries.keys()
        return tuple(sorted(n for n in names if before.get(n) is not self._entries.get(n)))

    def fixtures(self, name: str) -> list[Fixture]:
        """Return the recorded answers of an engine; raises FixtureError for a broken one."""
        engine = self.get(name)
        address = engine.spec.request.url
        folders = fixture_folders(self.fixtures_home(self.entry(name)), name)
        return [load_fixture(path, address) for path in folders]

    def fixtures_home(self, entry: Entry) -> Path:
        """Return the folder of an engine's recorded answers: `fixtures` beside its own folder.

        The folder that the catalogue was made with goes first.
        """
        return self.fixtures_folder or entry.path.resolve().parent.parent / "fixtures"

    def _files(self) -> dict[str, Path]:
        files: dict[str, Path] = {}
        for folder in reversed(self.folders):
            files |= {path.stem: path for path in folder.glob("*.yaml") if path.is_file()}
        return files

    def _source(self, path: Path) -> Source:
        key = path.resolve()
        if key not in self._sources:
            self._sources[key] = load_file(path)
        return self._sources[key]

    def _find(self, name: str, files: Mapping[str, Path]) -> Source | None:
        return self._source(files[name]) if name in files else None

    def _entry(self, name: str, files: Mapping[str, Path]) -> Entry:
        before = self._entries.get(name)
        used = self._used.get(name, {})
        if before is not None and all(self._find(n, files) is it for n, it in used.items()):
            return before
        source = self._source(files[name])
        used = {name: source}

        def find(parent: str) -> Source | None:
            used[parent] = self._find(parent, files)
            return used[parent]

        compiled = compile_source(source, find, name)
        self._used[name] = used
        return _successor(name, files[name], compiled, before)


def _successor(name: str, path: Path, compiled: Compiled, before: Entry | None) -> Entry:
    last_good = before.engine if before is not None else None
    return Entry(
        id=name,
        path=path,
        engine=compiled.engine or last_good,
        problems=compiled.problems,
        values=compiled.data,
        stale=compiled.engine is None and last_good is not None,
    )
