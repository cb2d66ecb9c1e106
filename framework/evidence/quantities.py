"""Numbers of a sentence with what they count: digits, words, percentages, years, units, ranges."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.evidence.wordlists import sequence

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Quantity", "conflicts", "parse_number", "quantities"]

_UNITS = {word: n for n, word in enumerate(sequence("units"))}
_TENS = {word: 10 * n for n, word in enumerate(sequence("tens"), 2)}
_SCALES = {
    "dozen": 12, "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9,
    "trillion": 10**12, "k": 1_000, "m": 10**6, "bn": 10**9, "mio": 10**6, "mrd": 10**9,
}  # fmt: skip
_EXTRA = {
    "half": 0.5,
    "twice": 2.0,
    "double": 2.0,
    "once": 1.0,
    "pair": 2.0,
    "couple": 2.0,
    "single": 1.0,
}
_NUMBER = re.compile(
    r"(?<![\w.])(?P<sign>[-−])?(?P<number>\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?|"
    r"\d+(?:[.,]\d+)*)"
    r"(?P<ordinal>st|nd|rd|th)?\s?(?P<scale>hundred|thousand|million|billion|trillion|bn|k|m|mio|"
    r"mrd)?\b\.?\s?"
    r"(?P<unit>%|percent|per cent|°\s?[CF]|[^\W\d_]+)?",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"(?<!\d\s)\b(?:(?:"
    + "|".join([*_UNITS, *_TENS, *_SCALES])
    + r")\b(?:[\s-]|\band\b)*)+(?P<unit>[a-z]+)?",
    re.IGNORECASE,
)
_PAIR = re.compile(r"(?<![\w.,:/-])(\d{1,3})\s?[-–:]\s?(\d{1,2})(?![\w:/-]|[.,]\d)")
_BOUND = re.compile(
    r"\b(?P<less>less than|fewer than|under|below|at most|no more than|before|within|until|by)\s+$|"
    r"\b(?P<more>more than|over|above|at least|no fewer than|no less than|exceed(?:s|ed|ing)?|"
    r"minimum of|after|since|from)\s+$|"
    r"\b(?P<about>about|around|approximately|roughly|nearly|almost|some|circa|c\.|ca\.)\s+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, the word it counts ('' unknown), its kind (year, percent, pair, number), its bound.

    `high` is the other end of a range that begins with the number ("2.1 to 2.4").

    A pair is two numbers that only mean something together: a score (6-4), a time of day (18:30).
    """

    value: float
    unit: str
    kind: str
    bound: str = ""
    high: float | None = None


def parse_number(text: str) -> float | None:
    """Read a number in any common notation (1,234.5, 1.234,5, 1 234,5, 1'234), or return None."""
    digits = re.sub(r"[\s'’\u00a0\u202f]", "", text.strip()).replace("−", "-")
    if not re.fullmatch(r"-?\d[\d.,]*", digits):
        return None
    marks = [c for c in digits if c in ".,"]
    if len(set(marks)) == 2:
        last = marks[-1]
        digits = digits.replace("," if last == "." else ".", "").replace(last, ".")
    elif len(marks) > 1:
        digits = digits.replace(marks[0], "")
    elif marks and re.fullmatch(r"-?[1-9]\d{0,2}[.,]\d{3}", digits):
        digits = digits.replace(marks[0], "") if marks[0] == "," else digits
    digits = digits.replace(",", ".")
    try:
        return float(digits)
    except ValueError:
        return None


def _bound(text: str, start: int) -> str:
    found = _BOUND.search(text[max(0, start - 24) : start])
    return next((name for name, hit in found.groupdict().items() if hit), "") if found else ""


def _kind(raw: str, unit: str) -> str:
    if unit in ("%", "percent", "per cent"):
        return "percent"
    if re.fullmatch(r"(?:1[0-9]|20)\d\d", raw) and not unit.endswith(("m", "kg")):
        return "year"
    return "number"


def _singular(unit: str) -> str:
    low = unit.lower()
    return low[:-1] if len(low) > 3 and low.endswith("s") else low


def _spelt(words: str) -> float | None:
    total, current = 0.0, 0.0
    seen = False
    for word in re.findall(r"[a-z]+", words.lower()):
        if word in _UNITS or word in _TENS:
            current += _UNITS.get(word, 0) + _TENS.get(word, 0)
            seen = True
        elif word in _SCALES and len(word) > 2:
            scale = _SCALES[word]
            current = (current or 1) * scale
            seen = True
            if scale >= 1_000:
                total, current = total + current, 0.0
    return total + current if seen else None


_JOINERS = frozenset({"to", "through", "until", "and", "or", "in", "of", "on", "for", "by", "at"})
_RANGE = re.compile(r"(?:to|through|until|[-–])\s*(\d[\d.,]*\d|\d)", re.IGNORECASE)


def _written(text: str) -> Iterator[Quantity]:
    for m in _NUMBER.finditer(text):
        value = parse_number(m["number"])
        if value is None:
            continue
        scale = _SCALES.get((m["scale"] or "").lower(), 1) * (-1 if m["sign"] else 1)
        unit = (m["unit"] or "").lower()
        other = _RANGE.match(text, m.start("unit") if unit in _JOINERS else m.end())
        high = parse_number(other[1]) if other else None
        kind, bound = _kind(m["number"], unit), _bound(text, m.start())
        counted = "" if unit in _JOINERS else _singular(unit)
        yield Quantity(value * scale, counted, kind, bound, high)


def _spelt_out(text: str) -> Iterator[Quantity]:
    for m in _WORDS.finditer(text):
        value = _spelt(m[0][: m.start("unit") - m.start()] if m["unit"] else m[0])
        if value is not None and (value != 1 or m["unit"]):
            yield Quantity(value, _singular(m["unit"] or ""), "number", _bound(text, m.start()))


def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text, digits and number words alike, in order of kind."""
    pairs = [Quantity(1_000.0 * int(m[1]) + int(m[2]), "", "pair") for m in _PAIR.finditer(text)]
    rest = _PAIR.sub(lambda m: " " * len(m[0]), text)
    return (*pairs, *_written(rest), *_spelt_out(rest))


def _agrees(claim: Quantity, text: Quantity) -> bool:
    if claim.value == text.value:
        return True
    if text.high is not None and claim.kind != "year" and text.value < claim.value <= text.high:
        return True
    slack = 0.06 if "about" in (claim.bound, text.bound) else 0.005
    if (
        abs(claim.value - text.value) <= slack * max(abs(claim.value), abs(text.value))
        and claim.kind != "year"
    ):
        return True
    if claim.bound == "less":
        return text.value <= claim.value
    if claim.bound == "more":
        return text.value >= claim.value
    return False


def conflicts(claim: tuple[Quantity, ...], text: tuple[Quantity, ...]) -> tuple[int, int, int]:
    """Count numbers of a claim that a text contradicts, years that it does, and numbers it lacks.

    A number is contradicted where the text has none that agrees but one of the same kind: the same
    unit, or where either unit is unknown; a year where the text names other years only.
    """
    numbers = years = absent = 0
    for quantity in claim:
        same = [q for q in text if q.kind == quantity.kind]
        if any(_agrees(quantity, q) for q in same):
            continue
        absent += 1
        if quantity.kind == "year":
            years += bool(same)
        else:
            numbers += any(_comparable(quantity, q) for q in same)
    return numbers, years, absent


def _comparable(one: Quantity, other: Quantity) -> bool:
    return one.kind == "percent" or one.unit == other.unit or not one.unit or not other.unit
