"""How much rows that were found resemble rows that were read before, where their words differ."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.authoring.outline import Element
    from framework.types import Row

__all__ = ["Profile", "likeness", "profile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What a list of rows looks like: its names in the page and the measure of its texts."""

    rows: int
    names: Counter[str]
    around: Counter[str]
    title: float
    """Mean letters of a title."""
    snippet: float
    """Mean letters of a snippet."""
    hosts: float
    """Distinct hosts per row."""


def profile(elements: Sequence[Element], rows: Sequence[Row]) -> Profile:
    """Return the profile of rows; `elements` may be empty where the page is not HTML."""
    names: Counter[str] = Counter()
    around: Counter[str] = Counter()
    for element in elements:
        for inner in (element, *element.inside()):
            names.update([inner.tag, *(f".{name}" for name in inner.classes)])
    for above in elements[0].ancestors() if elements else ():
        around.update([above.tag, *(f".{name}" for name in above.classes)])
        if above.attributes.get("id"):
            around.update([f"#{above.attributes['id']}"])
    hosts = {urlsplit(row.url).hostname for row in rows}
    count = max(1, len(rows))
    return Profile(
        rows=len(rows),
        names=names,
        around=around,
        title=mean([len(row.title) for row in rows] or [0]),
        snippet=mean([len(row.snippet) for row in rows] or [0]),
        hosts=len(hosts) / count,
    )


def likeness(old: Profile, new: Profile) -> float:
    """Return how alike two profiles are: 0 to 1."""
    parts = (
        (0.25, _overlap(old.names, new.names)),
        (0.15, _overlap(old.around, new.around)),
        (0.15, _near(old.title, new.title)),
        (0.2, _near(old.snippet, new.snippet)),
        (0.1, _near(old.hosts, new.hosts)),
        (0.15, _near(old.rows, new.rows)),
    )
    return sum(weight * value for weight, value in parts)


def _overlap(old: Counter[str], new: Counter[str]) -> float:
    """Return the share of names in common; names count once, however often they stand."""
    either = set(old) | set(new)
    return len(set(old) & set(new)) / len(either) if either else 1.0


def _near(old: float, new: float) -> float:
    larger = max(old, new)
    return 1.0 if larger == 0 else min(old, new) / larger
