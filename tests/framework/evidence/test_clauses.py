"""Claims split into the statements they make."""

from __future__ import annotations

import pytest

from framework.evidence.clauses import split


@pytest.mark.parametrize(
    ("claim", "statements"),
    [
        pytest.param("The bridge is old.", ("The bridge is old.",), id="one"),
        pytest.param(
            "The bridge was built in 1890 and was closed in 2004.",
            ("The bridge was built in 1890", "The bridge was closed in 2004."),
            id="shared subject",
        ),
        pytest.param(
            "Ida Holm was a chemist, but she never taught.",
            ("Ida Holm was a chemist", "Ida Holm never taught."),
            id="pronoun",
        ),
        pytest.param(
            "The river is deep; the current is strong.",
            ("The river is deep", "The current is strong."),
            id="semicolon",
        ),
        pytest.param(
            "The mill is closed. The owner lives in Bern.",
            ("The mill is closed.", "The owner lives in Bern."),
            id="sentences",
        ),
        pytest.param(
            "Salt and pepper are on the table.", ("Salt and pepper are on the table.",), id="pair"
        ),
        pytest.param(
            "The train runs between Graz and Linz is late.",
            ("The train runs between Graz and Linz is late.",),
            id="between",
        ),
    ],
)
def test_split(claim: str, statements: tuple[str, ...]) -> None:
    assert split(claim) == statements


def test_number_of_statements_is_bounded() -> None:
    assert len(split("The cat is black. " * 30)) == 8
