"""Sentences and windows with their offsets."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.evidence.sentences import is_english, sentences, windows


def _cut(text: str) -> list[str]:
    return [text[a:b] for a, b in sentences(text)]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Lee met Mr. Ode. They spoke.", ["Dr. Lee met Mr. Ode.", "They spoke."]),
        ("It costs 3.50 euros. Cheap.", ["It costs 3.50 euros.", "Cheap."]),
        ("He said “Go.” She went.", ["He said “Go.”", "She went."]),
        ("一句话。第二句！", ["一句话。", "第二句！"]),
        ("a line\nanother line", ["a line", "another line"]),
        ("", []),
    ],
)
def test_sentences(text: str, parts: list[str]) -> None:
    assert [part.strip() for part in _cut(text)] == parts


@given(st.text(max_size=200))
def test_no_letter_is_lost(text: str) -> None:
    kept = "".join(_cut(text))
    assert [c for c in kept if c.isalnum()] == [c for c in text if c.isalnum()]


def test_windows_hold_one_to_three_sentences() -> None:
    text = "A is one. B is two. C is three. D is four."
    found = [text[a:b] for a, b in windows(text)]
    assert len(found) == 9
    assert "B is two. C is three. D is four." in found
    assert text not in found


def test_english_is_told_from_other_languages() -> None:
    assert is_english("The house of the mayor is on the hill and in the sun.")
    assert not is_english("Das Haus des Bürgermeisters steht auf dem Hügel in der Sonne.")
    assert not is_english("")
