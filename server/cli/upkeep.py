"""Commands about the service itself: `keys`, `proxies`, `cache`, `models`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from server.cli.options import AsJson, Overrides, Timeout, fetching

__all__ = ["register"]

cache = typer.Typer(
    no_args_is_help=True, help="The page cache: what it holds, and clearing it.",
    rich_markup_mode=None,
)  # fmt: skip
models = typer.Typer(
    no_args_is_help=True, help="Models for evidence: list, fetch, check.", rich_markup_mode=None
)

FileTimeout = Annotated[
    float, typer.Option("--timeout", min=1, max=3600, help="Seconds for each file.")
]
Folder = Annotated[Path | None, typer.Option(help="Where models are kept.")]


@fetching
def keys(
    overrides: Overrides,
    check: Annotated[bool, typer.Option("--check", help="Try each key with one search.")] = False,
    timeout: Timeout = 15,
    as_json: AsJson = False,
) -> None:
    """Show the key pools.

    How many keys there are, which rest and until when; never a key.
    """
    from server.cli.service import show_keys

    raise typer.Exit(show_keys(overrides, timeout if check else None, as_json=as_json))


@fetching
def proxies(
    overrides: Overrides,
    check: Annotated[bool, typer.Option("--check", help="Test each proxy.")] = False,
    url: Annotated[str, typer.Argument(help="What to test with.")] = "https://www.bing.com/",
    timeout: Timeout = 15,
    as_json: AsJson = False,
) -> None:
    """Show the proxy pools and test their members.

    A password is never shown.
    """
    from server.cli.service import show_proxies

    tested = url if check else None
    raise typer.Exit(show_proxies(overrides, tested, timeout=timeout, as_json=as_json))


@cache.command("stats")
def cache_stats(as_json: AsJson = False) -> None:
    """Show what the cache holds."""
    from server.cli.service import cache_stats as run

    run(as_json=as_json)


@cache.command("clear")
def cache_clear() -> None:
    """Forget every cached page."""
    from server.cli.service import cache_clear as run

    run()


@models.command("list")
def models_list(as_json: AsJson = False) -> None:
    """Show the models that evidence can use and where each was found."""
    from server.cli.service import models_list as run

    run(as_json=as_json)


@models.command("check")
def models_check() -> None:
    """Check that the files of found models are whole and load."""
    from server.cli.service import models_check as run

    raise typer.Exit(run())


@models.command("fetch")
@fetching
def models_fetch(
    overrides: Overrides,
    names: Annotated[list[str] | None, typer.Argument(help="Which; all for none.")] = None,
    folder: Folder = None,
    timeout: FileTimeout = 600,
) -> None:
    """Fetch models from their hub, checked by their digests."""
    from server.cli.service import models_fetch as run

    run(names or [], folder, overrides, timeout)


def register(app: typer.Typer) -> None:
    """Add the commands to the program."""
    app.command()(keys)
    app.command()(proxies)
    app.add_typer(cache, name="cache")
    app.add_typer(models, name="models")
