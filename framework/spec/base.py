"""What all models of the language share: frozen and closed, spans, rates, one-key forms."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    Strict,
    WithJsonSchema,
)
from pydantic_core import PydanticCustomError

__all__ = [
    "Flag",
    "Frozen",
    "Model",
    "Name",
    "Rate",
    "Scalar",
    "Span",
    "Text",
    "Whole",
    "fault",
    "given",
    "one_of",
    "parse_rate",
    "parse_span",
]

_T = TypeVar("_T")

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d|w)")
_RATE = re.compile(r"(\d+)/(\d+(?:\.\d+)?)?(ms|s|m|h|d)")


class Model(BaseModel):
    """Base of every part of a spec: frozen, and an unknown key is an error."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", populate_by_name=True, use_attribute_docstrings=True
    )


def fault(code: str, message: str, hint: str) -> PydanticCustomError:
    """Make a validation error whose message stands as it is and whose hint is printed below it."""
    context = {"text": message, "hint": hint}
    return PydanticCustomError(code, "{text}", context)


def parse_span(value: object) -> object:
    """Turn a span such as `30m`, `8s` or `1h` into seconds; anything else is refused."""
    match = _SPAN.fullmatch(value) if isinstance(value, str) else None
    if match is None:
        raise fault("span", "must be a span of time", "write a number and ms, s, m, h, d or w: 30m")
    return float(match[1]) * _SECONDS[match[2]]


def parse_rate(value: object) -> object:
    """Turn a rate such as `1/2s` (one request every two seconds) into (count, seconds)."""
    match = _RATE.fullmatch(value) if isinstance(value, str) else None
    if match is None or not int(match[1]) or float(match[2] or 1) == 0:
        raise fault("rate", "must be a rate", "write requests per span, such as 1/2s or 30/1m")
    return int(match[1]), float(match[2] or 1) * _SECONDS[match[3]]


def one_of(value: object, keys: tuple[str, ...], what: str) -> str:
    """Return the single key of `keys` that a mapping has; none or several are refused."""
    found = [key for key in keys if isinstance(value, Mapping) and key in value]
    if len(found) == 1:
        return found[0]
    problem = "has no source" if not found else f"has more than one source: {', '.join(found)}"
    raise fault("one_of", f"{what} {problem}", f"give exactly one of {', '.join(keys)}")


def given(model: BaseModel, names: tuple[str, ...]) -> str:
    """Return the first of `names` whose value a model was given; used where exactly one is."""
    return next(name for name in names if getattr(model, name) is not None)


#: A whole number; a quoted number or a truth value is refused.
Whole = Annotated[int, Strict()]
#: `true` or `false`, nothing that merely looks like it.
Flag = Annotated[bool, Strict()]
#: Text that is not empty.
Text = Annotated[str, Field(min_length=1)]
#: A name in lower case: letters, digits and hyphens, such as an engine's id.
Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,63}$")]
#: A value of the request or of `const`: text, number or truth.
Scalar = Annotated[str, Field()] | Whole | Annotated[float, Strict()] | Flag
#: A span of time in seconds, written `30m`.
Span = Annotated[
    float,
    BeforeValidator(parse_span),
    WithJsonSchema({"type": "string", "pattern": f"^{_SPAN.pattern}$", "examples": ["8s", "30m"]}),
]
#: (requests, seconds), written `1/2s`.
Rate = Annotated[
    tuple[int, float],
    BeforeValidator(parse_rate),
    WithJsonSchema({"type": "string", "pattern": f"^{_RATE.pattern}$", "examples": ["1/2s"]}),
]
#: A mapping that cannot be changed after validation; the order of the file is kept.
Frozen = Annotated[Mapping[str, _T], AfterValidator(MappingProxyType), PlainSerializer(dict)]
