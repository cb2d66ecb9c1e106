"""`consilience engines`: look at, check and try engine files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from framework.types import Kind
from server.cli.options import (
    AsJson,
    EngineId,
    Engines,
    Force,
    Header,
    KindOption,
    Overrides,
    Replay,
    SavedFrom,
    SavedUrl,
    Status,
    Timeout,
    fetching,
)

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="Look at, check and try engine files.", rich_markup_mode=None
)


@app.command("list")
def listing(as_json: AsJson = False) -> None:
    """List every engine with its kind, index lineage and state."""
    from server.cli.engine_files import listing as run

    run(as_json=as_json)


@app.command()
def check(
    ids: Engines = None,
    as_json: AsJson = False,
    annotations: Annotated[
        bool, typer.Option("--annotations", help="Print problems as CI annotations.")
    ] = False,
) -> None:
    """Check files against the language and run every recorded page, offline."""
    from server.cli.engine_files import check as run

    raise typer.Exit(run(tuple(ids or ()), as_json=as_json, annotations=annotations))


@app.command()
def read(
    engine: EngineId,
    file: Annotated[Path, typer.Argument(help="A saved answer.")],
    url: SavedUrl = None,
    query: Annotated[str | None, typer.Option(help="The query; else read back from --url.")] = None,
    status: Status = 200,
    header: Header = None,
    as_json: AsJson = False,
) -> None:
    """Read a saved answer with an engine, offline."""
    from server.cli.engine_files import read as run

    run(engine, file, url=url, query=query, status=status, headers=header or [], as_json=as_json)


@app.command()
def schema() -> None:
    """Print the JSON Schema of engine files, for editors."""
    from server.cli.engine_files import schema as run

    run()


_NEW_ID = typer.Argument(help="The file's name; else that of the site in --url.")
_QUESTION = typer.Argument(help="What to ask.")


@app.command()
@fetching
def new(
    url: Annotated[str, typer.Option(help="The address of a search, as a browser shows it.")],
    overrides: Overrides,
    engine: Annotated[str | None, _NEW_ID] = None,
    file: SavedFrom = None,
    query: Annotated[
        str | None, typer.Option(help="The query in --url; else read from it.")
    ] = None,
    name: Annotated[str, typer.Option(help="A name for people.")] = "",
    kind: KindOption = Kind.WEB,
    force: Force = False,
    timeout: Timeout = 15,
) -> None:
    """Propose an engine file from a page of results, with a first recorded answer."""
    from framework.authoring.asking import id_of
    from server.cli.authoring import new as run

    run(
        engine or id_of(url),
        overrides,
        url=url,
        file=file,
        query=query,
        name=name,
        kind=kind,
        force=force,
        timeout=timeout,
    )


@app.command("try")
@fetching
def try_out(
    engine: EngineId,
    query: Annotated[str, _QUESTION],
    overrides: Overrides,
    timeout: Timeout = 15,
    replay: Replay = False,
    as_json: AsJson = False,
) -> None:
    """Ask an engine once and show which of its picks yield what."""
    from server.cli.trying import try_out as run

    code = run(engine, query, overrides, timeout=timeout, replay=replay, as_json=as_json)
    raise typer.Exit(code)


@app.command()
@fetching
def record(
    engine: EngineId,
    case: Annotated[str, typer.Argument(help="A name for what the answer shows: ok, captcha.")],
    query: Annotated[str, _QUESTION],
    overrides: Overrides,
    page: Annotated[int, typer.Option(min=1, max=50, help="Which page of results.")] = 1,
    timeout: Timeout = 15,
    force: Force = False,
    replay: Replay = False,
    file: SavedFrom = None,
    url: SavedUrl = None,
    status: Status = 200,
) -> None:
    """Ask an engine once and keep the answer as a test case; keys and the like are taken out."""
    from server.cli.trying import record as run
    from server.cli.trying import saved_answer

    run(
        engine,
        case,
        query,
        overrides,
        page=page,
        timeout=timeout,
        force=force,
        replay=replay,
        saved=saved_answer(file, url, engine, status) if file is not None else None,
    )


@app.command()
def heal(
    engine: EngineId,
    file: Annotated[Path, typer.Argument(help="The page that it cannot read.")],
    url: SavedUrl = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The patch; default ID.patch.")
    ] = None,
    apply: Annotated[bool, typer.Option("--apply", help="Change the engine's file.")] = False,
) -> None:
    """Propose new selectors for a page that has changed; the file stays as it is."""
    from server.cli.authoring import heal as run

    raise typer.Exit(run(engine, file, url=url, output=output, apply=apply))


@app.command()
def migrate(
    ids: Engines = None,
    apply: Annotated[bool, typer.Option("--apply", help="Write the files.")] = False,
) -> None:
    """Show what files need for the current version of the language."""
    from server.cli.authoring import migrate as run

    raise typer.Exit(run(tuple(ids or ()), apply=apply))


_LIVE = typer.Option("--live", help="Ask each engine once, by its pace.")
_LIVE_QUERY = typer.Option("--query", help="What --live asks.")


@app.command()
@fetching
def doctor(
    overrides: Overrides,
    ids: Engines = None,
    live: Annotated[bool, _LIVE] = False,
    query: Annotated[str, _LIVE_QUERY] = "javascript tutorial",
    timeout: Timeout = 15,
    replay: Replay = False,
    as_json: AsJson = False,
) -> None:
    """Show how every engine does: file, recordings, rests, keys, answers of the last week."""
    from server.cli.doctor import doctor as run

    code = run(
        tuple(ids or ()),
        overrides,
        live=live,
        query=query,
        timeout=timeout,
        replay=replay,
        as_json=as_json,
    )
    raise typer.Exit(code)


@app.command()
@fetching
def report(
    output: Annotated[Path, typer.Option("--output", "-o", help="The page to write.")],
    overrides: Overrides,
    ids: Engines = None,
    live: Annotated[bool, _LIVE] = False,
    query: Annotated[str, _LIVE_QUERY] = "javascript tutorial",
    timeout: Timeout = 15,
    replay: Replay = False,
) -> None:
    """Write the health of all engines as one HTML page that needs nothing else."""
    from server.cli.doctor import report as run

    run(
        tuple(ids or ()),
        output,
        overrides,
        live=live,
        query=query,
        timeout=timeout,
        replay=replay,
    )
