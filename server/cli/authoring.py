"""The work behind `consilience engines new|heal|migrate`: proposals for engine files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from framework.authoring.asking import asked
from framework.authoring.edits import unified
from framework.authoring.heal import heal as find_healing
from framework.authoring.hits import field_hits
from framework.authoring.migrate import migrate as migrate_text
from framework.authoring.patching import patched
from framework.authoring.propose import propose
from framework.authoring.redact import redact, refuse_secrets
from framework.authoring.scaffold import case_files, scaffold
from framework.errors import InvalidInputError, UnavailableError
from framework.spec.catalogue import Catalogue
from framework.spec.compiler import compile_text
from framework.spec.folders import engine_folders
from framework.types import FetchMode, HttpRequest, HttpResponse, Kind, Verdict
from server.cli.calls import run_with
from server.cli.output import line, note, table
from server.cli.trying import read_saved, write_case
from server.config import Environment

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from framework.authoring.heal import Healing
    from framework.authoring.scaffold import NewEngine
    from framework.spec.catalogue import Entry
    from framework.spec.compiler import Engine
    from server.app import Application

__all__ = ["heal", "migrate", "new"]


def _catalogue() -> Catalogue:
    return Catalogue(engine_folders((), Environment.read().values))


# -- new ---------------------------------------------------------------------------------------


def new(
    engine_id: str,
    overrides: Mapping[str, object],
    *,
    url: str,
    file: Path | None,
    query: str | None,
    name: str,
    kind: Kind,
    force: bool,
    timeout: float,
) -> None:
    """Write a proposed engine file and its first recorded answer into the working folder.

    Raises InvalidInputError where the page shows no rows, the address no query, or the engine
    exists; UnavailableError where no page is given and none can be fetched.
    """
    text = query or asked(url)
    body = read_saved(file, url) if file is not None else _fetched(url, overrides, timeout)
    response = redact(body).response
    made = _first_good(response, engine_id, url, text, name, kind)
    path = Path("engines.d") / f"{engine_id}.yaml"
    if path.exists() and not force:
        raise InvalidInputError(f"{path} exists", hint="choose another id, or add --force")
    files = case_files(response, made.page, query=text)
    refuse_secrets(files)
    path.parent.mkdir(exist_ok=True)
    path.write_text(made.text, encoding="utf-8")
    line(f"wrote {path}")
    folder = Path("fixtures") / engine_id / made.case
    write_case(folder, files, force=True)
    line(f"wrote {folder}")
    hits = field_hits(compile_text(made.text, str(path)), response)
    rows = ([h.name, f"{h.hits}/{h.rows}", h.sample[:90]] for h in hits)
    table(("field", "rows", "first value"), rows)
    note(f"look it over, then: consilience engines check {engine_id}")


def _first_good(
    response: HttpResponse, engine_id: str, url: str, query: str, name: str, kind: Kind
) -> NewEngine:
    drafts = propose(response)
    if not drafts:
        raise InvalidInputError(
            "nothing in the page repeats like rows with titles and links",
            hint="save a page that shows several results; for a page made by scripts, save what "
            "the script fetches",
        )
    for draft in drafts[:-1]:
        try:
            return scaffold(
                draft, response, id=engine_id, address=url, query=query, name=name, kind=kind
            )
        except InvalidInputError as error:
            if not error.message.startswith("the proposal"):
                raise
    return scaffold(
        drafts[-1], response, id=engine_id, address=url, query=query, name=name, kind=kind
    )


def _fetched(url: str, overrides: Mapping[str, object], timeout: float) -> HttpResponse:
    from server.app import Application
    from server.cli.setup import settings_of

    async def fetch(app: Application) -> HttpResponse:
        hub = await app.hub()
        return await hub.fetch(HttpRequest(url=url), mode=FetchMode.IMPERSONATE, timeout=timeout)

    response = run_with(Application.create(settings_of(overrides)), fetch)
    if response.status >= 400:
        raise UnavailableError(
            f"{url} answers with status {response.status}",
            hint="save the page in a browser and name it with --from",
        )
    return response


# -- heal --------------------------------------------------------------------------------------


def heal(
    engine_id: str,
    file: Path,
    *,
    url: str | None,
    output: Path | None,
    apply: bool,
) -> int:
    """Propose how an engine could read a page that it no longer reads.

    The proposal is printed, and written as a patch; engine files change with `apply` alone.
    Returns 0 where nothing is needed or something was found, else 1.
    """
    catalogue = _catalogue()
    entry, engine = catalogue.entry(engine_id), catalogue.get(engine_id)
    good = [
        fixture.response
        for fixture in catalogue.fixtures(engine_id)
        if fixture.expected and fixture.expected.get("results") and fixture.meta.step is None
    ]
    response = read_saved(file, url or engine.spec.request.url)
    healing = find_healing(engine, entry.values, good, response)
    if not healing.changes:
        line(f"no proposal: {healing.reason}")
        return int(healing.page is None or healing.page.verdict is not Verdict.OK)
    _show(healing)
    before = _texts(catalogue, entry, engine)
    after = patched(before, healing.changes)
    patch = "".join(unified(before[name], text, name) for name, text in after.items())
    line()
    line(patch.rstrip("\n"))
    if apply:
        for name, text in after.items():
            Path(name).write_text(text, encoding="utf-8")
            note(f"changed {name}; next: consilience engines check {engine_id}")
        return 0
    target = output or Path(f"{engine_id}.patch")
    target.write_text(patch, encoding="utf-8")
    note(f"wrote {target}; nothing else was changed. --apply makes the change")
    return 0


def _texts(catalogue: Catalogue, entry: Entry, engine: Engine) -> dict[str, str]:
    from framework.spec.source import shown

    paths = [entry.path, *(catalogue.entry(name).path for name in engine.parents)]
    return {shown(path.resolve()): path.read_text(encoding="utf-8") for path in paths}


def _show(healing: Healing) -> None:
    rows = len(healing.page.rows) if healing.page else 0
    line(f"{rows} rows can be read again; certainty {healing.certainty:.2f}")
    table(
        ("part", "now", "proposed", "before", "after"),
        (
            [
                ".".join(change.path[1:]) or change.path[0],
                _short(change.old),
                "nothing found" if change.new is None else _short(change.new),
                str(change.hits[0]),
                str(change.hits[1]),
            ]
            for change in healing.changes
        ),
    )
    for row in (healing.page.rows if healing.page else ())[:3]:
        line(f"  {row.rank}. {row.title[:70]}  {row.url[:80]}")


def _short(value: object) -> str:
    from framework.authoring.yamltext import inline

    text = inline(value)
    return text if len(text) <= 60 else text[:59] + "…"


# -- migrate -----------------------------------------------------------------------------------


def migrate(ids: Sequence[str], *, apply: bool) -> int:
    """Print what files need for the current version of the language, or write it with `apply`.

    Returns 1 where files are not current and nothing was written, else 0.
    """
    catalogue = _catalogue()
    entries = [catalogue.entry(name) for name in ids] if ids else catalogue.entries()
    stale = 0
    for entry in entries:
        before = entry.path.read_text(encoding="utf-8")
        after = migrate_text(before)
        if after == before:
            continue
        stale += 1
        if apply:
            entry.path.write_text(after, encoding="utf-8")
            line(f"migrated {entry.path}")
        else:
            line(unified(before, after, entry.path.name).rstrip("\n"))
    line(f"{len(entries)} files, {len(entries) - stale} in the current version")
    return int(stale > 0 and not apply)
