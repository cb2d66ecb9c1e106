"""Recorded answers of engines: `<id>/<case>/` with the response, what is known of it, and what
must be read from it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from framework.errors import ConsilienceError
from framework.spec.base import Model, Text, Whole
from framework.spec.places import Places
from framework.spec.source import load_file, plain
from framework.spec.validation import faults_of
from framework.types import HttpResponse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from framework.spec.problems import Problem
    from framework.types import Page

__all__ = ["Fixture", "FixtureError", "Meta", "as_data", "fixture_folders", "load_fixture"]

_BODIES = ("response.html", "response.json", "response.xml")
_TYPES = MappingProxyType(
    {".html": "text/html; charset=utf-8", ".json": "application/json", ".xml": "text/xml"}
)


class FixtureError(ConsilienceError):
    """A fixture's folder cannot be read; `problems` has the places where there are any."""

    code = "invalid_fixture"

    def __init__(self, message: str, problems: tuple[Problem, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems


class Meta(Model):
    """`meta.yaml`: what is known of a recorded answer besides its body."""

    source: Literal["recording", "documentation"]
    """Where the shape of the page is from."""
    query: str = ""
    date: Text | None = None
    status: Annotated[Whole, Field(ge=100, le=599)] = 200
    url: Text | None = None
    """The final address."""
    hops: tuple[Text, ...] = ()
    headers: dict[str, str | Whole] = Field(default_factory=dict)
    page: Annotated[Whole, Field(ge=1)] = 1
    step: Text | None = None
    """The session step that this is the answer to; default: the search request."""
    settings: dict[str, str] = Field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixture:
    """One recorded answer; `expected` is None where the folder has no expected.json."""

    engine: str
    case: str
    path: Path
    response: HttpResponse
    meta: Meta
    expected: Mapping[str, object] | None = field(default=None)


def fixture_folders(folder: Path, engine: str) -> Iterator[Path]:
    """Yield the folders of an engine's cases, by name."""
    home = folder / engine
    if home.is_dir():
        yield from sorted(path for path in home.iterdir() if path.is_dir())


def load_fixture(path: Path, address: str = "https://unknown.example.org/") -> Fixture:
    """Read one case; `address` stands in where meta.yaml names no url.

    Raises FixtureError with the places of what is wrong.
    """
    bodies = [path / name for name in _BODIES if (path / name).is_file()]
    if len(bodies) != 1:
        raise FixtureError(f"{path}: needs exactly one of {', '.join(_BODIES)}")
    meta = _meta(path / "meta.yaml")
    headers = tuple((name, str(value)) for name, value in meta.headers.items())
    if not any(name.lower() == "content-type" for name, _ in headers):
        headers += (("Content-Type", _TYPES[bodies[0].suffix]),)
    response = HttpResponse(
        url=meta.url or address,
        status=meta.status,
        headers=headers,
        body=bodies[0].read_bytes(),
        hops=meta.hops,
    )
    return Fixture(
        engine=path.parent.name,
        case=path.name,
        path=path,
        response=response,
        meta=meta,
        expected=_expected(path / "expected.json"),
    )


def _meta(path: Path) -> Meta:
    source = load_file(path)
    if source.root is None:
        raise FixtureError(f"{path}: {source.problems[0].message}", tuple(source.problems))
    try:
        return Meta.model_validate(plain(source.root))
    except ValidationError as error:
        faults = faults_of(error, source.root, Meta)
        problems = tuple(sorted(Places(source.root).problems(faults)))
        raise FixtureError(str(problems[0]), problems) from error


def _expected(path: Path) -> Mapping[str, object] | None:
    if not path.is_file():
        return None
    try:
        value = json.loads(path.read_bytes())
    except ValueError as error:
        raise FixtureError(f"{path}: is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise FixtureError(f"{path}: must be an object")
    return value


def as_data(page: Page) -> dict[str, object]:
    """Return a page in the form of expected.json; what is empty is left out."""
    data: dict[str, object] = {
        "verdict": page.verdict.value,
        "results": [
            {"rank": row.rank, "title": row.title, "url": row.url}
            | ({"snippet": row.snippet} if row.snippet else {})
            | {name: _listed(value) for name, value in row.fields.items()}
            for row in page.rows
        ],
    }
    if page.extras:
        data["extras"] = {name: _listed(value) for name, value in page.extras.items()}
    return data


def _listed(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value
