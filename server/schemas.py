"""JSON Schemas as they are published: all that a model needs to call a tool, and no word more."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from pydantic import BaseModel, JsonValue

    Schema = dict[str, JsonValue]

__all__ = ["input_schema", "output_schema"]

_NAMED = frozenset({"properties", "$defs"})
_WORDS = frozenset({"description", "default", "enum", "minimum", "maximum", "additionalProperties"})
_NULL: JsonValue = {"type": "null"}


def input_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of a tool's arguments, without titles, null branches and class comments."""
    schema: Schema = model.model_json_schema()
    schema.pop("description", None)
    schema["$defs"] = {
        name: {key: value for key, value in _dict(part).items() if key != "description"}
        for name, part in _dict(schema.get("$defs", {})).items()
    }
    return _pruned(_inlined(_dict(_slim(schema))))


def output_schema(model: type[BaseModel]) -> Schema:
    """Return the schema of a tool's answer: names and types, as the description explains them.

    The error, alike in every tool, is an object there; its fields would be repeated in each.
    """
    schema: Schema = model.model_json_schema(mode="serialization")
    if "error" in _dict(schema["properties"]):
        _dict(schema["properties"])["error"] = {"type": "object"}
    return _pruned(_inlined(_dict(_bare(_slim(schema)))))


def _dict(value: JsonValue) -> Schema:
    return cast("Schema", value)


def _slim(schema: JsonValue) -> JsonValue:
    """Drop titles, null branches and empty defaults; properties may bear those names."""
    if isinstance(schema, list):
        return [_slim(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    kept: Schema = {
        key: {n: _slim(v) for n, v in _dict(value).items()} if key in _NAMED else _slim(value)
        for key, value in schema.items()
        if key != "title" and not (key == "default" and value in (None, []))
    }
    return _without_null(kept)


def _without_null(schema: Schema) -> Schema:
    branches = schema.get("anyOf")
    if not isinstance(branches, list) or _NULL not in branches:
        return schema
    rest = [branch for branch in branches if branch != _NULL]
    others = {key: value for key, value in schema.items() if key != "anyOf"}
    return {**others, **_dict(rest[0])} if len(rest) == 1 else {**others, "anyOf": rest}


def _bare(schema: JsonValue) -> JsonValue:
    """Keep only the shape: no comments, defaults, bounds or lists of allowed values."""
    if isinstance(schema, list):
        return [_bare(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: {n: _bare(v) for n, v in _dict(value).items()} if key in _NAMED else _bare(value)
        for key, value in schema.items()
        if key not in _WORDS
    }


def _inlined(schema: Schema) -> Schema:
    """Put definitions of mere values (an enumeration) in the place where they are used."""
    values = {
        f"#/$defs/{name}": part
        for name, part in _dict(schema.get("$defs", {})).items()
        if _dict(part).get("type") == "string"
    }
    return _dict(_replaced(schema, values))


def _replaced(schema: JsonValue, values: Schema) -> JsonValue:
    if isinstance(schema, list):
        return [_replaced(part, values) for part in schema]
    if not isinstance(schema, dict):
        return schema
    target = schema.get("$ref")
    if isinstance(target, str) and target in values:
        return {**{k: v for k, v in schema.items() if k != "$ref"}, **_dict(values[target])}
    return {key: _replaced(part, values) for key, part in schema.items()}


def _pruned(schema: Schema) -> Schema:
    """Drop definitions that nothing refers to."""
    rest = {key: value for key, value in schema.items() if key != "$defs"}
    defs = _dict(schema.get("$defs", {}))
    used = _references(rest)
    while more := {r for name in used if name in defs for r in _references(defs[name])} - used:
        used |= more
    kept = {name: part for name, part in defs.items() if name in used}
    return {**rest, "$defs": kept} if kept else rest


def _references(schema: JsonValue) -> set[str]:
    if isinstance(schema, list):
        return set[str]().union(*(_references(part) for part in schema))
    if not isinstance(schema, dict):
        return set()
    target = schema.get("$ref")
    own = {target.rpartition("/")[2]} if isinstance(target, str) else set()
    return own.union(*(_references(part) for part in schema.values()))
