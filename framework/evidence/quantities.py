"""Numbers of a sentence with what they count: digits, words, percentages, years, units, ranges."""

from __future__ import annotations

import re
from dataclasses import dataclass

__all__ = ["Quantity", "conflicts", "parse_number", "quantities"]

_UNITS = dict(zip("zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
                  "sixteen seventeen eighteen nineteen".split(), range(20), strict=True))  # fmt: skip  # noqa: SIM905
_TENS = dict(
    zip(
        "twenty thirty forty fifty sixty seventy eighty ninety".split(),
        range(20, 100, 10),
        strict=True,
    )
)  # noqa: SIM905
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12,
           "k": 1_000, "m": 10**6, "bn": 10**9, "mio": 10**6, "mrd": 10**9, "dozen": 12}  # fmt: skip
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
    r"(?<![\w.])(?P<sign>[-−])?(?P<number>\d{1,3}(?:[.,'’\u00a0\u202f ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)*)"
    r"(?P<ordinal>st|nd|rd|th)?\s?(?P<scale>hundred|thousand|million|billion|trillion|bn|k|m|mio|mrd)?\b\.?\s?"
    r"(?P<unit>%|percent|per cent|°\s?[CF]|[^\W\d_]+)?",
    re.IGNORECASE,
)
_WORDS = re.compile(
    r"\b(?:(?:"
    + "|".join([*_UNITS, *_TENS, *_SCALES])
    + r")\b(?:[\s-]|\band\b)*)+(?P<unit>[a-z]+)?",
    re.IGNORECASE,
)
_PAIR = re.compile(r"(?<![\w.,:/-])(\d{1,3})\s?[-–:]\s?(\d{1,2})(?![\w:/-]|[.,]\d)")
_BOUND = re.compile(
    r"\b(?P<less>less than|fewer than|under|below|at most|no more than|before|within|until|by)\s+$|"
    r"\b(?P<more>more than|over|above|at least|no fewer than|no less than|exceed(?:s|ed|ing)?|minimum of|after|since|from)\s+$|"
    r"\b(?P<about>about|around|approximately|roughly|nearly|almost|some|circa|c\.|ca\.)\s+$",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number, the word it counts ('' unknown), its kind (year, percent, pair, number), its bound.

    A pair is two numbers that only mean something together: a score (6-4), a time of day (18:30).
    """

    value: float
    unit: str
    kind: str
    bound: str = ""


def parse_number(text: str) -> float | None:
    """Read a number in any common notation (1,234.5, 1.234,5, 1 234,5, 1'234); None if it is none."""
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


def _kind(value: float, raw: str, unit: str) -> str:
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


def quantities(text: str) -> tuple[Quantity, ...]:
    """Return the quantities of a text, digits and number words alike, in order of kind."""
    pairs = list(_PAIR.finditer(text))
    found = [Quantity(1_000.0 * int(m[1]) + int(m[2]), "", "pair") for m in pairs]
    text = _PAIR.sub(lambda m: " " * len(m[0]), text)
    for m in _NUMBER.finditer(text):
        value = parse_number(m["number"])
        if value is None:
            continue
        unit = (m["unit"] or "").lower()
        scaled = value * _SCALES.get((m["scale"] or "").lower(), 1) * (-1 if m["sign"] else 1)
        found.append(
            Quantity(
                scaled, _singular(unit), _kind(value, m["number"], unit), _bound(text, m.start())
            )
        )
    for m in _WORDS.finditer(text):
        value = _spelt(m[0][: m.start("unit") - m.start()] if m["unit"] else m[0])
        if value is not None and (value != 1 or m["unit"]):
            found.append(
                Quantity(value, _singular(m["unit"] or ""), "number", _bound(text, m.start()))
            )
    return tuple(found)


def _agrees(claim: Quantity, text: Quantity) -> bool:
    if claim.value == text.value:
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
    """Count numbers of a claim that a text contradicts, years that it contradicts, and numbers it lacks.

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
