"""Windows: limits hold, joined they are the text, fences and rows stay whole."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.errors import InvalidInputError
from framework.reading import tokens
from framework.reading.windows import Limits, Window, window

LINES = st.sampled_from(
    (
        "",
        "A line of text.",
        "a longer line of text, with more words in it than the others have",
        "```py",
        "```",
        "x = 1",
        "| a | b |",
        "| --- | --- |",
        "中文字符一行",
        "🙂🙂🙂",
        "> quoted",
    )
)
TEXTS = st.lists(LINES, max_size=30).map("\n".join)
LIMITS = st.builds(
    Limits,
    lines=st.none() | st.integers(1, 6),
    chars=st.none() | st.integers(1, 80),
    bytes=st.none() | st.integers(4, 80),
    tokens=st.none() | st.integers(3, 30),
)


def all_windows(text: str, limits: Limits) -> list[Window]:
    found = [window(text, limits)]
    while found[-1].next_start_line is not None:
        last = found[-1]
        assert last.next_start_line is not None
        found.append(
            window(text, limits, start_line=last.next_start_line, start_offset=last.next_offset)
        )
    return found


@settings(max_examples=200)
@given(TEXTS, LIMITS)
def test_joined_windows_are_the_text(text: str, limits: Limits) -> None:
    assert "".join(part.text for part in all_windows(text, limits)) == text


@settings(max_examples=200)
@given(TEXTS, LIMITS)
def test_limits_hold_for_every_window(text: str, limits: Limits) -> None:
    for part in all_windows(text, limits):
        assert limits.lines is None or part.lines <= limits.lines
        assert limits.chars is None or part.chars <= limits.chars
        assert limits.bytes is None or part.bytes <= limits.bytes
        assert limits.tokens is None or tokens.count(part.text) <= limits.tokens


def test_a_fence_is_not_cut_where_a_window_can_end_before_it() -> None:
    text = "intro\n\n```py\na = 1\nb = 2\n```\nafter\n"
    first = window(text, Limits(lines=4))
    assert first.text == "intro\n\n"
    assert first.truncated_by == "lines"
    assert first.next_start_line == 3
    assert window(text, Limits(lines=4), start_line=3).text == "```py\na = 1\nb = 2\n```\n"


@pytest.mark.parametrize("mark", ["> ", "- ", "12. ", "> > 1. ", "[^1]: ", ": "])
def test_a_fence_in_another_block_is_not_cut(mark: str) -> None:
    text = f"intro\n\n{mark}```py\n  a = 1\n  b = 2\n  ```\nafter\n"
    assert window(text, Limits(lines=4)).text == "intro\n\n"
    assert window(text, Limits(lines=5), start_line=3).text == text[len("intro\n\n") :]


def test_a_fence_larger_than_a_window_is_cut_between_its_lines() -> None:
    text = "```\n" + "line\n" * 10 + "```"
    first = window(text, Limits(chars=22))
    assert first.text == "```\nline\nline\nline\n"


def test_a_row_is_not_cut() -> None:
    text = "| a | b |\n| --- | --- |\n| one | two |\n"
    assert window(text, Limits(chars=30)).text == "| a | b |\n| --- | --- |\n"


def test_a_line_longer_than_a_window_is_cut_between_characters() -> None:
    text = "🙂" * 10
    first = window(text, Limits(bytes=9))
    assert first.text == "🙂🙂"
    assert first.next_start_line == 1
    assert first.next_offset == 2


def test_totals_are_of_the_whole_text() -> None:
    part = window("a\nb\nc", Limits(lines=1), start_line=2)
    assert (part.total_lines, part.total_chars, part.total_bytes) == (3, 5, 5)
    assert (part.start_line, part.end_line, part.next_start_line) == (2, 2, 3)
    assert part.total_tokens == tokens.count("a\nb\nc")


def test_the_end_is_said() -> None:
    part = window("a\nb", Limits(lines=5))
    assert not part.truncated
    assert part.truncated_by is None
    assert part.next_start_line is None


@pytest.mark.parametrize("line", [0, 4])
def test_a_start_beyond_the_text_is_refused(line: int) -> None:
    with pytest.raises(InvalidInputError, match="3 lines"):
        window("a\nb\nc", start_line=line)


def test_a_limit_below_one_is_refused_by_name() -> None:
    with pytest.raises(InvalidInputError, match="max_tokens is 0"):
        Limits(tokens=0)


def test_the_tokens_of_a_very_long_text_are_estimated() -> None:
    text = "word " * 100_000
    part = window(text, Limits(chars=100))
    assert part.tokens == tokens.count(part.text)
    assert part.total_tokens == pytest.approx(tokens.estimate(text), rel=0.01)
