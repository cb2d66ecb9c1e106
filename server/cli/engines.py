"""`consilience engines`: look at, check and try engine files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import AsJson

__all__ = ["app"]

app = typer.Typer(
    no_args_is_help=True, help="Look at, check and try engine files.", rich_markup_mode=None
)

Ids = Annotated[list[str] | None, typer.Argument(help="Engine ids; all of them for none.")]


@app.command("list")
def listing(as_json: AsJson = False) -> None:
    """List every engine with its kind, index lineage and state."""
    from server.cli.engine_files import listing as run

    run(as_json=as_json)


@app.command()
def check(
    ids: Ids = None,
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
    engine: Annotated[str, typer.Argument(help="An engine id.")],
    file: Annotated[Path, typer.Argument(help="A saved answer.")],
    url: Annotated[str | None, typer.Option(help="The address it came from.")] = None,
    query: Annotated[str | None, typer.Option(help="The query; else read back from --url.")] = None,
    status: Annotated[int, typer.Option(min=100, max=599)] = 200,
    header: Annotated[list[str] | None, typer.Option(help="NAME:VALUE, repeatable.")] = None,
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
