"""Answers of engines for tests, and readers compiled from small files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from framework.spec.documents import Document
from framework.spec.picks import Languages
from framework.types import HttpResponse
from tests.support.specs import engine, spec_text

if TYPE_CHECKING:
    from framework.spec.read import Reader

URL = "https://www.example.org/search?q=x"
NOW = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)
DATE = ("Date", "Fri, 10 Apr 2026 12:00:00 GMT")

HTML = Languages("html")
LXML = Languages("html", lexbor=False)
JSON = Languages("json")
XML = Languages("xml")


# `response` of files that read HTML (by CSS and by XPath), JSON and XML, with answers that fit.
HTML_ROWS = """
format: html
rows: {each: li.hit, drop: {css: .ad}}
fields:
  title: h2 a
  url: "h2 a::attr(href)"
  snippet: p
  published: {css: time, do: [{date: {relative: true}}], optional: true}
  tags: {css: i, many: true, optional: true}
extras:
  suggestions: {css: .also a, many: true, optional: true}
  correction: {css: .fix, optional: true}
  total: {css: .count, optional: true}
"""

HTML_PAGE = """<!doctype html><div class="count">About 1,200 results</div>
<ul>
<li class="hit"><h2><a href="/one">One  &amp; only</a></h2><p>First
 text</p><time>2 days ago</time><i>x</i><i>y</i></li>
<li class="hit ad"><h2><a href="/ad">Ad</a></h2><p>Buy</p></li>
<li class="hit"><h2><a href="https://b.org/">Two</a></h2></li>
<li class="hit"><h2><a href="javascript:x()">Bad link</a></h2><p>p</p></li>
<li class="hit"><p>no heading</p></li>
</ul><div class="also"><a>more one</a><a>more two</a></div>"""

JSON_ROWS = """
format: json
rows: {each: "web.results[]", drop: {jmes: "type == 'ad'"}}
fields:
  title: {jmes: title, do: [html_text]}
  url: url
  snippet: [{jmes: text, optional: true}, description]
  authors: {jmes: "by[].name", many: true, optional: true}
extras: {total: {jmes: web.total, optional: true}}
"""

XML_ROWS = """
format: xml
namespaces: {a: "http://www.w3.org/2005/Atom"}
rows: {each: "//a:entry"}
fields:
  title: a:title
  url: {xpath: "a:link/@href"}
  published: {xpath: a:published, do: [{date: {formats: [iso]}}]}
  authors: {xpath: "a:author/a:name", many: true}
extras: {total: {xpath: "count(//a:entry)"}}
"""

XML_FEED = """<?xml version="1.0" encoding="utf-8"?><feed xmlns="http://www.w3.org/2005/Atom">
<entry><title> A
 <i>b</i></title><link href="/a"/><published>2024-05-01T00:00:00Z</published>
<author><name>x</name></author><author><name>y</name></author></entry></feed>"""

XPATH_ROWS = """
format: html
rows: {each: {xpath: "//li[h2]"}, drop: {css: .ad}}
fields:
  title: h2 a
  url: {xpath: "h2/a/@href"}
  snippet: {xpath: "normalize-space(p)", optional: true}
"""

SESSION = """
- id: token
  request: {url: "https://www.example.org/app.js"}
  take:
    key: {text_of: body, do: [{match: 'TOKEN = "([^"]+)"'}]}
    lang: {css: "html::attr(lang)", optional: true}
    ids: {xpath: "//Id", many: true, optional: true}
"""


class Clock:
    """A clock that stands still."""

    now = NOW


def answer(body: str | bytes, *headers: tuple[str, str], **parts: object) -> HttpResponse:
    """Return an answer with that body; `url`, `status` and `hops` as in HttpResponse."""
    raw = body.encode() if isinstance(body, str) else body
    return HttpResponse(**{"url": URL, "body": raw, "headers": (DATE, *headers), **parts})  # type: ignore[arg-type]


def document(body: str | bytes, *headers: tuple[str, str], **parts: object) -> Document:
    """Return a document of an answer with that body."""
    return Document(answer(body, *headers, **parts))


def reader(**parts: str) -> Reader:
    """Return the reader of the good file with whole top-level keys replaced."""
    return engine(spec_text(**parts)).reader
