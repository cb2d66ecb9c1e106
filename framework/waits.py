"""When a server wants to be asked again, from the headers of its answer."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framework.types import HttpResponse

__all__ = ["DEFAULT_HEADERS", "retry_after", "seconds_in"]

#: Looked at in this order where an engine names no headers of its own.
DEFAULT_HEADERS = ("Retry-After", "X-RateLimit-Reset", "RateLimit-Reset")

_NUMBER = re.compile(r"\d{1,15}(?:\.\d+)?")
_SPANS = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|d|h|m|s))+")
_SPAN = re.compile(r"(\d+(?:\.\d+)?)(ms|d|h|m|s)")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
#: From here on a number is a moment (Unix seconds, milliseconds), not a span.
_MOMENT = 1_000_000_000
_MOMENT_MS = 1_000_000_000_000


def retry_after(
    response: HttpResponse, now: datetime, headers: Iterable[str] = DEFAULT_HEADERS
) -> float | None:
    """Return in how many seconds the server wants to be asked again, or None if it doesn't say.

    The first header that can be read counts. A reset header counts only for a window whose
    `…-Remaining` is used up, where the answer says what remains; it may list several windows ("per
    second, per month").
    """
    for name in headers or DEFAULT_HEADERS:
        value = response.header(name)
        wait = _windows(value, _remaining(response, name), now) if value else None
        if wait is not None:
            return wait
    return None


def seconds_in(value: str, now: datetime) -> float | None:
    """Read one wait: seconds, a Unix moment, an HTTP date or a span such as `1m30s`."""
    text = value.strip()
    if _NUMBER.fullmatch(text):
        return _from_number(float(text), now)
    if _SPANS.fullmatch(text):
        return sum(float(number) * _UNITS[unit] for number, unit in _SPAN.findall(text))
    return _from_date(text, now)


def _from_number(number: float, now: datetime) -> float:
    if number >= _MOMENT_MS:
        number /= 1000
    return max(0.0, number - now.timestamp()) if number >= _MOMENT else number


def _from_date(text: str, now: datetime) -> float | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - now).total_seconds())


def _remaining(response: HttpResponse, name: str) -> list[str]:
    """What `…-Remaining` says about the windows of `…-Reset`; nothing for other headers."""
    stem, dash, last = name.rpartition("-")
    if last.lower() != "reset":
        return []
    value = response.header(f"{stem}{dash}Remaining") or ""
    return [part.strip() for part in value.split(",")] if value else []


def _windows(value: str, remaining: list[str], now: datetime) -> float | None:
    """The longest window that is used up; where nothing is said of that, the shortest."""
    whole = seconds_in(value, now)
    waits = [whole] if whole is not None else [seconds_in(part, now) for part in value.split(",")]
    if len(waits) == len(remaining):
        pairs = zip(waits, remaining, strict=True)
        return max((wait for wait, left in pairs if left == "0" and wait is not None), default=None)
    return min((wait for wait in waits if wait is not None), default=None)
