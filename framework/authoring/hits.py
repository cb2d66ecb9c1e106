"""Which picks of an engine file yield something from an answer, field by field."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.spec.check_reading import uses_xpath
from framework.spec.documents import Document
from framework.spec.fields import FieldType, allowed
from framework.spec.picks import Languages, compile_picks
from framework.spec.values import typed

if TYPE_CHECKING:
    from framework.spec.compiler import Engine
    from framework.types import HttpResponse

__all__ = ["FieldHits", "field_hits"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldHits:
    """One field over the rows of an answer: how many have it, and which pick gave it.

    `picks` counts the rows for each pick of the fallback list, in its order.
    """

    name: str
    rows: int
    hits: int
    optional: bool
    picks: tuple[int, ...]
    sample: str = ""


def field_hits(engine: Engine, response: HttpResponse) -> tuple[FieldHits, ...]:
    """Return the hits of every field of an engine's file; rows that are dropped do not count."""
    reader, spec = engine.reader, engine.spec
    document = Document(response, reader.embedded)
    nodes = [
        node
        for node in reader.candidates(document)
        if (reader.keep is None or reader.keep(document, node))
        and (reader.drop is None or not reader.drop(document, node))
    ]
    languages = Languages(spec.response.format, not uses_xpath(spec), spec.response.namespaces)
    kinds = allowed(spec.kind)
    rows: list[dict[str, object]] = [{} for _ in nodes]
    found = []
    for name, picks in spec.response.fields.items():
        convert = typed(name, kinds.get(name, FieldType.TEXT))
        functions = [compile_picks((pick,), languages) for pick in picks]
        counts = [0] * len(functions)
        sample = ""
        for node, row in zip(nodes, rows, strict=True):
            for index, function in enumerate(functions):
                raw = function(document, node, row)
                value = None if raw is None else convert(raw, document)
                if value is not None:
                    counts[index] += 1
                    row[name] = value
                    sample = sample or str(value)
                    break
        found.append(
            FieldHits(
                name=name,
                rows=len(nodes),
                hits=sum(counts),
                optional=any(pick.optional for pick in picks),
                picks=tuple(counts),
                sample=sample[:120],
            )
        )
    return tuple(found)
