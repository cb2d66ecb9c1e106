"""The work behind `consilience keys`, `proxies`, `cache` and `models`."""

from __future__ import annotations

import asyncio
import time
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError, NotFoundError, UnavailableError
from framework.evidence import models
from framework.spec.context import Variables
from framework.spec.environment import setting_values
from framework.types import HttpRequest, Page, Query, Verdict
from server.app import Application
from server.cli.calls import run_with
from server.cli.output import as_json as print_json
from server.cli.output import line, note, table
from server.cli.setup import settings_of
from server.wiring import downloader, models_dir
from spiders.failures import failed_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from middlewares.keys import KeyPool
    from middlewares.pools import MemberReport, Pool

__all__ = [
    "cache_clear",
    "cache_stats",
    "models_check",
    "models_fetch",
    "models_list",
    "show_keys",
    "show_proxies",
]

_WORKS = frozenset({Verdict.OK, Verdict.EMPTY})

#: A key pool by its engine and its name there.
_Named = tuple[str, str]


# Keys


def show_keys(overrides: Mapping[str, object], check_within: float | None, *, as_json: bool) -> int:
    """Print every engine's key pools, tried where `check_within` gives each engine seconds.

    Returns 1 where a tried engine refused its keys.
    """
    application = Application.create(settings_of(overrides))
    pools = {
        (entry.id, name): pool
        for entry in application.catalogue.entries()
        if entry.engine is not None
        for name, pool in application.policy.pools(entry.engine).items()
        if len(pool)
    }
    engines = {engine for engine, _ in pools} if check_within else set()
    verdicts, rests = _tried(application, engines, pools, check_within or 0.0)
    rows = [
        {"engine": engine, "pool": name, "keys": len(pool), "resting": rests[engine, name]}
        | {"verdict": verdicts.get((engine, name), "")}
        for (engine, name), pool in pools.items()
    ]
    if as_json:
        print_json([*rows])
    elif rows:
        headers = ("engine", "pool", "keys", "resting", "verdict")
        table(headers, ([str(row[name]) for name in headers] for row in rows))
    else:
        line("No keys are set; `consilience engines list` names the variables.")
    return int(any(verdict is Verdict.UNAUTHORISED for verdict in verdicts.values()))


def _resting(pool: KeyPool) -> str:
    now = time.time()
    return "; ".join(
        f"{report.number}: {report.text(now)}"
        for report in pool.reports()
        if report.retired or (report.until is not None and report.until > now)
    )


def _tried(
    application: Application,
    engines: set[str],
    pools: Mapping[_Named, KeyPool],
    timeout: float,
) -> tuple[dict[_Named, Verdict], dict[_Named, str]]:
    """Search with each key of each engine; return a pool's best verdict, and how its keys rest."""

    async def work(app: Application) -> tuple[dict[_Named, Verdict], dict[_Named, str]]:
        found = {
            named: await _best(app, named, len(pool), timeout)
            for named, pool in pools.items()
            if named[0] in engines
        }
        return found, {named: _resting(pool) for named, pool in pools.items()}

    return run_with(application, work)


async def _best(app: Application, named: _Named, count: int, timeout: float) -> Verdict:
    """Try each key of a pool; return that some key works, or what was said of the last one."""
    engine, hub = app.catalogue.get(named[0]), await app.hub()
    settings = setting_values(engine.spec, app.environment.values)

    async def attempt(keys: Mapping[str, str]) -> Page:
        variables = Variables(keys=keys, settings=settings, now=datetime.now(UTC))
        query = Query(text="test")
        return await hub.search_engine(engine, query, variables=variables, timeout=timeout)

    verdicts = []
    for number in range(1, count + 1):
        try:
            page = await app.policy.try_key(engine, named[1], number, attempt, deadline=timeout)
        except UnavailableError as error:
            page = failed_page(error)
        verdicts.append(page.verdict)
    return next((one for one in verdicts if one in _WORKS), verdicts[-1])


# Proxies


def show_proxies(
    overrides: Mapping[str, object], url: str | None, *, timeout: float, as_json: bool
) -> int:
    """Print every pool's members, tested against `url` if given, within `timeout` seconds each.

    Returns 1 where one failed.
    """
    application = Application.create(settings_of(overrides))
    for warning in () if url else application.proxies.warnings:
        note(f"warning: {warning}")
    pools = application.proxies.pools
    results = _tested(application, pools, url, timeout) if url else {}
    rows = [
        {**_rounded(report), "pool": name, "test": results.get((name, number), "")}
        for name, pool in pools.items()
        for number, report in enumerate(pool.reports())
    ]
    if as_json:
        print_json([*rows])
    elif rows:
        headers = ("pool", "name", "weight", "uses", "failures", "benched", "test")
        table(headers, ([str(row[name]) for name in headers] for row in rows))
    else:
        line("No proxy is set: requests leave directly.")
    return int(any(not result.startswith("ok") for result in results.values()))


def _rounded(report: MemberReport) -> dict[str, object]:
    return {**asdict(report), "benched": round(report.benched, 1)}


def _tested(
    application: Application, pools: Mapping[str, Pool], url: str, timeout: float
) -> dict[tuple[str, int], str]:
    """Test each member by itself; members may share a name and differ by their login."""

    async def one(app: Application, address: str) -> str:
        hub = await app.hub()
        start = time.monotonic()
        try:
            answer = await hub.fetch(HttpRequest(url=url), proxy=address, timeout=timeout)
        except ConsilienceError as error:
            return f"{error.code}: {error.message}"
        return f"ok, status {answer.status}, {(time.monotonic() - start) * 1000:.0f} ms"

    async def work(app: Application) -> dict[tuple[str, int], str]:
        members = [
            (name, number, member.url)
            for name, pool in pools.items()
            for number, member in enumerate(pool.members)
        ]
        results = await asyncio.gather(*(one(app, url) for *_, url in members))
        return {
            (name, number): result
            for (name, number, _), result in zip(members, results, strict=True)
        }

    return run_with(application, work)


# Cache


def cache_stats(*, as_json: bool) -> None:
    """Print how many pages the cache holds and their size."""
    stats = Application.create(settings_of({})).page_cache.stats()
    if as_json:
        print_json({"entries": stats.entries, "size": stats.size})
    else:
        line(f"{stats.entries} pages, {stats.size} bytes")


def cache_clear() -> None:
    """Remove every cached page and print how many there were."""
    line(f"{Application.create(settings_of({})).page_cache.clear()} pages removed")


# Models


def models_list(*, as_json: bool) -> None:
    """Print every known model and where its files were found."""
    rows = models.describe(models_dir(settings_of({})))
    if as_json:
        print_json([dict(row) for row in rows])
        return
    headers = list(rows[0]) if rows else []
    table(headers, ([row[name] for name in headers] for row in rows))


def models_check() -> int:
    """Check digests and load every model that was found; return 1 where one is broken.

    None found is fine. Files are compared with pinned digests, else with those they came with.
    """
    folder = models_dir(settings_of({}))
    broken = 0
    for record in models.RECORDS:
        found = models.find(record, folder)
        if found is None:
            line(f"{record.name}: not found")
            continue
        fine, said = _checked(record, found, folder)
        broken += not fine
        line(f"{record.name}: {said}")
    return int(broken > 0)


def _checked(record: models.ModelRecord, found: Path, folder: Path) -> tuple[bool, str]:
    """Whether a model can be used as it is, and what to say of it."""
    changed = ", ".join(models.damaged(record, found))
    packaged = found.as_posix().endswith(f"/{record.folder}") and bool(record.folder)
    if changed and not packaged:
        return False, (
            f"{changed} in {found} changed since it came, by its sha256; "
            f"run `consilience models fetch {record.name}`"
        )
    try:
        models.load(record, folder)
    except ConsilienceError as error:
        return False, str(error)
    return True, f"fine, but {changed} is not the one that was measured" if changed else "fine"


def models_fetch(
    names: Sequence[str], folder: Path | None, overrides: Mapping[str, object], timeout: float
) -> None:
    """Fetch models into a folder, each file within `timeout` seconds and checked by its digest.

    Without names all that can be downloaded. One that fails does not keep the others from coming.

    Raises:
        NotFoundError: no such model.
        ConsilienceError: a file could not be fetched or is not what was expected.
    """
    settings = settings_of(overrides)
    known = {record.name: record for record in models.RECORDS}
    for name in names:
        if name not in known:
            raise NotFoundError(f"unknown model {name!r}", hint=f"known: {', '.join(known)}")
    target = folder or models_dir(settings)
    mirror = settings.models_url or ""
    able = [name for name, record in known.items() if record.hub and (record.repository or mirror)]
    failures: list[ConsilienceError] = []

    async def work(app: Application) -> None:
        get = downloader(app, timeout)
        for name in names or able:
            try:
                await asyncio.to_thread(
                    models.fetch, known[name], target, get, mirror=mirror, progress=note
                )
            except ConsilienceError as error:
                failures.append(error)
                note(f"{name}: {error}")
            else:
                line(f"{name}: {target / name}")

    run_with(Application.create(settings), work)
    if failures:
        raise failures[0]
