"""What was found in a page: how its rows and their fields could be read."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Draft", "Pick"]

#: A pick as an engine file writes it: a bare selector, or a map with filters.
Pick = str | dict[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """The reading half of an engine file, as a proposal; `score` compares drafts of one page.

    `each` is in the format's own language. `fields` maps names to a pick or a fallback list.
    `rows` counts the rows that it is meant to read.
    """

    format: Literal["html", "json", "xml"]
    each: str
    fields: Mapping[str, Pick | list[Pick]]
    drop: str = ""
    embedded: str = ""
    """CSS of the element that holds the JSON, where it is hidden in a page."""
    namespaces: Mapping[str, str] = field(default_factory=dict)
    rows: int = 0
    others: tuple[str, ...] = ()
    """Further selectors that find the same rows."""
    score: float = 0.0

    def response(self) -> dict[str, object]:
        """Return the `response` part of an engine file."""
        rows: dict[str, object] = {"each": self.each}
        if self.drop:
            rows["drop"] = {"css": self.drop}
        part: dict[str, object] = {"format": self.format}
        if self.embedded:
            part["embedded"] = {"css": self.embedded}
        if self.namespaces:
            part["namespaces"] = dict(self.namespaces)
        return {**part, "rows": rows, "fields": dict(self.fields)}
