"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = ["AsJson", "Debug", "DebugFile", "EngineIds", "Proxy", "Timeout", "split"]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
EngineIds = Annotated[str | None, typer.Option("--engines", help="Engine ids, comma-separated.")]
Proxy = Annotated[
    str | None,
    typer.Option("--proxy", help="socks5, socks5h, http or https URL that everything leaves by."),
]
Timeout = Annotated[float, typer.Option("--timeout", min=1, max=60, help="Seconds.")]
Debug = Annotated[bool, typer.Option("--debug", help="Log in detail to standard error.")]
DebugFile = Annotated[Path | None, typer.Option("--debug-file", help="Log in detail to a file.")]


def split(ids: str | None) -> tuple[str, ...] | None:
    """Turn `a,b` into ids; None stays None."""
    if ids is None:
        return None
    return tuple(part.strip() for part in ids.split(",") if part.strip())
