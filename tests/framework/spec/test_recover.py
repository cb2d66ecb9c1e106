"""What follows from a mistake is not told as another mistake."""

from __future__ import annotations

import pytest

from tests.support.specs import GOOD, codes, spec_text

_USES = (
    "url: https://www.example.org/s\n"
    'query: {q: "{{ query }}", o: "{{ offset }}", c: "{{ session.cur }}", k: "{{ keys.k }}",'
    ' s: "{{ settings.s }}", t: "{{ session.step.v }}", r: "{{ region }}",'
    ' d: "{{ include_domains }}"}\n'
)
_GOOD_PARTS = {
    "request": _USES,
    "inputs": "{region: {}, domains: {param: d}}",
    "paging": "{by: token, size: 5, token: .n, send_as: cur}",
    "keys": "{k: {env: K}}",
    "settings": "{s: {env: S}}",
    "session": "- id: step\n  request: {url: 'https://www.example.org/'}\n  take: {v: .v}\n",
}


def test_the_parts_are_good() -> None:
    assert codes(spec_text(**_GOOD_PARTS)) == []


@pytest.mark.parametrize(
    ("part", "value", "expected"),
    [
        pytest.param("inputs", "5", [("E103", "inputs")], id="all-inputs"),
        pytest.param(
            "inputs",
            "{region: 5, domains: {param: d}}",
            [("E103", "inputs.region")],
            id="one-input",
        ),
        pytest.param(
            "inputs",
            "{region: {}, domains: {parm: d}}",
            [("E104", "inputs.domains")],
            id="domains",
        ),
        pytest.param("paging", "{by: tokn}", [("E103", "paging.by")], id="kind-of-paging"),
        pytest.param("paging", "tokens", [("E103", "paging")], id="paging"),
        pytest.param("keys", "{k: {envv: K}}", [("E101", "keys.k.envv")], id="k"),
        pytest.param("settings", "[s]", [("E103", "settings")], id="settings"),
        pytest.param("session", "{id: step}", [("E103", "session")], id="session"),
    ],
)
def test_a_broken_declaration_is_one_problem(
    part: str, value: str, expected: list[tuple[str, str]]
) -> None:
    assert codes(spec_text(**{**_GOOD_PARTS, part: value})) == expected


def test_fields_of_a_misspelt_kind_are_not_problems() -> None:
    text = GOOD.replace("kind: web", "kind: papres").replace("title:", "doi: .d\n    title:")
    assert codes(text) == [("E103", "kind")]


def test_other_mistakes_are_still_told() -> None:
    parts = {**_GOOD_PARTS, "inputs": "{region: 5, domains: {param: d}}"}
    text = spec_text(**parts).replace("{{ query }}", "{{ qurey }}")
    assert codes(text) == [("E103", "inputs.region"), ("E202", "request.query.q")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("{}", {"schema", "id", "name", "kind", "request", "response"}, id="nothing"),
        pytest.param("id: x", {"schema", "name", "kind", "request", "response"}, id="only-an-id"),
    ],
)
def test_missing_keys_are_all_told(text: str, expected: set[str]) -> None:
    assert len(codes(text)) == len(expected)
    assert {code for code, _ in codes(text)} == {"E102"}


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("kind: web", "knid: web", [("E101", "knid")], id="required-scalar"),
        pytest.param("verdicts:", "verdits:", [("E101", "verdits")], id="list"),
        pytest.param("paging:", "pagin:", [("E101", "pagin")], id="what-others-use"),
        pytest.param("  rows:", "  row:", [("E101", "response.row")], id="required-map"),
        pytest.param("response:", "respones:", [("E101", "respones")], id="big-map"),
        pytest.param(
            "paging: {by: offset, size: 10",
            "pagin: {by: offset, size: ten",
            [("E101", "pagin"), ("E103", "paging.size")],
            id="with-a-mistake-below-it",
        ),
        pytest.param(
            "kind: web", "kind: web\nkinds: news", [("E101", "kinds")], id="beside-the-right-one"
        ),
    ],
)
def test_a_misspelt_key_is_one_problem(old: str, new: str, expected: list[tuple[str, str]]) -> None:
    tests = "tests:\n  - {case: a, expect: blocked}\n"
    assert codes(GOOD.replace(old, new, 1) + tests) == expected


def test_a_missing_scalar_does_not_hide_other_mistakes() -> None:
    text = GOOD.replace("kind: web\n", "").replace("name: Plain\n", "").replace("li.hit", "li >")
    assert codes(text) == [("E102", ""), ("E102", ""), ("E301", "response.rows.each")]


@pytest.mark.parametrize(
    "value", ["5", "text", "[]", "[1, 2]", "{a: b}", "{a: {b: [c]}}", "true", "1.5"]
)
@pytest.mark.parametrize(
    "key",
    [
        "schema",
        "id",
        "name",
        "about",
        "kind",
        "status",
        "replaced_by",
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
    ],
)
def test_any_value_anywhere_is_a_problem_or_fine_never_a_crash(key: str, value: str) -> None:
    found = codes(spec_text(**{key: value}))
    assert all(code[0] in "EW" for code, _ in found)
