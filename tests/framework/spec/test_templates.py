"""Templates: what they may say, what they yield, and that nothing else gets through."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.spec.template_filters import ARITY, FILTERS
from framework.spec.templates import (
    MAX_OUTPUT,
    Items,
    MissingValueError,
    TemplateError,
    compile_template,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

_NAMES = [
    "query",
    "page",
    "offset",
    "size",
    "lang",
    "country",
    "region",
    "time",
    "since",
    "now",
    "settings.base",
    "keys.brave",
    "session.token.key",
    "session.cursor",
    "include_domains",
]

_CONTEXT: Mapping[str, object] = {
    "query": "a b/ü?",
    "page": 2,
    "offset": 11,
    "size": 10,
    "lang": "de",
    "country": "DE",
    "time": "7d",
    "now": datetime(2026, 1, 8, 12, tzinfo=UTC),
    "settings": Items({"base": "http://127.0.0.1:8888/x"}),
    "keys": Items({}, "keys", ["brave"]),
    "session": Items({"token": Items({"key": "k"}, 'session step "token"', ["key", "id"])}),
    "include_domains": ("a.org", "b.org"),
}


def render(source: str, context: Mapping[str, object] = _CONTEXT) -> str | None:
    return compile_template(source, _NAMES).render(context)


def value(source: str) -> object:
    return compile_template(source, _NAMES).value(_CONTEXT)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("plain", "plain", id="constant"),
        pytest.param("", "", id="empty"),
        pytest.param("{{ query }}", "a b/ü?", id="name"),
        pytest.param("all:{{ query }}!", "all:a b/ü?!", id="around"),
        pytest.param("{{ page - 1 }}", "1", id="minus"),
        pytest.param("{{ offset + size }}", "21", id="plus"),
        pytest.param("{{ offset if page > 1 }}", "11", id="if-true"),
        pytest.param("{{ offset if page > 2 }}", None, id="if-false-without-else-is-unset"),
        pytest.param("x{{ offset if page > 2 }}y", None, id="if-false-inside-text-is-unset"),
        pytest.param("{{ 'a' if page > 2 else 'b' }}", "b", id="else"),
        pytest.param("{{ 'a' if page > 2 else 'b' if page > 3 }}", None, id="nested-if"),
        pytest.param("{{ region }}", None, id="unset"),
        pytest.param("{{ region }},{{ lang }};q=0.9", None, id="composite-touching-unset"),
        pytest.param("{{ region | default('wt-wt') }}", "wt-wt", id="default"),
        pytest.param("{{ lang | default('en') }}", "de", id="default-unused"),
        pytest.param("{{ 'x' + since if since else '' }}", "", id="unset-test-is-false"),
        pytest.param("{{ 1 if not since and lang }}", "1", id="unset-in-not-and"),
        pytest.param("{{ 'a' if region == 'x' else 'b' }}", None, id="unset-in-a-comparison"),
        pytest.param("{{ region or 'x' }}", None, id="unset-outside-a-test"),
        pytest.param("{{ session.token.key }}", "k", id="session"),
        pytest.param("{{ session.cursor }}", None, id="cursor-unset"),
        pytest.param("{{ session.cursor | default('*') }}", "*", id="cursor-default"),
        pytest.param("{{ settings.base }}", "http://127.0.0.1:8888/x", id="setting"),
        pytest.param("{{ now }}", "2026-01-08T12:00:00+00:00", id="now"),
        pytest.param("{{ now | ago('7d') }}", "2026-01-01", id="ago"),
        pytest.param("{{ now | ago('1h', 's') }}", "1767870000", id="ago-seconds"),
        pytest.param("{{ now | ago('0s', 'days') }}", "20461", id="ago-days"),
        pytest.param("{{ now | ago(time, '%Y%m%d') }}", "20260101", id="ago-format"),
        pytest.param("{{ time | ago }}", "2026-01-01", id="span-ago"),
        pytest.param("{{ time | ago('ms') }}", "1767268800000", id="span-ago-ms"),
        pytest.param("{{ since | ago }}", None, id="ago-of-unset"),
        pytest.param("{{ now | ago(since) }}", None, id="ago-with-unset-span"),
        pytest.param("{{ since | default(now | ago(time)) }}", "2026-01-01", id="default-filter"),
        pytest.param("{{ lang | default(since | ago) }}", "de", id="default-with-unset-argument"),
        pytest.param("{{ 'de-AT' | lang }}", "de", id="lang"),
        pytest.param("{{ 'de-at' | country }}", "AT", id="country"),
        pytest.param("{{ 'zh-Hant-TW' | country }}", "TW", id="country-after-script"),
        pytest.param("{{ 'ü' | b64 }}", "w7w=", id="b64"),
        pytest.param("{{ 'abc' | sha256 }}", f"{'ba7816bf':s}", id="sha256"),
        pytest.param("{{ 'Größe & Rot/Blau' | slug }}", "größe-rot-blau", id="slug"),
        pytest.param("{{ country | lower }}", "de", id="lower"),
        pytest.param("{{ lang | upper }}", "DE", id="upper"),
        pytest.param("{{ include_domains }}", "a.org,b.org", id="list"),
        pytest.param("{{ true }}", "true", id="truth"),
    ],
)
def test_render(source: str, expected: str | None) -> None:
    found = render(source)
    if source.endswith("sha256 }}") and found is not None and expected is not None:
        found = found[: len(expected)]
    assert found == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("{{ size }}", 10, id="number"),
        pytest.param("{{ page > 1 }}", True, id="truth"),
        pytest.param("{{ query }}", "a b/ü?", id="text"),
        pytest.param("n{{ size }}", "n10", id="not-whole"),
        pytest.param("{{ offset if page > 5 }}", None, id="unset"),
        pytest.param("{{ region }}", None, id="unset-name"),
        pytest.param("10", "10", id="constant-stays-text"),
    ],
)
def test_a_whole_expression_keeps_its_type(source: str, expected: object) -> None:
    assert value(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param("https://x.org/s/{{ query }}", "https://x.org/s/a%20b%2F%C3%BC%3F", id="path"),
        pytest.param("{{ settings.base }}/s", "http://127.0.0.1:8888/x/s", id="leading-setting"),
        pytest.param(
            "https://x.org/{{ settings.base }}",
            "https://x.org/http%3A%2F%2F127.0.0.1%3A8888%2Fx",
            id="setting-elsewhere",
        ),
        pytest.param(
            "https://x.org/{{ '..' + query }}", "https://x.org/..a%20b%2F%C3%BC%3F", id="+"
        ),
    ],
)
def test_substitutions_in_an_address_are_path_segments(source: str, expected: str) -> None:
    assert compile_template(source, _NAMES, address=True).render(_CONTEXT) == expected


@pytest.mark.parametrize(
    ("source", "words"),
    [
        pytest.param("{{ query.upper() }}", "a call", id="call"),
        pytest.param("{{ 'a' * 100 }}", '"*"', id="multiply"),
        pytest.param("{{ 2 ** 9 }}", '"**"', id="power"),
        pytest.param("{{ 1 / 2 }}", '"/"', id="divide"),
        pytest.param("{{ 1 // 2 }}", '"//"', id="floor-divide"),
        pytest.param("{{ 1 % 2 }}", '"%"', id="modulo"),
        pytest.param("{{ query ~ 'a' }}", '"~"', id="concatenate"),
        pytest.param("{{ [1, 2] }}", "a list", id="list"),
        pytest.param("{{ (1, 2) }}", "a tuple", id="tuple"),
        pytest.param("{{ {'a': 1} }}", "a map", id="map"),
        pytest.param("{{ query[0] }}", "a subscript", id="subscript"),
        pytest.param("{{ query is defined }}", '"is"', id="test"),
        pytest.param("{{ 'a' in query }}", '"in"', id="in"),
        pytest.param("{% for x in query %}{% endfor %}", "a loop", id="for"),
        pytest.param("{% if query %}{% endif %}", '"if"', id="if-block"),
        pytest.param("{% set x = 1 %}", "an assignment", id="set"),
        pytest.param("{% macro m() %}{% endmacro %}", "a macro", id="macro"),
        pytest.param("{% include 'x' %}", "an include", id="include"),
        pytest.param("{% import 'x' as y %}", "an import", id="import"),
        pytest.param("{% extends 'x' %}", "an extends", id="extends"),
        pytest.param("{% block x %}{% endblock %}", "a block", id="block"),
        pytest.param("{% filter lower %}{% endfilter %}", "filterblock", id="filter-block"),
        pytest.param("{{ query.__class__ }}", "__class__", id="dunder"),
        pytest.param("{{ ''.__class__ }}", "__class__", id="dunder-of-a-constant"),
        pytest.param("{{ (query + 'a').upper }}", "upper", id="attribute-of-an-expression"),
        pytest.param("{{ settings.base.upper }}", "upper", id="too-many-parts"),
        pytest.param("{{ settings }}", "needs a name", id="too-few-parts"),
        pytest.param("{{ query | upper(1) }}", "0 arguments", id="arity"),
        pytest.param("{{ query | default(value='x') }}", "by position", id="keyword-argument"),
        pytest.param("{{ query | attr('x') }}", 'unknown filter "attr"', id="filter"),
        pytest.param("{{ query | lowr }}", "lowr", id="filter-misspelt"),
        pytest.param("{{ query", "not valid", id="syntax"),
        pytest.param("{{ " + "+".join("1" * 500) + " }}", "more than 256", id="too-many-parts-sum"),
        pytest.param("{{ " + "(" * 4000 + "1" + ")" * 4000 + " }}", "too deep", id="too-deep"),
    ],
)
def test_what_is_not_listed_is_refused(source: str, words: str) -> None:
    with pytest.raises(TemplateError) as caught:
        compile_template(source, _NAMES)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("source", "word"),
    [
        pytest.param("{{ qurey }}", "qurey", id="name"),
        pytest.param("{{ x if qurey else 1 }}", "qurey", id="in-a-test"),
        pytest.param("{{ settings.bsae }}", "bsae", id="setting"),
        pytest.param("{{ session.tokn.key }}", "key", id="session"),
        pytest.param("{{ range }}", "range", id="global-of-jinja"),
        pytest.param("{{ self }}", "self", id="self"),
    ],
)
def test_unknown_names_are_found_when_compiling(source: str, word: str) -> None:
    with pytest.raises(TemplateError, match="unknown variable") as caught:
        compile_template(source, [*_NAMES, "x"])
    assert caught.value.word == word
    assert caught.value.kind == "E202"


def test_a_misspelt_name_gets_the_nearest_one() -> None:
    with pytest.raises(TemplateError, match='unknown variable "qurey"; did you mean "query"\\?'):
        compile_template("{{ qurey }}", _NAMES)


def test_a_missing_session_value_is_a_failure_not_a_drop() -> None:
    with pytest.raises(MissingValueError, match='session step "token" has no value "id"'):
        compile_template("{{ session.token.id }}", ["session.token.id"]).render(_CONTEXT)


def test_a_missing_required_key_is_a_failure() -> None:
    with pytest.raises(MissingValueError, match="brave"):
        render("{{ keys.brave }}")


def test_attributes_of_maps_are_items_never_methods() -> None:
    items = Items({"items": "mine", "get": "also mine"})
    names = ["settings.items", "settings.get", "settings.keys"]
    source = "{{ settings.items }} {{ settings.get }}"
    assert compile_template(source, names).render({"settings": items}) == "mine also mine"
    assert compile_template("{{ settings.keys }}", names).render({"settings": items}) is None


def test_output_is_capped() -> None:
    assert render("{{ query }}", {"query": "x" * MAX_OUTPUT}) == "x" * MAX_OUTPUT
    with pytest.raises(TemplateError, match="more than 8192 bytes"):
        render("{{ query }}{{ query }}", {"query": "x" * MAX_OUTPUT})
    with pytest.raises(TemplateError, match="more than 8192 bytes"):
        compile_template("{{ query }}", _NAMES).value({"query": "ü" * MAX_OUTPUT})


def test_values_that_do_not_fit_say_so() -> None:
    with pytest.raises(TemplateError, match="cannot be rendered"):
        render("{{ query - 1 }}")
    with pytest.raises(TemplateError, match="cannot be rendered"):
        render("{{ now | ago('soon') }}")


def test_text_of_a_question_is_never_a_template() -> None:
    assert render("{{ query }}", {"query": "{{ 7 + 7 }}{% raw %}"}) == "{{ 7 + 7 }}{% raw %}"


def test_every_filter_has_its_number_of_arguments() -> None:
    assert FILTERS.keys() == ARITY.keys()


@given(st.text(max_size=200))
def test_any_query_renders_as_itself(query: str) -> None:
    assert render("{{ query }}", {"query": query}) == query


@given(st.text(alphabet="{}%#| ()[].'\"+-*~abqueryif else", max_size=60))
def test_any_source_compiles_or_is_refused(source: str) -> None:
    try:
        template = compile_template(source, _NAMES)
    except TemplateError:
        return
    assert template.names <= set(_NAMES)
