"""Turn a page's text into typed values: numbers of any locale, dates, money, truths, addresses."""

from __future__ import annotations

import re
from datetime import date
from operator import ge, gt, le, lt
from typing import TYPE_CHECKING
from urllib.parse import urljoin

import re2

from framework.evidence.fields import field_type
from framework.evidence.quantities import parse_number
from framework.evidence.wordlists import table, words
from framework.spec.patterns import encodable

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.evidence.fields import Schema
    from framework.reading.document import Json

__all__ = ["convert", "currency", "parse_date"]

_DIGITS = re.compile(r"[-−]?\d[\d.,\u00a0\u202f'’ ]*")
_SCALE = re.compile(r"\s*(thousand|million|billion|trillion|mio|mrd|bn|k|m)\b", re.IGNORECASE)
_SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "mio": 1e6, "m": 1e6, "billion": 1e9,
           "mrd": 1e9, "bn": 1e9, "trillion": 1e12}  # fmt: skip
_YES = words("yes")
_NO = words("no")
_SYMBOLS = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR", "₽": "RUB", "₩": "KRW",
            "zł": "PLN", "kč": "CZK", "₺": "TRY", "฿": "THB", "r$": "BRL", "chf": "CHF",
            "kr": "SEK"}  # fmt: skip
_CODES = re.compile(
    r"\b(EUR|USD|GBP|JPY|CHF|CAD|AUD|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|RUB|KRW|TRY|THB|ZAR|"
    r"NZD|SGD|HKD)\b"
)
_ISO = re.compile(r"\b(\d{4})-(\d{1,2})-(\d{1,2})\b")
_DOTTED = re.compile(r"\b(\d{1,2})[.](\d{1,2})[.](\d{4})\b")
_SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})/(\d{4})\b")
_EAST = re.compile(r"(\d{4})\s*[年년]\s*(\d{1,2})\s*[月월]\s*(\d{1,2})\s*[日일]")
_MONTHS = {name: int(number) for number, names in table("months").items() for name in names.split()}
_DAY_FIRST = re.compile(
    r"\b(\d{1,2})(?:st|nd|rd|th|\.|er|º)?\s+(?:(?:de|of)\s+)?([^\W\d_]{3,})\.?,?\s+(?:de\s+)?(\d{4})\b"
)
_MONTH_FIRST = re.compile(r"\b([^\W\d_]{3,})\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\b")


def _date(year: str, month: int, day: str) -> str | None:
    try:
        return date(int(year), month, int(day)).isoformat()
    except ValueError:
        return None


def parse_date(text: str) -> str | None:
    """Return the first date of a text as YYYY-MM-DD, or None.

    Reads ISO, 31.12.2024, 31/12/2024 (where the order is beyond doubt) and names of months in ten
    languages. An ambiguous 03/04/2024 is no date: it would be a guess.
    """
    for pattern in (_ISO, _EAST):
        if found := pattern.search(text):
            return _date(found[1], int(found[2]), found[3])
    if found := _DOTTED.search(text):
        return _date(found[3], int(found[2]), found[1])
    if found := _SLASHED.search(text):
        return _slashed(int(found[1]), int(found[2]), found[3])
    return _named(text)


def _slashed(first: int, second: int, year: str) -> str | None:
    if first > 12 or first == second:
        return _date(year, second, str(first))
    return _date(year, first, str(second)) if second > 12 else None


def _named(text: str) -> str | None:
    for found in _DAY_FIRST.finditer(text):
        if month := _MONTHS.get(found[2].lower()):
            return _date(found[3], month, found[1])
    for found in _MONTH_FIRST.finditer(text):
        if month := _MONTHS.get(found[1].lower()):
            return _date(found[3], month, found[2])
    return None


def currency(text: str) -> str | None:
    """Return the ISO code of the currency that a text names, or None."""
    if found := _CODES.search(text):
        return found[1]
    low = text.lower()
    return next((code for sign, code in _SYMBOLS.items() if sign in low), None)


def _number(text: str) -> float | None:
    found = _DIGITS.search(text)
    if found is None:
        return None
    value = parse_number(found[0].rstrip(" .,'’"))
    if value is None:
        return None
    scale = _SCALE.match(text, found.end())
    return value * _SCALES[scale[1].lower()] if scale else value


def _truth(text: str) -> bool | None:
    word = re.sub(r"[^\w✓✔✗✘×]", "", text.rsplit("/", 1)[-1].lower())
    return True if word in _YES else False if word in _NO else None


def convert(value: Json, schema: Schema, url: str, name: str = "") -> Json:
    """Return a value in the type that a field wants, or None where it cannot be that.

    Text stays text; a number is read in any locale; `format` date gives YYYY-MM-DD and uri an
    absolute address; a field named like currency takes the ISO code. What the schema does not
    allow (enum, const, bounds, lengths, pattern) is None.
    """
    if value is None or isinstance(value, dict):
        return _named_value(value, schema, url, name) if isinstance(value, dict) else None
    if isinstance(value, list):
        return convert(value[0], schema, url, name) if value else None
    converted = _CONVERTERS.get(field_type(schema), _text)(value, schema, url, name)
    return _allowed(converted, schema)


def _named_value(value: dict[str, Json], schema: Schema, url: str, name: str) -> Json:
    """A structured item where a plain value is wanted: its name, value or address speaks for it."""
    for key in ("@value", "name", "value", "ratingValue", "price", "url", "text", "@id"):
        if key in value:
            return convert(value[key], schema, url, name)
    return None


def _allowed(value: Json, schema: Schema) -> Json:
    members = [schema["const"]] if "const" in schema else schema.get("enum")
    if value is not None and isinstance(members, list):
        value = next((m for m in members if str(m).lower() == str(value).lower()), None)
    return value if value is None or _within(value, schema) else None


#: Keywords that bound a value, and what each says of a value's size and its own number.
_BOUNDS: dict[str, Callable[[float, float], bool]] = {
    "minimum": ge,
    "maximum": le,
    "exclusiveMinimum": gt,
    "exclusiveMaximum": lt,
    "minLength": ge,
    "maxLength": le,
    "multipleOf": lambda size, step: step > 0 and abs(size / step - round(size / step)) < 1e-9,
}


def _within(value: Json, schema: Schema) -> bool:
    """Tell whether a value keeps the bounds of its field; a pattern that is none allows all."""
    for word, holds in _BOUNDS.items():
        bound, size = schema.get(word), len(value) if isinstance(value, str) else value
        if isinstance(bound, bool) or not isinstance(bound, int | float):
            continue
        if isinstance(size, bool) or not isinstance(size, int | float):
            continue
        if word.endswith("Length") == isinstance(value, str) and not holds(size, bound):
            return False
    pattern = schema.get("pattern")
    return not (isinstance(pattern, str) and isinstance(value, str)) or _matches(pattern, value)


def _matches(pattern: str, text: str) -> bool:
    try:
        return re2.search(encodable(pattern), encodable(text)) is not None
    except re2.error:
        return True


def _as_number(value: Json, schema: Schema, url: str, name: str) -> Json:
    if isinstance(value, bool):
        return None
    return float(value) if isinstance(value, int | float) else _number(str(value))


_GROUPED = re.compile(r"(?<![\d.,])\d{1,3}(?:[.,]\d{3})+(?![\d.,])")


def _as_integer(value: Json, schema: Schema, url: str, name: str) -> Json:
    if isinstance(value, str) and (grouped := _GROUPED.search(value)):
        return int(re.sub(r"\D", "", grouped[0]))
    number = _as_number(value, schema, url, name)
    return int(number) if isinstance(number, float) and number == int(number) else None


def _as_truth(value: Json, schema: Schema, url: str, name: str) -> Json:
    return value if isinstance(value, bool) else _truth(str(value))


def _text(value: Json, schema: Schema, url: str, name: str) -> Json:
    text = re.sub(r"\s+", " ", str(value)).strip()
    form = schema.get("format")
    if form in ("date", "date-time"):
        return (
            text
            if form == "date-time" and re.match(r"\d{4}-\d\d-\d\dT", text)
            else parse_date(text)
        )
    if form in ("uri", "url") or name.lower() in ("url", "link", "image"):
        return urljoin(url, text) if text and " " not in text else None
    if "currency" in name.lower():
        return currency(text)
    return text or None


_CONVERTERS = {"number": _as_number, "integer": _as_integer, "boolean": _as_truth}
