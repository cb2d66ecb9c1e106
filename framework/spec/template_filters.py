"""The filters of request templates: a closed table of small pure functions."""

from __future__ import annotations

import base64
import hashlib
import re
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING

from jinja2 import StrictUndefined

from framework.spec.base import parse_span

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["ARITY", "FILTERS", "ago", "b64", "country", "default", "lang", "sha256", "slug"]

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


def ago(now: object, span: object, form: str = "%Y-%m-%d") -> str:
    """Return the moment that lies a span (`7d`) before now.

    The format is one of strftime, or `iso`, `s` and `ms` (since 1970), `days` (since 1970).
    """
    if not isinstance(now, datetime):
        raise TypeError("ago works on now")
    seconds = parse_span(span)
    if not isinstance(seconds, float):
        raise TypeError("ago needs a span such as 7d")
    when = now.astimezone(UTC) - timedelta(seconds=seconds)
    return _SPECIAL[form](when) if form in _SPECIAL else when.strftime(form)


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


def default(value: object, other: object) -> object:
    """Return the value, or the other one where the value is unset."""
    return other if isinstance(value, StrictUndefined) else value


def _set(function: Callable[..., object]) -> Callable[..., object]:
    def checked(value: object, *arguments: object) -> object:
        if isinstance(value, StrictUndefined):
            str(value)
        return function(value, *arguments)

    return checked


#: Name to function; every one but `default` passes an unset value on as unset.
FILTERS: Mapping[str, Callable[..., object]] = MappingProxyType(
    {
        "ago": _set(ago),
        "b64": _set(b64),
        "country": _set(country),
        "default": default,
        "lang": _set(lang),
        "sha256": _set(sha256),
        "slug": _set(slug),
    }
)

#: The least and the most arguments of each filter.
ARITY: Mapping[str, tuple[int, int]] = MappingProxyType(
    {
        "ago": (1, 2),
        "b64": (0, 0),
        "country": (0, 0),
        "default": (1, 1),
        "lang": (0, 0),
        "sha256": (0, 0),
        "slug": (0, 0),
    }
)
