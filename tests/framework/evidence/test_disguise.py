"""Spellings undone."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.evidence.disguise import fold, is_words, plain, uncovered


@pytest.mark.parametrize(
    ("text", "folded"),
    [
        ("Crème BRÛLÉE", "creme brulee"),
        ("ｗｉｄｅ", "wide"),
        ("zero\u200bwidth", "zerowidth"),
        ("раypal", "paypal"),
        ("ﬁnd", "find"),
        ("привет", "привет"),
        ("日本語", "日本語"),
    ],
)
def test_fold(text: str, folded: str) -> None:
    assert fold(text) == folded


@given(st.text(max_size=200))
def test_folding_twice_changes_nothing_more(text: str) -> None:
    assert fold(fold(text)) == fold(fold(fold(text)))


@given(st.text(max_size=200))
def test_only_words_are_uncovered(text: str) -> None:
    for method, _, message in uncovered(text):
        assert method
        assert isinstance(message, str)


def test_a_code_within_a_code_is_followed() -> None:
    import base64

    inner = base64.b64encode(b"The river runs under the old stone bridge.")
    outer = base64.b64encode(inner).decode()
    assert any("stone bridge" in message for _, _, message in uncovered(outer))


@pytest.mark.parametrize(
    "text", ["3f2504e04f8911d39a0c0305e82c3301", "SGVsbG8=", "plain words of a plain text", "1 2 3"]
)
def test_identifiers_and_plain_text_hide_nothing(text: str) -> None:
    assert list(uncovered(text)) == []


def test_is_words() -> None:
    assert is_words("a few plain words")
    assert not is_words("\x01\x02 binary \x03")
    assert not is_words("single")


def test_plain_is_short() -> None:
    assert plain(" a \n b ") == "a b"
    assert len(plain("word " * 100)) == 200


def test_addresses_are_no_leetspeak() -> None:
    text = "https://cdn1.example/3x4/f0cal:100 https://cdn2.example/5x7 www.a1.example/b3 c"
    assert "leetspeak" not in {method for method, _, _ in uncovered(text)}
    spelt = "pl34se l00k 4t https://a.example/1x2 n0w"
    assert "please look at   now" in {message for _, _, message in uncovered(spelt)}
