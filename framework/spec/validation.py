"""What pydantic found, in plain words: one fault for one mistake, with the nearest names."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Union, get_args, get_origin

from pydantic import BaseModel

from framework.spec.model import Spec
from framework.spec.places import Places, dotted
from framework.spec.problems import Fault, nearest, suggest

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

    from framework.spec.source import Node

__all__ = ["faults_of"]

_Path = tuple[str | int, ...]

_TEXT = ("text", "put it in quotes")
_WHOLE = ("a whole number", "write digits alone, without quotes")
_LIST = ("a list", "write [one, two], or one item a line behind a hyphen")
_MAP = ("a map", "write {key: value}, or one key a line")
#: Types of pydantic's errors to what is expected and how that is written.
_EXPECTED = {
    "string_type": _TEXT,
    "int_type": _WHOLE,
    "int_parsing": _WHOLE,
    "int_from_float": _WHOLE,
    "float_type": ("a number", "write digits with at most one point, without quotes"),
    "bool_type": ("true or false", "write it without quotes"),
    "tuple_type": _LIST,
    "list_type": _LIST,
    "dict_type": _MAP,
    "mapping_type": _MAP,
    "model_type": _MAP,
    "model_attributes_type": _MAP,
    "string_too_short": ("text that is not empty", "write a value, or remove the key"),
    "too_short": ("a list that is not empty", "write an item, or remove the key"),
}
_COMPARISONS = {
    "greater_than_equal": ("at least", "ge", "the smallest is"),
    "greater_than": ("more than", "gt", "write a number above"),
    "less_than_equal": ("at most", "le", "the largest is"),
    "less_than": ("less than", "lt", "write a number below"),
}
_CODES = {"one_of": "E104", "body": "E104"}


def faults_of(error: ValidationError, root: Node, model: type[BaseModel] = Spec) -> list[Fault]:
    """Return one fault for each mistake that validation of `model` found in a tree."""
    places = Places(root)
    found: dict[tuple[object, ...], Fault] = {}
    details = error.errors(include_url=False, include_input=False)
    for detail in details:
        if _only_follows(detail, details):
            continue
        fault = _fault(detail, places, model)
        key = places.node(fault.at)[1] if fault.code == "E103" else (fault.at, fault.message)
        found.setdefault(key, fault)
    return list(found.values())


def _only_follows(detail: ErrorDetails, details: list[ErrorDetails]) -> bool:
    """Tell whether a list is "too short" only because one of its items is wrong."""
    at = detail["loc"]
    return detail["type"] == "too_short" and any(
        len(other["loc"]) > len(at) and other["loc"][: len(at)] == at for other in details
    )


def _location(detail: ErrorDetails) -> _Path:
    """Return a detail's path without the tag that pydantic puts behind a tagged union."""
    at: _Path = detail["loc"]
    return at[:1] + at[2:] if at[:1] == ("paging",) else at


def _fault(detail: ErrorDetails, places: Places, model: type[BaseModel]) -> Fault:
    at = _location(detail)
    kind = detail["type"]
    context = detail.get("ctx", {})
    if kind == "extra_forbidden":
        return _unknown(at, detail["loc"], places, model)
    if kind == "missing":
        return Fault(at[:-1], "E102", f'"{at[-1]}" is missing', f"add the key {at[-1]}: …")
    if kind == "union_tag_not_found":
        return Fault(at, "E102", '"by" is missing', _names(context))
    if kind == "union_tag_invalid":
        at = (*at, "by")
    node, found = places.node(at)
    if at[-1:] == ("[key]",):
        return Fault(at[:-1], "E101", f'unknown key "{at[-2]}"', _names(context), key=True)
    if at[-1:] == ("verdict",):
        name = str(found[-1])
        return Fault(at, "E101", f'unknown verdict "{name}"', _names(context, name), key=True)
    return Fault(at, _CODES.get(kind, "E103"), *_words(detail, context, node))


def _words(detail: ErrorDetails, context: Mapping[str, object], node: Node) -> tuple[str, str]:
    kind = detail["type"]
    shown = "" if isinstance(node.value, dict | list) else f", not {_shown(node.value)}"
    if kind in _EXPECTED:
        expected, hint = _EXPECTED[kind]
        return f"must be {expected}{shown}", hint
    if kind in _COMPARISONS:
        words, name, hint = _COMPARISONS[kind]
        limit = context[name]
        return f"must be {words} {limit}{shown}", f"{hint} {limit}"
    if kind in ("enum", "literal_error", "union_tag_invalid"):
        return f"{_shown(node.value)} is not allowed here", _names(context, node.value)
    if kind == "string_pattern_mismatch":
        return f"{_shown(node.value)} is not allowed here", f"it must match {context['pattern']}"
    if "text" in context:
        return f"{context['text']}{shown if kind in ('span', 'rate') else ''}", str(context["hint"])
    return detail["msg"][:1].lower() + detail["msg"][1:], "docs/engines.md describes the key"


def _shown(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else "this" if value is None else str(value)


def _names(context: Mapping[str, object], given: object = "") -> str:
    listed = str(context.get("expected") or context.get("expected_tags") or "")
    names = [name.strip().strip("'\"") for name in listed.replace(" or ", ", ").split(",")]
    names = [_bare(name) for name in names if name]
    return suggest(given if isinstance(given, str) else "", names)


def _bare(name: str) -> str:
    """Reduce `<Verdict.OK: 'ok'>` to `ok`."""
    return name.split(": ")[-1].rstrip(">").strip("'\"") if name.startswith("<") else name


def _unknown(at: _Path, loc: _Path, places: Places, model: type[BaseModel]) -> Fault:
    name = str(at[-1])
    _, found = places.node(at[:-1])
    names = list(_allowed(model, loc[:-1]))
    label = "allowed here" if not found else f"allowed in {dotted(found)}"
    hint = suggest(name, names, label)
    near = nearest(name, names)
    return Fault(at, "E101", f'unknown key "{name}"', hint, key=True, near=near)


def _allowed(root: type[BaseModel], at: _Path) -> Iterator[str]:
    """Yield the keys that the model at a path knows, as a file writes them."""
    model = _model_at(root, at)
    if model is not None:
        for name, info in model.model_fields.items():
            yield info.alias or name


def _model_at(model: type[BaseModel], at: _Path) -> type[BaseModel] | None:
    current: list[type[BaseModel]] = [model]
    for part in at:
        fields = [
            info.annotation
            for owner in current
            for name, info in owner.model_fields.items()
            if (info.alias or name) == part
        ]
        tagged = [owner for owner in current if _has_tag(owner, part)]
        if fields:
            current = [found for annotation in fields for found in _models(annotation)]
        elif tagged:
            current = tagged
    return current[0] if len(current) == 1 else None


def _has_tag(model: type[BaseModel], part: str | int) -> bool:
    info = model.model_fields.get("by")
    return info is not None and part in get_args(info.annotation)


def _models(annotation: object) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
        return
    if get_origin(annotation) in (Union, types.UnionType, tuple) or get_args(annotation):
        for argument in get_args(annotation):
            yield from _models(argument)
