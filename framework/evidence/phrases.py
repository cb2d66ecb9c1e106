"""How English text gives orders to a reading model: patterns, each with a weight (phrases.toml).

Patterns see one folded sentence (lower case, at most a few hundred characters), so every gap in
them is bounded. A weight is the share of belief that one match gives; matches of different kinds
add up as independent evidence does.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files

__all__ = ["PHRASES", "Phrase"]


@dataclass(frozen=True, slots=True)
class Phrase:
    """One pattern: the kind of warning, the weight of a match, and the expression."""

    kind: str
    weight: float
    pattern: re.Pattern[str]


def _joined(lines: str) -> str:
    return "".join(line.strip() for line in lines.splitlines())


def _load() -> tuple[Phrase, ...]:
    table = tomllib.loads((files("framework.evidence") / "data/phrases.toml").read_text("utf-8"))
    parts = {name: _joined(lines) for name, lines in table["part"].items()}

    def expand(lines: str) -> re.Pattern[str]:
        return re.compile(re.sub(r"<(\w+)>", lambda m: parts.get(m[1], m[0]), _joined(lines)))

    return tuple(Phrase(p["kind"], p["weight"], expand(p["pattern"])) for p in table["phrase"])


PHRASES = _load()
