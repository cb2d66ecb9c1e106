"""Commands that fetch or read pages: `fetch`, `read`, `links`, `json`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from server.cli.options import (
    AsJson,
    Format,
    Header,
    MaxBytes,
    Overrides,
    Render,
    Timeout,
    Url,
    fetching,
    headers_of,
)

__all__ = ["register"]


@fetching
def fetch(
    overrides: Overrides,
    urls: Annotated[list[str] | None, typer.Argument(help="One address, or up to ten.")] = None,
    form: Format = "markdown",
    query: Annotated[str | None, typer.Option(help="Only passages about this.")] = None,
    max_chunks: Annotated[int, typer.Option(min=1, max=20, help="Passages at most.")] = 5,
    selector: Annotated[str | None, typer.Option(help="Only this part: CSS.")] = None,
    section: Annotated[str | None, typer.Option(help="Only this part: a heading.")] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=200, max=200_000, help="Tokens to print.")
    ] = None,
    max_chars: Annotated[
        int, typer.Option(min=500, max=1_000_000, help="Characters to print.")
    ] = 50_000,
    max_bytes: MaxBytes = None,
    max_lines: Annotated[
        int | None, typer.Option(min=1, max=100_000, help="Lines to print.")
    ] = None,
    start_line: Annotated[int, typer.Option(min=1, help="The first line to print.")] = 1,
    render: Render = "auto",
    render_wait: Annotated[
        Literal["load", "networkidle"], typer.Option(help="What a browser waits for.")
    ] = "load",
    reader: Annotated[
        Literal["local", "jina", "tavily", "auto"], typer.Option(help="Who reads the page.")
    ] = "local",
    screenshot: Annotated[
        Path | None, typer.Option(help="Write a JPEG of the page to this file.")
    ] = None,
    fingerprint: Annotated[
        bool, typer.Option("--fingerprint", help="Show what a site sees of each fetch mode.")
    ] = False,
    timeout: Timeout = 20,
    as_json: AsJson = False,
) -> None:
    """Fetch a page and print it as Markdown."""
    from server.cli.reading import call, show_fingerprints

    if fingerprint:
        show_fingerprints(as_json=as_json)
        return
    if not urls:
        raise typer.BadParameter("name at least one address", param_hint="URLS")
    named = {"url": urls[0]} if len(urls) == 1 else {"urls": tuple(urls)}
    arguments = {
        **named,
        "format": form,
        "query": query,
        "max_chunks": max_chunks,
        "selector": selector,
        "section": section,
        "max_tokens": max_tokens,
        "max_chars": max_chars,
        "max_bytes": max_bytes,
        "max_lines": max_lines,
        "start_line": start_line,
        "render": render,
        "render_wait": render_wait,
        "reader": reader,
        "screenshot": screenshot is not None,
        "timeout": timeout,
    }
    call("web_fetch", arguments, overrides, as_json=as_json, image=screenshot)


def read(
    file: Annotated[Path, typer.Argument(help="A saved page; - for standard input.")],
    url: Annotated[str, typer.Option(help="The address it came from.")],
    form: Format = "markdown",
    as_json: AsJson = False,
) -> None:
    """Read a saved page, offline."""
    from server.cli.reading import read_file

    read_file(file, url=url, form=form, as_json=as_json)


@fetching
def links(
    url: Url,
    overrides: Overrides,
    scope: Annotated[
        Literal["all", "internal", "external"], typer.Option(help="Which links.")
    ] = "all",
    contains: Annotated[str | None, typer.Option(help="In the text or the address.")] = None,
    max_links: Annotated[int, typer.Option(min=1, max=1_000, help="Links at most.")] = 200,
    render: Render = "auto",
    timeout: Timeout = 20,
    as_json: AsJson = False,
) -> None:
    """List the links of a page."""
    from server.cli.reading import call

    arguments = {
        "url": url,
        "scope": scope,
        "contains": contains,
        "max_links": max_links,
        "render": render,
        "timeout": timeout,
    }
    call("extract_links", arguments, overrides, as_json=as_json)


@fetching
def fetch_json(
    url: Url,
    overrides: Overrides,
    jmes: Annotated[str | None, typer.Option(help="JMESPath of the part to print.")] = None,
    header: Header = None,
    max_bytes: MaxBytes = 50_000,
    timeout: Timeout = 20,
    as_json: AsJson = False,
) -> None:
    """Fetch JSON and print it, or a part of it."""
    from server.cli.reading import call

    arguments = {
        "url": url,
        "jmes": jmes,
        "headers": headers_of(header or []),
        "max_bytes": max_bytes,
        "timeout": timeout,
    }
    call("fetch_json", arguments, overrides, as_json=as_json)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(fetch)
    app.command()(read)
    app.command()(links)
    app.command("json")(fetch_json)
