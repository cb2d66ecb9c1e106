"""Reading answers: verdicts first, then rows, extras and drift; session steps; limits."""

from __future__ import annotations

from dataclasses import replace

import pytest

from framework.spec.read import MAX_ROWS, Reader
from framework.types import HttpResponse, Page, Row, Verdict
from tests.support.answers import (
    HTML_PAGE,
    HTML_ROWS,
    JSON_ROWS,
    SESSION,
    XML_FEED,
    XML_ROWS,
    XPATH_ROWS,
    answer,
    reader,
)


def read(body: str | bytes, page: int = 1, **parts: str) -> Page:
    return reader(**{"response": HTML_ROWS, **parts}).read(answer(body), page)


def test_a_page_of_rows() -> None:
    found = read(HTML_PAGE)
    assert found.verdict is Verdict.OK
    assert found.rows == (
        Row(
            title="One & only",
            url="https://www.example.org/one",
            snippet="First text",
            rank=1,
            fields={"published": "2026-04-08", "tags": ("x", "y")},
        ),
        Row(title="Two", url="https://b.org/", rank=2),
    )
    assert found.extras == {"suggestions": ("more one", "more two"), "total": 1200}
    assert found.detail == ""


def test_drift_is_the_share_of_missing_fields_that_are_not_optional() -> None:
    found = read(HTML_PAGE)
    assert found.dropped == 2
    # of 4 rows times title, url, snippet: Two's snippet, the bad link, title and url of the last
    assert found.drift == pytest.approx(4 / 12, abs=1e-4)


def test_rank_goes_on_over_pages() -> None:
    assert [row.rank for row in read(HTML_PAGE, 3).rows] == [21, 22]
    paging = "{by: page, size: 25}"
    assert [row.rank for row in read(HTML_PAGE, 2, paging=paging).rows] == [26, 27]
    assert [row.rank for row in read(HTML_PAGE, 2, paging="{by: page}").rows] == [11, 12]


def test_keep_is_the_opposite_of_drop() -> None:
    response = HTML_ROWS.replace("drop: {css: .ad}", "keep: {css: .ad}")
    assert [row.title for row in read(HTML_PAGE, response=response).rows] == ["Ad"]


VERDICTS = """
- captcha: {any: [{css: "#captcha"}, {url: /sorry}]}
- rate_limited: {status: 429}
- blocked: {text: "go away"}
- empty: {css: .none}
"""


@pytest.mark.parametrize(
    ("body", "status", "verdict", "detail"),
    [
        ("<form id=captcha>" + HTML_PAGE, 200, Verdict.CAPTCHA, "any(css #captcha, url /sorry)"),
        ("<form id=captcha>", 429, Verdict.CAPTCHA, "any(css #captcha, url /sorry)"),
        ("slow down", 429, Verdict.RATE_LIMITED, "status 429"),
        ("go away", 200, Verdict.BLOCKED, "text go away"),
        ("<p class=none>", 200, Verdict.EMPTY, "css .none"),
        ("<p class=none>" + HTML_PAGE, 200, Verdict.EMPTY, "css .none"),
        (HTML_PAGE, 500, Verdict.ERROR, "HTTP status 500"),
        (HTML_PAGE, 404, Verdict.ERROR, "HTTP status 404"),
        (HTML_PAGE, 302, Verdict.OK, ""),
        ("", 200, Verdict.CHANGED, "rows.each matches nothing and no verdict does"),
        ("<p>hello", 200, Verdict.CHANGED, "rows.each matches nothing and no verdict does"),
        ("", 204, Verdict.CHANGED, "rows.each matches nothing and no verdict does"),
        ('{"a": 1}', 200, Verdict.CHANGED, "rows.each matches nothing and no verdict does"),
        ("<li class=hit><p>x", 200, Verdict.CHANGED, "all 1 rows lack a title or an address"),
        ("<li class='hit ad'>", 200, Verdict.CHANGED, "keep and drop leave none of 1 rows"),
    ],
    ids=lambda value: str(value)[:24],
)
def test_verdicts(body: str, status: int, verdict: Verdict, detail: str) -> None:
    found = reader(response=HTML_ROWS, verdicts=VERDICTS).read(answer(body, status=status))
    assert (found.verdict, found.detail) == (verdict, detail)
    assert bool(found.rows) is (verdict is Verdict.OK)


def test_no_rows_are_never_no_results() -> None:
    found = read("<p>Something else entirely</p>", verdicts="")
    assert found.verdict is Verdict.CHANGED


def test_an_empty_page_keeps_its_suggestions() -> None:
    found = read("<p class=none><div class=also><a>try this</a></div>")
    assert found.verdict is Verdict.EMPTY
    assert found.extras == {"suggestions": ("try this",)}


def test_drift_of_rows_that_all_lack_something_is_whole() -> None:
    found = read("<li class=hit><p>x<li class=hit><p>y")
    assert (found.verdict, found.dropped, found.drift) == (Verdict.CHANGED, 2, 1.0)


@pytest.mark.parametrize(
    ("response", "verdict"),
    [
        (HttpResponse(url="https://a.org", status=403), Verdict.BLOCKED),
        (HttpResponse(url="https://a.org", body=b"<p class=none>"), Verdict.EMPTY),
        (HttpResponse(url="https://a.org", status=500), None),
        (HttpResponse(url="https://a.org"), None),
    ],
    ids=["status", "content", "error", "nothing"],
)
def test_verdict_alone_looks_at_conditions_only(
    response: HttpResponse, verdict: Verdict | None
) -> None:
    assert reader().verdict(response) is verdict


# -- json and xml ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "verdict", "titles"),
    [
        (
            (
                '{"web": {"total": "2", "results": [{"title": "<b>A</b> &amp; b", "url": "/a", '
                '"by": [{"name": "x"}, {}, {"name": "y"}]}, {"type": "ad", "title": 1, "url": "n"},'
                ' {"title": "C", "url": "/c"}, {"title": null, "url": "/d"}, "text", null, 5]}}'
            ),
            Verdict.OK,
            ["A & b", "C"],
        ),
        ('{"web": {"results": {"title": "single", "url": "/s"}}}', Verdict.CHANGED, []),
        ('{"web": {"results": []}}', Verdict.CHANGED, []),
        ('{"web": null}', Verdict.CHANGED, []),
        ("[]", Verdict.CHANGED, []),
        ('{"web"', Verdict.CHANGED, []),
        ("<html>", Verdict.CHANGED, []),
    ],
    ids=["rows", "object", "empty", "null", "array", "cut", "page"],
)
def test_json(body: str, verdict: Verdict, titles: list[str]) -> None:
    found = read(body, response=JSON_ROWS, verdicts="")
    assert (found.verdict, [row.title for row in found.rows]) == (verdict, titles)
    if titles:
        assert found.rows[0].fields == {"authors": ("x", "y")}
        assert found.extras == {"total": 2}


def test_a_json_engine_that_blocks_with_a_page() -> None:
    verdicts = "- captcha: {css: '#px-captcha'}\n- error: {jmes: error}\n"
    seen = reader(response=JSON_ROWS, verdicts=verdicts)
    assert seen.read(answer("<html><div id=px-captcha>")).verdict is Verdict.CAPTCHA
    assert seen.read(answer('{"error": "x"}')).verdict is Verdict.ERROR


EMBEDDED = 'embedded: {after: "__DATA__ = ", before: ";</script>"}'


def test_json_in_a_page() -> None:
    response = JSON_ROWS.replace("rows:", f"{EMBEDDED}\nrows:")
    body = (
        "<!doctype html><script>var __DATA__ = "
        '{"web": {"results": [{"title": "T", "url": "/t"}]}};</script><p id=block>'
    )
    assert [row.url for row in read(body, response=response, verdicts="").rows] == [
        "https://www.example.org/t"
    ]
    verdicts = "- blocked: {css: '#block'}\n"
    assert read(body, response=response, verdicts=verdicts).verdict is Verdict.BLOCKED
    verdicts = "- error: {jmes: web.results}\n"
    assert read(body, response=response, verdicts=verdicts).verdict is Verdict.ERROR


def test_xml() -> None:
    found = read(XML_FEED, response=XML_ROWS, verdicts="")
    assert found.rows == (
        Row(
            title="A b",
            url="https://www.example.org/a",
            fields={"published": "2024-05-01T00:00:00Z", "authors": ("x", "y")},
        ),
    )
    assert found.extras == {"total": 1}
    assert found.drift == 0.0


def test_xml_that_is_cut_is_changed() -> None:
    assert read(XML_FEED[:200], response=XML_ROWS, verdicts="").verdict is Verdict.CHANGED


def test_a_page_read_with_xpath() -> None:
    found = read(HTML_PAGE, response=XPATH_ROWS)
    assert [(row.title, row.url, row.snippet) for row in found.rows] == [
        ("One & only", "https://www.example.org/one", "First text"),
        ("Two", "https://b.org/", ""),
    ]


def test_a_template_over_earlier_fields() -> None:
    response = HTML_ROWS.replace("  snippet: p\n", '  source: {text: "{{ row.title }}!"}\n')
    assert read(HTML_PAGE, response=response).rows[0].fields["source"] == "One & only!"


# -- session steps -----------------------------------------------------------------------------

QUERY = '{url: "https://www.example.org/search", query: {q: "{{ query }}", k: "{{ session.token.key }}"}}'  # noqa: E501


def stepped() -> Reader:
    return reader(session=SESSION, request=QUERY)


@pytest.mark.parametrize(
    ("body", "taken"),
    [
        ('TOKEN = "abc"', {"key": "abc"}),
        ('<!doctype html><html lang=de>TOKEN = "abc"', {"key": "abc", "lang": "de"}),
        (
            '<!doctype html><id>1</id><id>2</id>TOKEN = "abc"',
            {"key": "abc"},
        ),
    ],
    ids=["script", "page", "case of names"],
)
def test_take(body: str, taken: dict[str, str]) -> None:
    assert stepped().take("token", answer(body)) == taken


def test_take_joins_a_list() -> None:
    seen = reader(session=SESSION.replace("take:", "format: xml\n  take:"), request=QUERY)
    body = '<r><Id>1</Id><Id>2</Id><x>TOKEN = "k"</x></r>'
    assert seen.take("token", answer(body)) == {"key": "k", "ids": "1,2"}


@pytest.mark.parametrize(
    ("body", "status", "verdict", "detail"),
    [
        ("nothing", 200, Verdict.CHANGED, 'session step "token" yields no value "key"'),
        ('TOKEN = "a\x00b"', 200, Verdict.CHANGED, 'session step "token" yields no value "key"'),
        ("x", 403, Verdict.BLOCKED, "status 403"),
        ("x", 500, Verdict.ERROR, "HTTP status 500"),
        ("<p class=none>", 200, Verdict.EMPTY, "css .none"),
    ],
    ids=["missing", "control characters", "blocked", "error", "empty"],
)
def test_take_ends_the_search(body: str, status: int, verdict: Verdict, detail: str) -> None:
    found = stepped().take("token", answer(body, status=status))
    assert isinstance(found, Page)
    assert (found.verdict, found.detail) == (verdict, detail)


# -- limits ------------------------------------------------------------------------------------


def test_rows_are_capped() -> None:
    row = '<li class=hit><h2><a href="/{}">T</a></h2><p>s</p>'
    found = read("".join(row.format(i) for i in range(MAX_ROWS + 50)))
    assert len(found.rows) == MAX_ROWS
    assert found.rows[-1].rank == MAX_ROWS


def test_reading_stops_when_its_time_is_up() -> None:
    hurried = replace(reader(response=HTML_ROWS), budget=0.0)
    found = hurried.read(answer(HTML_PAGE))
    assert found.verdict is Verdict.ERROR
    assert found.detail == "reading stopped after 0 s"


def test_fields_are_cleaned_and_capped() -> None:
    title = "A\u202eB\x07" + "c" * 5_000
    found = read(f'<li class=hit><h2><a href="/x">{title}</a></h2><p>{"s " * 50_000}')
    assert found.rows[0].title.startswith("AB")
    assert len(found.rows[0].title) == 1_000
    assert len(found.rows[0].snippet) <= 10_000


@pytest.mark.parametrize(
    ("drop", "left"),
    [
        ("{css: .ad}", ["One", "Three"]),
        ("{css: .absent}", ["One", "Two", "Three"]),
        ("{css: .box .mark}", ["One", "Two"]),
        ("{any: [{css: .ad}, {css: .absent}]}", ["One", "Three"]),
        ("{any: [{css: .absent}, {text: Three}]}", ["One", "Two"]),
        ("{not: {css: .ad}}", ["Two"]),
        ("{not: {css: .absent}}", []),
        ("{all: [{css: .ad}, {text: Two}]}", ["One", "Three"]),
    ],
)
def test_rows_are_dropped_by_what_each_of_them_holds(drop: str, left: list[str]) -> None:
    body = (
        "<html><body><div class=r><a href=/1>One</a></div>"
        "<div class=r><a href=/2>Two</a><i class=ad></i></div>"
        "<section class=box><div class=r><a href=/3>Three</a><i class=mark></i></div></section>"
    )
    response = f"""
format: html
rows: {{each: .r, drop: {drop}}}
fields: {{title: a, url: "a::attr(href)"}}
"""
    assert [row.title for row in read(body, response=response).rows] == left
