"""Commands for evidence: `context`, `research`, `verify`, `extract`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import (
    AsJson,
    EngineIds,
    Overrides,
    Render,
    Rerank,
    Timeout,
    Url,
    fetching,
    split,
)

__all__ = ["register"]


def _call(name: str, arguments: dict[str, object], overrides: Overrides, *, as_json: bool) -> None:
    from server.cli.reading import call

    call(name, arguments, overrides, as_json=as_json)


@fetching
def context(
    url: Url,
    task: Annotated[str, typer.Argument(help="What you want to know.")],
    overrides: Overrides,
    max_tokens: Annotated[int, typer.Option(min=200, max=20_000, help="Tokens to print.")] = 1_800,
    min_score: Annotated[
        float, typer.Option(min=0, max=1, help="Only passages at least so good.")
    ] = 0.0,
    rerank: Rerank = True,
    render: Render = "auto",
    timeout: Timeout = 20,
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
    _call("web_context", arguments, overrides, as_json=as_json)


@fetching
def research(
    query: Annotated[str, typer.Argument(help="The question.")],
    overrides: Overrides,
    depth: Annotated[int, typer.Option(min=1, max=8, help="Pages to read.")] = 4,
    max_tokens_total: Annotated[
        int, typer.Option(min=500, max=20_000, help="Tokens to print.")
    ] = 3_000,
    engine_ids: EngineIds = None,
    rerank: Rerank = True,
    timeout: Timeout = 20,
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
    _call("web_research", arguments, overrides, as_json=as_json)


@fetching
def verify(
    claim: Annotated[str, typer.Argument(help="A full sentence.")],
    overrides: Overrides,
    source: Annotated[
        list[str] | None, typer.Option(help="A page, repeatable; without any it searches.")
    ] = None,
    max_tokens_per_source: Annotated[
        int, typer.Option(min=200, max=8_000, help="Tokens read of each.")
    ] = 1_400,
    engine_ids: EngineIds = None,
    timeout: Timeout = 20,
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
    _call("web_verify", arguments, overrides, as_json=as_json)


@fetching
def extract(
    url: Url,
    schema: Annotated[Path, typer.Argument(help="A file with a JSON Schema or an example.")],
    overrides: Overrides,
    query: Annotated[str, typer.Option(help="Which item, if there are many.")] = "",
    render: Render = "auto",
    timeout: Timeout = 20,
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
    _call("web_extract", arguments, overrides, as_json=as_json)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    for command in (context, research, verify, extract):
        app.command()(command)
