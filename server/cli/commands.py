"""The command table: names, options and help; the work is imported when a command runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from framework.types import Kind, SafeSearch, TimeRange
from server.cli import deep, engines, evidence_commands, inspecting, page_commands, upkeep
from server.cli.options import (
    AsJson,
    Compact,
    EngineIds,
    KindOption,
    MaxResults,
    Overrides,
    Replay,
    ReplayDir,
    Sampling,
    Timeout,
    Tools,
    fetching,
    split,
)

__all__ = ["app"]

app = typer.Typer(
    name="consilience",
    help="Web search, reading and evidence for AI agents: engines are YAML files.",
    epilog='Start with: consilience search "javascript tutorial" --replay',
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        from server.version import VERSION

        typer.echo(f"consilience {VERSION}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    return None


@app.command()
@fetching
def search(
    query: Annotated[str, typer.Argument(help="What to look for.")],
    overrides: Overrides,
    engine_ids: EngineIds = None,
    kind: KindOption = Kind.WEB,
    max_results: MaxResults = 10,
    page: Annotated[int, typer.Option(min=1, max=10, help="Which page of results.")] = 1,
    region: Annotated[str | None, typer.Option(help="For example de-DE.")] = None,
    language: Annotated[str | None, typer.Option(help="For example de.")] = None,
    safe: Annotated[SafeSearch | None, typer.Option(help="How strict engines filter.")] = None,
    time: Annotated[TimeRange | None, typer.Option(help="Not older than this.")] = None,
    start_published_date: Annotated[str | None, typer.Option(help="YYYY-MM-DD.")] = None,
    include_domains: Annotated[
        str | None, typer.Option(help="Only these, comma-separated.")
    ] = None,
    exclude_domains: Annotated[str | None, typer.Option(help="Not these.")] = None,
    include_highlights: Annotated[
        bool, typer.Option("--include-highlights", help="Sentences on the query, in the JSON.")
    ] = False,
    highlight_sentences: Annotated[int, typer.Option(min=1, max=10, help="How many.")] = 3,
    timeout: Timeout = 10,
    explain: Annotated[bool, typer.Option("--explain", help="Show each rank's reckoning.")] = False,
    place: Annotated[
        int | None, typer.Option("--open", min=1, max=50, help="Open this result in the browser.")
    ] = None,
    replay: Replay = False,
    replay_dir: ReplayDir = None,
    as_json: AsJson = False,
) -> None:
    """Search several engines at once and merge their answers."""
    from server.cli.searching import run

    arguments = {
        "query": query,
        "engines": split(engine_ids),
        "kind": kind,
        "max_results": max_results,
        "page": page,
        "region": region,
        "language": language,
        "safe": safe,
        "time": time,
        "start_published_date": start_published_date,
        "include_domains": split(include_domains) or (),
        "exclude_domains": split(exclude_domains) or (),
        "include_highlights": include_highlights,
        "highlight_sentences": highlight_sentences,
        "timeout": timeout,
    }
    run(
        arguments,
        overrides,
        explain=explain,
        replay=replay_dir or replay,
        as_json=as_json,
        place=place,
    )


page_commands.register(app)
evidence_commands.register(app)
deep.register(app)


def _chosen(tools: str | None, compact: bool) -> tuple[str, ...]:
    return (*(("compact",) if compact else ()), *(split(tools) or ()))


@app.command()
@fetching
def mcp(
    context: typer.Context,
    overrides: Overrides,
    tools: Tools = None,
    compact: Compact = False,
    engine_ids: EngineIds = None,
    sampling: Sampling = None,
    replay: Replay = False,
) -> None:
    """Serve MCP on standard input and output."""
    from server.cli.serving import serve_stdio
    from server.cli.setup import settings_of

    own = {"default_engines": split(engine_ids), "sampling": sampling}
    serve_stdio(
        settings_of({**overrides, **own}), _chosen(tools, compact), context.obj, replay=replay
    )


@app.command()
@fetching
def serve(
    overrides: Overrides,
    host: Annotated[str | None, typer.Option(help="Address to listen on: 127.0.0.1.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port: 3000.")] = None,
    allow_host: Annotated[
        list[str] | None, typer.Option(help="A name this server is called by, repeatable.")
    ] = None,
    allow_origin: Annotated[
        list[str] | None, typer.Option(help="A web origin that may call it, repeatable.")
    ] = None,
    cors: Annotated[
        bool, typer.Option("--cors", help="Send CORS headers to those origins.")
    ] = False,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes.")] = 1,
    tools: Tools = None,
    compact: Compact = False,
    engine_ids: EngineIds = None,
    sampling: Sampling = None,
    replay: Replay = False,
) -> None:
    """Serve MCP at /mcp, a browser page at / and plain HTTP search."""
    from server.cli.serving import serve_http

    own = {
        "host": host,
        "port": port,
        "allow_hosts": allow_host or None,
        "cors_origin": allow_origin or None,
        "enable_cors": cors or None,
        "default_engines": split(engine_ids),
        "sampling": sampling,
    }
    serve_http({**overrides, **own}, _chosen(tools, compact), workers=workers, replay=replay)


@app.command()
@fetching
def batch(
    queries: Annotated[Path, typer.Argument(help="One query a line; - is standard input.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="A JSON line for each query.")],
    overrides: Overrides,
    engine_ids: EngineIds = None,
    max_results: MaxResults = 10,
    timeout: Timeout = 30,
    concurrency: Annotated[int, typer.Option(min=1, max=64, help="Searches at once.")] = 4,
    retries: Annotated[
        int, typer.Option(min=0, max=10, help="When no engine can answer for now.")
    ] = 2,
    replay: Replay = False,
    replay_dir: ReplayDir = None,
) -> None:
    """Search every query of a file.

    Started again, it goes on where it was ended.
    """
    from server.cli.batch import run

    code = run(
        queries,
        output,
        overrides,
        engines=split(engine_ids),
        max_results=max_results,
        timeout=timeout,
        concurrency=concurrency,
        retries=retries,
        replay=replay_dir or replay,
    )
    raise typer.Exit(code)


@app.command()
def install(
    clients: Annotated[
        list[str] | None, typer.Argument(help="Clients, for example cursor; all found for none.")
    ] = None,
    only_print: Annotated[
        bool, typer.Option("--print", help="Print entries and links; change nothing.")
    ] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take the entry out.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> None:
    """Enter this server into MCP clients.

    Shows each change before it is made, and keeps a backup.
    """
    from server.cli.installing import run

    run(clients or (), only_print=only_print, uninstall=uninstall, yes=yes)


@app.command()
def init(
    folder: Annotated[Path, typer.Argument(help="The folder to set up.")] = Path(),
) -> None:
    """Set a folder up for own engines and crawls.

    Nothing that exists is overwritten.
    """
    from server.cli.project import init as run

    run(folder)


upkeep.register(app)

_PASS_ON = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}


@app.command(context_settings=_PASS_ON, add_help_option=False)
def crawl(context: typer.Context) -> None:
    """Run `scrapy crawl` with our spiders; all arguments are Scrapy's."""
    from server.cli.project import scrapy

    scrapy("crawl", context.args)


@app.command(context_settings=_PASS_ON, add_help_option=False)
def spiders(context: typer.Context) -> None:
    """List the spiders, as `scrapy list` does."""
    from server.cli.project import scrapy

    scrapy("list", context.args)


app.add_typer(engines.app, name="engines")
app.add_typer(inspecting.app, name="inspect")
