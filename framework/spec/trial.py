"""Plan an engine's requests for typical questions, so that templates meet values once."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError
from framework.spec.context import Variables
from framework.types import Query, SafeSearch, TimeRange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from framework.spec.compiler import Engine

__all__ = ["trial"]

_NOW = datetime(2026, 1, 31, 12, tzinfo=UTC)
_ADDRESS = "https://unnamed.example.org"

#: A bare question, one that asks for everything, and one for each span of time.
_QUESTIONS = (
    Query(text="query"),
    Query(
        text="two words",
        region="de-DE",
        language="de",
        safe=SafeSearch.STRICT,
        since="2026-01-01",
        include_domains=("a.example.org", "b.example.org"),
        exclude_domains=("c.example.org",),
        max_results=50,
    ),
    *(Query(text="query", time=span) for span in TimeRange),
)


def trial(engine: Engine) -> Iterator[str]:
    """Yield a sentence for each typical question whose requests cannot be planned."""
    variables = _variables(engine)
    said: set[str] = set()
    for query in _QUESTIONS:
        try:
            engine.plan(query, 1, variables)
            for step in engine.steps:
                engine.plan_step(step, query, 1, variables)
        except ConsilienceError as error:
            if error.message not in said:
                said.add(error.message)
                yield error.message


def _variables(engine: Engine) -> Variables:
    """Return a value for everything that a file declares."""
    return Variables(
        session={step.id: dict.fromkeys(step.take, "1") for step in engine.spec.session},
        keys=dict.fromkeys(engine.keys, "key"),
        settings={name: it.default or _ADDRESS for name, it in engine.settings.items()},
        now=_NOW,
    )
