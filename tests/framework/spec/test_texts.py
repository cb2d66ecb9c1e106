"""The text of elements as a page shows it, alike from both parsers."""

from __future__ import annotations

import pytest
from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from framework.spec.texts import MAX_TEXT, collapse, element_text, node_text, node_text_without

TEXTS = [
    ("<div>one</div><div>two</div>", "one two"),
    ("one<br>two<br/>three", "one two three"),
    ("<b>bo</b>ld <i>words</i>", "bold words"),
    ("<p>a<p>b", "a b"),
    ("a<ul><li>b<li>c</ul>d", "a b c d"),
    ("<table><tr><td>a<td>b</table>", "a b"),
    ("a<script>x</script>b<style>y</style>c", "abc"),
    ("a <!-- note --> b", "a b"),
    ("a&nbsp;&amp;&nbsp;b", "a & b"),
    ("<span>a</span>\n\t<span>b</span>", "a b"),
    ("<span><div></div></span>", ""),
    ("", ""),
    ("<h2>A</h2>b", "A b"),
    ("<svg><title>t</title></svg>x", "tx"),
]


@pytest.mark.parametrize(("html", "text"), TEXTS, ids=[html or "nothing" for html, _ in TEXTS])
def test_text(html: str, text: str) -> None:
    page = f"<section id=x>{html}</section>"
    node = LexborHTMLParser(page).css_first("#x")
    assert node is not None
    assert node_text(node) == text
    assert node_text_without(node, ".absent") == text
    element = etree.fromstring(page, etree.HTMLParser(remove_comments=True)).find(".//section")
    assert element is not None
    assert element_text(element) == text


def test_what_is_removed_takes_its_inside_with_it() -> None:
    node = LexborHTMLParser("<p>a <b>b <i>c</i></b>d<i>e</i></p>").css_first("p")
    assert node is not None
    assert node_text_without(node, "b") == "a de"
    assert node_text_without(node, "b, i") == "a d"
    assert node_text_without(node, "p b i") == "a b de"


def test_deep_and_long_elements_end() -> None:
    deep = LexborHTMLParser("<p>" + "<span>" * 2_000 + "x<br>y").css_first("p")
    assert deep is not None
    assert node_text(deep) == "x y"
    long = LexborHTMLParser("<p>" + "word<br>" * MAX_TEXT).css_first("p")
    assert long is not None
    assert len(node_text(long)) < 2 * MAX_TEXT


def test_collapse() -> None:
    assert collapse(" a \u00a0\u3000 b\n") == "a b"
