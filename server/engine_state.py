"""Engines as callers see them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from framework.types import Kind, Status

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.spec.catalogue import Entry
    from framework.types import Verdict

__all__ = ["EngineState", "engine_state"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineState:
    """An engine as a caller sees it; times are RFC 3339."""

    id: str
    name: str
    kind: Kind
    index: str
    status: Status
    official_api: bool
    replaced_by: str | None = None
    supports: tuple[str, ...] = ()
    disabled: str | None = None
    resting_until: str | None = None
    history: tuple[tuple[Verdict, int], ...] = ()
    problems: tuple[str, ...] = ()


def engine_state(
    entry: Entry, environ: Mapping[str, str], until: float | None, history: Mapping[Verdict, int]
) -> EngineState:
    """Return an engine's state; `until` is the Unix moment at which its rest ends."""
    spec = entry.engine.spec if entry.engine else None
    return EngineState(
        id=entry.id,
        name=spec.name if spec else entry.id,
        kind=spec.kind if spec else Kind.WEB,
        index=entry.engine.index if entry.engine else entry.id,
        status=spec.status if spec else Status.EXPERIMENTAL,
        official_api=spec.about.official_api if spec else False,
        replaced_by=spec.replaced_by if spec else None,
        supports=tuple(sorted(spec.inputs.model_fields_set)) if spec else (),
        disabled=entry.disabled(environ) or None,
        resting_until=datetime.fromtimestamp(until, UTC).isoformat() if until else None,
        history=tuple(sorted(history.items())),
        problems=tuple(str(problem) for problem in entry.problems),
    )
