"""Dates, durations and sizes as pages write them, turned into RFC 3339 text and whole numbers."""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, time, timedelta
from email.utils import parsedate_to_datetime
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "DateRule",
    "parse_date",
    "parse_duration",
    "parse_epoch",
    "parse_instant",
    "parse_number",
    "parse_size",
]

#: Nothing that is longer is a date, a duration or a size.
_MAX_TEXT = 64

_PARTIAL = re.compile(r"(\d{4})(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?)?")
_FRACTION = re.compile(r"(\.\d{6})\d+")
_WORDS = re.compile(r"[^\W\d_]+|\d+")

#: Month names by their first letters, in the languages that result pages are asked for most.
_MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "jan january januar janvier janv enero ene gennaio gen janeiro januari",
            "feb february februar février févr fevrier febrero febbraio fevereiro fev februari",
            "mar march märz mär mars marzo março maart mrt",
            "apr april avril avr abril abr aprile",
            "may mai mayo maggio mag maio mei",
            "jun june juni juin junio giugno giu junho",
            "jul july juli juillet juil julio luglio lug julho",
            "aug august août aout agosto ago augustus",
            "sep sept september septembre septiembre settembre set setembro",
            "oct okt october oktober octobre octubre ottobre ott outubro out",
            "nov november novembre noviembre novembro",
            "dec dez december dezember décembre déc diciembre dic dicembre dezembro",
        ),
        1,
    )
    for name in names.split()
}

#: Units of "3 hours ago" and its like, in seconds; months and years as calendar averages.
_UNITS = {
    name: seconds
    for seconds, names in (
        (1, "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos secondi"),
        (60, "m min mins minute minutes minuten minuto minutos minuti minuut 分钟前 分前"),
        (3_600, "h hr hrs hour hours std stunde stunden heure heures hora horas ora ore uur"),
        (3_600, "小时前 時間前"),
        (86_400, "d day days tag tage tagen jour jours día días dia dias giorno giorni dag dagen"),
        (86_400, "天前 日前"),
        (604_800, "w wk week weeks woche wochen semaine semaines semana semanas settimana weken"),
        (604_800, "settimane 周前 週間前"),
        (2_629_746, "mo month months monat monate monaten mois mes meses mese mesi maand maanden"),
        (2_629_746, "mês 个月前 か月前"),
        (
            31_556_952,
            "y yr yrs year years jahr jahre jahren an ans année années año años anno anni",
        ),
        (31_556_952, "ano anos jaar 年前"),
    )
    for name in names.split()
}
_AGO = {"ago", "vor", "il", "hace", "fa", "há", "geleden", "前"}
_ONE = {"a", "an", "one", "einem", "einer", "un", "une", "una", "um", "uma", "een"}
_DAYS_BACK = {
    **dict.fromkeys(("today", "heute", "hoy", "oggi", "hoje", "vandaag", "今天", "今日"), 0),
    **dict.fromkeys(("yesterday", "gestern", "hier", "ayer", "ieri", "ontem", "gisteren"), 1),
    **dict.fromkeys(("昨天", "昨日"), 1),
}

_CLOCK = re.compile(r"(?:(\d{1,4}):)?(\d{1,3}):(\d{2})(?:[.,]\d+)?")
_ISO_SPAN = re.compile(
    r"P(?:(\d+(?:\.\d+)?)D)?(?:T(?:(\d+(?:\.\d+)?)H)?(?:(\d+(?:\.\d+)?)M)?(?:(\d+(?:\.\d+)?)S)?)?"
)
_PARTS = re.compile(r"(\d+(?:[.,]\d+)?)\s*([^\W\d_]+)\.?")
_NUMBER = re.compile(r"([-+−]?)(\d(?:[\d.,'’\s]*\d)?)\s*([kKmMbBgG](?![^\W_]))?")
_SIZE = re.compile(r"(\d(?:[\d.,\s]*\d)?)\s*([kKmMgGtTpP]?)(i?)(?:[bB](?:ytes?)?|[oO](?:ctets?)?)?")
_SCALE = {"k": 10**3, "m": 10**6, "b": 10**9, "g": 10**9}
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


class DateRule:
    """How a text becomes a date: formats in order, then names and relative words.

    `formats` are `iso`, `rfc2822` or strptime's; `zone` is an IANA name for times that have none;
    `locale` hands what is left to dateparser with that language; `relative` reads "3 days ago"
    and dates with month names.
    """

    __slots__ = ("formats", "locale", "relative", "zone")

    def __init__(
        self,
        formats: Iterable[str] = ("iso",),
        locale: str | None = None,
        zone: str | None = None,
        *,
        relative: bool = False,
    ) -> None:
        self.formats = tuple(formats)
        self.locale = locale
        self.zone = ZoneInfo(zone) if zone else None
        self.relative = relative


def parse_date(text: str, rule: DateRule, now: datetime) -> str | None:
    """Return an RFC 3339 date or date-time, or None where the text is neither.

    A day without a time stays a day; a year or a month alone stays as short as it is written.
    A time without a zone is in the rule's zone, else in UTC.
    """
    text = text.strip()
    if not text or len(text) > _MAX_TEXT:
        return None
    for form in rule.formats:
        found = _by_format(text, form, rule)
        if found is not None:
            return found
    found = _by_words(text, now) if rule.relative else None
    if found is None and rule.locale and any(map(str.isdigit, text)):
        found = _by_library(text, rule, now)
    return found


def _by_format(text: str, form: str, rule: DateRule) -> str | None:
    try:
        if form == "iso":
            return _iso(text, rule)
        if form == "rfc2822":
            return _instant(parsedate_to_datetime(text), rule)
        return _strptime(text, form, rule)
    except (ValueError, TypeError, OverflowError, IndexError):
        return None


def _iso(text: str, rule: DateRule) -> str | None:
    if not text[0].isdigit():
        return None
    match = _PARTIAL.fullmatch(text)
    if match is None:
        return _instant(datetime.fromisoformat(_FRACTION.sub(r"\1", text)), rule)
    year, month, day = match[1], match[2], match[3]
    if month is None:
        return year if 1000 <= int(year) <= 2999 else None
    whole = date(int(year), int(month), int(day or 1)).isoformat()
    return whole if day else whole[:7]


def _strptime(text: str, form: str, rule: DateRule) -> str | None:
    moment = datetime.strptime(text, form)  # noqa: DTZ007  # the rule's zone is added below
    if "%H" in form or "%I" in form or "%s" in form:
        return _instant(moment, rule)
    if "%d" not in form and "%j" not in form:
        return moment.date().isoformat()[: 7 if any(m in form for m in ("%m", "%b", "%B")) else 4]
    return moment.date().isoformat()


def _instant(moment: datetime, rule: DateRule) -> str:
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=rule.zone or UTC)
    return _rfc3339(moment)


def _rfc3339(moment: datetime) -> str:
    text = moment.isoformat(timespec="seconds")
    return f"{text[:-6]}Z" if text.endswith("+00:00") else text


def _by_words(text: str, now: datetime) -> str | None:
    words = _WORDS.findall(text.lower())
    if len(words) > 8:
        return None
    return _relative(words, now) or _named_day(words)


def _relative(words: list[str], now: datetime) -> str | None:
    back = next((_DAYS_BACK[word] for word in words if word in _DAYS_BACK), None)
    if back is not None and len(words) <= 2:
        return (now - timedelta(days=back)).date().isoformat()
    if not (_AGO & set(words) or (words and words[-1].endswith("前"))):
        return None
    for word, following in pairwise(words):
        if following in _UNITS and (word.isdecimal() or word in _ONE):
            count = int(word[:6]) if word.isdecimal() else 1
            unit = _UNITS[following]
            return _back(now, count * unit, whole_days=unit >= 86_400)
    return None


def _back(now: datetime, seconds: int, *, whole_days: bool) -> str | None:
    try:
        moment = now - timedelta(seconds=seconds)
    except OverflowError:
        return None
    return moment.date().isoformat() if whole_days else _rfc3339(moment)


def _named_day(words: list[str]) -> str | None:
    month = next((_MONTHS[word] for word in words if word in _MONTHS), None)
    numbers = [int(word) for word in words if word.isdecimal() and len(word) <= 4]
    years = [number for number in numbers if 1900 <= number <= 2999]
    days = [number for number in numbers if 1 <= number <= 31]
    if month is None or len(years) != 1:
        return None
    if not days:
        return f"{years[0]}-{month:02}"
    try:
        return date(years[0], month, days[0]).isoformat()
    except ValueError:
        return None


def _by_library(text: str, rule: DateRule, now: datetime) -> str | None:
    moment = _dateparser(text, rule.locale or "", rule.relative, now.replace(microsecond=0))
    if moment is None:
        return None
    if moment.tzinfo is None and moment.time() in (time.min, now.time().replace(microsecond=0)):
        return moment.date().isoformat()
    return _instant(moment, rule)


@lru_cache(maxsize=1024)
def _dateparser(text: str, locale: str, relative: bool, now: datetime) -> datetime | None:
    import dateparser

    settings = {
        "RELATIVE_BASE": now.replace(tzinfo=None),
        "PARSERS": ["relative-time", "absolute-time"] if relative else ["absolute-time"],
        "REQUIRE_PARTS": ["month", "year"],
        "PREFER_DAY_OF_MONTH": "first",
    }
    try:
        moment = dateparser.parse(text, languages=[locale.split("-")[0]], settings=settings)
    except (ValueError, TypeError, OverflowError, AttributeError):
        return None
    return moment if isinstance(moment, datetime) else None


def parse_instant(text: str) -> datetime | None:
    """Return the moment that a Date header names, or None."""
    try:
        moment = parsedate_to_datetime(text)
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def parse_epoch(value: float, unit: str) -> str | None:
    """Return the RFC 3339 moment (UTC) of seconds, or of milliseconds, since 1970."""
    try:
        moment = datetime.fromtimestamp(value / (1000 if unit == "ms" else 1), UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return _rfc3339(moment)


def parse_duration(text: str) -> int | None:
    """Return the seconds of `3:25`, `1:02:03`, `PT3M25S`, `1h 2m` or of a bare number."""
    text = text.strip()
    if not text or len(text) > _MAX_TEXT:
        return None
    clock = _CLOCK.fullmatch(text)
    if clock:
        return int(clock[1] or 0) * 3600 + int(clock[2]) * 60 + int(clock[3])
    span = _ISO_SPAN.fullmatch(text.upper())
    if span and any(span.groups()):
        return _total(zip(span.groups(), (86_400, 3_600, 60, 1), strict=True))
    if text.replace(".", "", 1).isdecimal():
        return int(float(text))
    return _named_span(text.lower())


def _named_span(text: str) -> int | None:
    parts = _PARTS.findall(text)
    if not parts or any(unit not in _UNITS for _, unit in parts):
        return None
    return _total((number.replace(",", "."), _UNITS[unit]) for number, unit in parts)


def _total(parts: Iterable[tuple[str | None, int]]) -> int:
    return int(sum(float(number) * unit for number, unit in parts if number))


def parse_number(text: str) -> float | None:
    """Return the first number of a text: `1,234`, `1.234.567`, `12.3K views`, `−4`.

    One separator before exactly three digits groups thousands; otherwise the last one is the
    decimal point.
    """
    match = _NUMBER.search(text[:1_000])
    if match is None or len(match[2]) > _MAX_TEXT:
        return None
    scale = _SCALE.get((match[3] or "").lower(), 1)
    value = _plain(match[2], decimal=scale > 1) * scale
    value = round(value, 6) if scale > 1 else value
    return -value if match[1] in ("-", "−") else value


def _plain(digits: str, *, decimal: bool) -> float:
    parts = re.split(r"[.,'’\s]+", digits)
    marks = re.findall(r"[.,'’\s]", digits)
    if not marks:
        return float(digits)
    grouped = all(len(part) == 3 for part in parts[1:]) and len(parts[0]) <= 3
    point = marks[-1] in ".," and marks.count(marks[-1]) == 1
    if grouped and not (decimal and point) and (len(set(marks)) == 1) and parts[0] != "0":
        return float("".join(parts))
    if point:
        return float(f"{''.join(parts[:-1])}.{parts[-1]}")
    return float("".join(parts)) if grouped else float(parts[0])


def parse_size(text: str) -> int | None:
    """Return the bytes of `1.2 GiB` (powers of 1,024), `1.2 GB` (powers of 1,000) or `512`."""
    match = _SIZE.search(text[:_MAX_TEXT])
    if match is None:
        return None
    base = 1024 if match[3] else 1000
    value = _plain(match[1], decimal=bool(match[2])) * base ** _POWERS[match[2].lower()]
    return int(value) if math.isfinite(value) else None
