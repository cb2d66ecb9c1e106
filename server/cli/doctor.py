"""The work behind `consilience engines doctor|report`: what works, what does not, since when."""

from __future__ import annotations

import time
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError, InvalidInputError
from framework.types import Query, Verdict
from server.app import Application
from server.cli.calls import run_with
from server.cli.output import as_json as print_json
from server.cli.output import line, note, table
from server.cli.setup import settings_of
from server.cli.trying import attempt
from server.health import STATES, Health, Live, by_need, examine
from server.status import render_status

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["doctor", "report"]


def doctor(
    ids: Sequence[str],
    overrides: Mapping[str, object],
    *,
    live: bool,
    query: str,
    timeout: float,
    replay: bool,
    as_json: bool,
) -> int:
    """Print every engine's health; return 1 where a file, a recording or a live answer is bad.

    With `live` each engine that is neither resting nor disabled is asked once, one after the
    other, by all its rules.
    """
    found = _found(ids, overrides, live=live, query=query, timeout=timeout, replay=replay)
    if as_json:
        print_json([_data(one) for one in found])
    else:
        _show(found)
    bad = {"broken", "trouble"} if live else {"broken"}
    return int(any(one.state in bad for one in found))


def report(
    ids: Sequence[str],
    output: Path,
    overrides: Mapping[str, object],
    *,
    live: bool,
    query: str,
    timeout: float,
    replay: bool,
) -> None:
    """Write the status page; raises InvalidInputError where the file cannot be written."""
    found = _found(ids, overrides, live=live, query=query, timeout=timeout, replay=replay)
    try:
        output.write_text(render_status(found, datetime.now(UTC)), encoding="utf-8")
    except OSError as error:
        raise InvalidInputError(f"{output}: {error.strerror or error}") from error
    line(f"wrote {output}")


def _found(
    ids: Sequence[str],
    overrides: Mapping[str, object],
    *,
    live: bool,
    query: str,
    timeout: float,
    replay: bool,
) -> list[Health]:
    application = Application.create(settings_of(overrides), replay=replay)
    if not live:
        return examine(application, ids)

    async def work(app: Application) -> list[Health]:
        return [await _asked(app, one, query, timeout) for one in examine(app, ids)]

    return by_need(run_with(application, work))


async def _asked(app: Application, one: Health, query: str, timeout: float) -> Health:
    if one.problems or one.resting or (one.disabled and app.replay is None):
        return one
    note(f"asking {one.id}")
    began = time.perf_counter()
    try:
        page = (await attempt(app, app.catalogue.get(one.id), Query(text=query), timeout)).page
        live = Live(verdict=page.verdict, rows=len(page.rows), drift=page.drift, detail=page.detail)
    except ConsilienceError as error:
        known = {verdict.value for verdict in Verdict}
        verdict = Verdict(error.code) if error.code in known else Verdict.ERROR
        live = Live(verdict=verdict, detail=str(error))
    took = round((time.perf_counter() - began) * 1000)
    return replace(one, live=replace(live, elapsed_ms=took))


def _data(one: Health) -> dict[str, object]:
    data = {key: value for key, value in asdict(one).items() if key != "slots"}
    return {
        **data,
        "state": one.state,
        "history": {verdict.value: count for verdict, count in one.history},
    }


def _show(found: Sequence[Health]) -> None:
    live = any(one.live for one in found)
    heads = ("engine", "state", "file", "drift", "keys", "last week", *(("live",) if live else ()))
    table(heads, ([*_cells(one), *([_live(one)] if live else [])] for one in found))
    counts = {state: sum(one.state == state for one in found) for state in STATES}
    said = ", ".join(f"{count} {state}" for state, count in counts.items() if count)
    line()
    line(f"{len(found)} engines: {said}")
    for one in found:
        for problem in one.problems[:3]:
            line(f"  {problem}")


def _cells(one: Health) -> list[str]:
    file = f"{len(one.problems)} problems" if one.problems else f"{one.cases} recordings"
    state = one.state
    if one.resting:
        state = f"{one.state}: {one.resting} until {one.resting_until}"
    elif one.state == "disabled":
        state = one.disabled
    keys = f"{one.keys - one.keys_resting}/{one.keys}" if one.keys else ""
    week = ", ".join(f"{count} {verdict.value}" for verdict, count in one.history)
    return [one.id, state, file, f"{one.drift:.0%}" if one.drift else "", keys, week]


def _live(one: Health) -> str:
    if one.live is None:
        return "not asked"
    rows = f", {one.live.rows} rows" if one.live.rows else ""
    return f"{one.live.verdict.value}{rows}, {one.live.elapsed_ms} ms"
