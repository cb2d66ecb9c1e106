"""The filters of request templates: a closed table of small pure functions."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from jinja2 import StrictUndefined, pass_context

from framework.spec.base import parse_span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jinja2.runtime import Context

__all__ = [
    "ARITY",
    "FILTERS",
    "ago",
    "b64",
    "country",
    "default",
    "lang",
    "lower",
    "moment_before",
    "sha256",
    "slug",
    "upper",
]

_DAY = 86_400

#: Formats of `ago` that strftime has not.
_SPECIAL: Mapping[str, Callable[[datetime], str]] = MappingProxyType(
    {
        "iso": lambda when: when.isoformat(timespec="seconds"),
        "s": lambda when: str(int(when.timestamp())),
        "ms": lambda when: str(int(when.timestamp() * 1000)),
        "days": lambda when: str(int(when.timestamp() // _DAY)),
    }
)


def ago(context: Context, value: object, *arguments: object) -> str:
    """Return the moment that lies a span before now: `now | ago('7d')` or `time | ago`.

    A second argument (the first, after a span) is a strftime format, or `iso`, `s` and `ms` for
    seconds and milliseconds since 1970, `days` since 1970. The default is a date, 2026-01-31.
    """
    now, span, *rest = (
        (value, *arguments)
        if isinstance(value, datetime)
        else (context.resolve("now"), value, *arguments)
    )
    return moment_before(now, span, *rest)


def moment_before(now: object, span: object, form: object = "%Y-%m-%d") -> str:
    """Return the moment that lies a span before `now`, in UTC and in that format."""
    seconds = parse_span(span)
    if not isinstance(now, datetime) or not isinstance(seconds, float):
        raise TypeError("ago needs now and a span such as 7d")
    when = now.astimezone(UTC) - timedelta(seconds=seconds)
    special = _SPECIAL.get(str(form))
    return special(when) if special else when.strftime(str(form))


def lang(tag: object) -> str:
    """Return the language part of a tag, in lower case: `de` of `de-DE`."""
    return re.split(r"[-_]", str(tag))[0].lower()


def country(tag: object) -> str:
    """Return the country part of a tag, in upper case: `DE` of `de-DE`; empty without one."""
    parts = re.split(r"[-_]", str(tag))
    return next((part.upper() for part in parts[1:] if len(part) == 2), "")


def b64(value: object) -> str:
    """Return the text's UTF-8 bytes in base64 with padding."""
    return base64.b64encode(str(value).encode()).decode()


def sha256(value: object) -> str:
    """Return the SHA-256 of the text's UTF-8 bytes, in hexadecimal."""
    return hashlib.sha256(str(value).encode()).hexdigest()


def slug(value: object) -> str:
    """Return letters and digits in lower case, everything between them as one hyphen."""
    words = re.findall(r"[^\W_]+", str(value).lower())
    return "-".join(words)


def lower(value: object) -> str:
    """Return the text in lower case."""
    return str(value).lower()


def upper(value: object) -> str:
    """Return the text in upper case."""
    return str(value).upper()


def default(value: object, other: object) -> object:
    """Return the value, or the other one where the value is unset."""
    return other if isinstance(value, StrictUndefined) else value


def _set(function: Callable[..., object]) -> Callable[..., object]:
    def checked(value: object, *arguments: object) -> object:
        unset = [item for item in (value, *arguments) if isinstance(item, StrictUndefined)]
        return unset[0] if unset else function(value, *arguments)

    return checked


@pass_context
def _ago(context: Context, value: object, *arguments: object) -> object:
    unset = [item for item in (value, *arguments) if isinstance(item, StrictUndefined)]
    return unset[0] if unset else ago(context, value, *arguments)


#: Name to function; every one but `default` passes an unset value on as unset.
FILTERS: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        "ago": _ago,
        "b64": _set(b64),
        "country": _set(country),
        "default": default,
        "lang": _set(lang),
        "lower": _set(lower),
        "sha256": _set(sha256),
        "slug": _set(slug),
        "upper": _set(upper),
    }
)

#: The least and the most arguments of each filter.
ARITY: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "ago": (0, 2),
        "b64": (0, 0),
        "country": (0, 0),
        "default": (1, 1),
        "lang": (0, 0),
        "lower": (0, 0),
        "sha256": (0, 0),
        "slug": (0, 0),
        "upper": (0, 0),
    }
)
