"""From files to engines: the language's own examples, and every mistake with its place."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

import pytest

from framework.spec.compiler import beside, compile_source, compile_spec, compile_text
from framework.spec.context import Variables
from framework.spec.problems import SpecProblemsError, render_text
from framework.spec.source import load_file, load_text
from framework.types import HttpResponse, Kind, Page, Query, Verdict
from tests.support.specs import GOOD, codes, compiled, engine, problems, spec_text

if TYPE_CHECKING:
    from pathlib import Path

_BLOCK = re.compile(r"^`engines\.d/([a-z-]+)\.yaml`\n```yaml\n(.*?)^```", re.DOTALL | re.MULTILINE)


@pytest.fixture(scope="session")
def examples(shared: Path) -> dict[str, str]:
    found = dict(_BLOCK.findall((shared / "language.md").read_text()))
    assert found.keys() == {"bing", "duckduckgo", "brave-api", "arxiv"}
    return found


@pytest.mark.shared
@pytest.mark.parametrize("name", ["bing", "duckduckgo", "brave-api", "arxiv"])
def test_the_examples_of_the_language_compile(examples: dict[str, str], name: str) -> None:
    found = compile_source(load_text(examples[name], f"{name}.yaml"), lambda _: None, name)
    assert found.problems == ()
    assert found.engine is not None
    assert found.engine.id == name


@pytest.fixture(scope="session")
def shapes(shared: Path) -> list[str]:
    brief = (shared / "language.md").read_text().partition("Two more shapes, in brief:")[2]
    return brief.partition("```yaml\n")[2].partition("```")[0].split("---\n")


@pytest.mark.shared
def test_the_example_of_inheritance_compiles(examples: dict[str, str], shapes: list[str]) -> None:
    found = compiled(shapes[0], {"bing": examples["bing"]})
    assert found.problems == ()
    assert found.engine is not None
    spec = found.engine.spec
    assert (spec.kind, spec.name, spec.paging, spec.tests) == (Kind.NEWS, "Bing", None, ())
    assert (found.engine.index, found.engine.max_page) == ("bing", 1)
    assert spec.response.rows.drop is None
    assert list(spec.response.fields) == ["title", "url", "snippet", "source"]


@pytest.mark.shared
def test_the_example_of_a_token_compiles_and_plans(shapes: list[str]) -> None:
    head = "schema: 1\nid: x\nname: X\nkind: web\n"
    rows = 'rows: {each: "results[]"}'
    text = head + shapes[1].replace(rows, f"{rows}, fields: {{title: t, url: u}}")
    spec = engine(text)
    url = "https://example.org/app.js"
    assert spec.plan_step("token", Query(text="x")).url == url
    values = spec.take("token", HttpResponse(url=url, body=b'var API_TOKEN = "k7";'))
    assert values == {"key": "k7"}
    variables = Variables(session={"token": {"key": "k7"}})
    assert spec.plan(Query(text="a b"), 1, variables).url == "https://example.org/s?q=a+b&k=k7"
    body = (
        b'<script>var __DATA__ = {"results":[{"t":"T","u":"/u"}],"next":{"cursor":"c2"}};</script>'
    )
    page = spec.read(HttpResponse(url="https://example.org/s?q=x", body=body))
    assert [(row.title, row.url) for row in page.rows] == [("T", "https://example.org/u")]
    assert page.next is not None
    following = spec.plan_next(Query(text="a b"), page.next, variables)
    assert following is not None
    assert following.url == "https://example.org/s?q=a+b&k=k7&cursor=c2"


#: The spoiled Bing file of the language's description: what is replaced by what.
_SPOILED = (
    ("https://www.bing.com/search", "https://{{ region }}.bing.com/search"),
    ("{{ query }}", "{{ qurey }}"),
    ("snippet: {css", "snipet: {css"),
    ("limits:", "limit:"),
    ("status: stable", "status: stabel"),
)


@pytest.mark.shared
def test_a_file_with_five_mistakes_has_five_problems(examples: dict[str, str]) -> None:
    text = examples["bing"]
    for old, new in _SPOILED:
        text = text.replace(old, new, 1)
    found = problems(text)
    assert [(item.code, item.path, item.line, item.column) for item in found] == [
        ("E103", "status", 7, 9),
        ("E201", "request.url", 15, 8),
        ("E202", "request.query.q", 17, 12),
        ("E305", "response.fields.snipet", 39, 5),
        ("E101", "limit", 44, 1),
    ]
    assert all(item.hint for item in found)
    shown = render_text(found)
    assert 'unknown variable "qurey"; did you mean "query"?' in shown
    assert 'did you mean "snippet"? allowed: title, url, snippet' in shown
    assert 'did you mean "limits"? allowed here: schema, id, name' in shown


def test_the_good_file_is_good() -> None:
    spec = engine()
    assert (spec.id, spec.name, spec.kind, spec.index, spec.weight) == (
        "plain",
        "Plain",
        Kind.WEB,
        "plain",
        1.0,
    )
    assert (spec.max_page, spec.steps, spec.fetch.proxy) == (5, (), "default")
    assert (spec.limits.rate, dict(spec.keys), dict(spec.settings)) == (None, {}, {})


_PAGE = b"<ul><li class=hit><h2><a href=/a>One</a></h2></li></ul>"


def test_an_engine_reads_and_judges() -> None:
    spec = engine()
    good = HttpResponse(url="https://www.example.org/search?q=x", body=_PAGE)
    page = spec.read(good, 2, Query(text="x"))
    assert [(row.title, row.url, row.rank) for row in page.rows] == [
        ("One", "https://www.example.org/a", 11)
    ]
    assert page.verdict is Verdict.OK
    assert spec.verdict(good) is None
    assert spec.verdict(HttpResponse(url=good.url, status=403)) is Verdict.BLOCKED


def test_a_step_yields_values_or_a_verdict() -> None:
    session = """
    - id: token
      request: {url: "https://www.example.org/app.js"}
      take: {key: {text_of: body, do: [{match: 'T="([^"]+)"'}]}}
    """
    spec = engine(spec_text(session=session))
    url = "https://www.example.org/app.js"
    assert spec.take(spec.steps[0], HttpResponse(url=url, body=b'T="k1"')) == {"key": "k1"}
    for status, verdict in ((403, Verdict.BLOCKED), (200, Verdict.CHANGED)):
        taken = spec.take("token", HttpResponse(url=url, status=status, body=b"nothing"))
        assert isinstance(taken, Page)
        assert taken.verdict is verdict


_BING = "https://www.example.org/search"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("schema: 1", "schema: 2", ("E103", "schema", 1, 9), id="schema"),
        pytest.param("schema: 1\n", "", ("E102", "", 1, 1), id="schema-missing"),
        pytest.param("id: plain", "id: Plain Text", ("E103", "id", 2, 5), id="id"),
        pytest.param("id: plain", "id: 5", ("E103", "id", 2, 5), id="id-is-a-number"),
        pytest.param("name: Plain", "name: ''", ("E103", "name", 3, 7), id="empty-name"),
        pytest.param("kind: web", "kind: webb", ("E103", "kind", 4, 7), id="kind"),
        pytest.param("kind: web", "kind: web\nstatus: ok", ("E103", "status", 5, 9), id="status"),
        pytest.param("kind: web", "knid: web", ("E101", "knid", 4, 1), id="key-misspelt"),
        pytest.param("day: d", "dya: d", ("E101", "inputs.time.dya", 7, 10), id="time-range"),
        pytest.param("off: off", "of: off", ("E101", "inputs.safe.of", 8, 10), id="safe-level"),
        pytest.param("size: 10", "size: '10'", ("E103", "paging.size", 12, 28), id="quoted-number"),
        pytest.param("size: 10", "size: 0", ("E103", "paging.size", 12, 28), id="too-small"),
        pytest.param("size: 10, ", "", ("E102", "paging", 12, 9), id="size-missing"),
        pytest.param("by: offset", "by: ofset", ("E103", "paging.by", 12, 14), id="tag"),
        pytest.param("by: offset, ", "", ("E102", "paging", 12, 9), id="tag-missing"),
        pytest.param("max: 5", "mx: 5", ("E101", "paging.mx", 12, 42), id="key-in-a-tagged-map"),
        pytest.param(
            "status: 403", "status: x", ("E103", "verdicts[0].blocked.status", 14, 23), id="s"
        ),
        pytest.param("blocked:", "blokced:", ("E101", "verdicts[0].blokced", 14, 5), id="verdict"),
        pytest.param(
            "{css: .none}", "{cs: .none}", ("E104", "verdicts[1].empty", 15, 12), id="cond"
        ),
        pytest.param(
            "{css: .none}", "{css: .none, text: x}", ("E104", "verdicts[1].empty", 15, 12), id="two"
        ),
        pytest.param(
            "format: html", "format: htm", ("E103", "response.format", 17, 11), id="format"
        ),
        pytest.param(
            "title: h2 a", "titel: h2 a", ("E305", "response.fields.titel", 20, 5), id="f"
        ),
        pytest.param(
            "title: h2 a", "title: {}", ("E104", "response.fields.title", 20, 12), id="none"
        ),
        pytest.param(
            "title: h2 a",
            "title: {css: a, many: yes}",
            ("E103", "response.fields.title.many", 20, 27),
            id="yes-is-text",
        ),
        pytest.param(
            "title: h2 a", "title: []", ("E103", "response.fields.title", 20, 12), id="list"
        ),
        pytest.param(
            "title: h2 a", "title: 'h2 >'", ("E301", "response.fields.title", 20, 12), id="css"
        ),
        pytest.param(
            "title: h2 a",
            "title: {jmes: a}",
            ("E304", "response.fields.title.jmes", 20, 13),
            id="jmes",
        ),
        pytest.param(
            "title: h2 a",
            "title: {css: a, do: [upcase]}",
            ("E303", "response.fields.title.do[0]", 20, 26),
            id="filter",
        ),
        pytest.param(
            "title: h2 a",
            "title: {css: a, do: [{match: '(a'}]}",
            ("E303", "response.fields.title.do[0]", 20, 26),
            id="regex-in-a-filter",
        ),
        pytest.param(
            "title: h2 a",
            "title: {text: '{{ row.url }}'}",
            ("E202", "response.fields.title.text", 20, 27),
            id="later-field",
        ),
        pytest.param(
            "title: h2 a",
            "title: {xpath: //a, remove: b}",
            ("E103", "response.fields.title", 20, 12),
            id="remove-with-xpath",
        ),
        pytest.param(
            "each: li.hit", "each: 'li >'", ("E301", "response.rows.each", 18, 16), id="each"
        ),
        pytest.param(
            'url: "h2', 'uri: "h2', ("E305", "response.fields.uri", 21, 5), id="url-field"
        ),
    ],
)
def test_one_mistake_is_one_problem_with_its_place(
    old: str, new: str, expected: tuple[str, str, int, int]
) -> None:
    assert old in GOOD
    found = problems(GOOD.replace(old, new, 1))
    places = [(item.code, item.path, item.line, item.column) for item in found]
    rest = [place for place in places if place != expected]
    assert expected in places
    assert all(place[0] == "E102" for place in rest), rest


def test_a_missing_key_is_named() -> None:
    text = spec_text(name="", response="{format: html, rows: {each: li}, fields: {title: a}}")
    found = {(item.code, item.path, item.message) for item in problems(text)}
    assert found == {
        ("E102", "", '"name" is missing'),
        ("E102", "response.fields", '"url" is missing'),
    }


def test_mistakes_of_all_stages_are_told_together() -> None:
    text = spec_text(
        kind="webb",
        request='url: http://x.example.org/\nquery: {q: "{{ quer }}"}',
        paging="{by: offset, size: ten}",
        limits="{rate: fast, timout: 3s}",
        verdicts="- empty: {not: {css: a}}\n- blocked: {url: '(?=x)'}\n",
    )
    assert sorted(codes(text)) == [
        ("E101", "limits.timout"),
        ("E103", "kind"),
        ("E103", "limits.rate"),
        ("E103", "paging.size"),
        ("E201", "request.url"),
        ("E202", "request.query.q"),
        ("E302", "verdicts[1].blocked.url"),
        ("E501", "verdicts[0].empty"),
    ]


def test_what_uses_a_broken_declaration_is_not_a_second_problem() -> None:
    text = spec_text(inputs="{region: {mapp: {a: b}}, time: 5}")
    assert codes(text) == [("E101", "inputs.region.mapp"), ("E103", "inputs.time")]


@pytest.mark.parametrize(
    ("condition", "good"),
    [
        pytest.param("{css: .none}", True, id="css"),
        pytest.param("{status: 303}", True, id="status"),
        pytest.param("{status: [200, 204]}", False, id="ordinary-status"),
        pytest.param("{not: {css: .hit}}", False, id="not"),
        pytest.param("{css: 'body:not(:has(.hit))'}", False, id="not-in-css"),
        pytest.param("{xpath: 'not(//li)'}", False, id="not-in-xpath"),
        pytest.param("{jmes: '!results[0]'}", False, id="not-in-jmes"),
        pytest.param("{jmes: 'total == `0`'}", True, id="jmes"),
        pytest.param("{size_below: 500}", False, id="small-body"),
        pytest.param("{any: [{css: .none}, {not: {css: .hit}}]}", False, id="any-with-a-negative"),
        pytest.param("{any: [{css: .none}, {status: 303}]}", True, id="any-of-positives"),
        pytest.param("{all: [{css: .page}, {not: {css: .hit}}]}", True, id="all-with-a-positive"),
        pytest.param("{all: [{size_below: 9}, {not: {css: .hit}}]}", False, id="all-negative"),
    ],
)
def test_a_negative_condition_alone_cannot_be_empty(condition: str, good: bool) -> None:
    found = codes(spec_text(verdicts=f"- empty: {condition}\n- blocked: {{status: 403}}\n"))
    assert found == ([] if good else [("E501", "verdicts[0].empty")])


@pytest.mark.parametrize(
    ("tests", "missing"),
    [
        pytest.param("", ["ok", "empty"], id="none"),
        pytest.param("- {case: a, expect: ok}\n- {case: b, expect: empty}\n", [], id="all"),
        pytest.param(
            "- {case: a, expect: ok}\n- {case: b, expect: blocked}\n", ["empty"], id="one"
        ),
    ],
)
def test_a_stable_engine_needs_its_tests(tests: str, missing: list[str]) -> None:
    found = problems(spec_text(status="stable", tests=tests))
    assert [item.code for item in found] == ["E502"] * len(missing)
    assert {item.message.split('"')[1] for item in found} == set(missing)
    assert problems(spec_text(status="experimental", tests=tests)) == ()


def test_a_test_expects_a_declared_verdict_and_cases_are_unique() -> None:
    tests = "- {case: a, expect: captcha}\n- {case: a, expect: ok}\n"
    assert codes(spec_text(tests=tests)) == [
        ("E103", "tests[0].expect"),
        ("E103", "tests[1].case"),
    ]


def test_a_deprecated_engine_is_a_warning_that_names_its_successor() -> None:
    found = compiled(spec_text(status="deprecated", replaced_by="other"))
    assert found.engine is not None
    assert [(item.code, item.hint) for item in found.problems] == [("W102", 'use "other"')]
    assert codes(spec_text(replaced_by="other")) == [("E103", "replaced_by")]


@pytest.mark.parametrize(
    ("part", "value", "expected"),
    [
        pytest.param("keys", "{x-y: {env: A}}", ("E103", "keys.x-y"), id="key-name"),
        pytest.param("keys", "{x: {env: lower}}", ("E103", "keys.x.env"), id="variable"),
        pytest.param("keys", "{x: {env: []}}", ("E103", "keys.x.env"), id="no-variable"),
        pytest.param("keys", "{x: {env: A, rotate: all}}", ("E103", "keys.x.rotate"), id="rotate"),
        pytest.param("settings", "{X: {env: A}}", ("E103", "settings.X"), id="setting-name"),
        pytest.param("fetch", "{mode: curl}", ("E103", "fetch.mode"), id="mode"),
        pytest.param("fetch", "{same_site: [10.0.0.1]}", ("E201", "fetch.same_site[0]"), id="site"),
        pytest.param("limits", "{timeout: 8}", ("E103", "limits.timeout"), id="span"),
        pytest.param("limits", "{timeout: 1h}", ("E103", "limits.timeout"), id="long-timeout"),
        pytest.param("limits", "{rate: 0/2s}", ("E103", "limits.rate"), id="rate"),
        pytest.param(
            "limits", "{cooldown: {captca: 1h}}", ("E101", "limits.cooldown.captca"), id="cooldown"
        ),
        pytest.param("about", "{weight: 0}", ("E103", "about.weight"), id="weight"),
        pytest.param("about", "{official_api: yes}", ("E103", "about.official_api"), id="yes"),
        pytest.param(
            "inputs",
            "{region: {}, domains: {operator: site}}",
            ("E103", "inputs.domains.operator"),
            id="operator",
        ),
        pytest.param(
            "inputs",
            "{region: {}, domains: {operator: 's:{}', param: x}}",
            ("E104", "inputs.domains"),
            id="operator-and-param",
        ),
        pytest.param(
            "request",
            "{url: 'https://x.example.org', form: {a: 1}, json: {a: 1}}",
            ("E104", "request"),
            id="two-bodies",
        ),
        pytest.param(
            "request",
            "{url: 'https://x.example.org', method: GET, form: {a: 1}}",
            ("E104", "request"),
            id="get-with-a-body",
        ),
        pytest.param(
            "request",
            "{url: 'https://x.example.org', headers: {'a b': 1}}",
            ("E103", "request.headers.a b"),
            id="header-name",
        ),
        pytest.param(
            "request",
            "{url: 'https://x.example.org', json: {a: {list: domains}}}",
            ("E202", "request.json.a.list"),
            id="list-name",
        ),
        pytest.param(
            "request",
            "{url: 'https://x.example.org', json: {a: {list: include_domains}}}",
            ("W103", "request.json.a.list"),
            id="list-not-declared",
        ),
    ],
)
def test_values_that_are_not_allowed(part: str, value: str, expected: tuple[str, str]) -> None:
    assert codes(spec_text(**{part: value})) == [expected]


_JSON = "{format: json, rows: {each: 'a[]'}, fields: {title: t, url: u}}"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        pytest.param(_JSON, [], id="json"),
        pytest.param(
            _JSON.replace("title: t", "title: {css: a}"),
            [("E304", "response.fields.title.css")],
            id="css-in-json",
        ),
        pytest.param(
            _JSON.replace("'a[]'", "'a['"), [("E301", "response.rows.each")], id="bad-jmespath"
        ),
        pytest.param(
            _JSON.replace("rows: {each: 'a[]'", "rows: {each: 'a[]', drop: {status: 3}"),
            [("E304", "response.rows.drop.status")],
            id="status-of-a-row",
        ),
        pytest.param(
            _JSON.replace("fields:", "extras: {totl: n}, fields:"),
            [("E305", "response.extras.totl")],
            id="extra",
        ),
        pytest.param(
            _JSON.replace("fields:", "embedded: {before: x}, fields:"),
            [("E103", "response.embedded")],
            id="embedded-without-a-start",
        ),
        pytest.param(
            _JSON.replace("fields:", "embedded: {css: 'script >'}, fields:"),
            [("E301", "response.embedded.css")],
            id="embedded-selector",
        ),
        pytest.param(
            "{format: html, embedded: {after: x}, rows: {each: a}, fields: {title: b, url: c}}",
            [("E304", "response.embedded")],
            id="embedded-in-html",
        ),
        pytest.param(
            "{format: xml, rows: {each: //x}, fields: {title: 'a[', url: 'n:b'}}",
            [("E301", "response.fields.title"), ("E301", "response.fields.url")],
            id="xpath",
        ),
    ],
)
def test_responses(response: str, expected: list[tuple[str, str]]) -> None:
    verdicts = "- empty: {text: nothing}\n"
    assert codes(spec_text(response=response, paging="", verdicts=verdicts)) == expected


@pytest.mark.parametrize(
    ("paging", "expected"),
    [
        pytest.param("{by: form, form: 'form >'}", [("E301", "paging.form")], id="form"),
        pytest.param("{by: link, next: {jmes: n}}", [("E304", "paging.next.jmes")], id="link"),
        pytest.param(
            "{by: token, token: a, send_as: C}", [("E103", "paging.send_as")], id="token-name"
        ),
    ],
)
def test_paging(paging: str, expected: list[tuple[str, str]]) -> None:
    assert codes(spec_text(paging=paging)) == expected


def test_a_form_needs_html() -> None:
    text = spec_text(response=_JSON, paging="{by: form, form: form}", verdicts="")
    assert codes(text) == [("E304", "paging.by")]


def test_steps_have_names_of_their_own() -> None:
    step = "- id: t\n  request: {url: 'https://www.example.org/'}\n  take: {k: {text_of: body}}\n"
    assert codes(spec_text(session=step + step)) == [("E103", "session[1].id")]
    cursor = "{by: token, token: .n, send_as: t}"
    assert codes(spec_text(session=step, paging=cursor)) == [("E103", "session[0].id")]
    named = step.replace("{k:", "{K-1:")
    assert codes(spec_text(session=named)) == [("E103", "session[0].take.K-1")]


def test_the_id_is_the_name_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "other.yaml"
    path.write_text(GOOD)
    with pytest.raises(SpecProblemsError) as caught:
        compile_spec(path)
    (found,) = caught.value.problems
    assert (found.code, found.path, found.line) == ("E103", "id", 2)
    assert "plain.yaml" in found.hint


def test_parents_stand_beside_a_file(tmp_path: Path) -> None:
    (tmp_path / "plain.yaml").write_text(GOOD)
    child = tmp_path / "child.yaml"
    child.write_text("schema: 1\nid: child\nextends: plain\nkind: news\npaging: null\n")
    found = compile_spec(child)
    assert (found.kind, found.max_page, found.index) == (Kind.NEWS, 1, "plain")
    again = compile_source(load_file(child), beside(tmp_path), "child").engine
    assert again is not None
    assert again.spec == found.spec


def test_a_broken_text_raises_all_of_its_problems() -> None:
    with pytest.raises(SpecProblemsError) as caught:
        compile_text(spec_text(kind="x", limits="5"), "x.yaml")
    assert [item.path for item in caught.value.problems] == ["kind", "limits"]


def test_models_cannot_be_changed() -> None:
    spec = engine().spec
    with pytest.raises(ValueError, match="frozen"):
        spec.name = "other"
    with pytest.raises(TypeError):
        spec.request.query["q"] = "x"  # type: ignore[index]
    with pytest.raises(TypeError):
        cast("dict[str, str]", spec.inputs.time)["x"] = "y"
