"""The work behind `consilience engines try|record`: one live request, looked at or kept."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from framework.authoring.hits import FieldHits, field_hits
from framework.authoring.redact import redact, refuse_secrets
from framework.authoring.scaffold import case_files
from framework.errors import InvalidInputError, UnavailableError
from framework.spec.catalogue import Catalogue
from framework.spec.context import Variables
from framework.spec.environment import key_values, setting_values
from framework.spec.fixtures import as_data
from framework.spec.folders import engine_folders
from framework.types import HttpRequest, HttpResponse, Page, Query, Verdict
from server.app import Application
from server.cli.calls import run_with
from server.cli.output import as_json as print_json
from server.cli.output import line, table
from server.cli.setup import settings_of
from server.config import Environment
from spiders.record import Exchange, Trial, try_engine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.spec.compiler import Engine

__all__ = [
    "attempt",
    "known_secrets",
    "read_saved",
    "record",
    "saved_answer",
    "try_out",
    "write_case",
]

_TYPES = {".json": "application/json", ".xml": "text/xml"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    trial: Trial
    seconds: float


async def attempt(app: Application, engine: Engine, query: Query, timeout: float) -> Trial:
    """Ask an engine once by all its rules (rest, pace, keys) and keep what went over the wire.

    Raises UnavailableError where it gets no answer, with the reason.
    """
    hub = await app.hub()
    trials: list[Trial] = []

    async def once(keys: Mapping[str, str]) -> Page:
        given = keys if app.replay is None else dict.fromkeys(engine.keys, "replay")
        settings = setting_values(engine.spec, app.environment.values)
        variables = Variables(keys=given, settings=settings, now=datetime.now(UTC))
        trials.append(await try_engine(hub, engine, query, variables, timeout))
        return trials[-1].page

    page = await app.policy.consult(engine, once, deadline=timeout)
    if not trials:
        raise UnavailableError(
            f"{engine.id} was not asked: {page.verdict} {page.detail}".strip(),
            retry_after=page.retry_after,
        )
    return trials[-1]


def try_out(
    engine_id: str,
    query: str,
    overrides: Mapping[str, object],
    *,
    timeout: float,
    replay: bool,
    as_json: bool,
) -> int:
    """Ask an engine one question and print what its file reads, field by field.

    Returns 0 where rows were read without a fault, else 1.
    """
    application = Application.create(settings_of(overrides), replay=replay)
    engine = application.catalogue.get(engine_id)
    outcome = run_with(application, lambda app: _timed(app, engine, Query(text=query), timeout))
    page, answer = outcome.trial.page, outcome.trial.answer
    hits = field_hits(engine, answer) if answer is not None else ()
    if as_json:
        print_json(_data(engine, outcome, hits))
    else:
        _show(outcome, hits)
    return int(page.verdict is not Verdict.OK or page.drift > 0)


async def _timed(app: Application, engine: Engine, query: Query, timeout: float) -> _Outcome:
    began = time.perf_counter()
    trial = await attempt(app, engine, query, timeout)
    return _Outcome(trial=trial, seconds=time.perf_counter() - began)


def _data(engine: Engine, outcome: _Outcome, hits: tuple[FieldHits, ...]) -> dict[str, object]:
    page = outcome.trial.page
    return {
        "id": engine.id,
        **as_data(page),
        "detail": page.detail,
        "drift": page.drift,
        "dropped": page.dropped,
        "elapsed_ms": round(outcome.seconds * 1000),
        "exchanges": [_exchange(one) for one in outcome.trial.exchanges],
        "fields": [asdict(hit) for hit in hits],
    }


def _exchange(one: Exchange) -> dict[str, object]:
    return {
        "step": one.step,
        "method": one.request.method,
        "host": one.response.url.partition("://")[2].partition("/")[0],
        "status": one.response.status,
        "bytes": len(one.response.body),
    }


def _show(outcome: _Outcome, hits: tuple[FieldHits, ...]) -> None:
    page = outcome.trial.page
    for one in outcome.trial.exchanges:
        told = _exchange(one)
        step = f" (session step {one.step})" if one.step else ""
        line(f"{told['method']} {told['host']}: {told['status']}, {told['bytes']} bytes{step}")
    said = f": {page.detail}" if page.detail else ""
    took = round(outcome.seconds * 1000)
    line(f"verdict: {page.verdict}{said}; {len(page.rows)} rows, drift {page.drift:g}, {took} ms")
    if hits:
        line()
        table(("field", "rows", "by pick", "sample"), (_hit(hit) for hit in hits))


def _hit(hit: FieldHits) -> list[str]:
    name = f"{hit.name} (optional)" if hit.optional else hit.name
    return [name, f"{hit.hits}/{hit.rows}", " + ".join(map(str, hit.picks)), hit.sample[:70]]


def record(
    engine_id: str,
    case: str,
    query: str,
    overrides: Mapping[str, object],
    *,
    page: int,
    timeout: float,
    force: bool,
    replay: bool = False,
    saved: HttpResponse | None = None,
) -> None:
    """Ask an engine and keep its answer as a case, redacted; session answers become own cases.

    With `saved` nothing is sent: that answer is kept.

    Raises InvalidInputError where the case exists, or where the answer still holds what looks
    like a key after redaction: then nothing is written.
    """
    application = Application.create(settings_of(overrides), replay=replay)
    entry = application.catalogue.entry(engine_id)
    engine = application.catalogue.get(engine_id)
    home = Path("fixtures") if replay else application.catalogue.fixtures_home(entry)
    question = Query(text=query, page=page)
    if saved is not None:
        request = HttpRequest(url=saved.url)
        read = engine.read(saved, page, question)
        trial = Trial(page=read, exchanges=(Exchange(request=request, response=saved),))
    else:
        trial = run_with(application, lambda app: attempt(app, engine, question, timeout))
    known = known_secrets(engine, application.environment.values)
    for one in trial.exchanges:
        name = f"session-{one.step}" if one.step else case
        if one.step and (home / engine_id / name).exists():
            continue
        _keep(engine, one, question, home / engine_id / name, known, force=force)
    if trial.answer is None:
        raise UnavailableError(f"{engine_id}: {trial.page.verdict} {trial.page.detail}".strip())
    line(f"add to {entry.path}: tests: - {{case: {case}, expect: {trial.page.verdict}}}")


def saved_answer(file: Path, url: str | None, engine_id: str, status: int) -> HttpResponse:
    """Return a saved file as the answer of an engine, from its own address where none is given."""
    catalogue = Catalogue(engine_folders((), Environment.read().values))
    address = url or catalogue.get(engine_id).spec.request.url
    return replace(read_saved(file, address), status=status)


def read_saved(file: Path, url: str) -> HttpResponse:
    """Return a saved file as an answer; raises InvalidInputError where it cannot be read."""
    try:
        body = file.read_bytes()
    except OSError as error:
        raise InvalidInputError(f"{file}: {error.strerror or error}") from error
    kind = _TYPES.get(file.suffix.lower(), "text/html; charset=utf-8")
    return HttpResponse(url=url, headers=(("Content-Type", kind),), body=body)


def _keep(
    engine: Engine,
    one: Exchange,
    query: Query,
    folder: Path,
    known: tuple[str, ...],
    *,
    force: bool,
) -> None:
    cleaned = redact(one.response, known)
    response = cleaned.response
    taken = None
    if one.step:
        values = engine.take(one.step, response)
        page = values if isinstance(values, Page) else Page(verdict=Verdict.OK)
        taken = None if isinstance(values, Page) else values
    else:
        page = engine.read(response, query.page, query)
    files = case_files(
        response,
        page,
        query=query.text,
        date=datetime.now(UTC).date().isoformat(),
        number=query.page,
        taken=taken,
        step=one.step,
    )
    refuse_secrets(files, known)
    write_case(folder, files, force=force)
    out = ", ".join(f"{count} {name}" for name, count in cleaned.counts) or "nothing"
    line(f"wrote {folder}: {page.verdict}, {len(page.rows)} rows; taken out: {out}")


def write_case(folder: Path, files: Mapping[str, bytes], *, force: bool) -> None:
    """Write a case's files; raises InvalidInputError where it exists and must not be replaced."""
    if folder.exists() and not force:
        raise InvalidInputError(f"{folder} exists", hint="choose another case, or add --force")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for old in folder.glob("response.*"):
            old.unlink()
        for name, data in files.items():
            (folder / name).write_bytes(data)
    except OSError as error:
        raise InvalidInputError(f"{folder}: {error.strerror or error}") from error


def known_secrets(engine: Engine, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return every key of an engine that the environment holds."""
    return tuple(value for key in engine.keys.values() for value in key_values(key, environ))
