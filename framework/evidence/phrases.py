"""How English text gives orders to a reading model: patterns, each with a weight (phrases.toml).

Patterns see one folded sentence (lower case, at most a few hundred characters), so every gap in
them is bounded. A weight is the share of belief that one match gives; matches of different kinds
add up as independent evidence does.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Phrase", "compiled", "phrases", "read_table"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """One pattern: the kind of warning, the weight of a match, and the expression."""

    kind: str
    weight: float
    source: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """The expression, compiled when it is first searched for: few ever are."""
        return compiled(self.source)


@cache
def compiled(source: str) -> re.Pattern[str]:
    """Return the expression of a table's pattern."""
    return re.compile(source)


def _joined(lines: str) -> str:
    return "".join(line.strip() for line in lines.splitlines())


def read_table(name: str) -> tuple[dict[str, Any], Callable[[str], str]]:
    """Return a table of patterns, and what puts the table's named parts into one."""
    table = tomllib.loads((files("framework.evidence") / "data" / name).read_text("utf-8"))
    parts = {key: _joined(lines) for key, lines in table["part"].items()}

    def put_in(text: str, depth: int = 4) -> str:
        filled = re.sub(r"<(\w+)>", lambda m: parts.get(m[1], m[0]), text)
        return filled if filled == text or not depth else put_in(filled, depth - 1)

    return table, lambda lines: put_in(_joined(lines))


@cache
def phrases() -> tuple[Phrase, ...]:
    """Return all patterns, read when they are first needed."""
    table, expand = read_table("phrases.toml")
    return tuple(Phrase(p["kind"], p["weight"], expand(p["pattern"])) for p in table["phrase"])
