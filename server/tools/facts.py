"""Facts about a page that several tools answer with."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from framework.evidence.injection import Safety
    from framework.reading import Document

__all__ = ["safety_of", "structured_of"]

_MOST_ITEMS = 20


def structured_of(document: Document) -> dict[str, Any] | None:
    """Return what a page says to machines, or None where it says nothing."""
    data = document.structured
    found = {
        "json_ld": list(data.json_ld[:_MOST_ITEMS]),
        "microdata": list(data.microdata[:_MOST_ITEMS]),
        "opengraph": dict(data.opengraph),
    }
    kept = {name: value for name, value in found.items() if value}
    return kept or None


def safety_of(safety: Safety) -> dict[str, Any]:
    """Return what the scan for instructions aimed at the reading model found."""
    return {
        "risk": safety.risk,
        "score": round(safety.score, 3),
        "warnings": [
            {
                "type": finding.type,
                "severity": finding.severity,
                "location": finding.location,
                "dom_path": finding.dom_path,
                "snippet": finding.snippet,
            }
            for finding in safety.warnings[:_MOST_ITEMS]
        ],
    }
