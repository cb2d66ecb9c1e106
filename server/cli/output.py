"""How commands print: JSON for programs, tables for people, colours only on a terminal."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic import BaseModel

__all__ = ["as_json", "line", "note", "plain", "table"]

#: Characters by which text from the web could steer a terminal.
_CONTROLS = {code: " " for code in (*range(32), *range(127, 160)) if code != 10}


def plain(text: str) -> str:
    """Return a text without control characters, so that it cannot steer a terminal."""
    return text.translate(_CONTROLS)


def line(text: str = "") -> None:
    """Print one line to standard output."""
    sys.stdout.write(text + "\n")


def note(text: str) -> None:
    """Print one line to standard error: a remark that is not the command's data."""
    sys.stderr.write(text + "\n")


def as_json(value: BaseModel | dict[str, object] | list[object]) -> None:
    """Print a value as indented JSON, absent fields left out."""
    data = (
        value
        if isinstance(value, (dict, list))
        else value.model_dump(mode="json", exclude_none=True)
    )
    line(json.dumps(data, ensure_ascii=False, indent=2))


def table(headers: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table; wide on a pipe, so that programs get every word uncut."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Column, Table

    console = Console(width=None if sys.stdout.isatty() else 200, highlight=False)
    columns = [Column(header, overflow="fold") for header in headers]
    grid = Table(*columns, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        grid.add_row(*(escape(plain(cell)) for cell in row))
    console.print(grid)
