"""Quotes are found whatever their spelling, and never where a word differs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.research.quotes import folded, locate, text_link

PAGE = (
    "## Output\n\nThe **Lenn** plant made [540 GWh](https://x.example/a_b) in 1998—a record. "
    "It didn’t stop: “never”, said Zoë.\n\nTemperatures fell to −5 °C. "
    "東京の人口は約1400万人である。"
)


@pytest.mark.parametrize(
    ("quote", "shown"),
    [
        ("The Lenn plant made 540 GWh in 1998", "The Lenn plant made 540 GWh in 1998"),
        ("the LENN plant", "The Lenn plant"),
        ("1998 - a record.", "1998—a record."),
        ('It didn\'t stop: "never", said Zoë', "It didn’t stop: “never”, said Zoë."),
        ("said Zoe\u0308", "said Zoë."),
        ("fell to -5 °C", "fell to −5 °C."),
        ("人口は約1400万人", "人口は約1400万人"),
        ("GWh in 1998", "GWh in 1998"),
        ("made\u00a0540\u200b GWh", "made 540 GWh"),
    ],
    ids=["marks", "case", "dash", "quotes", "composed", "minus", "unspaced", "torn-link", "spaces"],
)
def test_spelling_does_not_matter(quote: str, shown: str) -> None:
    found = locate(quote, PAGE)

    assert found is not None
    assert found.text == shown
    assert folded(PAGE[found.start : found.end]) == folded(shown)


@pytest.mark.parametrize(
    "quote",
    [
        "The Lenn plant made 450 GWh",
        "The Lenn plant made GWh",
        "The Len",
        "enn plant made",
        "fell to 5 °C and",
        "said Zoe",
        "x.example",
        "",
        "…",
    ],
    ids=["number", "left-out", "cut-end", "cut-start", "more", "accent", "address", "no", "dots"],
)
def test_other_words_are_not_found(quote: str) -> None:
    assert locate(quote, PAGE) is None


WORDS = st.lists(st.text("abcdé東", min_size=1, max_size=5), min_size=1, max_size=12)


@given(WORDS, st.data())
def test_any_run_of_words_is_found_where_it_stands(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))

    found = locate("  ".join(words[start:end]).upper(), text)

    assert found is not None
    assert folded(text[found.start : found.end]) == folded(" ".join(words[start:end]))


@given(st.text(max_size=60), st.text(max_size=60))
def test_it_never_fails_and_its_place_is_within(quote: str, text: str) -> None:
    found = locate(quote, text)

    assert found is None or 0 <= found.start < found.end <= len(text)


@pytest.mark.parametrize(
    ("url", "quote", "link"),
    [
        (
            "https://a.example/",
            "short-ish, & so",
            "https://a.example/#:~:text=short%2Dish%2C%20%26%20so",
        ),
        ("https://a.example/#top", "one two", "https://a.example/#top:~:text=one%20two"),
        (
            "https://a.example/",
            "a b c d e f g h i j k l m",
            "https://a.example/#:~:text=a%20b%20c%20d,j%20k%20l%20m",
        ),
    ],
    ids=["escaped", "fragment", "range"],
)
def test_links_to_the_words(url: str, quote: str, link: str) -> None:
    assert text_link(url, quote) == link
