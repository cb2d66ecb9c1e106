"""From an engine file to an Engine: parse, merge, validate, check, compile; every problem told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.spec.checks import check
from framework.spec.context import Variables
from framework.spec.deprecations import rename_deprecated
from framework.spec.inherit import Parents, resolve
from framework.spec.plan import Planner, Step, compile_planner
from framework.spec.problems import Problem, SpecProblemsError
from framework.spec.read import Reader, compile_reader
from framework.spec.recover import Validated, validate
from framework.spec.source import Node, Source, load_file, load_text, plain

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from framework.spec.model import Fetch, Key, Limits, Setting, Spec
    from framework.types import HttpRequest, HttpResponse, Kind, Next, Page, Query, Verdict

__all__ = [
    "Compiled",
    "Engine",
    "beside",
    "compile_source",
    "compile_spec",
    "compile_text",
    "engine_of",
]

_NOTHING = Variables()


@dataclass(frozen=True, slots=True)
class Engine:
    """A usable engine: pure functions from questions to requests and from responses to rows."""

    spec: Spec
    index: str
    """The index lineage of its answers; consensus counts one lineage once."""
    parents: tuple[str, ...]
    """Ids of the files that it extends, the nearest first."""
    planner: Planner
    reader: Reader
    path: str = ""

    @property
    def id(self) -> str:
        """The engine's id, which is its file's stem."""
        return self.spec.id

    @property
    def name(self) -> str:
        """The engine's name for people."""
        return self.spec.name

    @property
    def kind(self) -> Kind:
        """What sort of thing it finds."""
        return self.spec.kind

    @property
    def weight(self) -> float:
        """How much one of its votes counts."""
        return self.spec.about.weight

    @property
    def fetch(self) -> Fetch:
        """How its requests leave."""
        return self.spec.fetch

    @property
    def limits(self) -> Limits:
        """How hard it may be asked."""
        return self.spec.limits

    @property
    def keys(self) -> Mapping[str, Key]:
        """Its key pools by name."""
        return self.spec.keys

    @property
    def settings(self) -> Mapping[str, Setting]:
        """The operator's values that it uses, by name."""
        return self.spec.settings

    @property
    def steps(self) -> tuple[Step, ...]:
        """Session steps to make before the search request, in order."""
        return self.planner.steps

    @property
    def max_page(self) -> int | None:
        """The last page that may be asked for: 1 without paging, None where there is no end."""
        return self.planner.max_page

    def plan(self, query: Query, page: int = 1, variables: Variables = _NOTHING) -> HttpRequest:
        """Return the search request of a page.

        Raises InvalidInputError for a page out of reach, MissingValueError for a key, a setting or
        a session value that is not there.
        """
        return self.planner.plan(query, page, variables)

    def plan_step(
        self, step: Step | str, query: Query, page: int = 1, variables: Variables = _NOTHING
    ) -> HttpRequest:
        """Return the request of a session step; raises what `plan` raises."""
        return self.planner.plan_step(step, query, page, variables)

    def plan_next(
        self, query: Query, following: Next, variables: Variables = _NOTHING
    ) -> HttpRequest | None:
        """Return the request of the page that an answer announced, or None where there is none."""
        return self.planner.plan_next(query, following, variables)

    def verdict(self, response: HttpResponse) -> Verdict | None:
        """Return the first verdict whose condition holds, or None; rows are not looked at."""
        return self.reader.verdict(response)

    def take(self, step: Step | str, response: HttpResponse) -> dict[str, str] | Page:
        """Return the values of a session step's answer, or a page that says why there are none."""
        return self.reader.take(step if isinstance(step, str) else step.id, response)

    def read(self, response: HttpResponse, page: int = 1, query: Query | None = None) -> Page:
        """Return what an answer says; never raises, whatever the bytes are."""
        return self.reader.read(response, page, query)


@dataclass(frozen=True, slots=True)
class Compiled:
    """What became of a file: an engine, or none, and every problem; warnings do not stop it."""

    engine: Engine | None
    problems: tuple[Problem, ...]
    data: Mapping[str, object]
    """The merged values of the file, as far as they could be read."""


def compile_spec(path: Path, parents: Parents | None = None) -> Engine:
    """Compile an engine file; parents stand beside it unless `parents` finds them.

    Raises SpecProblemsError with every problem of the file.
    """
    return engine_of(compile_source(load_file(path), parents or beside(path.parent), path.stem))


def compile_text(text: str | bytes, path: str, parents: Parents | None = None) -> Engine:
    """Compile the text of an engine file; `path` names it in problems.

    Raises SpecProblemsError with every problem of the text.
    """
    return engine_of(compile_source(load_text(text, path), parents or _no_parents))


def engine_of(compiled: Compiled) -> Engine:
    """Return the engine; raises SpecProblemsError where there is none."""
    if compiled.engine is None:
        raise SpecProblemsError(item for item in compiled.problems if item.severity == "error")
    return compiled.engine


def beside(folder: Path) -> Parents:
    """Return a finder of parents in a folder."""

    def find(name: str) -> Source | None:
        path = folder / f"{name}.yaml"
        return load_file(path) if path.is_file() else None

    return find


def _no_parents(_: str) -> Source | None:
    return None


def compile_source(source: Source, parents: Parents, stem: str | None = None) -> Compiled:
    """Compile a parsed file; `stem` is the file's name that the id has to equal."""
    merged = resolve(source, parents)
    if merged.root is None:
        return Compiled(None, tuple(sorted(merged.problems)), {})
    if merged.problems:
        return Compiled(None, tuple(sorted(merged.problems)), _values(merged.root))
    root, renamed = rename_deprecated(merged.root)
    checked = validate(root)
    checked.report(renamed)
    engine = _build(checked, merged.parents, stem, source.file.name)
    problems = tuple(sorted(set(checked.problems)))
    broken = any(item.severity == "error" for item in problems)
    return Compiled(None if broken else engine, problems, _values(root))


def _values(root: Node) -> Mapping[str, object]:
    data = plain(root)
    return data if isinstance(data, dict) else {}


def _build(
    checked: Validated, parents: tuple[str, ...], stem: str | None, path: str
) -> Engine | None:
    spec = checked.spec
    if spec is None:
        return None
    faults = list(check(spec, stem))
    planner = compile_planner(spec, faults)
    checked.report(faults)
    if any(item.severity == "error" for item in checked.problems):
        return None
    index = spec.about.index or (parents[-1] if parents else spec.id)
    return Engine(spec, index, parents, planner, compile_reader(spec), path)
