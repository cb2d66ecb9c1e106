"""Simple expressions: which pass, that Python's engine agrees with RE2, and takes linear time."""

from __future__ import annotations

import time

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from framework.spec.linear import simple

PASS = [
    "^a1(.+)",
    r"^[\s·]+",
    r"\D",
    r"(\d+)",
    r"id=(\d+)",
    r"[?&]id=([^&]+)",
    r"(\d{4}-\d\d-\d\d)",
    r"^(.+)\.$",
    r"\.$",
    r"TOKEN = \"([^\"]+)",
    "plain",
    r"^\S+",
    r"x{2,3}y?",
    r"[a-z-]+",
]
REFUSED = [
    "",
    "(a+)+",
    "(a|b)",
    r"\s+$",
    r"^(.+?)\s*-?$",
    "a*",
    "a?",
    ".*x",
    "(?i)a",
    "a{2000}",
    r"\pL",
    r"\p{L}+",
    "[[:alpha:]]",
    "((a))",
    "(a)+",
    "a^b",
    "a$b",
    "[a&&b]",
    r"\bword",
    "(",
    "(a",
    "a)",
    "a?b?c?d?e",
    r"[\D]",
]


@pytest.mark.parametrize("pattern", PASS, ids=str)
def test_passes(pattern: str) -> None:
    assert simple(pattern) is not None


@pytest.mark.parametrize("pattern", REFUSED, ids=lambda text: text or "nothing")
def test_is_left_to_re2(pattern: str) -> None:
    assert simple(pattern) is None


_ATOMS = st.sampled_from(
    [
        *(
            "a",
            "b",
            "-",
            "é",
            "·",
            " ",
            "/",
            "=",
            ",",
            ".",
            r"\.",
            r"\s",
            r"\S",
            r"\d",
            r"\D",
            r"\w",
        ),
        *(
            r"\W",
            "[ab]",
            "[^a]",
            r"[\s·]",
            r"[a-c\d]",
            r"[^\s]",
            r"[\w.-]",
            "[^&]",
            r"[\]b]",
            r"\/",
        ),
    ]
)
_TIMES = st.sampled_from(["", "", "", "+", "*", "?", "{2}", "{1,2}", "+?", "*?"])
_PATTERNS = st.builds(
    lambda start, items, group, end: (
        start + "".join(f"({item})" if i == group else item for i, item in enumerate(items)) + end
    ),
    st.sampled_from(["", "^"]),
    st.lists(st.builds("{}{}".format, _ATOMS, _TIMES), min_size=1, max_size=4),
    st.integers(0, 4),
    st.sampled_from(["", "$"]),
)
_TEXTS = st.text(alphabet="ab-é· .1Z/=,\n\t\v\u00a0٣", max_size=24)


@given(pattern=_PATTERNS, text=_TEXTS)
def test_agrees_with_re2(pattern: str, text: str) -> None:
    mine = simple(pattern)
    if mine is None:
        return
    theirs = re2.compile(pattern)
    assert mine.groups == theirs.groups
    one, two = mine.search(text), theirs.search(text)
    assert (one and (one.span(), one.groups())) == (two and (two.span(), two.groups()))
    assert mine.sub(lambda _: "<>", text) == theirs.sub("<>", text)


@pytest.mark.parametrize("pattern", PASS, ids=str)
@pytest.mark.parametrize("unit", ["a", "1", " ·", "id=", "?id=1", "a1\n", "x", "."], ids=repr)
def test_takes_linear_time(pattern: str, unit: str) -> None:
    mine = simple(pattern)
    assert mine is not None
    spans = []
    for count in (5_000, 100_000):
        begin = time.process_time()
        mine.search(unit * count + "\x00")
        spans.append(time.process_time() - begin)
    assert spans[1] < max(spans[0], 0.005) * 100
