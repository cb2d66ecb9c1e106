"""The numbers and the signs that the classifier sees."""

from __future__ import annotations

import json
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.evidence.comparison import FEATURES, features, signs


@given(st.text(max_size=120), st.text(max_size=120))
def test_features_are_few_and_bounded(premise: str, claim: str) -> None:
    found = features(premise, claim)
    assert len(found) == len(FEATURES)
    assert all(-10 < value < 20 for value in found)


def test_shipped_weights_were_trained_on_these_features() -> None:
    stored = json.loads((files("framework.evidence") / "data/nli.json").read_text("utf-8"))
    assert tuple(stored["features"]) == FEATURES


@pytest.mark.parametrize(
    ("text", "claim", "sign"),
    [
        ("The old bridge stands in Osaka.", "The old bridge stands in Spain.", "place"),
        ("The kitchen table is made of glass.", "The kitchen table is made of steel.", "rival"),
        ("The ferry sank in 1950.", "The ferry sank in 1972.", "date"),
    ],
)
def test_signs(text: str, claim: str, sign: str) -> None:
    assert sign in signs(text, claim)


def test_no_sign_where_the_matter_is_another() -> None:
    assert signs("Apples from Osaka are cheap.", "The old bridge stands in Spain.") == ()
