"""Pages that are built to exhaust a parser are told apart; large ordinary ones are not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from selectolax.lexbor import LexborHTMLParser

from framework.spec.hostile import is_hostile

if TYPE_CHECKING:
    from pathlib import Path

HOSTILE = {
    "nested": b"<div>" * 200_000,
    "nested and closed": b"<div>" * 20_000 + b"</div>" * 20_000,
    "nested in list items": b"<li><div>" * 50_000,
    "formatting": b"".join(b"<font a%d><div>" % i for i in range(3_000)) + b"</font>" * 3_000,
    "open formatting": b"".join(b"<p><font a%d>x</p>" % i for i in range(5_000)),
    "open bold in paragraphs": b"".join(b"<p><b a%d>" % i for i in range(3_000)),
    "open bold in closed ones": b"".join(b"<p><B\na%d>x</p>" % i for i in range(3_000)),
    "out of sight": b"".join(b"<p><font/a%d><object></font></object>" % i for i in range(3_000)),
    "attributes": b"<a " + b" ".join(b"a%d=1" % i for i in range(60_000)) + b">",
    "attributes, open": b"<p>" + b"<a " + b" ".join(b"a%d" % i for i in range(60_000)),
    "attributes, quoted": b"<a " + b" ".join(b"a%d='x y'" % i for i in range(60_000)) + b">",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_page_built_to_exhaust_the_parser(body: bytes) -> None:
    assert is_hostile(body)


HARMLESS = {
    "emphasis": b"<p>a <em class=x>b</em> c</p>" * 1_500 + b"<p>a <em>b</em></p>" * 20_000,
    "many rows": b"<ul>" + b"<li><a href='x'>t</a></li>" * 20_000 + b"</ul>",
    "open paragraphs": b"<p>x" * 20_000,
    "a large image": b"<img src='data:image/png;base64," + b"iVBORw0KGgo" * 40_000 + b"'>",
    "a large script": b"<script>" + b"var a = 'b c d e f';" * 40_000 + b"</script>",
    "drawings": b"<svg>" + b"<path d='M0 0'/>" * 10_000 + b"</svg>",
    "text without tags": b"a b c d " * 100_000,
}


@pytest.mark.parametrize("body", HARMLESS.values(), ids=HARMLESS)
def test_a_large_page(body: bytes) -> None:
    assert not is_hostile(body)


@pytest.mark.shared
def test_no_recorded_page_is_taken_for_hostile(shared: Path) -> None:
    pages = list((shared / "captures").glob("*/*.html"))
    assert pages
    assert [page.name for page in pages if is_hostile(page.read_bytes())] == []


ALLOWED = {
    "nested": b"<div>" * 3_900,
    "bold in paragraphs": b"".join(b"<p><b a%d>" % i for i in range(1_700)),
    "attributes": b"<a " + b" ".join(b"a%d" % i for i in range(9_000)) + b">",
}


@pytest.mark.timeout(10)
@pytest.mark.parametrize("body", ALLOWED.values(), ids=ALLOWED)
def test_what_passes_is_parsed_soon(body: bytes) -> None:
    assert not is_hostile(body)
    assert LexborHTMLParser(body).root is not None
