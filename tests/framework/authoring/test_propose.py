"""Proposals from pages of engines that nothing is known of: rows, titles, addresses."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.authoring.propose import propose
from framework.authoring.yamltext import render
from framework.spec.catalogue import Catalogue
from framework.spec.compiler import compile_text
from framework.types import HttpResponse
from tests.conformance.recordings import CAPTURES, recordings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from framework.authoring.draft import Draft
    from framework.types import Row

TYPES = {"html": "text/html; charset=utf-8", "json": "application/json", "xml": "text/xml"}


def answer(
    body: str | bytes, kind: str = "html", url: str = "https://www.engine.example/s?q=x"
) -> HttpResponse:
    data = body.encode() if isinstance(body, str) else body
    return HttpResponse(url=url, headers=(("Content-Type", TYPES[kind]),), body=data)


def read(draft: Draft, response: HttpResponse) -> tuple[Row, ...]:
    spec = {
        "schema": 1,
        "id": "proposal",
        "name": "Proposal",
        "kind": "web",
        "request": {"url": "https://www.engine.example/s"},
        "response": draft.response(),
    }
    return compile_text(render(spec), "proposal.yaml").read(response).rows


def row(number: int, *, extra: str = "") -> str:
    return (
        f'<div class="item"><h3><a href="https://site{number}.example/page">Title number {number}'
        f" of several</a></h3><p>A text of some length that says what page {number} is about, "
        f"and a little more.</p>{extra}</div>"
    )


def page(*rows: str) -> str:
    menu = "".join(f'<li><a href="/m{n}">Menu entry {n}</a></li>' for n in range(9))
    return (
        f"<html><body><nav><ul>{menu}</ul></nav><div id=results>{''.join(rows)}</div>"
        "<footer><a href=/about>About this site</a><a href=/terms>Terms of use</a></footer>"
    )


def titles(rows: Sequence[Row]) -> list[str]:
    return [one.title for one in rows]


SITELINKS = (
    "<ul>"
    + "".join(
        f'<li><h4><a href="https://site0.example/{n}">Part {n} of the site</a></h4></li>'
        for n in range(4)
    )
    + "</ul>"
)
RELATED = "".join(
    f'<div><h3><a href="/s?q=r{n}">A related search number {n}</a></h3></div>' for n in range(12)
)
EXPECTED = [f"Title number {n} of several" for n in range(5)]


@pytest.mark.parametrize(
    "markup",
    [
        pytest.param(page(*map(row, range(5))), id="plain"),
        pytest.param(page("<h2>Results</h2>", *map(row, range(5))), id="a heading before them"),
        pytest.param(
            page(*(f"<section>{row(n)}</section>" for n in range(5))), id="each in a wrapper"
        ),
        pytest.param(
            page(*(row(n, extra=f'<a href="/cache/{n}">Cached copy</a>') for n in range(5))),
            id="a second link in each",
        ),
        pytest.param(
            page(
                '<div class="item ad-slot"><h3><a href="https://shop.example/aclk?x">Buy our '
                "things now</a></h3><p>Words of an advertisement that nobody asked for.</p></div>",
                *map(row, range(5)),
            ),
            id="an advertisement among them",
        ),
        pytest.param(
            page(row(0, extra=SITELINKS), *(row(n) for n in range(1, 5))),
            id="links below the first",
        ),
        pytest.param(
            page(*map(row, range(5))) + f"<aside>{RELATED}</aside>", id="more headings at the side"
        ),
        pytest.param(
            page(
                *(
                    f'<a class="card" href="https://site{n}.example/page"><h4>Title number {n} of '
                    f"several</h4><div>A text of some length that says what it is about.</div></a>"
                    for n in range(5)
                )
            ),
            id="rows that are links",
        ),
        pytest.param(
            page(
                *(
                    f'<blockquote><a class="t" href="https://site{n}.example/page">Title number'
                    f' {n} of several</a><p class="u">https://site{n}.example/page</p>'
                    "<p>A text of some length that says what it is about.</p></blockquote>"
                    for n in range(5)
                )
            ),
            id="addresses before texts",
        ),
    ],
)
def test_rows_of_a_page_are_found(markup: str) -> None:
    response = answer(markup)
    drafts = propose(response)

    rows = read(drafts[0], response)
    assert titles(rows) == EXPECTED
    assert [one.url for one in rows] == [f"https://site{n}.example/page" for n in range(5)]
    assert all(one.snippet.startswith("A text of some length") for one in rows)


def test_redirects_are_undone_whatever_they_are_called() -> None:
    links = [f"/go?id={n}&amp;dest=https%3A%2F%2Fsite{n}.example%2Fpage" for n in range(5)]
    markup = page(*(row(n).replace(f"https://site{n}.example/page", links[n]) for n in range(5)))
    response = answer(markup)

    rows = read(propose(response)[0], response)
    assert [one.url for one in rows] == [f"https://site{n}.example/page" for n in range(5)]


def test_an_attribute_with_the_real_address_is_preferred() -> None:
    rows = [
        row(n)
        .replace(f"https://site{n}.example/page", f"/link?u={n}")
        .replace("<div class", f'<div data-target="https://site{n}.example/page" class')
        for n in range(5)
    ]
    response = answer(page(*rows))

    found = read(propose(response)[0], response)
    assert [one.url for one in found] == [f"https://site{n}.example/page" for n in range(5)]


@pytest.mark.parametrize(
    ("data", "first"),
    [
        pytest.param(
            {"items": [{"headline": f"News of day {n}", "web_url": f"https://n.example/{n}",
                        "api_url": f"https://api.n.example/{n}"} for n in range(3)]},
            ("News of day 0", "https://n.example/0"),
            id="names of a news service",
        ),
        pytest.param(
            [{"meta": {"title": f"Deep title {n}"}, "links": {"html": f"https://d.example/{n}"}}
             for n in range(3)],
            ("Deep title 0", "https://d.example/0"),
            id="nested objects in a bare list",
        ),
        pytest.param(
            {"papers": [{"title": [f"On the study of {n}"], "DOI": f"10.5555/x.{n}"}
                        for n in range(3)]},
            ("On the study of 0", "https://doi.org/10.5555/x.0"),
            id="a DOI instead of an address",
        ),
        pytest.param(
            {"groups": [{"hits": [{"name": f"Group {g} hit {n}", "url": f"https://g{g}.example/{n}"}
                                  for n in range(2)]} for g in range(2)]},
            ("Group 0 hit 0", "https://g0.example/0"),
            id="lists within lists",
        ),
        pytest.param(
            {"query": {"search": [{"title": "Night sky", "pageid": 7, "snippet": "of <b>stars</b>"},
                                  {"title": "Moon", "pageid": 8, "snippet": "and <b>tides</b>"}]}},
            ("Night sky", "https://www.engine.example/wiki/Night_sky"),
            id="a wiki",
        ),
    ],
)  # fmt: skip
def test_rows_of_json_are_found(data: object, first: tuple[str, str]) -> None:
    url = "https://www.engine.example/w/api.php?srsearch=x"
    response = answer(json.dumps(data), "json", url)

    rows = read(propose(response)[0], response)
    assert (rows[0].title, rows[0].url) == first


def test_rows_are_the_boxes_that_hold_the_text_too() -> None:
    """Links of one class look more alike than the boxes around them, numbered by their place."""
    box = (
        '<li class="r{n}"><h2><a class="title" href="https://s{n}.example/">Result number {n}</a>'
        '</h2><p class="s">What the page number {n} tells about the question that was asked.</p>'
    )
    markup = f"<html><body><ul class='list'>{''.join(box.format(n=n) for n in range(1, 9))}</ul>"
    response = answer(markup)
    found = read(propose(response)[0], response)

    assert titles(found) == [f"Result number {n}" for n in range(1, 9)]
    assert found[6].snippet == "What the page number 7 tells about the question that was asked."


def test_json_that_a_page_holds_for_its_scripts_is_found() -> None:
    rows = [{"title": f"Hidden title {n}", "link": f"https://h{n}.example/"} for n in range(4)]
    data = json.dumps({"props": {"results": rows}})
    markup = (
        '<html><body><div id="app"></div><a href="/about">About us</a>'
        f'<script id="__DATA__" type="application/json">{data}</script>'
    )
    response = answer(markup)
    found = read(propose(response)[0], response)

    assert titles(found) == [f"Hidden title {n}" for n in range(4)]
    assert found[3].url == "https://h3.example/"


FEED = """<?xml version="1.0"?><rss version="2.0"><channel><title>All of it</title>
<link>https://feed.example/</link>{}</channel></rss>"""
ITEM = """<item><title>Entry {n}</title><link>https://feed.example/{n}</link>
<pubDate>Mon, 06 Jan 2025 10:00:00 GMT</pubDate><description>&lt;b&gt;Text&lt;/b&gt; {n}
</description></item>"""


def test_rows_of_a_feed_are_found() -> None:
    response = answer(FEED.format("".join(ITEM.format(n=n) for n in range(3))), "xml")

    rows = read(propose(response)[0], response)
    assert titles(rows) == ["Entry 0", "Entry 1", "Entry 2"]
    assert rows[0].fields["published"] == "2025-01-06T10:00:00Z"
    assert rows[0].snippet == "Text 0"


@pytest.mark.parametrize(
    "body", ["", "<html><body><p>Nothing here.</p>", "{}", "[1, 2]", "<?xml version='1.0'?><a/>"]
)
def test_nothing_is_proposed_where_nothing_repeats(body: str) -> None:
    assert propose(answer(body)) == []


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=400), st.sampled_from(list(TYPES)))
def test_no_bytes_make_it_raise(body: bytes, kind: str) -> None:
    propose(answer(body, kind))


_KEYS = st.sampled_from(["title", "url", "link", "id", "name", "a b", 'q"t', "x.y", "date", "doi"])
_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text(max_size=12)
    | st.sampled_from(["https://a.example/x", "2020-01-02", "10.5555/x", "<b>t</b> and text"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_KEYS, inner, max_size=5),
    max_leaves=30,
)


@settings(max_examples=150, deadline=None)
@given(_JSON)
def test_every_proposal_for_json_compiles(data: object) -> None:
    response = answer(json.dumps({"items": data}), "json")

    for draft in propose(response):
        read(draft, response)


# -- rates over pages of real engines ----------------------------------------------------------


@dataclass
class Tally:
    pages: int = 0
    rows: int = 0
    titles: int = 0
    urls: int = 0
    told: int = 0
    """Pages most of whose rows have a snippet."""
    snippets: int = 0
    """Those of them where most are found."""

    def add(self, response: HttpResponse, wanted: Sequence[Mapping[str, object]]) -> None:
        self.pages += 1
        drafts = propose(response)
        found = read(drafts[0], response) if drafts else ()
        pairs = [(squeezed(a.title), squeezed(b["title"])) for a, b in zip(found, wanted)]  # noqa: B905
        same = sum(a in b or b in a for a, b in pairs)
        self.rows += len(found) == len(wanted) and same >= 0.9 * len(wanted)
        self.titles += [squeezed(one.title) for one in found] == [
            squeezed(one["title"]) for one in wanted
        ]
        self.urls += [one.url for one in found] == [one["url"] for one in wanted]
        told = [squeezed(one.get("snippet", ""))[:40] for one in wanted]
        shown = [squeezed(one.snippet)[:40] for one in found]
        right = sum(bool(a) and bool(b) and (a in b or b in a) for a, b in zip(told, shown))  # noqa: B905
        self.told += sum(map(bool, told)) * 2 > len(wanted)
        self.snippets += right * 2 > len(wanted)


def squeezed(text: object) -> str:
    return re.sub(r"[\W_]+", "", str(text)).lower()


@pytest.mark.untraced
@pytest.mark.timeout(300)
@pytest.mark.shared
def test_most_captured_pages_are_read_right(shared: object) -> None:
    tally = Tally()
    for recording in recordings(every=True):
        kind = recording.path.rpartition(".")[2]
        file = (CAPTURES / recording.path).with_suffix(".expected.json")
        if recording.kind != "results" or kind == "xml" or not file.exists():
            continue
        host = recording.folder.replace("_", "")
        url = f"https://www.{host}.com/search?q=x"
        if recording.folder == "wikipedia":
            url = "https://en.wikipedia.org/w/api.php?srsearch=x"
        body = (CAPTURES / recording.path).read_bytes()
        tally.add(answer(body, kind, url), recording.expected)

    assert tally.pages >= 24
    assert tally.rows >= 0.9 * tally.pages, tally
    assert tally.titles >= 0.9 * tally.pages, tally
    assert tally.urls >= 0.8 * tally.pages, tally
    assert tally.snippets >= 0.8 * tally.told, tally


@pytest.mark.untraced
@pytest.mark.timeout(300)
def test_most_recordings_of_the_packaged_engines_are_read_right() -> None:
    """They hold rows without addresses, titles in parts and the like on purpose."""
    tally = Tally()
    catalogue = Catalogue()
    for name in catalogue.ids():
        for fixture in catalogue.fixtures(name):
            expected = fixture.expected or {}
            rows = expected.get("results")
            if fixture.case == "ok" and isinstance(rows, list) and rows:
                tally.add(fixture.response, rows)

    assert tally.pages >= 100
    assert tally.rows >= 0.8 * tally.pages, tally
    assert tally.titles >= 0.75 * tally.pages, tally
    assert tally.urls >= 0.5 * tally.pages, tally
    assert tally.snippets >= 0.6 * tally.told, tally
