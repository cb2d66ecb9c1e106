"""Dates as pages write them."""

from __future__ import annotations

import pytest

from framework.reading.dates import date

DATES = {
    "2024-05-17": "2024-05-17",
    "2024-05-17T10:00:00Z": "2024-05-17T10:00:00Z",
    "20240517": "2024-05-17",
    "2024/05/17": "2024-05-17",
    "Fri, 17 May 2024 10:00:00 GMT": "2024-05-17T10:00:00+00:00",
    "May 17, 2024": "2024-05-17",
    "17th of May 2024": "2024-05-17",
    "17. Mai 2024": "2024-05-17",
    "am 3. März 2024": "2024-03-03",
    "1er août 2020": "2020-08-01",
    "12 de marzo de 2021": "2021-03-12",
    "3 de março de 2021": "2021-03-03",
    "12 stycznia 2023 r.": "2023-01-12",
    "5 мая 2022 г., 10:00": "2022-05-05",
    "2024年5月17日": "2024-05-17",
    "2024년 5월 17일": "2024-05-17",
    "17.05.2024": "2024-05-17",
    "17/05/2024": "2024-05-17",
    "05/17/2024": "2024-05-17",
}
NONE = [
    "",
    "05/06/2024",
    "May 2024",
    "17 candidates 2024",
    "40 May 2024",
    "17.13.2024",
    "1.2.3.2024",
]


@pytest.mark.parametrize(("text", "expected"), DATES.items(), ids=DATES.keys())
def test_a_date_is_read_as_written(text: str, expected: str) -> None:
    assert date(text) == expected


@pytest.mark.parametrize("text", NONE)
def test_what_is_not_surely_a_date_is_none(text: str) -> None:
    assert date(text) is None
