"""The models by themselves: forms, defaults, spans and rates."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from framework.spec.base import parse_rate, parse_span
from framework.spec.elements import Condition, Filter, Pick, Selector, native
from framework.spec.fields import COMMON, FIELDS, REQUIRED, FieldType, allowed
from framework.spec.model import DECLARABLE, Cooldown, Limits, Request, Spec, spell_out
from framework.types import Kind, Verdict


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        pytest.param("500ms", 0.5, id="milliseconds"),
        pytest.param("8s", 8.0, id="seconds"),
        pytest.param("1.5m", 90.0, id="minutes"),
        pytest.param("6h", 21_600.0, id="hours"),
        pytest.param("2d", 172_800.0, id="days"),
        pytest.param("1w", 604_800.0, id="weeks"),
    ],
)
def test_spans(text: str, seconds: float) -> None:
    assert parse_span(text) == seconds


@pytest.mark.parametrize("value", ["8", "s", "8 s", "-1s", "1h30m", 8, None, ""])
def test_what_is_no_span(value: object) -> None:
    with pytest.raises(ValueError, match="must be a span"):
        parse_span(value)


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        pytest.param("1/2s", (1, 2.0), id="every-two-seconds"),
        pytest.param("30/1m", (30, 60.0), id="a-minute"),
        pytest.param("5/s", (5, 1.0), id="a-second"),
    ],
)
def test_rates(text: str, rate: tuple[int, float]) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize("value", ["1", "1/2", "0/1s", "1/0s", "a/1s", 2])
def test_what_is_no_rate(value: object) -> None:
    with pytest.raises(ValueError, match="must be a rate"):
        parse_rate(value)


def test_a_filter_is_a_name_or_a_map_of_one() -> None:
    bare, given = Filter.model_validate("strip"), Filter.model_validate({"after": "a1"})
    assert (bare.name, bare.argument) == ("strip", None)
    assert (given.name, given.argument) == ("after", "a1")


@pytest.mark.parametrize("value", [{}, {"a": 1, "b": 2}, 5, []])
def test_what_is_no_filter(value: object) -> None:
    with pytest.raises(ValidationError, match="must be a filter's name"):
        Filter.model_validate(value)


@pytest.mark.parametrize(
    ("data", "source", "expression"),
    [
        pytest.param({"css": "a"}, "css", "a", id="css"),
        pytest.param({"const": True}, "const", "true", id="truth"),
        pytest.param({"const": 5}, "const", "5", id="number"),
        pytest.param({"const": ""}, "const", "", id="empty"),
        pytest.param({"text_of": "body"}, "text_of", "body", id="text-of"),
    ],
)
def test_a_pick_has_one_source(data: dict[str, object], source: str, expression: str) -> None:
    pick = Pick.model_validate(data)
    assert (pick.source, pick.expression) == (source, expression)


@pytest.mark.parametrize("data", ["a", 5, {}, {"css": "a", "jmes": "b"}, {"many": True}])
def test_a_pick_without_one_source_is_refused(data: object) -> None:
    with pytest.raises(ValidationError):
        Pick.model_validate(data)


def test_a_condition_takes_one_status_or_several() -> None:
    assert Condition.model_validate({"status": 403}).status == (403,)
    nested = Condition.model_validate({"not": {"any": [{"css": "a"}, {"url": "b"}]}})
    assert nested.source == "not"
    assert nested.not_ is not None
    assert [part.source for part in nested.not_.any or ()] == ["css", "url"]
    with pytest.raises(ValidationError, match="must be a map with one condition"):
        Condition.model_validate("a")


def test_a_selector_has_one_language() -> None:
    selector = Selector.model_validate({"xpath": "//a"})
    assert (selector.source, selector.expression) == ("xpath", "//a")


def test_bare_strings_are_spelled_out() -> None:
    assert native(["a", {"css": "b"}], "css") == [{"css": "a"}, {"css": "b"}]
    assert native(5, "css") == 5
    assert spell_out("x") == "x"
    data = {
        "response": {"format": "json", "rows": {"each": "a"}, "fields": {"url": "u"}, "extras": 5},
        "paging": {"by": "token", "token": "n", "send_as": "c"},
        "session": [{"format": "xml", "take": {"k": "x"}}, {"take": {"k": "j"}}, "odd"],
    }
    assert spell_out(data) == {
        "response": {
            "format": "json",
            "rows": {"each": {"jmes": "a"}},
            "fields": {"url": {"jmes": "u"}},
            "extras": 5,
        },
        "paging": {"by": "token", "token": {"jmes": "n"}, "send_as": "c"},
        "session": [
            {"format": "xml", "take": {"k": {"xpath": "x"}}},
            {"take": {"k": {"jmes": "j"}}},
            "odd",
        ],
    }


@pytest.mark.parametrize(
    ("data", "verb"),
    [
        pytest.param({}, "GET", id="no-body"),
        pytest.param({"form": {}}, "POST", id="form"),
        pytest.param({"json": {}}, "POST", id="json"),
        pytest.param({"text": ""}, "POST", id="text"),
        pytest.param({"method": "POST"}, "POST", id="said"),
    ],
)
def test_a_body_is_posted(data: dict[str, object], verb: str) -> None:
    assert Request.model_validate({"url": "https://a.example.org", **data}).verb == verb


def test_a_request_is_a_map() -> None:
    with pytest.raises(ValidationError):
        Request.model_validate("https://a.example.org")


def test_rests_after_verdicts() -> None:
    data = {"from": ["Retry-After"], "captcha": "30m"}
    cooldown = Limits.model_validate({"cooldown": data}).cooldown
    assert cooldown.from_ == ("Retry-After",)
    assert cooldown.seconds(Verdict.CAPTCHA) == 1800.0
    assert cooldown.seconds(Verdict.BLOCKED) is None
    assert Cooldown().seconds(Verdict.OK) is None


def test_there_are_nineteen_top_level_keys() -> None:
    keys = [info.alias or name for name, info in Spec.model_fields.items()]
    assert keys == [
        "schema",
        "id",
        "name",
        "about",
        "kind",
        "status",
        "replaced_by",
        "extends",
        "inputs",
        "keys",
        "settings",
        "session",
        "request",
        "paging",
        "verdicts",
        "response",
        "fetch",
        "limits",
        "tests",
    ]


def test_the_service_keeps_its_own_verdicts() -> None:
    assert not {Verdict.OK, Verdict.TIMEOUT, Verdict.UNRELATED, Verdict.RESTING} & {*DECLARABLE}


def test_every_kind_has_the_common_fields_and_its_own() -> None:
    assert set(FIELDS) == set(Kind)
    for kind in Kind:
        names = list(allowed(kind))
        assert names[: len(COMMON)] == list(COMMON)
        assert set(REQUIRED) <= set(names)
    assert allowed(Kind.VIDEOS)["duration"] is FieldType.INTEGER
    assert "duration" not in allowed(Kind.WEB)
