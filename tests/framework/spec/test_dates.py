"""Dates, durations and sizes as pages write them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.spec.dates import (
    DateRule,
    parse_date,
    parse_duration,
    parse_epoch,
    parse_instant,
    parse_number,
    parse_size,
)
from tests.support.answers import NOW

_WORDS = DateRule(("iso",), relative=True)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-03-01", "2024-03-01"),
        ("2024-3-1", "2024-03-01"),
        ("2024/03/01", "2024-03-01"),
        ("2024-03", "2024-03"),
        ("2024", "2024"),
        ("0999", None),
        ("2024-13-01", None),
        ("2024-02-30", None),
        ("20240301", "2024-03-01T00:00:00Z"),
        ("2024-03-01T10:11:12Z", "2024-03-01T10:11:12Z"),
        ("2024-03-01T10:11:12.1234567Z", "2024-03-01T10:11:12Z"),
        ("2024-03-01 10:11:12+02:00", "2024-03-01T10:11:12+02:00"),
        ("2024-03-01T10:11:12", "2024-03-01T10:11:12Z"),
        ("yesterday", None),
        ("", None),
        ("2024-03-01" + " " * 80 + "x", None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_iso(text: str, expected: str | None) -> None:
    assert parse_date(text, DateRule(), NOW) == expected


@pytest.mark.parametrize(
    ("text", "form", "expected"),
    [
        ("Tue, 16 Jun 2026 13:36:54 GMT", "rfc2822", "2026-06-16T13:36:54Z"),
        ("Tue, 16 Jun 2026 13:36:54 +0200", "rfc2822", "2026-06-16T13:36:54+02:00"),
        ("16 June", "rfc2822", None),
        ("3 Apr 2024", "%d %b %Y", "2024-04-03"),
        ("Apr 2024", "%b %Y", "2024-04"),
        ("in 2024", "in %Y", "2024"),
        ("20240403T101112Z", "%Y%m%dT%H%M%SZ", "2024-04-03T10:11:12Z"),
        ("2024年4月3日", "%Y年%m月%d日", "2024-04-03"),
        ("no", "%d %b %Y", None),
    ],
    ids=lambda value: str(value)[:40],
)
def test_formats(text: str, form: str, expected: str | None) -> None:
    assert parse_date(text, DateRule((form,)), NOW) == expected


def test_formats_are_tried_in_order() -> None:
    rule = DateRule(("%d/%m/%Y", "%m/%d/%Y"))
    assert parse_date("03/04/2024", rule, NOW) == "2024-04-03"
    assert parse_date("03/14/2024", rule, NOW) == "2024-03-14"


def test_zone_is_for_times_that_have_none() -> None:
    rule = DateRule(("iso",), zone="Europe/Berlin")
    assert parse_date("2024-07-01T10:00:00", rule, NOW) == "2024-07-01T10:00:00+02:00"
    assert parse_date("2024-07-01T10:00:00Z", rule, NOW) == "2024-07-01T10:00:00Z"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 days ago", "2026-04-08"),
        ("3 hours ago", "2026-04-10T09:00:00Z"),
        ("an hour ago", "2026-04-10T11:00:00Z"),
        ("5 mins ago", "2026-04-10T11:55:00Z"),
        ("1 week ago", "2026-04-03"),
        ("yesterday", "2026-04-09"),
        ("Today", "2026-04-10"),
        ("vor 3 Stunden", "2026-04-10T09:00:00Z"),
        ("vor einem Tag", "2026-04-09"),
        ("il y a 2 jours", "2026-04-08"),
        ("hace 2 días", "2026-04-08"),
        ("2 giorni fa", "2026-04-08"),
        ("há 2 dias", "2026-04-08"),
        ("2 dagen geleden", "2026-04-08"),
        ("3天前", "2026-04-07"),
        ("2時間前", "2026-04-10T10:00:00Z"),
        ("昨天", "2026-04-09"),
        ("1 year ago", "2025-04-10"),
        ("Apr 3, 2024", "2024-04-03"),
        ("3 Apr 2024", "2024-04-03"),
        ("3. Feb. 2024", "2024-02-03"),
        ("3 févr. 2024", "2024-02-03"),
        ("3 de marzo de 2024", "2024-03-03"),
        ("März 2024", "2024-03"),
        ("Feb 30, 2024", None),
        ("Apr 3", None),
        ("3 apples ago", None),
        ("99999999999999999999 days ago", None),
        ("9999 years ago", None),
        ("example.com", None),
        ("a b c d e f g h i j", None),
    ],
    ids=str,
)
def test_words(text: str, expected: str | None) -> None:
    assert parse_date(text, _WORDS, NOW) == expected


def test_words_need_to_be_asked_for() -> None:
    assert parse_date("2 days ago", DateRule(), NOW) is None


@pytest.mark.parametrize(
    ("text", "relative", "expected"),
    [
        ("3 марта 2020", False, "2020-03-03"),
        ("3 марта 2020 10:30", False, "2020-03-03T10:30:00Z"),
        ("3 часа назад", True, "2026-04-10T09:00:00Z"),
        ("2 дня назад", True, "2026-04-08"),
        ("без даты", True, None),
        ("5 звёзд", True, None),
    ],
    ids=str,
)
def test_locale_reads_what_the_tables_do_not(
    text: str, relative: bool, expected: str | None
) -> None:
    assert parse_date(text, DateRule((), "ru", relative=relative), NOW) == expected


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("3:25", 205),
        ("1:02:03", 3723),
        ("0:00.5", 0),
        ("PT3M25S", 205),
        ("PT1H", 3600),
        ("P1DT2H", 93_600),
        ("1h 2m", 3720),
        ("3 min 25 s", 205),
        ("1,5 h", 5400),
        ("90", 90),
        ("90.7", 90),
        ("PT", None),
        ("3 apples", None),
        ("", None),
        ("1" * 100, None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_durations(text: str, seconds: int | None) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234", 1234),
        ("1.234.567", 1_234_567),
        ("1 234 567", 1_234_567),
        ("1'234", 1234),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("12.5", 12.5),
        ("0.125", 0.125),
        ("12.3K views", 12_300),
        ("1.234M", 1_234_000),
        ("2 B", 2_000_000_000),
        ("3 kittens", 3),
        ("-4", -4),
        ("−4", -4),
        ("1, 2 and 3", 1),
        ("none", None),
        ("9" * 100, None),
    ],
    ids=lambda value: str(value)[:20],
)
def test_numbers(text: str, value: float | None) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1.2 GiB", 1_288_490_188),
        ("1.2 GB", 1_200_000_000),
        ("700 MB", 700_000_000),
        ("1,5 Mo", 1_500_000),
        ("512", 512),
        ("512 bytes", 512),
        ("none", None),
    ],
    ids=str,
)
def test_sizes(text: str, size: int | None) -> None:
    assert parse_size(text) == size


def test_epoch() -> None:
    assert parse_epoch(0, "s") == "1970-01-01T00:00:00Z"
    assert parse_epoch(float("nan"), "s") is None
    assert parse_epoch(1e300, "ms") is None


def test_instant_of_a_header() -> None:
    assert parse_instant("Fri, 10 Apr 2026 12:00:00 GMT") == datetime(2026, 4, 10, 12, tzinfo=UTC)
    assert parse_instant("Fri, 10 Apr 2026 12:00:00 -0000") == datetime(2026, 4, 10, 12, tzinfo=UTC)
    assert parse_instant("soon") is None


_TEXTS = st.text(max_size=80) | st.text("0123456789:.,-+TZPHMSago dysKG前", max_size=70)


@given(_TEXTS)
def test_everything_is_total(text: str) -> None:
    for rule in (DateRule(("iso", "rfc2822", "%d %b %Y")), _WORDS):
        parse_date(text, rule, NOW)
    parse_duration(text)
    parse_number(text)
    parse_size(text)
    parse_instant(text)
