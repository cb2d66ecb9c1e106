"""Values: what becomes of a pick's value in a field of each type; links, caps, controls."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.spec.fields import FieldType
from framework.spec.values import CAPS, MAX_ITEMS, MAX_URL, clean, link, typed
from tests.support.answers import document

BASE = "https://www.example.org/a/b?q=1"
SEEN = document("")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  a\n\t b\u00a0c ", "a b c"),
        ("a\x00b\x1bc\x7f", "abc"),
        ("safe\u202eevil\u2066", "safeevil"),
        ("zero\u200bwidth\ufeff", "zerowidth"),
        ("tag\U000e0041s", "tags"),
        ("lone\ud800half", "lonehalf"),
        ("family \U0001f468\u200d\U0001f469", "family \U0001f468\u200d\U0001f469"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("", ""),
    ],
    ids=ascii,
)
def test_clean(text: str, expected: str) -> None:
    assert clean(text) == expected


def test_clean_cuts_at_the_cap() -> None:
    assert clean("abc def", 4) == "abc"
    assert len(clean("x" * 100_000, 50)) == 50


LINKS = [
    ("https://a.org/x?y=1#z", "https://a.org/x?y=1#z"),
    ("HTTP://A.org", "HTTP://A.org"),
    ("/x", "https://www.example.org/x"),
    ("x", "https://www.example.org/a/x"),
    ("//b.org/x", "https://b.org/x"),
    ("?q=2", "https://www.example.org/a/b?q=2"),
    (" https://a.org/x ", "https://a.org/x"),
    ("https://a.org/a b", "https://a.org/a%20b"),
    ("https://a.org/a\nb", "https://a.org/ab"),
    ('https://a.org/"<x>', "https://a.org/%22%3Cx%3E"),
    ("https://a.org/ü?ä=ö", "https://a.org/ü?ä=ö"),
    ("https://bücher.example/x", "https://bücher.example/x"),
    ("https://a.org:8443/x", "https://a.org:8443/x"),
    ("javascript:alert(1)", None),
    ("java\nscript:alert(1)", None),
    ("data:text/html,x", None),
    ("mailto:a@b.org", None),
    ("ftp://a.org/", None),
    ("file:///etc/passwd", None),
    ("https://", None),
    ("https:///x", None),
    ("https://user:pw@a.org/", None),
    ("https://a.org\\@b.org/", None),
    ("https://[::1/", None),
    ("https://a.org:99999/", None),
    ("https://a.org:x/", None),
    ("", None),
    (None, None),
    ({"a": 1}, None),
    ("https://a.org/" + "x" * MAX_URL, None),
]


@pytest.mark.parametrize(("value", "url"), LINKS, ids=[ascii(value)[:40] for value, _ in LINKS])
def test_link(value: object, url: str | None) -> None:
    assert link(value, BASE) == url


@given(st.text())
def test_a_link_is_http_or_nothing(text: str) -> None:
    url = link(text, BASE)
    assert url is None or url.lower().startswith(("http://", "https://"))
    assert url is None or not any(mark in url for mark in ' <>"\\\n\r\t\x00')


VALUES = [
    (FieldType.TEXT, " a  b ", "a b"),
    (FieldType.TEXT, ["first", "second"], "first"),
    (FieldType.TEXT, 3, "3"),
    (FieldType.TEXT, True, "true"),
    (FieldType.TEXT, {"a": 1}, None),
    (FieldType.TEXT, " \x00 ", None),
    (FieldType.URL, "/x", "https://www.example.org/x"),
    (FieldType.URL, ["https://a.org/"], "https://a.org/"),
    (FieldType.URL, "javascript:x", None),
    (FieldType.DATE, "2024-03-01", "2024-03-01"),
    (FieldType.DATE, "Tue, 16 Jun 2026 13:36:54 GMT", "2026-06-16T13:36:54Z"),
    (FieldType.DATE, 2024, "2024"),
    (FieldType.DATE, "3 days ago", None),
    (FieldType.DATE, [], None),
    (FieldType.INTEGER, "1,234 stars", 1234),
    (FieldType.INTEGER, 12.7, 12),
    (FieldType.INTEGER, True, None),
    (FieldType.INTEGER, 10**30, None),
    (FieldType.INTEGER, "many", None),
    (FieldType.NUMBER, "48.2", 48.2),
    (FieldType.NUMBER, -3, -3),
    (FieldType.NUMBER, float("nan"), None),
    (FieldType.LIST, ["a", " b ", None, 3, {}], ("a", "b", "3")),
    (FieldType.LIST, "alone", ("alone",)),
    (FieldType.LIST, [], None),
    (FieldType.LIST, ["", " "], None),
]


@pytest.mark.parametrize(
    ("kind", "value", "expected"),
    VALUES,
    ids=[f"{kind}-{ascii(value)[:30]}" for kind, value, _ in VALUES],
)
def test_typed(kind: FieldType, value: object, expected: object) -> None:
    assert typed("any", kind)(value, SEEN) == expected


def test_every_type_is_tried() -> None:
    assert {kind for kind, *_ in VALUES} == set(FieldType)


def test_caps() -> None:
    long = "x" * 50_000
    title = typed("title", FieldType.TEXT)(long, SEEN)
    assert isinstance(title, str)
    assert len(title) == CAPS["title"]
    items = typed("authors", FieldType.LIST)(["x"] * 5_000, SEEN)
    assert isinstance(items, tuple)
    assert len(items) == MAX_ITEMS


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    ),
    st.sampled_from(FieldType),
)
def test_typed_is_total(value: object, kind: FieldType) -> None:
    typed("title", kind)(value, SEEN)
