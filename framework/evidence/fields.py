"""What a caller wants out of a page: a JSON Schema, or an example whose shape is the schema."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError
from framework.evidence.wordlists import table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.reading.document import Json

    Schema = Mapping[str, Json]

__all__ = ["as_schema", "field_type", "labels", "required"]

_KEYWORDS = frozenset(
    {"properties", "$schema", "$defs", "items", "anyOf", "oneOf", "allOf", "$ref"}
)
_TYPES = frozenset({"object", "array", "string", "number", "integer", "boolean", "null"})
_MOST = 200


def as_schema(wanted: Schema) -> dict[str, Json]:
    """Return a JSON Schema of an object for what the caller gave.

    An object with `properties` (or another keyword of JSON Schema) is taken as a schema; any other
    object is an example: its values give the types, `[…]` an array of its first item. References
    within the schema are put in, of alternatives the first that is not null is taken. Raises
    InvalidInputError for anything else, or for more than 200 fields.
    """
    if not isinstance(wanted, dict) or not wanted:
        raise InvalidInputError(
            "schema is empty", hint='give a JSON Schema or an example such as {"price": 0.0}'
        )
    is_schema = bool(_KEYWORDS & wanted.keys()) or wanted.get("type") == "object"
    schema = _Plain(wanted).of(wanted) if is_schema else _of_example(wanted)
    if field_type(schema) != "object" or not isinstance(schema.get("properties"), dict):
        raise InvalidInputError(
            "schema does not describe an object", hint="its type must be object, with properties"
        )
    if _size(schema) > _MOST:
        raise _too_many()
    return schema


def _too_many() -> InvalidInputError:
    return InvalidInputError(f"schema has more than {_MOST} fields", hint="ask for fewer fields")


class _Plain:
    """A schema without references and alternatives; its size is bounded while it is made."""

    def __init__(self, root: Schema) -> None:
        self.root = root
        self.made = 0

    def of(self, schema: Schema, within: tuple[str, ...] = ()) -> dict[str, Json]:
        """Return the schema with what it refers to; `within` are the references followed so far."""
        self.made += 1
        if self.made > 4 * _MOST:
            raise _too_many()
        plain = dict(schema)
        reference = plain.pop("$ref", None)
        if isinstance(reference, str):
            if reference in within:
                raise InvalidInputError(
                    f"schema refers to itself through {reference}",
                    hint="write out as many levels as you need",
                )
            plain = _merged(self.of(self._named(reference), (*within, reference)), plain)
        for part in self._parts(plain):
            plain = _merged(plain, self.of(part, within))
        properties, items = plain.get("properties"), plain.get("items")
        if isinstance(properties, dict):
            plain["properties"] = {
                name: self.of(part, within) if isinstance(part, dict) else part
                for name, part in properties.items()
            }
        if isinstance(items, dict):
            plain["items"] = self.of(items, within)
        return plain

    def _parts(self, schema: dict[str, Json]) -> list[Schema]:
        """Take the parts out that the schema is made of: all, or one of several."""
        found: list[Schema] = []
        every = schema.pop("allOf", None)
        found += (
            [part for part in every if isinstance(part, dict)] if isinstance(every, list) else []
        )
        for word in ("anyOf", "oneOf"):
            several = schema.pop(word, None)
            parts = [p for p in several if isinstance(p, dict)] if isinstance(several, list) else []
            found += [part for part in parts if part.get("type") != "null"][:1]
        return found

    def _named(self, reference: str) -> Schema:
        place: Json = dict(self.root)
        for name in reference.removeprefix("#").removeprefix("/").split("/"):
            word = name.replace("~1", "/").replace("~0", "~")
            place = place.get(word) if isinstance(place, dict) else None
        if not reference.startswith("#/") or not isinstance(place, dict):
            raise InvalidInputError(
                f"schema refers to {reference}, which is not in it", hint="put it into $defs"
            )
        return place


def _merged(one: dict[str, Json], other: dict[str, Json]) -> dict[str, Json]:
    """Return both together: properties and required names of both, else the other's word."""
    both = {**one, **other}
    for word in ("properties", "required"):
        ours, theirs = one.get(word), other.get(word)
        if isinstance(ours, dict) and isinstance(theirs, dict):
            both[word] = {**ours, **theirs}
        elif isinstance(ours, list) and isinstance(theirs, list):
            both[word] = [*ours, *theirs]
    return both


def _of_example(value: Json) -> dict[str, Json]:
    if isinstance(value, dict):
        return {"type": "object", "properties": {k: _of_example(v) for k, v in value.items()}}
    if isinstance(value, list):
        return {"type": "array", "items": _of_example(value[0]) if value else {"type": "string"}}
    if isinstance(value, bool):
        return {"type": "boolean"}
    if isinstance(value, int):
        return {"type": "integer"}
    if isinstance(value, float):
        return {"type": "number"}
    if isinstance(value, str) and value in _TYPES:
        return {"type": value}
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value):
        return {"type": "string", "format": "date"}
    return {"type": "string"}


def _size(schema: Json) -> int:
    if not isinstance(schema, dict):
        return 0
    properties = schema.get("properties")
    inner = sum(map(_size, properties.values())) if isinstance(properties, dict) else 0
    return 1 + inner + _size(schema.get("items"))


def field_type(schema: Schema) -> str:
    """Return the field's type: of several the first that is not null, by default string."""
    given = schema.get("type")
    if isinstance(given, list):
        given = next((t for t in given if t != "null"), "string")
    if isinstance(given, str) and given in _TYPES:
        return given
    return "object" if "properties" in schema else "array" if "items" in schema else "string"


def required(schema: Schema) -> frozenset[str]:
    """Return the names of the fields that the schema requires."""
    given = schema.get("required")
    return frozenset(str(name) for name in given) if isinstance(given, list) else frozenset()


#: Other names under which pages give the usual fields.
_SYNONYMS = table("synonyms")


def _plain(name: str) -> str:
    return re.sub(r"[^\w]", "", name.replace("_", "").lower())


def labels(name: str, schema: Schema) -> tuple[str, ...]:
    """Return the names, folded, that a page may give a field: its own, its title's, synonyms."""
    found = [_plain(name)]
    title = schema.get("title")
    if isinstance(title, str):
        found.append(_plain(title))
    found += [_plain(word) for word in _SYNONYMS.get(_plain(name), "").split()]
    return tuple(dict.fromkeys(found))
