"""Filters: the closed table, what each yields, that none of them raises or takes long."""

from __future__ import annotations

import time

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from framework.spec.filters import FILTERS, FilterKind, compile_filter
from framework.spec.patterns import check_regex, text_of
from tests.support.answers import Clock

CLOCK = Clock()


def apply(name: str, argument: object, value: object) -> object:
    return compile_filter(name, argument)(value, CLOCK)


YIELDS = [
    ("strip", None, "  a b\n", "a b"),
    ("lower", None, "ÄbC", "äbc"),
    ("replace", ["_", " "], "a_b_c", "a b c"),
    ("match", r"id=(\d+)", "x?id=12&id=13", "12"),
    ("match", r"\d+", "abc 42", "42"),
    ("match", r"id=(\d+)", "none", None),
    ("match", r"(\p{L}+) ago", "3 Ärzte ago", "Ärzte"),
    ("match", "a(b)?", "ac", None),
    ("sub", [r"\s+$", ""], "end  ", "end"),
    ("sub", [r"(\w+)@(\w+)", r"\2 at \1"], "me@home", "home at me"),
    ("before", "?", "/a?b?c", "/a"),
    ("before", "?", "/a", None),
    ("after", "a1", "a1aHR0", "aHR0"),
    ("after", "a1", "zzz", None),
    ("split", [" · ", 0], "2 May · text", "2 May"),
    ("split", ["/", -1], "a/b/c", "c"),
    ("split", ["/", 5], "a/b/c", None),
    ("split", ",", "a,b", ["a", "b"]),
    ("join", ", ", ["a", 2, None, "c"], "a, 2, c"),
    ("join", ", ", [], None),
    ("join", "-", "alone", "alone"),
    ("prefix", "https://doi.org/", "10.1/x", "https://doi.org/10.1/x"),
    ("prefix", "v", 3, "v3"),
    ("truncate", 8, "short", "short"),
    ("truncate", 12, "several words here", "several…"),
    ("truncate", 4, "unbreakable", "unb…"),
    ("map", {"y": "yes", "1": 5}, "y", "yes"),
    ("map", {"y": "yes", "1": 5}, 1, 5),
    ("map", {"y": "yes"}, "n", None),
    ("html_text", None, "a <b>bold</b>, x &amp; y", "a bold, x & y"),
    ("html_text", None, "one<br>two<p>three</p>", "one two three"),
    ("html_text", None, "5 < 6 &lt;b&gt;", "5 < 6 <b>"),
    ("html_text", None, "a<script>alert('<b>')</script>b<style>x{}</style>c", "abc"),
    ("html_text", None, "<b></b>", None),
    ("query_param", "uddg", "//d.com/l/?uddg=https%3A%2F%2Fa.org%2F%3Fb&rut=1", "https://a.org/?b"),
    ("query_param", "q", "/url?sa=t&q=a+b#q=c", "a b"),
    ("query_param", "a b", "?a%20b=1", "1"),
    ("query_param", "a b", "?b=1&a+b=2", "2"),
    ("query_param", "q", "/url?sa=t", None),
    ("query_param", "q", "/url?sq=1&x=q=2&q=3&q=4", "3"),
    ("query_param", "q", "/url?q=", None),
    ("url_decode", None, "a%20b+c%ZZ", "a b+c%ZZ"),
    ("base64", "url", "aHR0cHM6Ly9hLm9yZy8_", "https://a.org/?"),
    ("base64", "std", "aHR0cHM6Ly9hLm9yZy8/", "https://a.org/?"),
    ("base64", "std", "/////w==", None),
    ("base64", "std", "é", None),
    ("base64", "std", "a", None),
    ("parse_json", None, '{"a": [1]}', {"a": [1]}),
    ("parse_json", "a[0]", '{"a": ["x"]}', "x"),
    ("parse_json", "a", "not json", None),
    ("parse_json", None, "[" * 50_000, None),
    ("jmes", "a.b", {"a": {"b": 1}}, 1),
    ("jmes", "length(@)", 5, None),
    ("int", None, "About 1,234,567 results", 1_234_567),
    ("int", None, 12.9, 12),
    ("int", None, True, None),
    ("int", None, "none", None),
    ("int", None, float("inf"), None),
    ("bytes", None, "1.5 KiB", 1536),
    ("duration", None, "3:25", 205),
    ("duration", None, 205, 205),
    ("epoch", "s", 1_700_000_000, "2023-11-14T22:13:20Z"),
    ("epoch", "ms", "1700000000000", "2023-11-14T22:13:20Z"),
    ("epoch", "s", "soon", None),
    ("epoch", "s", 10**25, None),
    ("date", {"formats": ["iso"]}, "2024-03-01", "2024-03-01"),
    ("date", {"formats": ["%d.%m.%Y"]}, "1.3.2024", "2024-03-01"),
    ("date", {"formats": ["iso"]}, "1.3.2024", None),
    ("date", {"relative": True}, "2 days ago", "2026-04-08"),
]


@pytest.mark.parametrize(
    ("name", "argument", "value", "expected"),
    YIELDS,
    ids=[f"{name}-{index}" for index, (name, *_) in enumerate(YIELDS)],
)
def test_yields(name: str, argument: object, value: object, expected: object) -> None:
    assert apply(name, argument, value) == expected


def test_every_filter_of_the_table_is_tried() -> None:
    assert {name for name, *_ in YIELDS} == set(FILTERS)


@pytest.mark.parametrize("kind", FILTERS.values(), ids=FILTERS)
def test_table_documents_itself(kind: FilterKind) -> None:
    assert kind.summary.endswith(".")
    assert kind.example.partition(":")[0] == kind.name
    assert kind.argument


@pytest.mark.parametrize("kind", FILTERS.values(), ids=FILTERS)
def test_examples_compile(kind: FilterKind) -> None:
    given = yaml.safe_load(kind.example)
    argument = given[kind.name] if isinstance(given, dict) else None
    kind.validate(argument)


BAD = [
    ("strip", 1, "takes no argument"),
    ("int", "x", "takes no argument"),
    ("replace", ["a"], "list of two texts"),
    ("replace", ["", "b"], "list of two texts"),
    ("match", "(?=a)", "RE2"),
    ("match", r"(a)\1", "RE2"),
    ("match", "(", "RE2"),
    ("match", None, "regular expression"),
    ("sub", "a", "list of two texts"),
    ("sub", ["(", ""], "RE2"),
    ("sub", ["a", r"\1"], "group 1"),
    ("sub", ["a", 1], "list of two texts"),
    ("before", "", "not empty"),
    ("split", ["", 0], "separator"),
    ("split", ["a", True], "separator"),
    ("join", None, "text"),
    ("prefix", 1, "text"),
    ("truncate", 0, "number"),
    ("truncate", True, "number"),
    ("map", {}, "map"),
    ("map", {"a": []}, "texts or numbers"),
    ("base64", "hex", "std, url"),
    ("parse_json", "a[", "JMESPath"),
    ("jmes", "", "JMESPath"),
    ("epoch", None, "s, ms"),
    ("date", None, "map"),
    ("date", {"format": "iso"}, "map"),
    ("date", {"formats": "iso"}, "list"),
    ("date", {"zone": "Mars/Base"}, "IANA"),
    ("date", {"zone": 1}, "texts"),
    ("date", {"locale": "German!"}, "language tag"),
    ("date", {"relative": "yes"}, "true or false"),
    ("html_text", "x", "takes no argument"),
    ("shout", None, "unknown filter"),
]


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    BAD,
    ids=[f"{name}-{index}" for index, (name, *_) in enumerate(BAD)],
)
def test_refuses_an_argument(name: str, argument: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compile_filter(name, argument)


def test_validate_is_compile() -> None:
    FILTERS["truncate"].validate(3)
    with pytest.raises(ValueError, match="number"):
        FILTERS["truncate"].validate("3")


ARGUMENTS = {name: argument for name, argument, *_ in YIELDS}

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.text("0123456789:.-"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.untraced
@pytest.mark.parametrize("name", FILTERS)
@given(value=_VALUES)
def test_is_total(name: str, value: object) -> None:
    apply(name, ARGUMENTS[name], value)


@pytest.mark.parametrize("name", FILTERS)
def test_takes_lone_surrogates(name: str) -> None:
    apply(name, ARGUMENTS[name], "\ud800 a1 \udfff")


@pytest.mark.parametrize("name", FILTERS)
def test_nothing_stays_nothing(name: str) -> None:
    if name != "jmes":
        assert apply(name, ARGUMENTS[name], None) is None


EVIL = {
    "nested quantifiers": r"^(a+)+$",
    "alternation": r"^(a|aa)+$",
    "classic e-mail": r"^([a-zA-Z0-9_.-]+)+@x$",
}


@pytest.mark.parametrize("pattern", EVIL.values(), ids=EVIL)
def test_expressions_take_linear_time(pattern: str) -> None:
    step = compile_filter("match", pattern)
    spans = []
    for size in (20_000, 200_000):
        begin = time.process_time()
        step("a" * size + "!", CLOCK)
        spans.append(time.process_time() - begin)
    assert spans[1] < max(spans[0], 0.01) * 100


def test_check_regex_gives_the_reason() -> None:
    with pytest.raises(ValueError, match="no look-around") as caught:
        check_regex("(?<!a)b")
    assert "RE2" in str(caught.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [("a", "a"), (True, "true"), (3, "3"), (3.0, "3"), (3.5, "3.5"), ([], None), (None, None)],
    ids=repr,
)
def test_text_of(value: object, expected: str | None) -> None:
    assert text_of(value) == expected


def test_text_of_has_no_endless_digits() -> None:
    assert text_of(10**5_000) is None
