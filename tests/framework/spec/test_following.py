"""Paging from an answer: numbers, links, forms, tokens; never away from the engine's sites."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qsl

import pytest

from tests.support.answers import answer, reader

if TYPE_CHECKING:
    from framework.types import Next

ROW = '<li class="hit"><h2><a href="/one">One</a></h2></li>'
LINK = '{by: link, next: "a.next::attr(href)"}'
LINK_MAX = '{by: link, next: "a.next::attr(href)", max: 2}'
SITES = "{same_site: [next.example.org, M.example.org]}"


def follow(body: str, paging: str, page: int = 1, fetch: str = SITES) -> Next | None:
    return reader(paging=paging, fetch=fetch).read(answer(ROW + body), page).next


@pytest.mark.parametrize(
    ("paging", "page", "following"),
    [
        ("{by: page}", 1, 2),
        ("{by: page}", 999, 1000),
        ("{by: page, max: 3}", 2, 3),
        ("{by: page, max: 3}", 3, None),
        ("{by: offset, size: 10, max: 2}", 1, 2),
        ("{by: offset, size: 10, max: 2}", 2, None),
        ("", 1, None),
    ],
    ids=str,
)
def test_numbers(paging: str, page: int, following: int | None) -> None:
    found = follow("", paging, page)
    assert (found.page if found else None) == following
    assert found is None or (found.request is None and found.session == {})


def test_without_rows_nothing_follows() -> None:
    assert reader(paging="{by: page}").read(answer("<p>none</p>")).next is None


LINKS = [
    ("/search?q=x&p=2", "https://www.example.org/search?q=x&p=2"),
    ("?p=2", "https://www.example.org/search?p=2"),
    ("https://next.example.org/2", "https://next.example.org/2"),
    ("https://m.example.org/2", "https://m.example.org/2"),
    ("https://evil.example.net/2", None),
    ("//evil.example.net/2", None),
    ("https://www.example.org.evil.net/2", None),
    ("https://www.example.org@evil.net/2", None),
    ("https://user@www.example.org/2", None),
    ("http://www.example.org/2", None),
    ("https://www.example.org:8443/2", None),
    ("https://127.0.0.1/2", None),
    ("javascript:next()", None),
    ("https://[bad/", None),
    ("", None),
]


@pytest.mark.parametrize(("href", "url"), LINKS, ids=[href or "empty" for href, _ in LINKS])
def test_links_stay_on_the_site(href: str, url: str | None) -> None:
    found = follow(f'<a class="next" href="{href}">next</a>', LINK)
    if url is None:
        assert found is None
    else:
        assert found is not None
        assert found.page == 2
        assert found.request is not None
        assert (found.request.url, found.request.method) == (url, "GET")


def test_a_base_elsewhere_does_not_lead_away() -> None:
    base = '<html><base href="https://evil.example.net/">'
    response = answer(f'{base}{ROW}<a class="next" href="/2">next</a>')
    assert reader(paging=LINK).read(response).next is None


def test_links_end_at_the_last_page() -> None:
    link = '<a class="next" href="?p=9">next</a>'
    assert follow(link, LINK_MAX, 1) is not None
    assert follow(link, LINK_MAX, 2) is None


def test_a_link_from_a_header() -> None:
    paging = "{by: link, next: {header: Link, do: [{match: '<([^>]+)>; rel=\"next\"'}]}}"
    response = answer(ROW, ("Link", '<https://www.example.org/s?page=2>; rel="next"'))
    found = reader(paging=paging).read(response).next
    assert found is not None
    assert found.request is not None
    assert found.request.url == "https://www.example.org/s?page=2"


FORM = """
<form action="/html/" method="POST" class="nav">
  <input type="hidden" name="q" value="tücher &amp; mehr">
  <input type="hidden" name="vqd" value="4-123">
  <input name="empty">
  <input type="text" name="s" value="10">
  <input type="submit" name="go" value="Next">
  <input type="submit" name="back" value="Back">
  <input type="checkbox" name="on" checked><input type="checkbox" name="off">
  <input type="radio" name="r" value="1"><input type="radio" name="r" value="2" checked>
  <input type="image" name="img"><input type="file" name="f"><input type="button" name="b">
  <input name="disabled" value="x" disabled>
  <input value="nameless">
  <select name="kl"><option value="us-en">US</option><option value="de-de" selected>DE</option>
  </select>
  <select name="first"><option> one </option><option>two</option></select>
  <textarea name="t">text
area</textarea>
</form>"""
SENT = [
    ("q", "tücher & mehr"),
    ("vqd", "4-123"),
    ("empty", ""),
    ("s", "10"),
    ("go", "Next"),
    ("on", "on"),
    ("r", "2"),
    ("kl", "de-de"),
    ("first", "one"),
    ("t", "text\narea"),
]


def test_a_form_is_posted_with_all_its_inputs() -> None:
    found = follow(FORM, "{by: form, form: form.nav}")
    assert found is not None
    request = found.request
    assert request is not None
    assert (request.url, request.method) == ("https://www.example.org/html/", "POST")
    assert parse_qsl(request.body.decode(), keep_blank_values=True) == SENT
    assert dict(request.headers)["Content-Type"] == "application/x-www-form-urlencoded"


def test_a_form_of_get_is_an_address() -> None:
    form = '<form class=nav action="/s?old=1#x"><input name=p value=2></form>'
    found = follow(form, "{by: form, form: form.nav}")
    assert found is not None
    assert found.request is not None
    assert found.request.url == "https://www.example.org/s?p=2"
    assert (found.request.method, found.request.body) == ("GET", b"")


def test_a_form_without_action_goes_to_its_page() -> None:
    form = "<form class=nav method=post><input name=p value=2></form>"
    found = follow(form, "{by: form, form: form.nav}")
    assert found is not None
    assert found.request is not None
    assert found.request.url == "https://www.example.org/search?q=x"


@pytest.mark.parametrize(
    "form",
    [
        "<p>no form</p>",
        '<form class=nav method=post action="https://evil.example.net/">',
        '<form class=nav method=post action="http://www.example.org/">',
        '<form class=nav action="javascript:void(0)">',
        '<form class=nav action="https://[x">',
        f'<form class=nav action="/{"x" * 20_000}">',
    ],
    ids=["none", "elsewhere", "not https", "script", "broken", "endless"],
)
def test_a_form_that_is_not_followed(form: str) -> None:
    assert follow(form, "{by: form, form: form.nav}") is None


def test_a_form_under_xpath_works_as_well() -> None:
    response = '{format: html, rows: {each: {xpath: "//li"}}, fields: {title: h2, url: "h2 a::attr(href)"}}'  # noqa: E501
    found = reader(paging="{by: form, form: form.nav}", response=response).read(answer(ROW + FORM))
    assert found.next is not None


TOKEN = "{by: token, token: meta.cursor, send_as: cursor}"
JSON = "{format: json, rows: {each: 'r[]'}, fields: {title: t, url: u}}"


@pytest.mark.parametrize(
    ("token", "session"),
    [
        ('"abc=="', {"cursor": "abc=="}),
        ("17", {"cursor": "17"}),
        ("null", None),
        ('""', None),
        ("{}", None),
        ('"a\\nb"', None),
        (f'"{"x" * 10_000}"', None),
    ],
    ids=["text", "number", "null", "empty", "object", "line break", "endless"],
)
def test_tokens(token: str, session: dict[str, str] | None) -> None:
    body = f'{{"r": [{{"t": "T", "u": "https://a.org"}}], "meta": {{"cursor": {token}}}}}'
    found = reader(paging=TOKEN, response=JSON, verdicts="").read(answer(body)).next
    assert (found.session if found else None) == session
