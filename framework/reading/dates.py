"""Dates as pages write them, as ISO 8601 where they are sure."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime

from framework.reading.wordlist import words

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
    return _named_date(text) or _numbered_date(text)


def _named_date(text: str) -> str | None:
    """Return a date whose month is a word, in any language of the table."""
    for pattern in (_DAY_FIRST, _MONTH_FIRST):
        for match in pattern.finditer(text[:_TEXT_MOST]):
            month = _MONTHS.get(match["month"].lower())
            day = int(match["day"])
            if month and 0 < day < 32:
                return f"{match['year']}-{month:02d}-{day:02d}"
    return None


def _numbered_date(text: str) -> str | None:
    """Return a date in figures whose order is sure: year first, dots, or a day beyond 12."""
    match = _YEAR_FIRST.search(text)
    if match:
        return _day(match["year"], match["month"], match["day"])
    match = _YEAR_LAST.search(text)
    if not match:
        return None
    first, second = int(match["first"]), int(match["second"])
    if match["mark"] == "." or first > 12:
        return _day(match["year"], match["second"], match["first"])
    return _day(match["year"], match["first"], match["second"]) if second > 12 else None


def _day(year: str, month: str, day: str) -> str | None:
    if not 0 < int(month) < 13 or not 0 < int(day) < 32:
        return None
    return f"{year}-{int(month):02d}-{int(day):02d}"


_TEXT_MOST = 400
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_NAME = r"(?P<month>[^\W\d_]{3,12})\.?"
_DAY_FIRST = re.compile(
    rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|[.ºª])?[ \u00a0-](?:de |of )?{_NAME},?"
    rf"[ \u00a0-](?:de |del )?{_YEAR}(?!\d)"
)
_MONTH_FIRST = re.compile(rf"{_NAME} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? {_YEAR}(?!\d)")
_YEAR_FIRST = re.compile(
    rf"(?<!\d){_YEAR}(?:[/.]| ?[年년.] ?)(?P<month>\d{{1,2}})(?:[/.]| ?[月월.] ?)"
    r"(?P<day>\d{1,2})(?!\d)"
)
_YEAR_LAST = re.compile(
    rf"(?<![\d./])(?P<first>\d{{1,2}})(?P<mark>[./-])(?P<second>\d{{1,2}})(?P=mark){_YEAR}(?!\d)"
)
#: Month by month, the names and short forms in the languages of most pages.
_NAMES = """
    january jan januar jänner janvier janv enero ene janeiro gennaio gen januari stycznia января
    янв ocak ledna
    february feb februar février févr fevr febrero fevereiro fev febbraio februari lutego февраля
    фев şubat února
    march mar mrz märz maerz mars marzo março maart mrt marts marca марта мар mart března
    april apr avril avr abril abr aprile aprila kwietnia апреля апр nisan dubna
    may mai mayo maio maggio mag mei maj maja мая mayıs května
    june jun juni juin junio junho giugno giu czerwca июня июн haziran června
    july jul juli juillet juil julio julho luglio lug lipca июля июл temmuz července
    august aug août aout agosto ago augustus augusti sierpnia августа авг ağustos srpna
    september sep sept septembre septiembre setiembre setembro set settembre września сентября сен
    сент eylül září
    october oct okt oktober octobre octubre outubro out ottobre ott października октября окт ekim
    října
    november nov novembre noviembre novembro listopada ноября нояб kasım listopadu
    december dec dez dezember décembre déc diciembre dic dezembro dicembre grudnia декабря дек
    aralık prosince
"""
_STARTS = words(
    "january february march april may june july august september october november december"
)


def _table() -> dict[str, int]:
    """Return the number of each month's names; a line of the list starts with the English one."""
    table: dict[str, int] = {}
    month = 0
    for name in _NAMES.split():
        month += name in _STARTS
        table.setdefault(name, month)
    return table


_MONTHS = _table()


def url_date(url: str) -> str | None:
    """Return the day that an address states as a path, such as /2024/05/17/."""
    match = _URL_DATE.search(url)
    return f"{match[1]}-{int(match[2]):02d}-{int(match[3]):02d}" if match else None
