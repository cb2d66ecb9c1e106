"""The JSON Schema of the language, for editors; made from the models, so it cannot drift.

Editors check one file at a time: what a parent gives is not demanded of a file that extends one,
and a null is allowed wherever it may delete something.
"""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, cast

from framework.spec.elements import CONDITIONS, SELECTORS, SOURCES
from framework.spec.fields import COMMON, EXTRAS, FIELDS
from framework.spec.filters import FILTERS
from framework.spec.model import DECLARABLE, Spec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

__all__ = ["DIALECT", "NAME", "json_schema", "render_schema"]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

#: The schema's file, beside the folder of engines.
NAME = "engine-v1.json"

_Schema = dict[str, object]

#: Maps that a parent may complete; in their files nothing is required.
_MERGED = [
    "About",
    "Cooldown",
    "CountInput",
    "DomainsInput",
    "Embedded",
    "Fetch",
    "FormPaging",
    "Inputs",
    "Key",
    "Limits",
    "LinkPaging",
    "OffsetPaging",
    "PagePaging",
    "QueryInput",
    "RegionInput",
    "Request",
    "Response",
    "Rows",
    "Setting",
    "SinceInput",
    "TokenPaging",
]
_NULL: _Schema = {"type": "null"}
_ALWAYS = ("schema", "id")
_WITHOUT_PARENT = ("name", "kind", "request", "response")


def json_schema() -> _Schema:
    """Return the schema as data, new at every call."""
    made = Spec.model_json_schema(by_alias=True, mode="validation")
    schema = cast(_Schema, _untitled(made))
    definitions = cast(dict[str, _Schema], schema["$defs"])
    for name, write in _WRITTEN.items():
        definitions[name] = write(definitions[name])
    for name in _MERGED:
        _loosen(definitions[name], ("by",))
    _loosen(schema, _ALWAYS)
    _name_fields(definitions["Response"])
    _complete_paging(cast(dict[str, _Schema], schema["properties"])["paging"], definitions)
    return {
        "$schema": DIALECT,
        "$id": NAME,
        **schema,
        "title": "Search engine, language version 1",
        "if": {"required": ["extends"]},
        "else": {
            "required": list(_WITHOUT_PARENT),
            "properties": {"paging": {"anyOf": [{"required": ["by"]}, _NULL]}},
        },
    }


def render_schema() -> str:
    """Return the text of engine-v1.json."""
    return json.dumps(json_schema(), ensure_ascii=False, indent=2, sort_keys=True) + "\n"


def _loosen(part: _Schema, required: Iterable[str]) -> None:
    """Require only these keys, and let every other one be null."""
    properties = cast(dict[str, _Schema], part.get("properties", {}))
    kept: list[str] = [name for name in required if name in properties]
    part.pop("required", None)
    if kept:
        part["required"] = kept
    for name, value in properties.items():
        if name not in kept:
            properties[name] = _nullable(value)


def _nullable(value: _Schema) -> _Schema:
    """Let a value be null, and the values of a free map as well."""
    options = value.get("anyOf")
    if isinstance(options, list):
        kept = [_open_map(item) for item in options if item != _NULL]
        return {**value, "anyOf": [*kept, _NULL]}
    about: _Schema = {key: value[key] for key in ("description", "default") if key in value}
    rest = {key: item for key, item in value.items() if key not in about}
    return {**about, "anyOf": [_open_map(rest), _NULL]}


def _open_map(value: _Schema) -> _Schema:
    inner = value.get("additionalProperties")
    return {**value, "additionalProperties": _nullable(inner)} if isinstance(inner, dict) else value


def _untitled(value: object) -> object:
    """Drop the titles that are only a key's name again."""
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if k != "title" or not isinstance(v, str)}
        return {key: _untitled(item) for key, item in kept.items()}
    return [_untitled(item) for item in value] if isinstance(value, list) else value


def _exactly_one(part: _Schema, names: Iterable[str]) -> _Schema:
    return {**part, "oneOf": [{"required": [name]} for name in names]}


def _filter(_: _Schema) -> _Schema:
    bare = [name for name, kind in FILTERS.items() if _may_be_bare(name, kind)]
    properties: dict[str, object] = {
        name: {"description": kind.summary} for name, kind in FILTERS.items()
    }
    one = {
        "type": "object",
        "properties": properties,
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }
    return {"description": "One step of `do`.", "anyOf": [{"enum": bare}, one]}


def _may_be_bare(_: str, kind: object) -> bool:
    validate = cast("Callable[[object], object]", kind.validate)  # type: ignore[attr-defined]
    try:
        validate(None)
    except ValueError:
        return False
    return True


def _selector(part: _Schema) -> _Schema:
    one = _exactly_one(_without_nulls(part), SELECTORS)
    return {"anyOf": [{"type": "string", "minLength": 1}, one]}


def _pick(part: _Schema) -> _Schema:
    return _exactly_one(_without_nulls(part), SOURCES)


def _condition(part: _Schema) -> _Schema:
    part = _without_nulls(part)
    properties = cast(dict[str, _Schema], part["properties"])
    properties["status"] = {"anyOf": [{"type": "integer"}, properties["status"]]}
    return _exactly_one(part, CONDITIONS)


def _without_nulls(part: _Schema) -> _Schema:
    """Drop `null` from the options of a map of which exactly one key is given."""
    part = copy.deepcopy(part)
    properties = cast(dict[str, _Schema], part["properties"])
    for name, value in properties.items():
        options = value.get("anyOf")
        if isinstance(options, list):
            kept = [item for item in options if item != _NULL]
            properties[name] = {"anyOf": kept} if len(kept) > 1 else kept[0]
            if "description" in value:
                properties[name] = {"description": value["description"], **properties[name]}
    return part


def _verdict_rule(_: _Schema) -> _Schema:
    condition = {"$ref": "#/$defs/Condition"}
    return {
        "description": "A map of one verdict to its condition.",
        "type": "object",
        "properties": {verdict.value: condition for verdict in DECLARABLE},
        "additionalProperties": False,
        "minProperties": 1,
        "maxProperties": 1,
    }


#: Definitions that a file writes in another form than the model holds.
_WRITTEN: Mapping[str, Callable[[_Schema], _Schema]] = {
    "Condition": _condition,
    "Filter": _filter,
    "Pick": _pick,
    "Selector": _selector,
    "VerdictRule": _verdict_rule,
}


def _complete_paging(paging: _Schema, definitions: Mapping[str, _Schema]) -> None:
    """Let a file that extends another change its paging without naming its kind again."""
    kinds = [part for name, part in definitions.items() if name.endswith("Paging")]
    properties: _Schema = {}
    for part in kinds:
        properties |= cast(_Schema, part["properties"])
    del properties["by"]
    partial = {"type": "object", "properties": properties, "additionalProperties": False}
    paging["anyOf"] = [*cast("list[_Schema]", paging["anyOf"]), partial]


def _name_fields(response: _Schema) -> None:
    """Close the maps of fields and extras: their keys are known."""
    known = dict.fromkeys([*COMMON, *(name for names in FIELDS.values() for name in names)])
    properties = cast(dict[str, _Schema], response["properties"])
    for key, names in (("fields", known), ("extras", EXTRAS)):
        options = cast("list[_Schema]", properties[key]["anyOf"])
        value = _nullable(cast(_Schema, options[0]["additionalProperties"]))
        options[0] |= {
            "properties": dict.fromkeys(names, value),
            "additionalProperties": False,
        }
