"""From what a pick yields to a row's value: typed, cleaned, capped; addresses absolute."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING
from urllib.parse import quote, urlsplit, urlunsplit

from framework.spec.dates import DateRule, parse_date, parse_number
from framework.spec.documents import Document, absolute
from framework.spec.fields import FieldType
from framework.spec.patterns import text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from framework.types import FieldValue

__all__ = ["CAPS", "MAX_ITEMS", "MAX_URL", "clean", "link", "typed"]

#: Characters of a field that are kept; fields that are not listed keep `_CAP`.
CAPS: Mapping[str, int] = {"title": 1_000, "snippet": 10_000, "answer": 10_000}
_CAP = 2_000
#: Items of a list that are kept, and characters of each.
MAX_ITEMS = 100
_ITEM_CAP = 1_000
#: A longer address is dropped, not cut.
MAX_URL = 8_192
_MAX_INTEGER = 2**63 - 1

#: Controls, line separators, marks that turn text around, invisible tags, lone surrogates.
_UNWANTED = re.compile(
    "[\x00-\x1f\x7f-\x9f\u200b\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff"
    "\U000e0000-\U000e007f]"
)
_LINK = re.compile(r"https?://[^\s/?#@\\<>\"]+(?:[/?#][^\s<>\"\\]*)?", re.IGNORECASE)
#: The usual shape, which needs no closer look.
_USUAL = re.compile(r"https?://[a-zA-Z0-9-]+(?:\.[a-zA-Z0-9-]+)+(?:[/?#][!#-;=?-\[\]-~]*)?")
_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:")
_SPACES = re.compile(r"[\t\r\n]")
_SAFE = "%/:=&?~#+!$,;'@()*[]|"

_ANY_DATE = DateRule(("iso", "rfc2822"))


def clean(text: str, cap: int = _CAP) -> str:
    """Return text with white space collapsed, control characters gone, cut at the cap."""
    if len(text) > cap * 4:
        text = text[: cap * 4]
    if "  " in text or not text.isprintable():
        text = _UNWANTED.sub("", " ".join(text.split()))
        text = " ".join(text.split())
    text = text.strip()
    return text if len(text) <= cap else text[:cap].rstrip()


def link(value: object, base: str) -> str | None:
    """Return an address made absolute, or None where it is not http(s), has no host or a user."""
    text = text_of(value)
    if text is None or len(text) > MAX_URL:
        return None
    text = _UNWANTED.sub("", text.strip())
    if _LINK.fullmatch(text):
        return text if _has_host(text) else None
    text = _SPACES.sub("", text)
    joined = text if not text or _SCHEME.match(text) else absolute(base, text)
    quoted = _quoted(joined) if joined else None
    if quoted is None or len(quoted) > MAX_URL or not _LINK.fullmatch(quoted):
        return None
    return quoted if _has_host(quoted) else None


def _has_host(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False


def _quoted(url: str) -> str | None:
    """Encode what may not stand in the path, query and fragment of an address."""
    try:
        scheme, netloc, path, query, fragment = urlsplit(url)
    except ValueError:
        return None
    path, query, fragment = (_encoded(part) for part in (path, query, fragment))
    return urlunsplit((scheme, netloc, path, query, fragment))


def _encoded(part: str) -> str:
    return "".join(char if char > "\x7f" else quote(char, safe=_SAFE) for char in part)


def _first(value: object) -> object:
    if isinstance(value, list | tuple):
        return next((item for item in value if item is not None), None)
    return value


def _text(cap: int) -> Callable[[object, Document], FieldValue | None]:
    def convert(value: object, _document: Document) -> FieldValue | None:
        text = value if isinstance(value, str) else text_of(_first(value))
        return None if text is None else clean(text, cap) or None

    return convert


def _url(value: object, document: Document) -> FieldValue | None:
    if isinstance(value, str) and len(value) <= MAX_URL and _USUAL.fullmatch(value):
        return value
    return link(_first(value), document.base)


def _date(value: object, document: Document) -> FieldValue | None:
    text = text_of(_first(value))
    return None if text is None else parse_date(text, _ANY_DATE, document.now)


def _number(value: object, _document: Document) -> float | None:
    value = _first(value)
    if isinstance(value, str):
        value = parse_number(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return value if abs(value) <= _MAX_INTEGER else None


def _integer(value: object, document: Document) -> FieldValue | None:
    number = _number(value, document)
    return None if number is None else int(number)


def _list(value: object, _document: Document) -> FieldValue | None:
    items = value if isinstance(value, list | tuple) else [value]
    texts = (text_of(item) for item in items[:MAX_ITEMS])
    cleaned = (clean(text, _ITEM_CAP) for text in texts if text is not None)
    return tuple(text for text in cleaned if text) or None


_CONVERSIONS: Mapping[FieldType, Callable[[object, Document], FieldValue | None]] = {
    FieldType.URL: _url,
    FieldType.DATE: _date,
    FieldType.NUMBER: _number,
    FieldType.INTEGER: _integer,
    FieldType.LIST: _list,
}


def typed(
    name: str, kind: FieldType, *, parsed: bool = False
) -> Callable[[object, Document], FieldValue | None]:
    """Return what turns a pick's value into a field's: None where the value is not of the type.

    With `parsed` a date comes from a filter that makes dates and is not looked at again.
    """
    if parsed and kind is FieldType.DATE:
        return _text(_CAP)
    return _CONVERSIONS.get(kind) or _text(CAPS.get(name, _CAP))
