"""What is wrong with an argument, in words for who called: no type of Python or its libraries."""

from __future__ import annotations

import difflib
import json
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic import BaseModel
    from pydantic_core import ErrorDetails

__all__ = ["sentence"]

_SHOULD = re.compile(r"^[A-Z][a-z]+ should ")

#: What was wanted, by the validator's type of error; other errors say it well themselves.
_WISHES = {
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "set_type": "must be a list",
    "dict_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "string_type": "must be text",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "int_type": "must be an integer",
    "int_parsing": "must be an integer",
    "int_from_float": "must be an integer",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "finite_number": "must be a finite number",
}
_COUNTS = {
    "too_short": ("at least", "min_length"),
    "too_long": ("at most", "max_length"),
}


def sentence(problem: ErrorDetails, model: type[BaseModel]) -> str:
    """Name the argument, what is allowed and the value given; an unknown one with the nearest."""
    where = ".".join(str(part) for part in problem["loc"]) or "arguments"
    if problem["type"] == "extra_forbidden":
        return f"{where}: {_unknown(where, list(model.model_fields))}"
    if problem["type"] == "missing":
        return f"{where}: this argument is required"
    given = _shown(problem["input"])
    if problem["type"] == "value_error":
        return f"{where}: must be {problem['msg'].removeprefix('Value error, ')}, not {given}"
    return f"{where}: {_wish(problem)}{_range(problem, model)}, not {given}{_remedy(problem)}"


def _unknown(name: str, known: list[str]) -> str:
    if not known:
        return "unknown argument; this tool takes none"
    near = difflib.get_close_matches(name, known, n=1)
    meant = f"; did you mean {near[0]!r}?" if near else ""
    return f"unknown argument{meant} (known: {', '.join(known)})"


def _wish(problem: ErrorDetails) -> str:
    kind, facts = problem["type"], problem.get("ctx", {})
    if kind in _COUNTS:
        words, bound = _COUNTS[kind]
        number = facts[bound]
        return f"must have {words} {number} {'item' if number == 1 else 'items'}"
    return _WISHES.get(kind) or _SHOULD.sub("must ", problem["msg"])


def _remedy(problem: ErrorDetails) -> str:
    """How a list is written, for who gave its only item or a text with commas."""
    given = problem["input"]
    if _WISHES.get(problem["type"]) != "must be a list" or not isinstance(given, str):
        return ""
    words = [word.strip() for word in given.split(",") if word.strip()]
    return f"; try {json.dumps(words, ensure_ascii=False)}" if words and len(given) <= 80 else ""


def _range(problem: ErrorDetails, model: type[BaseModel]) -> str:
    info = model.model_fields.get(str(problem["loc"][0])) if problem["loc"] else None
    bounds: dict[str, Any] = {
        name: getattr(rule, name)
        for rule in (info.metadata if info else ())
        for name in ("ge", "le", "min_length", "max_length")
        if getattr(rule, name, None) is not None
    }
    low = bounds.get("ge", bounds.get("min_length"))
    high = bounds.get("le", bounds.get("max_length"))
    return f" (allowed: {low} to {high})" if low is not None and high is not None else ""


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:77]}…"
