"""Dates as pages write them, as ISO 8601 where they are sure."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime

__all__ = ["date", "url_date"]

_ISO = re.compile(
    r"\b((?:19|20)\d\d)-(\d\d)-(\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|[+-]\d\d:?\d\d)?)?"
)
_URL_DATE = re.compile(r"/((?:19|20)\d\d)[/-](0?[1-9]|1[0-2])[/-](0?[1-9]|[12]\d|3[01])(?:[/_-]|$)")


def date(text: str) -> str | None:
    """Return a date as ISO 8601, or None for anything that isn't surely one."""
    if not text:
        return None
    match = _ISO.search(text)
    if match:
        day = f"{match[1]}-{match[2]}-{match[3]}"
        return f"{day}T{match[4]}{match[5] or ''}" if match[4] else day
    return _written_date(text)


def _written_date(text: str) -> str | None:
    digits = re.fullmatch(r"\s*((?:19|20)\d\d)[/.]?(\d\d)[/.]?(\d\d)(?:\d{6})?\s*", text)
    if digits:
        return f"{digits[1]}-{digits[2]}-{digits[3]}"
    try:
        return parsedate_to_datetime(text).isoformat()
    except (ValueError, TypeError, IndexError):
        pass
    named = _NAMED_DATE.search(text)
    if not named:
        return None
    name = (named[1] or named[5]).lower()[:3]
    day, year = (named[2], named[3]) if named[1] else (named[4], named[6])
    return f"{year}-{_MONTHS.index(name) + 1:02d}-{int(day):02d}" if name in _MONTHS else None


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_NAMED_DATE = re.compile(
    r"\b([A-Z][a-z]{2,8})\.? (\d{1,2}),? ((?:19|20)\d\d)|\b(\d{1,2})\.? "
    r"([A-Z][a-z]{2,8})\.?,? ((?:19|20)\d\d)"
)


def url_date(url: str) -> str | None:
    """Return the day that an address states as a path, such as /2024/05/17/."""
    match = _URL_DATE.search(url)
    return f"{match[1]}-{int(match[2]):02d}-{int(match[3]):02d}" if match else None
