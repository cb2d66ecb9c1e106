"""Two sentences compared point by point."""

from __future__ import annotations

import pytest

from framework.evidence.signals import conflicting, facts, stem


@pytest.mark.parametrize(
    ("one", "other"), [("opened", "opens"), ("walking", "walked"), ("cities", "city")]
)
def test_stems_meet(one: str, other: str) -> None:
    assert stem(one)[:3] == stem(other)[:3]


def test_names_are_told_from_first_words() -> None:
    assert facts("Yesterday the painter Rosa Lind came to Turin.").names == {
        "rosa",
        "lind",
        "turin",
    }


@pytest.mark.parametrize(
    ("text", "claim", "sign"),
    [
        ("The ferry carries 300 cars.", "The ferry carries 500 cars.", "number"),
        ("The ferry sank in 1950.", "The ferry sank in 1972.", "date"),
        ("Prices rose in the north last year.", "Prices fell in the north last year.", "opposite"),
        ("The flag on the tower is red.", "The flag on the tower is green.", "kind"),
        ("The gate was never locked.", "The gate was locked.", "polarity"),
    ],
)
def test_conflicting_signs(text: str, claim: str, sign: str) -> None:
    assert sign in conflicting(text, claim)


@pytest.mark.parametrize(
    ("text", "claim"),
    [
        pytest.param("The ferry carries 300 cars.", "The ferry carries cars.", id="less said"),
        pytest.param(
            "Apples are cheap in autumn.", "The ferry carries 500 cars.", id="other matter"
        ),
        pytest.param("The ferry carries 300 cars.", "The ferry carries 300 cars.", id="same"),
    ],
)
def test_no_signs(text: str, claim: str) -> None:
    assert conflicting(text, claim) == ()
