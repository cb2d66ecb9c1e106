"""Options and arguments that several commands share: each is written here once."""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from framework.errors import InvalidInputError
from framework.types import Kind

__all__ = [
    "AsJson",
    "Compact",
    "EngineId",
    "EngineIds",
    "Engines",
    "Force",
    "Format",
    "Header",
    "KindOption",
    "MaxBytes",
    "MaxResults",
    "Overrides",
    "Render",
    "Replay",
    "ReplayDir",
    "Rerank",
    "Sampling",
    "SavedFrom",
    "SavedUrl",
    "Status",
    "Timeout",
    "Tools",
    "Url",
    "complete_engines",
    "fetching",
    "headers_of",
    "split",
]

#: Settings that a command line changes; what was not given is None.
Overrides = Mapping[str, object]


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
Timeout = Annotated[
    float, typer.Option("--timeout", min=1, max=60, help="Seconds for each search or page.")
]

EngineId = Annotated[str, typer.Argument(help="An engine id.", autocompletion=complete_engines)]
Engines = Annotated[
    list[str] | None,
    typer.Argument(help="Engine ids; all of them for none.", autocompletion=complete_engines),
]
EngineIds = Annotated[
    str | None,
    typer.Option("--engines", help="Engine ids, comma-separated.", autocompletion=complete_engines),
]
KindOption = Annotated[Kind, typer.Option("--kind", help="What sort of thing to find.")]
MaxResults = Annotated[int, typer.Option(min=1, max=50, help="Results to show at most.")]
Replay = Annotated[bool, typer.Option("--replay", help="Answer from recordings, offline.")]
ReplayDir = Annotated[
    Path | None, typer.Option("--replay-dir", help="Answer from the recordings in this folder.")
]

Url = Annotated[str, typer.Argument(help="An http or https address.")]
Format = Annotated[
    Literal["markdown", "text", "headings", "links", "raw"],
    typer.Option("--format", help="As what the page is printed."),
]
Render = Annotated[
    Literal["never", "auto", "always"], typer.Option(help="Whether to use a browser.")
]
Rerank = Annotated[bool, typer.Option("--rerank/--no-rerank", help="Use a cross-encoder.")]
MaxBytes = Annotated[int | None, typer.Option(min=500, max=4_000_000, help="Bytes to print.")]

SavedFrom = Annotated[Path | None, typer.Option("--from", help="A saved answer; nothing is sent.")]
SavedUrl = Annotated[
    str | None, typer.Option("--url", help="The address that the saved answer came from.")
]
Status = Annotated[
    int, typer.Option("--status", min=100, max=599, help="The status of the saved answer.")
]
Header = Annotated[list[str] | None, typer.Option(help="NAME:VALUE, repeatable.")]
Force = Annotated[bool, typer.Option("--force", help="Replace what exists.")]

Tools = Annotated[
    str | None, typer.Option(help="Only these tools, comma-separated; compact for one router.")
]
Compact = Annotated[bool, typer.Option("--compact", help="Publish one tool that routes to all.")]
Sampling = Annotated[
    bool | None,
    typer.Option("--sampling/--no-sampling", help="May a language model drop irrelevant rows?"),
]

Proxy = Annotated[
    str | None,
    typer.Option("--proxy", help="socks5, socks5h, http or https URL that everything leaves by."),
]
Debug = Annotated[bool, typer.Option("--debug", help="Log in detail to standard error.")]
DebugFile = Annotated[Path | None, typer.Option("--debug-file", help="Log in detail to a file.")]


def _overrides(
    proxy: Proxy = None, debug: Debug = False, debug_file: DebugFile = None
) -> Overrides:
    return {"proxy": proxy, "debug_terminal": debug or None, "debug_file": debug_file}


_SHARED = inspect.signature(_overrides, eval_str=True).parameters


def fetching(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command `--proxy`, `--debug` and `--debug-file`; they reach it as `overrides`."""
    signature = inspect.signature(command, eval_str=True)
    own = (one for name, one in signature.parameters.items() if name != "overrides")

    @functools.wraps(command)
    def run(**given: Any) -> None:  # noqa: ANN401 - whatever Typer read
        shared = {name: given.pop(name) for name in _SHARED}
        command(**given, overrides=_overrides(**shared))

    shown = signature.replace(parameters=[*own, *_SHARED.values()])
    cast("Any", run).__signature__ = shown
    return run


def split(ids: str | None) -> tuple[str, ...] | None:
    """Turn `a,b` into ids; None stays None."""
    if ids is None:
        return None
    return tuple(part.strip() for part in ids.split(",") if part.strip())


def headers_of(texts: Sequence[str]) -> dict[str, str]:
    """Read NAME:VALUE texts; raises InvalidInputError for one that has no colon."""
    pairs = [text.partition(":") for text in texts]
    for text, (name, colon, _) in zip(texts, pairs, strict=True):
        if not colon or not name.strip():
            raise InvalidInputError(f"--header: {text!r} is no NAME:VALUE")
    return {name.strip(): value.strip() for name, _, value in pairs}
