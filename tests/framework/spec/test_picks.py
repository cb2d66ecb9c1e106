"""Picks: sources, filters over one and many, fallbacks, defaults; nothing propagates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from pydantic import TypeAdapter

from framework.spec.elements import Pick, native
from framework.spec.picks import SelectorError, compile_picks
from framework.spec.values import link
from tests.support.answers import HTML, JSON, LXML, URL, XML, document

if TYPE_CHECKING:
    from framework.spec.documents import Document
    from framework.spec.picks import Languages

PAGE = """<!doctype html><base href="https://cdn.example.org/">
<div class="row" data-id="r1"><h2><a href="/x?u=a1aHR0cHM6Ly9hLm9yZw">One</a></h2>
<p class="s">Text <em>here</em> <span class="d">May</span></p>
<i>ann</i><i>bob</i><i> </i><i>cid, dan</i></div>"""

DATA = '{"a": {"t": "x", "l": ["p", null, "q"], "n": 3, "f": false, "e": "", "o": {"k": 1}}}'
FEED = '<f xmlns="urn:a"><e><t>One</t><n>ann</n><n>bob</n></e></f>'


def read(picks: object, seen: Document, languages: Languages, row: object = None) -> object:
    language = {"html": "css", "json": "jmes", "xml": "xpath"}[languages.format]
    raw = native(picks if isinstance(picks, list) else [picks], language)
    models = tuple(TypeAdapter(list[Pick]).validate_python(raw))
    return compile_picks(models, languages)(seen, None, row or {})  # type: ignore[arg-type]


both = pytest.mark.parametrize("languages", [HTML, LXML], ids=["lexbor", "lxml"])


@both
@pytest.mark.parametrize(
    ("pick", "value"),
    [
        ("h2 a", "One"),
        ("h3", None),
        ({"css": "p", "remove": ".d"}, "Text here"),
        ({"css": "p em", "as": "html"}, "<em>here</em>"),
        ({"css": "i", "many": True}, ["ann", "bob", "cid, dan"]),
        ({"css": "i", "do": [{"join": "; "}]}, "ann; bob; cid, dan"),
        ({"css": "i", "do": ["lower", {"prefix": "@"}, {"join": " "}, {"prefix": "by "}]},
         "by @ann @bob @cid, dan"),
        ({"css": "i", "many": True, "do": [{"split": ", "}]}, ["ann", "bob", "cid", "dan"]),
        ({"css": "b", "many": True}, []),
        ({"css": "b", "do": [{"join": ","}]}, None),
        ({"css": "h3", "default": "none"}, "none"),
        ({"css": "h2 a", "default": "none"}, "One"),
        ({"const": "fixed"}, "fixed"),
        ({"const": 5}, 5),
        ({"const": False}, False),
        ({"text_of": "url"}, URL),
        ({"text_of": "body", "do": [{"match": 'data-id="([^"]+)"'}]}, "r1"),
        ({"text_of": "body", "many": True, "do": [{"match": "data-id"}]}, ["data-id"]),
        ({"header": "X-Next", "do": [{"after": "n="}]}, "7"),
        ({"header": "x-absent"}, None),
        ({"cookie": "sid"}, "s1"),
        ({"cookie": "absent"}, None),
        ({"text": "{{ row.title }} by {{ row.who }}"}, "T by W"),
        ({"text": "{{ row.title }} {{ row.absent }}"}, None),
        ({"text": "{{ row.count - 1 }}"}, "2"),
        ({"text": "{{ row.title - 1 }}"}, None),
        ({"xpath": "//h2/a/@href"}, "/x?u=a1aHR0cHM6Ly9hLm9yZw"),
        ({"jmes": "a.t"}, None),
    ],
    ids=str,
)  # fmt: skip
def test_a_page(languages: Languages, pick: object, value: object) -> None:
    seen = document(PAGE, ("x-next", "n=7"), ("Set-Cookie", "sid=s1; Path=/"))
    row = {"title": "T", "who": "W", "count": 3}
    assert read(pick, seen, languages, row) == value


@pytest.mark.parametrize(
    ("pick", "value"),
    [
        ("a.t", "x"),
        ("a.l", "p"),
        ({"jmes": "a.l", "many": True}, ["p", "q"]),
        ({"jmes": "a.l", "do": [{"join": "+"}]}, "p+q"),
        ("a.n", 3),
        ({"jmes": "a.n", "do": [{"prefix": "v"}]}, "v3"),
        ("a.f", False),
        ("a.e", ""),
        ({"jmes": "a.e", "default": "d"}, "d"),
        ("a.o", {"k": 1}),
        ({"jmes": "a.o", "do": ["lower"]}, None),
        ({"jmes": "a.o", "do": [{"jmes": "k"}]}, 1),
        ("a.none", None),
        ("length(a.n)", None),
        ({"css": "h2"}, None),
        ({"xpath": "//t"}, None),
    ],
    ids=str,
)
def test_json(pick: object, value: object) -> None:
    assert read(pick, document(DATA), JSON) == value


@pytest.mark.parametrize(
    ("pick", "value"),
    [
        ("//a:t", "One"),
        ({"xpath": "//a:n", "many": True}, ["ann", "bob"]),
        ({"css": "t"}, None),
        ({"jmes": "t"}, None),
    ],
    ids=str,
)
def test_xml(pick: object, value: object) -> None:
    languages = type(XML)("xml", namespaces={"a": "urn:a"})
    assert read(pick, document(FEED), languages) == value


@pytest.mark.parametrize(
    ("body", "value"),
    [(FEED, None), (PAGE, "One"), (DATA, None)],
    ids=["feed", "page", "json"],
)
def test_css_needs_a_page_where_the_format_is_another(body: str, value: object) -> None:
    assert read({"css": "h2 a"}, document(body), JSON) == value
    assert read({"css": "h2 a"}, document(body), XML) == value


def test_xpath_on_a_json_engines_xml() -> None:
    assert read({"xpath": "//Id"}, document("<r><Id>1</Id></r>"), JSON) == "1"


UNWRAP = [
    {
        "css": "h2 a::attr(href)",
        "do": [{"query_param": "u"}, {"after": "a1"}, {"base64": "url"}],
    },
    "h2 a::attr(href)",
]


@pytest.mark.parametrize(
    ("href", "url"),
    [
        ("/ck?u=a1aHR0cHM6Ly9hLm9yZw", "https://a.org"),
        ("https://b.org/", "https://b.org/"),
        ("/ck?u=zz", "/ck?u=zz"),
        ("/ck?u=a1%ff", "/ck?u=a1%ff"),
    ],
    ids=["wrapped", "direct", "not a1", "not base64"],
)
def test_nothing_moves_on_to_the_next_pick(href: str, url: str) -> None:
    seen = document(f'<h2><a href="{href}">x</a></h2>')
    assert read(UNWRAP, seen, HTML) == url


@pytest.mark.parametrize("value", ["", "null", "[]", '""'], ids=["missing", "null", "list", "text"])
def test_what_is_empty_falls_through(value: str) -> None:
    body = f'{{"a": {value or "null"}, "b": "second"}}'
    assert read(["a", "b"], document(body), JSON) == "second"
    assert read(["a", {"jmes": "c", "default": "third"}, "b"], document(body), JSON) == "third"


def test_a_truth_that_is_false_is_something() -> None:
    assert read(["a", "b"], document('{"a": false, "b": 1}'), JSON) is False


def test_relative_dates_count_from_the_answer() -> None:
    pick = {"css": "p", "do": [{"date": {"relative": True}}]}
    assert read(pick, document("<p>2 days ago</p>"), HTML) == "2026-04-08"


@pytest.mark.parametrize(
    ("pick", "languages"),
    [
        ({"css": "a["}, HTML),
        ({"css": "a["}, LXML),
        ({"xpath": "//a["}, HTML),
        ({"jmes": "a["}, JSON),
        ({"text": "{{ other }}"}, HTML),
        ({"css": "a", "do": [{"match": "("}]}, HTML),
    ],
    ids=str,
)
def test_what_does_not_compile(pick: object, languages: Languages) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        read(pick, document(""), languages)
    assert isinstance(caught.value, SelectorError | ValueError)


def test_base_of_the_page_is_the_start_of_links() -> None:
    seen = document(PAGE)
    assert link(read("h2 a::attr(href)", seen, HTML), seen.base) == (
        "https://cdn.example.org/x?u=a1aHR0cHM6Ly9hLm9yZw"
    )
