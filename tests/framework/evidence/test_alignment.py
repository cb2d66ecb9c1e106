"""A claim laid along a text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.evidence.alignment import aligned_features, lay
from framework.evidence.signals import facts


def _found(text: str, claim: str) -> dict[str, float]:
    return aligned_features(facts(claim), facts(text), text, claim)


def test_words_are_placed_near_the_one_before() -> None:
    laid = lay(facts("big dog ran"), facts("A dog saw a big dog that ran home."))
    assert laid.places == (4, 5, 7)
    assert laid.missing == ()


def test_forms_of_a_word_meet_and_others_are_missing() -> None:
    laid = lay(facts("The gates opened quietly."), facts("The gate opens."))
    assert laid.places == (0, 1, 2, -1)
    assert laid.missing == (3,)


@pytest.mark.parametrize(
    ("text", "claim", "feature"),
    [
        pytest.param(
            "The old ferry carries 300 cars.", "The old tram carries 300 cars.", "replaced_word",
            id="word",
        ),
        pytest.param(
            "The prize went to Rosa Lind in May.", "The prize went to Paul in May.",
            "replaced_name", id="name",
        ),
        pytest.param(
            "The ferry carries 300 cars.", "The ferry carries 500 cars.", "replaced_number",
            id="number",
        ),
        pytest.param("The gate opened.", "The gate silently opened.", "inserted", id="inserted"),
    ],
)  # fmt: skip
def test_what_stands_in_a_words_place(text: str, claim: str, feature: str) -> None:
    assert _found(text, claim)[feature] == 1.0
    assert _found(text, text)[feature] == 0.0


def test_what_something_is_said_to_be() -> None:
    text = "Rosa Lind is a Swiss painter and poet who lives in Turin."
    assert _found(text, "Rosa Lind is a painter.")["is_share"] == 1.0
    other = _found(text, "Rosa Lind is a lawyer.")
    assert (other["is_both"], other["is_met"], other["is_other"]) == (1.0, 0.0, 1.0)


def test_years_outside_and_between() -> None:
    text = "The mill stood from 1890 to 1950."
    assert _found(text, "The mill stood in 1970.")["year_outside"] == 1.0
    assert _found(text, "The mill stood in 1920.")["year_between"] == 1.0


def test_a_word_of_comparison_in_claim_or_text_only() -> None:
    assert _found("It has ten rooms.", "It has more than ten rooms.")["cue_more"] == 2.0
    assert _found("It has more than ten rooms.", "It has ten rooms.")["cue_more"] == -1.0


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_texts_can_be_laid(text: str, claim: str) -> None:
    assert all(-10 < value < 20 for value in _found(text, claim).values())
