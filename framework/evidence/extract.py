"""Fill a schema from a page: every value was found on it, with the words it was taken from."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.evidence.fields import as_schema, field_type, labels, required
from framework.evidence.places import Place, items, labelled, tables
from framework.evidence.values import convert
from framework.reading.terms import terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from framework.evidence.fields import Schema
    from framework.reading.document import Document, Json

__all__ = ["Extraction", "Found", "extract"]


@dataclass(frozen=True, slots=True)
class Found:
    """Where a value comes from: its path in `data`, the words on the page, the kind of place.

    `source` is json_ld, microdata, metadata, table, text or model (the page's words, found by a
    language model); `confidence` falls in that order.
    """

    path: str
    quote: str
    source: str
    confidence: float


@dataclass(frozen=True, slots=True)
class Extraction:
    """The fields that were found, typed; `data` is None where a required field was not.

    `unfilled` names the paths for which the page gives nothing; they are never invented.
    """

    data: dict[str, Json] | None
    evidence: tuple[Found, ...]
    unfilled: tuple[str, ...]


_CONFIDENCE = {"json_ld": 0.95, "microdata": 0.92, "metadata": 0.85, "table": 0.8, "text": 0.7,
               "model": 0.5}  # fmt: skip


class _Filler:
    """One page's places, and what was taken from them so far."""

    def __init__(self, document: Document, query: str, helped: Mapping[str, Place]) -> None:
        self.url = document.url
        self.items = items(document)
        self.labelled = labelled(document)
        self.tables = tables(document)
        self.query = frozenset(terms(query))
        self.helped = helped
        self.evidence: list[Found] = []
        self.unfilled: list[str] = []

    def fill(self, name: str, schema: Schema, path: str, around: Sequence[Place] | None) -> Json:
        """Return the value of a field; `around` limits the search to one item's own places."""
        kind = field_type(schema)
        if kind == "object":
            return self._object(name, schema, path, around)
        if kind == "array":
            return self._array(name, schema, path, around)
        for place in (*self._candidates(name, schema, around), *self._helping(path)):
            value = convert(place.value, schema, self.url, name)
            if value is not None:
                self._note(path, place)
                return value
        self.unfilled.append(path)
        return None

    def _helping(self, path: str) -> tuple[Place, ...]:
        return (self.helped[path],) if path in self.helped else ()

    def _note(self, path: str, place: Place) -> None:
        quote = re.sub(r"\s+", " ", place.quote)[:300]
        self.evidence.append(Found(path, quote, place.source, _CONFIDENCE[place.source]))

    def _candidates(
        self, name: str, schema: Schema, around: Sequence[Place] | None
    ) -> Iterator[Place]:
        pool = [*self.items, *self.labelled] if around is None else around
        for label in labels(name, schema):
            yield from self._preferred([place for place in pool if place.label == label])

    def _preferred(self, places: list[Place]) -> list[Place]:
        """Put the places first whose item speaks of the query, else keep the page's order."""
        if not self.query:
            return places
        return sorted(places, key=lambda p: -len(self.query & set(terms(p.context))))

    def _object(self, name: str, schema: Schema, path: str, around: Sequence[Place] | None) -> Json:
        properties = schema.get("properties")
        if not isinstance(properties, dict):
            return None
        nested = next(
            (p for p in self._candidates(name, schema, around) if isinstance(p.value, dict)), None
        )
        inner = nested.inner() if nested is not None else around
        found: dict[str, Json] = {}
        before = len(self.evidence)
        for key, part in properties.items():
            if isinstance(part, dict):
                value = self.fill(key, part, f"{path}.{key}" if path else key, inner)
                if value is not None:
                    found[key] = value
        if path and (not found or not required(schema) <= found.keys()):
            self.unfilled += [one.path for one in self.evidence[before:]]
            del self.evidence[before:]
            return None
        return found

    def _array(self, name: str, schema: Schema, path: str, around: Sequence[Place] | None) -> Json:
        part = schema.get("items")
        part = part if isinstance(part, dict) else {"type": "string"}
        before = len(self.evidence)
        rows = _limited(self._rows(name, part, path, around), schema)
        del self.evidence[before + len(rows) :]
        if rows:
            return rows
        for place in (*self._candidates(name, schema, around), *self._helping(path)):
            listed = place.value if isinstance(place.value, list) else _parts(place)
            values: list[Json] = [
                v for one in listed if (v := self._member(one, part, name, place)) is not None
            ]
            if values := _limited(values, schema):
                self._note(path, place)
                return values
        self.unfilled.append(path)
        return None

    def _member(self, one: Json, part: Schema, name: str, place: Place) -> Json:
        if field_type(part) != "object":
            return convert(one, part, self.url, name)
        if not isinstance(one, dict):
            return None
        child = Place(place.label, one, place.quote, place.source, place.context)
        before = len(self.evidence), len(self.unfilled)
        found = self._object("", part, f"{name}[]", child.inner())
        del self.evidence[before[0] :], self.unfilled[before[1] :]
        return found or None

    def _rows(
        self, name: str, part: Schema, path: str, around: Sequence[Place] | None
    ) -> list[Json]:
        """Fill an array of objects from the table whose columns know most of its fields."""
        properties = part.get("properties")
        if around is not None or not isinstance(properties, dict):
            return []
        best: list[Json] = []
        evidence: list[Found] = []
        for table in self.tables:
            columns = {
                key: table.column(labels(key, field))
                for key, field in properties.items()
                if isinstance(field, dict)
            }
            known = {key: n for key, n in columns.items() if n is not None}
            if len(known) * 2 < len(properties) or not required(part) <= known.keys():
                continue
            rows, notes = self._of_table(table.rows, known, part, path)
            if len(rows) * len(known) > len(best) * max(1, len(best[0]) if best else 1):  # type: ignore[arg-type]
                best, evidence = rows, notes
        self.evidence += evidence
        return best

    def _of_table(
        self,
        rows: Sequence[Sequence[str]],
        known: dict[str, int],
        part: Schema,
        path: str,
    ) -> tuple[list[Json], list[Found]]:
        properties, needed = part.get("properties"), required(part)
        if not isinstance(properties, dict):
            return [], []
        found: list[Json] = []
        notes: list[Found] = []
        for row in rows:
            entry: dict[str, Json] = {}
            for key, n in known.items():
                field = properties[key]
                value = (
                    convert(row[n], field, self.url, key)
                    if n < len(row) and isinstance(field, dict)
                    else None
                )
                if value is not None:
                    entry[key] = value
            if entry and needed <= entry.keys():
                notes.append(Found(f"{path}[{len(found)}]", " | ".join(row)[:300], "table", 0.8))
                found.append(entry)
        return found, notes


def _limited(values: list[Json], schema: Schema) -> list[Json]:
    """Return a list within the limits of its field: repeats and what is too many left out."""
    if schema.get("uniqueItems") is True:
        values = [one for n, one in enumerate(values) if one not in values[:n]]
    least, most = schema.get("minItems"), schema.get("maxItems")
    if isinstance(most, int):
        values = values[: max(0, most)]
    return values if not isinstance(least, int) or len(values) >= least else []


def _parts(place: Place) -> list[Json]:
    """A list that a page writes as text: parted by commas, semicolons or bullets."""
    if not isinstance(place.value, str):
        return [place.value]
    return [
        part.strip()
        for part in re.split(r"\s*[;•|\n]\s*|,\s+(?:and\s+)?", place.value)
        if part.strip()
    ]


def extract(
    document: Document,
    schema: Schema,
    query: str = "",
    *,
    helped: Mapping[str, Place] | None = None,
) -> Extraction:
    """Fill a JSON Schema, or an example of the wanted object, from a page.

    Looks in JSON-LD, microdata, the page's metadata, tables, definition lists and labelled text, in
    that order; `query` prefers items that speak of it. Numbers are read in any locale, dates as
    ISO. `helped` are places that were found otherwise, by path; they come last. Raises
    InvalidInputError for a schema that describes no object.
    """
    wanted = as_schema(schema)
    filler = _Filler(document, query, helped or {})
    data = filler.fill("", wanted, "", None)
    filled = data if isinstance(data, dict) else {}
    missing = required(wanted) - filled.keys()
    return Extraction(
        None if missing or not filled else filled,
        tuple(filler.evidence),
        tuple(dict.fromkeys(filler.unfilled)),
    )
