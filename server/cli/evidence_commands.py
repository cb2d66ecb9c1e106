"""Commands for evidence: `context`, `research`, `verify`, `extract`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from server.cli.options import AsJson, Debug, DebugFile, EngineIds, Proxy, overrides_of, split

__all__ = ["register"]

PageTimeout = Annotated[float, typer.Option("--timeout", min=1, max=60, help="Seconds a page.")]
Rerank = Annotated[bool, typer.Option("--rerank/--no-rerank", help="Use a cross-encoder.")]
Render = Annotated[Literal["never", "auto", "always"], typer.Option(help="Use a browser.")]


def _call(
    name: str,
    arguments: dict[str, object],
    shared: tuple[str | None, bool, Path | None],
    as_json: bool,
) -> None:
    from server.cli.reading import call

    proxy, debug, debug_file = shared
    overrides = overrides_of(proxy, debug, debug_file)
    call(name, arguments, overrides, as_json=as_json)


def context(
    url: Annotated[str, typer.Argument(help="The page.")],
    task: Annotated[str, typer.Argument(help="What you want to know.")],
    max_tokens: Annotated[int, typer.Option(min=200, max=20_000)] = 1_800,
    min_score: Annotated[float, typer.Option(min=0, max=1)] = 0.0,
    rerank: Rerank = True,
    render: Render = "auto",
    timeout: PageTimeout = 20,
    proxy: Proxy = None,
    debug: Debug = False,
    debug_file: DebugFile = None,
    as_json: AsJson = False,
) -> None:
    """Print the passages of a page that serve a task."""
    arguments: dict[str, object] = {
        "url": url,
        "task": task,
        "max_tokens": max_tokens,
        "min_score": min_score,
        "rerank": rerank,
        "render": render,
        "timeout": timeout,
    }
    _call("web_context", arguments, (proxy, debug, debug_file), as_json)


def research(
    query: Annotated[str, typer.Argument(help="The question.")],
    depth: Annotated[int, typer.Option(min=1, max=8, help="Pages to read.")] = 4,
    max_tokens_total: Annotated[int, typer.Option(min=500, max=20_000)] = 3_000,
    engine_ids: EngineIds = None,
    rerank: Rerank = True,
    timeout: PageTimeout = 20,
    proxy: Proxy = None,
    debug: Debug = False,
    debug_file: DebugFile = None,
    as_json: AsJson = False,
) -> None:
    """Search, read the best pages and weigh what they say together."""
    arguments: dict[str, object] = {
        "query": query,
        "depth": depth,
        "max_tokens_total": max_tokens_total,
        "engines": split(engine_ids),
        "rerank": rerank,
        "timeout": timeout,
    }
    _call("web_research", arguments, (proxy, debug, debug_file), as_json)


def verify(
    claim: Annotated[str, typer.Argument(help="A full sentence.")],
    source: Annotated[
        list[str] | None, typer.Option(help="A page, repeatable; without any it searches.")
    ] = None,
    max_tokens_per_source: Annotated[int, typer.Option(min=200, max=8_000)] = 1_400,
    engine_ids: EngineIds = None,
    timeout: PageTimeout = 20,
    proxy: Proxy = None,
    debug: Debug = False,
    debug_file: DebugFile = None,
    as_json: AsJson = False,
) -> None:
    """Judge a claim against pages."""
    arguments: dict[str, object] = {
        "claim": claim,
        "sources": tuple(source or ()),
        "max_tokens_per_source": max_tokens_per_source,
        "engines": split(engine_ids),
        "timeout": timeout,
    }
    _call("web_verify", arguments, (proxy, debug, debug_file), as_json)


def extract(
    url: Annotated[str, typer.Argument(help="The page.")],
    schema: Annotated[Path, typer.Argument(help="A file with a JSON Schema or an example.")],
    query: Annotated[str, typer.Option(help="Which item, if there are many.")] = "",
    render: Render = "auto",
    timeout: PageTimeout = 20,
    proxy: Proxy = None,
    debug: Debug = False,
    debug_file: DebugFile = None,
    as_json: AsJson = False,
) -> None:
    """Fill a JSON Schema from a page."""
    from server.cli.reading import json_file

    arguments: dict[str, object] = {
        "url": url,
        "schema": json_file(schema),
        "query": query,
        "render": render,
        "timeout": timeout,
    }
    _call("web_extract", arguments, (proxy, debug, debug_file), as_json)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for command in (context, research, verify, extract):
        app.command()(command)
