"""Token counts: exact, offline, safe with any text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.errors import InvalidInputError
from framework.reading import tokens

COUNTS = {
    "empty": ("", 0, 0),
    "words": ("hello world", 2, 2),
    "a special name": ("<|endoftext|>", 7, 7),
}


@pytest.mark.parametrize(("text", "o200k", "cl100k"), COUNTS.values(), ids=COUNTS.keys())
def test_counts(text: str, o200k: int, cl100k: int) -> None:
    assert tokens.count(text) == o200k
    assert tokens.count(text, "cl100k_base") == cl100k


def test_an_unknown_encoding_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidInputError, match="o200k_base, cl100k_base"):
        tokens.count("x", "p50k")


@settings(max_examples=100)
@given(st.text(max_size=60), st.integers(0, 20))
def test_a_prefix_is_within_its_limit(text: str, most: int) -> None:
    assert tokens.count(text[: tokens.prefix(text, most)]) <= most


def test_a_prefix_never_splits_a_character() -> None:
    text = "🏳️‍🌈" * 5
    length = tokens.prefix(text, 7)
    assert text[:length].encode().decode() == text[:length]


def test_an_estimate_is_a_quarter_of_the_bytes() -> None:
    assert tokens.estimate("abcd" * 10) == 10
    assert tokens.estimate("") == 0
