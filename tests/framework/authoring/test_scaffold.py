"""New engines: the asking half from an address, the file's text, the recorded case."""

from __future__ import annotations

import json

import pytest
import yaml

from framework.authoring.asking import asked, id_of, request_of
from framework.authoring.draft import Draft
from framework.authoring.scaffold import case_files, extension, scaffold
from framework.errors import InvalidInputError
from framework.spec.compiler import compile_text
from framework.types import HttpResponse, Kind, Query

URL = "https://shelf.example.org/find?q=night+sky&page=1&utm_source=mail"
BODY = b"""<ul><li class=hit><h3><a href="https://a.example/">One</a></h3></li>
<li class=hit><h3><a href="https://b.example/">Two</a></h3></li></ul>"""
PAGE = HttpResponse(url=URL, headers=(("Content-Type", "text/html"),), body=BODY)
DRAFT = Draft(format="html", each=".hit", fields={"title": "h3", "url": "a::attr(href)"}, rows=2)


def made(**changes: object) -> str:
    given = {"id": "shelf", "address": URL, "query": "night sky", **changes}
    return scaffold(DRAFT, PAGE, **given).text  # type: ignore[arg-type]


def test_the_file_compiles_and_plans_the_query_and_the_page() -> None:
    engine = compile_text(made(kind=Kind.NEWS), "shelf.yaml")

    assert engine.kind is Kind.NEWS
    assert engine.spec.status.value == "experimental"
    assert engine.plan(Query(text="blue moon"), page=2).url == (
        "https://shelf.example.org/find?q=blue+moon&page=2"
    )
    assert [row.title for row in engine.read(PAGE).rows] == ["One", "Two"]


def test_the_first_line_tells_editors_the_schema() -> None:
    assert made().startswith("# yaml-language-server: $schema=../engine-v1.json\n")


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"id": "Bad Id"}, "is not allowed"),
        ({"address": "http://shelf.example.org/find?q=night+sky"}, "is no https address"),
        ({"address": "https://shelf.example.org/find"}, "does not hold the query"),
        ({"address": "https://shelf.example.org/find?x=1", "query": ""}, "does not hold the query"),
        ({"query": "something else"}, "does not hold the query"),
    ],
    ids=["id", "http", "no query", "no known name", "another query"],
)
def test_what_cannot_become_an_engine_is_told(changes: dict[str, object], part: str) -> None:
    with pytest.raises(InvalidInputError, match=part):
        made(**changes)


def test_a_draft_that_reads_nothing_is_refused() -> None:
    draft = Draft(format="html", each=".none", fields=DRAFT.fields)

    with pytest.raises(InvalidInputError, match="reads nothing"):
        scaffold(draft, PAGE, id="shelf", address=URL, query="night sky")


@pytest.mark.parametrize(
    ("address", "query", "request_", "paging"),
    [
        pytest.param(
            "https://a.example/s?p=moon&start=10&num=10", "moon",
            {"url": "https://a.example/s",
             "query": {"p": "{{ query }}", "start": "{{ offset }}", "num": "10"}},
            {"by": "offset", "size": 10, "first": 0}, id="offset",
        ),
        pytest.param(
            "https://a.example/s?first=11&wd=moon", "moon",
            {"url": "https://a.example/s", "query": {"first": "{{ offset }}", "wd": "{{ query }}"}},
            {"by": "offset", "size": 10, "first": 1}, id="offset from 1",
        ),
        pytest.param(
            "https://a.example/search/blue%20moon/all", "blue moon",
            {"url": "https://a.example/search/{{ query }}/all"}, None, id="in the path",
        ),
        pytest.param(
            "https://a.example/s", "",
            {"url": "https://a.example/s", "query": {"q": "{{ query }}"}},
            None, id="a bare address",
        ),
        pytest.param(
            "https://a.example/s?odd=moon&lang=en", "moon",
            {"url": "https://a.example/s", "query": {"odd": "{{ query }}", "lang": "en"}},
            None, id="an unknown name",
        ),
        pytest.param(
            "https://a.example:8443/s?q=moon&t=%7B%7B+keys.x+%7D%7D", "moon",
            {"url": "https://a.example:8443/s", "query": {"q": "{{ query }}", "t": " keys.x }}"}},
            None, id="no template slips in",
        ),
    ],
)  # fmt: skip
def test_an_address_becomes_a_request(
    address: str, query: str, request_: dict[str, object], paging: object
) -> None:
    assert request_of(address, query) == (request_, paging)


@pytest.mark.parametrize(
    ("address", "text"),
    [
        ("https://a.example/?q=night+sky", "night sky"),
        ("https://a.example/?x=1&keyword=moon", "moon"),
        ("https://a.example/", ""),
    ],
)
def test_the_query_is_read_back(address: str, text: str) -> None:
    assert asked(address) == text


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://www.mojeek.com/search?q=x", "mojeek"),
        ("https://search.site.co.uk/?q=x", "site"),
        ("https://html.duck.example/", "duck"),
        ("https://localhost/", "localhost"),
        ("https://", "engine"),
    ],
)
def test_an_engine_is_called_like_its_site(address: str, name: str) -> None:
    assert id_of(address) == name


def test_a_case_holds_the_answer_what_is_known_and_what_is_read() -> None:
    page = compile_text(made(), "shelf.yaml").read(PAGE)
    files = case_files(PAGE, page, query="night sky", date="2026-01-02", number=3)
    meta = yaml.safe_load(files["meta.yaml"])

    assert files["response.html"] == BODY
    assert (meta["query"], meta["page"], meta["status"]) == ("night sky", 3, 200)
    assert json.loads(files["expected.json"])["results"][1]["title"] == "Two"


@pytest.mark.parametrize(
    ("body", "ending"),
    [(b'{"a": 1}', "json"), (b"<?xml version='1.0'?><rss/>", "xml"), (b"<p>hello", "html")],
)
def test_the_answers_file_is_named_for_what_it_is(body: bytes, ending: str) -> None:
    assert extension(HttpResponse(url=URL, body=body)) == ending
