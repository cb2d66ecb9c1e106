"""The sentences of a snippet that speak of the query."""

from __future__ import annotations

import pytest

from framework.merge.highlights import highlights

TEXT = "Bees dance. Ants march! Do bees see red? No."


@pytest.mark.parametrize(
    ("query", "count", "expected"),
    [
        pytest.param("bees", 5, ["Bees dance.", "Do bees see red?"], id="what-shares-a-word"),
        pytest.param("RED bees", 1, ["Do bees see red?"], id="what-shares-most"),
        pytest.param("wasps", 2, ["Bees dance.", "Ants march!"], id="first-where-none-shares"),
        pytest.param("bees ants", 2, ["Bees dance.", "Ants march!"], id="in-the-order-of-the-text"),
    ],
)
def test_sentences_are_chosen(query: str, count: int, expected: list[str]) -> None:
    assert highlights(TEXT, query, count) == expected


def test_scripts_without_spaces_have_sentences_too() -> None:
    assert highlights("蜜蜂。跳舞。", "跳舞", 1) == ["跳舞。"]


def test_nothing_gives_nothing() -> None:
    assert highlights(" ", "bees", 3) == []
