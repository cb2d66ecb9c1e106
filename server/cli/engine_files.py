"""The work behind `consilience engines list|check|read|schema`."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from framework.errors import InvalidInputError
from framework.merge.relevance import unrelated
from framework.spec.catalogue import Catalogue
from framework.spec.check import check_compiled
from framework.spec.fixtures import as_data
from framework.spec.folders import engine_folders
from framework.spec.problems import render_annotations, render_text
from framework.spec.schema import render_schema
from framework.types import HttpResponse, Page, Query, Verdict
from server.cli.options import headers_of
from server.cli.output import as_json as print_json
from server.cli.output import line, note, table
from server.config import Environment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.spec.catalogue import Entry
    from framework.spec.check import EngineCheck
    from framework.spec.compiler import Engine

__all__ = ["check", "listing", "read", "schema"]

_PLACEHOLDER = "{{ query }}"


def _catalogue() -> Catalogue:
    return Catalogue(engine_folders((), Environment.read().values))


def listing(*, as_json: bool) -> None:
    """Print every engine file with its kind, lineage, status and why it cannot be asked."""
    environ = Environment.read().values
    items = [_item(entry, entry.disabled(environ)) for entry in _catalogue().entries()]
    if as_json:
        print_json([*items])
        return
    names = ("id", "kind", "index", "status", "disabled")
    table(names, ([_cell(item, name) for name in names] for item in items))


def _cell(item: dict[str, object], name: str) -> str:
    if name == "status" and item["replaced_by"]:
        return f"{item['status']}: use {item['replaced_by']}"
    return str(item[name])


def _item(entry: Entry, disabled: str) -> dict[str, object]:
    spec = entry.engine.spec if entry.engine else None
    return {
        "id": entry.id,
        "name": spec.name if spec else entry.id,
        "kind": spec.kind.value if spec else "",
        "index": entry.engine.index if entry.engine else "",
        "status": spec.status.value if spec else "",
        "replaced_by": spec.replaced_by if spec else None,
        "official_api": bool(spec and spec.about.official_api),
        "path": str(entry.path),
        "disabled": disabled,
        "problems": [asdict(problem) for problem in entry.problems],
    }


def check(ids: Sequence[str], *, as_json: bool, annotations: bool) -> int:
    """Check engine files and their recordings; return 1 where something is wrong, else 0.

    Raises:
        NotFoundError: for an id that is no engine file.
    """
    catalogue = _catalogue()
    entries = [catalogue.entry(name) for name in ids] if ids else catalogue.entries()
    checks = [_check(entry, catalogue.fixtures_home(entry)) for entry in entries]
    problems = [problem for done in checks for problem in done.problems]
    if as_json:
        print_json([_report(done) for done in checks])
    elif annotations:
        line(render_annotations(problems))
    else:
        if problems:
            line(render_text(problems))
        cases = sum(len(done.cases) for done in checks)
        bad = sum(not done.ok for done in checks)
        what = f"{_count(len(checks), 'engine')}, {_count(cases, 'recording')}"
        line(f"{what}: {f'{bad} wrong' if bad else 'all fine'}")
    return int(any(not done.ok for done in checks))


def _check(entry: Entry, fixtures: Path) -> EngineCheck:
    from framework.spec.check import EngineCheck

    if entry.engine is None:
        return EngineCheck(id=entry.id, problems=entry.problems)
    return check_compiled(entry.engine, entry.path, fixtures, entry.problems)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _report(done: EngineCheck) -> dict[str, object]:
    return {
        "id": done.id,
        "ok": done.ok,
        "problems": [asdict(problem) for problem in done.problems],
        "cases": [{**asdict(case), "ok": case.ok} for case in done.cases],
    }


def read(
    engine_id: str,
    file: Path,
    *,
    url: str | None,
    query: str | None,
    status: int,
    headers: Sequence[str],
    as_json: bool,
) -> None:
    """Read a saved answer with an engine and print its verdict and rows.

    Raises:
        NotFoundError: no such engine.
        InvalidInputError: the file cannot be read, or a header is no NAME:VALUE.
    """
    engine = _catalogue().get(engine_id)
    response = HttpResponse(
        url=url or engine.spec.request.url,
        status=status,
        headers=tuple(headers_of(headers).items()),
        body=_body(file),
    )
    data = as_data(judged(engine, response, query or query_of(engine, url or "")))
    if as_json:
        print_json({"extras": {}, **data})
        return
    note(f"verdict: {data['verdict']}")
    rows = data["results"]
    if isinstance(rows, list):
        shown = ([str(row["rank"]), row["title"], row["url"]] for row in rows)
        table(("#", "title", "url"), shown)


def judged(engine: Engine, response: HttpResponse, query: str) -> Page:
    """Read an answer; where the query is known, rows that have nothing to do with it are told."""
    page = engine.read(response, query=Query(text=query) if query else None)
    foreign = (
        query and page.rows and not engine.spec.about.official_api and unrelated(query, page.rows)
    )
    return Page(verdict=Verdict.UNRELATED, detail="no row speaks of the query") if foreign else page


def query_of(engine: Engine, url: str) -> str:
    """Read the query back from the address of a search, as the engine's file would write it."""
    sent = parse_qs(urlsplit(url).query)
    for name, template in engine.spec.request.query.items():
        before, found, after = str(template).partition(_PLACEHOLDER)
        if found and name in sent and "{{" not in before + after:
            return sent[name][0].removeprefix(before).removesuffix(after)
    return ""


def _body(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{file}: {error.strerror or error}") from error


def schema() -> None:
    """Print the JSON Schema of engine files."""
    line(render_schema().rstrip("\n"))
