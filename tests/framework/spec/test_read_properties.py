"""Whatever the bytes are, reading returns a page of safe rows, and soon."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.spec.read import MAX_ROWS, Reader
from framework.types import HttpResponse, Page, Verdict
from tests.support.answers import (
    HTML_PAGE,
    HTML_ROWS,
    JSON_ROWS,
    SESSION,
    URL,
    XML_FEED,
    XML_ROWS,
    XPATH_ROWS,
    reader,
)

if TYPE_CHECKING:
    from pathlib import Path

VERDICTS = """
- captcha: {any: [{css: "#c form:has(input)"}, {xpath: "//captcha"}, {jmes: "error.code"}]}
- blocked: {all: [{not: {text: "(?i)welcome"}}, {header: {server: "x|y"}}, {size_below: 9}]}
"""


def build(response: str, paging: str) -> Reader:
    return reader(
        response=response,
        paging=paging,
        verdicts=VERDICTS,
        session=SESSION,
    )


READERS = {
    "html": build(HTML_ROWS, "{by: form, form: form}"),
    "html by xpath": build(XPATH_ROWS, '{by: link, next: "a::attr(href)"}'),
    "json": build(JSON_ROWS, "{by: token, token: web.total, send_as: cursor}"),
    "embedded": build(JSON_ROWS.replace("rows:", "embedded: {after: '='}\nrows:"), "{by: page}"),
    "xml": build(XML_ROWS, '{by: link, next: {xpath: "//@href"}}'),
}
BODIES = {
    "html": HTML_PAGE + "<form action=/n><input name=a></form>",
    "html by xpath": HTML_PAGE,
    "json": json.dumps({"web": {"total": 3, "results": [{"title": "T", "url": "/t"}] * 3}}),
    "embedded": "x=" + json.dumps({"web": {"results": [{"title": "T", "url": "/t"}]}}),
    "xml": XML_FEED,
}

every = pytest.mark.parametrize("name", READERS)
_HEADERS = st.lists(
    st.tuples(
        st.sampled_from(["Content-Type", "Date", "Set-Cookie", "Server"]),
        st.text(max_size=30) | st.sampled_from(["text/html; charset=utf-16", "charset=utf-7"]),
    ),
    max_size=3,
)
_NESTED = st.sampled_from([b"<div>", b"<li class=hit>", b"[", b'{"web":', b"<a>", b"<b x='"])
_BYTES = (
    st.binary(max_size=400)
    | st.text(max_size=200).map(lambda text: text.encode("utf-8", "replace"))
    | st.builds(lambda part, count: part * count, _NESTED, st.integers(1, 30_000))
)


def check(seen: Reader, response: HttpResponse) -> None:
    page = seen.read(response, 2)
    assert isinstance(page.verdict, Verdict)
    assert len(page.rows) <= MAX_ROWS
    assert 0.0 <= page.drift <= 1.0
    for row in page.rows:
        assert row.title
        assert row.title.isprintable() or "\xad" in row.title or not row.title.isascii()
        assert row.url.lower().startswith(("http://", "https://"))
        json.dumps([row.title, row.url, row.snippet, dict(row.fields)]).encode()
    taken = seen.take("token", response)
    assert isinstance(taken, Page | dict)
    seen.verdict(response)


@every
@given(body=_BYTES, headers=_HEADERS, status=st.sampled_from([200, 302, 404, 503]))
def test_any_bytes(name: str, body: bytes, headers: list[tuple[str, str]], status: int) -> None:
    response = HttpResponse(url=URL, status=status, headers=tuple(headers), body=body)
    check(READERS[name], response)


@every
@given(data=st.data())
def test_pages_that_are_cut_or_damaged(name: str, data: st.DataObject) -> None:
    body = bytearray(BODIES[name].encode())
    cut = data.draw(st.integers(0, len(body)), "cut")
    for _ in range(data.draw(st.integers(0, 8), "damages")):
        body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    check(READERS[name], HttpResponse(url=URL, body=bytes(body[:cut])))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                ["web", "results", "title", "url", "total", "by", "name", "error", "code"]
            ),
            inner,
            max_size=6,
        )
    ),
    max_leaves=40,
)


@given(value=_JSON)
def test_any_json(value: object) -> None:
    body = json.dumps({"web": {"results": value, "total": value}, "error": None}).encode()
    check(READERS["json"], HttpResponse(url=URL, body=body))
    body = json.dumps(value).encode()
    check(READERS["json"], HttpResponse(url=URL, body=body))


@given(
    title=st.text(max_size=60),
    href=st.text(max_size=60) | st.from_regex(r"(https?|javascript|data):[/\\]{0,3}.{0,20}"),
)
def test_any_title_and_address(title: str, href: str) -> None:
    body = json.dumps({"web": {"results": [{"title": title, "url": href}]}}).encode()
    check(READERS["json"], HttpResponse(url=URL, body=body))


LARGE = {
    "deep": b"<div>" * 300_000,
    "deep rows": b"<li class=hit><ul>" * 100_000,
    "many rows": b"<li class=hit><h2><a href=/x>t</a></h2><p>s" * 60_000,
    "one huge attribute": b'<li class=hit><h2><a href="/' + b"x" * 4_000_000 + b'">t',
    "many attributes": b"<li " + b" ".join(b"a%d" % i for i in range(500_000)) + b">",
    "one huge text": b"<li class=hit><h2><a href=/x>" + b"word " * 900_000,
    "deep json": b'{"web":' * 500_000,
    "wide json": b'{"web": {"results": [' + b'{"title":"t","url":"/u"},' * 150_000 + b"{}]}}",
    "zeros": b"\x00" * 5_000_000,
    "open brackets": b"<" * 5_000_000,
    "entities": b"&amp;" * 1_000_000,
    "over the cap": b"<p>" * 4_000_000,
}


@pytest.mark.untraced
@every
@pytest.mark.timeout(30)
@pytest.mark.parametrize("body", LARGE.values(), ids=LARGE)
def test_large_bodies(name: str, body: bytes) -> None:
    READERS[name].read(HttpResponse(url=URL, body=body))


@pytest.mark.shared
@every
def test_recorded_pages_of_any_engine(name: str, shared: Path) -> None:
    for path in sorted((shared / "captures").glob("*/*.*ml"))[::3]:
        check(READERS[name], HttpResponse(url=URL, body=path.read_bytes()))
