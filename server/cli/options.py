"""Options that several commands share."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "AsJson",
    "Debug",
    "DebugFile",
    "EngineIds",
    "Proxy",
    "Timeout",
    "complete_engines",
    "overrides_of",
    "split",
]


def complete_engines(incomplete: str) -> list[str]:
    """Return what the list of engine ids that is being typed may become."""
    from framework.spec.folders import engine_folders

    *before, last = incomplete.split(",")
    names = {
        path.stem for folder in engine_folders((), os.environ) for path in folder.glob("*.yaml")
    }
    wanted = sorted(name for name in names if name.startswith(last) and name not in before)
    return [",".join([*before, name]) for name in wanted]


AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
EngineIds = Annotated[
    str | None,
    typer.Option("--engines", help="Engine ids, comma-separated.", autocompletion=complete_engines),
]
Proxy = Annotated[
    str | None,
    typer.Option("--proxy", help="socks5, socks5h, http or https URL that everything leaves by."),
]
Timeout = Annotated[float, typer.Option("--timeout", min=1, max=60, help="Seconds.")]
Debug = Annotated[bool, typer.Option("--debug", help="Log in detail to standard error.")]
DebugFile = Annotated[Path | None, typer.Option("--debug-file", help="Log in detail to a file.")]


def overrides_of(proxy: str | None, debug: bool, debug_file: Path | None) -> dict[str, object]:
    """Return the settings that a command line changes; what was not given is None."""
    return {"proxy": proxy, "debug_terminal": debug or None, "debug_file": debug_file}


def split(ids: str | None) -> tuple[str, ...] | None:
    """Turn `a,b` into ids; None stays None."""
    if ids is None:
        return None
    return tuple(part.strip() for part in ids.split(",") if part.strip())
