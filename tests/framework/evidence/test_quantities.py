"""Quantities of a sentence, and which of them exclude each other."""

from __future__ import annotations

import pytest

from framework.evidence.quantities import conflicts, parse_number, quantities


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,234.5", 1234.5), ("1.234,5", 1234.5), ("1 234 567", 1234567.0), ("1'234", 1234.0),
        ("12,5", 12.5), ("1,234", 1234.0), ("1.234.567", 1234567.0), ("0.125", 0.125), ("−7", -7.0),
    ],
)  # fmt: skip
def test_numbers_of_any_locale(text: str, value: float) -> None:
    assert parse_number(text) == value


@pytest.mark.parametrize("text", ["", "abc", "1.2.x", "-"])
def test_what_is_no_number(text: str) -> None:
    assert parse_number(text) is None


def _values(text: str) -> list[tuple[float, str]]:
    return [(q.value, q.kind) for q in quantities(text)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("thirty-two cows", [(32.0, "number")]),
        ("two hundred and five thousand books", [(205_000.0, "number")]),
        ("$6.5 billion", [(6.5e9, "number")]),
        ("in 1987", [(1987.0, "year")]),
        ("40 percent", [(40.0, "percent")]),
        ("won 6-4", [(6004.0, "pair")]),
        ("no number here", []),
    ],
)
def test_quantities(text: str, found: list[tuple[float, str]]) -> None:
    assert _values(text) == found


@pytest.mark.parametrize(
    ("claim", "text", "counts"),
    [
        pytest.param("12 ships", "12 ships", (0, 0, 0), id="same"),
        pytest.param("twelve ships", "12 ships", (0, 0, 0), id="spelt"),
        pytest.param("15 ships", "12 ships", (1, 0, 1), id="other"),
        pytest.param("15 ships", "12 crews", (0, 0, 1), id="other unit"),
        pytest.param("in 1990", "in 1991", (0, 1, 1), id="year"),
        pytest.param("more than 10 ships", "12 ships", (0, 0, 0), id="more than"),
        pytest.param("less than 10 ships", "12 ships", (1, 0, 1), id="less than"),
        pytest.param("version 2.3", "versions 2.1 to 2.4", (0, 0, 0), id="within a range"),
        pytest.param("about 100 ships", "103 ships", (0, 0, 0), id="about"),
        pytest.param("5 ships", "ships", (0, 0, 1), id="absent"),
    ],
)
def test_conflicts(claim: str, text: str, counts: tuple[int, int, int]) -> None:
    assert conflicts(quantities(claim), quantities(text)) == counts
