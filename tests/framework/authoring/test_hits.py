"""Which picks yield something: counts for each of a field's fallbacks."""

from __future__ import annotations

from framework.authoring.hits import field_hits
from framework.types import HttpResponse
from tests.support.specs import engine, spec_text

BODY = b"""<li class=hit><h2><a href="https://a.example/">One</a></h2><p class=new>text</p></li>
<li class=hit><h2><a href="https://b.example/">Two</a></h2><p class=old>text</p></li>
<li class=hit><h2><a href="https://c.example/">Three</a></h2></li>"""


def test_each_fallback_is_counted() -> None:
    made = engine(
        spec_text(
            response="""
            format: html
            rows: {each: li.hit}
            fields:
              title: h2 a
              url: "h2 a::attr(href)"
              snippet: [{css: p.new, optional: true}, p.old]
            """
        )
    )
    answer = HttpResponse(url="https://www.example.org/search", body=BODY)
    hits = {hit.name: hit for hit in field_hits(made, answer)}

    assert (hits["title"].hits, hits["title"].rows, hits["title"].picks) == (3, 3, (3,))
    assert (hits["snippet"].hits, hits["snippet"].picks) == (2, (1, 1))
    assert hits["snippet"].optional
    assert hits["url"].sample == "https://a.example/"
