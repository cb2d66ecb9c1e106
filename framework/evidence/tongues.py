"""The same orders in other languages: stems of a few ideas, and which ideas together make an order.

Stems are folded as `disguise.fold` folds text (lower case, no accents). All ideas of a rule must
be found in the same sentence; their order does not matter, for languages differ in it.
"""

from __future__ import annotations

import re
import tomllib
from importlib.resources import files

from framework.evidence.disguise import fold

__all__ = ["IDEAS", "RULES"]

_TABLE = tomllib.loads((files("framework.evidence") / "data/tongues.toml").read_text("utf-8"))


def _begins(stem: str) -> str:
    """Short Latin stems must be whole words: two or three letters begin too many words."""
    folded = fold(stem)
    if "\u05d0" <= folded[0] <= "\u064a":
        return rf"[\u05d0-\u064a]{{0,2}}{folded}"  # articles and conjunctions are written in front
    return rf"{folded}\b" if len(folded) <= 3 and folded.isascii() else folded


def _idea(words: list[str], runs: list[str]) -> re.Pattern[str]:
    anywhere = "|".join(map(fold, runs))
    begins = rf"(?<!\w)(?:{'|'.join(map(_begins, words))})"
    return re.compile(f"{begins}|(?:{anywhere})" if anywhere else begins)


#: The expression of every idea, by name.
IDEAS: dict[str, re.Pattern[str]] = {
    name: _idea(idea["words"], idea["runs"]) for name, idea in _TABLE["idea"].items()
}

#: Kind of warning, weight, and the ideas that must all be in one sentence.
RULES: tuple[tuple[str, float, frozenset[str]], ...] = tuple(
    (rule["kind"], rule["weight"], frozenset(rule["ideas"])) for rule in _TABLE["rule"]
)
