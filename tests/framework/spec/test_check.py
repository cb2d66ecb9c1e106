"""An engine proved offline: its file and every recorded answer."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from framework.spec.catalogue import packaged, packaged_fixtures
from framework.spec.check import EngineCheck, check_engine, difference, secrets
from framework.spec.fixtures import FixtureError, as_data, load_fixture
from framework.types import Page, Row, Verdict
from tests.support.specs import spec_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

_PAGE = '<li class=hit><h2><a href="https://a.example.org/">One</a></h2></li>'
_EXPECTED: Mapping[str, object] = {
    "verdict": "ok",
    "results": [{"rank": 1, "title": "One", "url": "https://a.example.org/"}],
}
_TESTS = "- {case: ok, expect: ok, rows: 1}\n- {case: none, expect: empty}\n"


def record(
    fixtures: Path, case: str, body: str, meta: str = "source: recording\n", expected: object = None
) -> Path:
    folder = fixtures / "plain" / case
    folder.mkdir(parents=True)
    (folder / "response.html").write_text(body)
    (folder / "meta.yaml").write_text(meta)
    if expected is not None:
        (folder / "expected.json").write_text(json.dumps(expected))
    return folder


@pytest.fixture
def fixtures(tmp_path: Path) -> Path:
    folder = tmp_path / "fixtures"
    record(folder, "ok", _PAGE, expected=_EXPECTED)
    record(folder, "none", "<p class=none>", expected={"verdict": "empty", "results": []})
    return folder


def check(fixtures: Path, text: str = "") -> EngineCheck:
    path = fixtures.parent / "plain.yaml"
    path.write_text(text or spec_text(status="stable", tests=_TESTS))
    return check_engine(path, fixtures)


def messages(report: EngineCheck) -> list[str]:
    return [item.message for item in report.problems]


def test_an_engine_that_reads_as_expected(fixtures: Path) -> None:
    report = check(fixtures)
    assert (report.ok, report.problems) == (True, ())
    assert [(case.case, case.verdict, case.rows, case.ok) for case in report.cases] == [
        ("ok", Verdict.OK, 1, True),
        ("none", Verdict.EMPTY, 0, True),
    ]


def test_a_broken_file_is_reported_with_its_problems(fixtures: Path) -> None:
    report = check(fixtures, spec_text(kind="webb"))
    assert [item.path for item in report.problems] == ["kind"]
    assert (report.ok, report.cases) == (False, ())


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        pytest.param("One", "Two", "results[0].title: 'Two', not 'One'", id="title"),
        pytest.param("a.example", "b.example", "results[0].url: 'https://b.ex", id="url"),
        pytest.param("class=hit", "class=miss", "verdict is changed, not ok", id="row"),
        pytest.param("</li>", f"</li>{_PAGE}", "results: 2 items, not 1", id="more-rows"),
    ],
)
def test_what_is_read_otherwise_fails(fixtures: Path, old: str, new: str, message: str) -> None:
    path = fixtures / "plain" / "ok" / "response.html"
    path.write_text(_PAGE.replace(old, new))
    report = check(fixtures)
    assert not report.ok
    assert any(message in line for line in messages(report))


def test_too_few_rows_fail(fixtures: Path) -> None:
    text = spec_text(tests=_TESTS.replace("rows: 1", "rows: 2"))
    assert messages(check(fixtures, text)) == ["1 rows, fewer than 2"]


def test_every_test_needs_its_recorded_answer(fixtures: Path) -> None:
    text = spec_text(tests=_TESTS + "- {case: gone, expect: blocked}\n")
    (found,) = check(fixtures, text).problems
    assert found.message == 'case "gone" has no recorded answer'
    assert found.path == "tests[2].case"
    assert found.hint.endswith("record it: consilience engines record plain gone QUERY")


def test_what_is_missing_is_shown_where_the_file_names_it(fixtures: Path, tmp_path: Path) -> None:
    text = spec_text(tests=_TESTS + "- {case: gone, expect: blocked}\n")
    path = tmp_path / "plain.yaml"
    path.write_text(text)
    (found,) = check_engine(path, fixtures).problems
    assert text.splitlines()[found.line - 1][found.column - 1 :].startswith("gone")


def test_a_case_without_a_test_is_checked_too(fixtures: Path) -> None:
    record(fixtures, "extra", _PAGE, expected={"verdict": "empty"})
    found = messages(check(fixtures))
    assert "verdict: 'ok', not 'empty'" in found


def test_rows_need_an_expectation(fixtures: Path) -> None:
    record(fixtures, "extra", _PAGE)
    assert messages(check(fixtures)) == ["expected.json is missing"]


@pytest.mark.parametrize(
    ("meta", "path"),
    [
        pytest.param("query: x\n", "", id="no-source"),
        pytest.param("source: guess\n", "source", id="unknown-source"),
        pytest.param("source: recording\nstats: 200\n", "stats", id="unknown-key"),
        pytest.param("source: recording\nstatus: 20\n", "status", id="status"),
        pytest.param("", "", id="empty"),
    ],
)
def test_what_is_known_of_an_answer_is_checked(fixtures: Path, meta: str, path: str) -> None:
    (fixtures / "plain" / "ok" / "meta.yaml").write_text(meta)
    (found,) = check(fixtures).problems
    assert (found.file, found.path) == (str(fixtures / "plain" / "ok" / "meta.yaml"), path)


def test_a_case_has_one_response(fixtures: Path) -> None:
    folder = fixtures / "plain" / "ok"
    (folder / "response.json").write_text("{}")
    with pytest.raises(FixtureError, match="exactly one of"):
        load_fixture(folder)
    (folder / "response.json").unlink()
    (folder / "expected.json").write_text("[]")
    with pytest.raises(FixtureError, match="must be an object"):
        load_fixture(folder)
    (folder / "expected.json").write_text("{")
    with pytest.raises(FixtureError, match="not JSON"):
        load_fixture(folder)


def test_what_is_known_of_an_answer_reaches_the_engine(fixtures: Path) -> None:
    meta = (
        "source: documentation\nquery: q\ndate: 2026-01-31\nstatus: 429\n"
        "url: https://www.example.org/search?p=2\nhops: [https://www.example.org/]\n"
        "headers: {Retry-After: 5}\npage: 2\n"
    )
    fixture = load_fixture(record(fixtures, "more", _PAGE, meta))
    assert fixture.response.status == 429
    assert fixture.response.header("retry-after") == "5"
    assert fixture.response.header("content-type") == "text/html; charset=utf-8"
    assert fixture.response.hops == ("https://www.example.org/",)
    assert (fixture.meta.page, fixture.meta.date, fixture.expected) == (2, "2026-01-31", None)


_FAKE = "0123456789abcdefghijklmnopqrstuv"


@pytest.mark.parametrize(
    ("body", "suspect"),
    [
        pytest.param(f"<a href='/?api_key={_FAKE}'>", True, id="api-key"),
        pytest.param(f'{{"access_token": "{_FAKE}"}}', True, id="token"),
        pytest.param(f"Authorization: Bearer {_FAKE}", True, id="bearer"),
        pytest.param("sk-" + "live-" + _FAKE, True, id="sk-live"),
        pytest.param('"api_key": "abcd1234efgh5678"', True, id="short-api-key"),
        pytest.param("tvly-" + _FAKE, True, id="tavily"),
        pytest.param("gh" + "p_" + _FAKE * 2, True, id="github"),
        pytest.param("-----BEGIN " + "PRIVATE KEY-----", True, id="private-key"),
        pytest.param("api_key=YOUR_API_KEY_GOES_HERE_PLEASE", False, id="placeholder"),
        pytest.param("<p>How to choose an API key: a guide</p>", False, id="prose"),
        pytest.param(f"https://a.example.org/{_FAKE}", False, id="long-path"),
        pytest.param("the password: must be long", False, id="password-in-prose"),
    ],
)
def test_strings_that_look_like_keys_fail(fixtures: Path, body: str, suspect: bool) -> None:
    fixture = load_fixture(record(fixtures, "leak", f"<p class=none>\n{body}"))
    found = list(secrets(fixture))
    assert bool(found) is suspect
    assert all("response.html:2:" in line and _FAKE not in line for line in found)
    assert check(fixtures).ok is not suspect


@pytest.mark.parametrize(
    ("template", "words"),
    [
        pytest.param("{{ query - 1 }}", "unsupported operand", id="types"),
        pytest.param("{{ now | ago(time) }}", "must be a span of time", id="value-of-an-input"),
    ],
)
def test_requests_are_planned_for_typical_questions(
    fixtures: Path, template: str, words: str
) -> None:
    request = f"url: https://www.example.org/s\nquery: {{q: '{template}'}}"
    (message,) = messages(check(fixtures, spec_text(request=request, tests=_TESTS)))
    assert f"template '{template}' cannot be rendered" in message
    assert words in message


_STEP = """
- id: token
  request: {url: "https://www.example.org/app.js"}
  take: {key: {text_of: body, do: [{match: 'T="([^"]+)"'}]}}
"""


def test_answers_of_session_steps_are_checked(fixtures: Path) -> None:
    meta = "source: recording\nstep: token\n"
    expected = {"verdict": "ok", "taken": {"key": "k1"}}
    path = record(fixtures, "step", 'T="k1"', meta, expected)
    text = spec_text(session=_STEP, tests=_TESTS + "- {case: step, expect: ok}\n")
    assert messages(check(fixtures, text)) == []
    (path / "response.html").write_text('T="k2"')
    assert messages(check(fixtures, text)) == ["taken.key: 'k2', not 'k1'"]
    (path / "response.html").write_text("nothing")
    assert "verdict: 'changed', not 'ok'" in messages(check(fixtures, text))


def test_an_engine_without_tests_is_told_so(fixtures: Path) -> None:
    (fixtures / "plain").rename(fixtures / "other")
    assert messages(check(fixtures, spec_text(status="deprecated"))) == [
        'engine "plain" has no tests',
        'engine "plain" is deprecated',
    ]
    assert check(fixtures, spec_text()).problems == ()


@pytest.mark.parametrize(
    ("expected", "found", "lines"),
    [
        pytest.param({"a": 1}, {"a": 1}, [], id="same"),
        pytest.param({"a": 1}, {}, ["a: nothing, not 1"], id="missing"),
        pytest.param({}, {"a": "x"}, ["a: 'x', not nothing"], id="more"),
        pytest.param({"a": [1, 2]}, {"a": [1, 3]}, ["a[1]: 3, not 2"], id="item"),
        pytest.param({"a": [1]}, {"a": [1, 2]}, ["a: 2 items, not 1"], id="length"),
        pytest.param({"a": [1]}, {"a": 1}, ["a: 1, not [1]"], id="type"),
        pytest.param({"a": 1}, {"a": True}, ["a: True, not 1"], id="truth-is-no-number"),
    ],
)
def test_differences_have_their_path(expected: object, found: object, lines: list[str]) -> None:
    assert difference(expected, found) == lines


def test_a_page_in_the_form_of_an_expectation() -> None:
    row = Row(title="t", url="u", snippet="s", rank=3, fields={"authors": ("a", "b")})
    page = Page(verdict=Verdict.OK, rows=(row,), extras={"total": 5})
    assert as_data(page) == {
        "verdict": "ok",
        "results": [{"rank": 3, "title": "t", "url": "u", "snippet": "s", "authors": ["a", "b"]}],
        "extras": {"total": 5},
    }


def test_every_packaged_engine_passes() -> None:
    reports = [
        check_engine(path, packaged_fixtures()) for path in sorted(packaged().glob("*.yaml"))
    ]
    assert [str(item) for report in reports for item in report.problems] == []
