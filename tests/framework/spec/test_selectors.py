"""Selectors of three languages: what they find and what they refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from framework.spec.selectors import (
    SelectorError,
    check_selector,
    compile_css,
    compile_jmes,
    compile_xpath,
    split_pseudo,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

PAGE = """
<div class="row" data-x="7">own
  <h2><a href="/one">One <b>bo</b>ld</a></h2>
  <a>no address</a><a href="">empty</a><a href="/two">Two</a>
  <p>first</p><p>second<br>line</p>
  <script>var hidden = 1</script><style>p {}</style><template><u>t</u></template>
  <span>in</span><span>line</span>
</div>
"""


def scope(lexbor: bool) -> object:
    if lexbor:
        return LexborHTMLParser(PAGE).css_first(".row")
    return etree.fromstring(PAGE, etree.HTMLParser()).find(".//div")


both = pytest.mark.parametrize("lexbor", [True, False], ids=["lexbor", "lxml"])


@both
@pytest.mark.parametrize(
    ("css", "first", "every"),
    [
        ("h2 a", "One bold", ["One bold"]),
        ("h2 a::attr(href)", "/one", ["/one"]),
        ("a::attr(href)", "/one", ["/one", "/two"]),
        ("a:not([class])::attr(href)", "/one", ["/one", "/two"]),
        ("::attr(data-x)", "7", ["7"]),
        (".row::attr(data-x)", "7", ["7"]),
        (".row::text", "own", ["own"]),
        ("h2 ::text", "One ld", ["One ld", "bo"]),
        ("p", "first", ["first", "second line"]),
        ("p::text, span::text", "first", ["first", "secondline", "in", "line"]),
        (
            ".row",
            "own One bold no addressemptyTwo first second line inline",
            ["own One bold no addressemptyTwo first second line inline"],
        ),
        ("h2:has(a)", "One bold", ["One bold"]),
        (".absent", None, []),
        (".absent::attr(x)", None, []),
        ("a::attr(class)", None, []),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_css(lexbor: bool, css: str, first: str | None, every: list[str]) -> None:
    finder = compile_css(css, lexbor=lexbor)
    assert finder.first(scope(lexbor)) == first
    assert finder.every(scope(lexbor)) == every


@both
def test_css_exists_in_the_row_itself_too(lexbor: bool) -> None:
    assert compile_css(".row", lexbor=lexbor).exists(scope(lexbor))
    assert compile_css("b", lexbor=lexbor).exists(scope(lexbor))
    assert not compile_css("i", lexbor=lexbor).exists(scope(lexbor))
    assert len(compile_css("a", lexbor=lexbor).nodes(scope(lexbor))) == 4


@both
def test_css_without_some_elements(lexbor: bool) -> None:
    finder = compile_css("h2 a", lexbor=lexbor, remove="b")
    assert finder.first(scope(lexbor)) == "One ld"
    assert compile_css("h2 a", lexbor=lexbor, remove="i").first(scope(lexbor)) == "One bold"
    row = compile_css("::text", lexbor=lexbor)
    assert row.first(scope(lexbor)) == "own"
    rest = compile_css(".row", lexbor=lexbor, remove="p, h2, a").first(scope(lexbor))
    assert rest == "own inline"


@both
def test_css_as_markup(lexbor: bool) -> None:
    finder = compile_css("h2 b", lexbor=lexbor, as_html=True)
    assert finder.first(scope(lexbor)) == "<b>bo</b>"


@both
@pytest.mark.parametrize("nothing", [None, "text", {"a": 1}, 3], ids=repr)
def test_css_on_what_is_no_page(lexbor: bool, nothing: object) -> None:
    finder = compile_css("a", lexbor=lexbor)
    assert finder.first(nothing) is None
    assert finder.every(nothing) == []
    assert not finder.exists(nothing)


def test_lexbor_knows_ancestors_outside_the_row() -> None:
    page = LexborHTMLParser('<ul id="list"><li>x</li></ul>')
    assert compile_css("#list li", lexbor=True).first(page.css_first("li")) == "x"


def test_hidden_text_is_left_out_unless_it_is_asked_for() -> None:
    assert compile_css("script", lexbor=True).first(scope(True)) == "var hidden = 1"


@both
def test_a_hidden_element_alone_on_both_sides(lexbor: bool) -> None:
    assert "hidden" not in str(compile_css(".row", lexbor=lexbor).first(scope(lexbor)))


@pytest.mark.parametrize(
    ("css", "parts"),
    [
        ("a", ("a", "", "")),
        (" a::attr( href ) ", ("a", "attr", "href")),
        ("a[title='::text']", ("a[title='::text']", "", "")),
        (":is(a, b)::text", (":is(a, b)", "text", "")),
        ("a::text, b::text", ("a, b", "text", "")),
        ("a[x=','] ::text", ("a[x=','] *", "text", "")),
        ("::text", ("", "text", "")),
    ],
    ids=str,
)
def test_split_pseudo(css: str, parts: tuple[str, str, str]) -> None:
    assert split_pseudo(css) == parts


BAD_CSS = [
    ("> a", "row itself"),
    (":scope a", "row itself"),
    ("a:contains(x)", ":lexbor-contains"),
    ("a::before", "only ::text"),
    ("a::text b", "very end"),
    ("a[", "the [ is not closed"),
    ("a]", "no [ stands before the ]"),
    ("b > > i", "such as"),
    ("a::attr(x y)", "::text and ::attr(name)"),
    ("a::attr(href), b::attr(src)", "fallback list"),
    ("a::attr(href), b", "very end"),
]


@pytest.mark.parametrize(("css", "hint"), BAD_CSS, ids=[css for css, _ in BAD_CSS])
def test_css_that_is_refused(css: str, hint: str) -> None:
    with pytest.raises(SelectorError) as caught:
        check_selector("css", css, lexbor=True)
    assert hint in caught.value.hint


def test_an_empty_selector_is_the_row_itself() -> None:
    assert compile_css("", lexbor=True).first(scope(True)) is not None


@pytest.mark.parametrize("css", ["a[", "a::attr(1x)", "b > > i"], ids=str)
def test_css_that_lxml_refuses(css: str) -> None:
    with pytest.raises(SelectorError):
        check_selector("css", css, lexbor=False)


def test_remove_is_checked_too() -> None:
    with pytest.raises(SelectorError):
        compile_css("a", lexbor=True, remove="b[")


FEED = """<f xmlns="urn:a" xmlns:x="urn:x"><e n="1"><t> A <i>b</i></t></e><e n="2"><t/></e>
<x:n>3</x:n></f>"""
SPACES: Mapping[str, str] = {"a": "urn:a", "x": "urn:x"}


@pytest.mark.parametrize(
    ("xpath", "first", "every"),
    [
        ("//a:t", "A b", ["A b"]),
        ("//a:e/@n", "1", ["1", "2"]),
        ("//x:n/text()", "3", ["3"]),
        ("string(//a:t)", " A b", [" A b"]),
        ("count(//a:e)", 2.0, [2.0]),
        ("//a:e[@n='2']", None, []),
        ("//a:none", None, []),
        ("boolean(//a:none)", None, []),
        ("number('x')", None, []),
        ("concat(//x:n, '-', //a:e/@n)", "3-1", ["3-1"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_xpath(xpath: str, first: object, every: list[object]) -> None:
    finder = compile_xpath(xpath, SPACES)
    root = etree.fromstring(FEED)
    assert finder.first(root) == first
    assert finder.every(root) == every
    assert finder.exists(root) is (bool(every) or xpath == "//a:e[@n='2']")


def test_xpath_as_markup() -> None:
    finder = compile_xpath("//i", {}, as_html=True)
    assert finder.first(etree.fromstring("<p>a<i>b</i>c</p>")) == "<i>b</i>"


@pytest.mark.parametrize("nothing", [None, "text", {"a": 1}], ids=repr)
def test_xpath_on_what_is_no_tree(nothing: object) -> None:
    assert compile_xpath("//a", {}).every(nothing) == []


@pytest.mark.parametrize(
    ("xpath", "message"),
    [
        ("//a[", "not a valid"),
        ("", "not a valid"),
        ("b:a", "cannot be evaluated"),
        ("foo(1)", "cannot be evaluated"),
        ("//a[re:test(., '(a+)+$')]", "forever"),
        ("re:match(., 'a')", "forever"),
    ],
    ids=str,
)
def test_xpath_that_is_refused(xpath: str, message: str) -> None:
    with pytest.raises(SelectorError, match=message):
        check_selector("xpath", xpath, lexbor=True, namespaces={"a": "urn:a"})


def test_xpath_has_no_regular_expressions_under_another_prefix() -> None:
    finder = compile_xpath("//a[r:test(., 'x')]", {"r": "http://exslt.org/regular-expressions"})
    assert finder.every(etree.fromstring("<p><a>x</a></p>")) == []


DATA = {
    "a": {"b": [1, None, "x"], "c": None, "d": False, "n": 0, "e": [], "t": ""},
    "k-x": {"y": 2},
}


@pytest.mark.parametrize(
    ("jmes", "first", "every", "exists"),
    [
        ("a.b", [1, None, "x"], [1, "x"], True),
        ("a.b[0]", 1, [1], True),
        ("a.b[]", [1, "x"], [1, "x"], True),
        ("a.c", None, [], False),
        ("a.c.d.e", None, [], False),
        ("a.d", False, [False], False),
        ("a.n", 0, [0], True),
        ("a.e", [], [], False),
        ("a.t", "", [""], False),
        ('"k-x".y', 2, [2], True),
        ("length(a.b)", 3, [3], True),
        ("length(a.n)", None, [], False),
        ("a.n == `0`", True, [True], True),
        ("join('-', ['x', 'y'])", "x-y", ["x-y"], True),
        ("missing", None, [], False),
    ],
    ids=str,
)
def test_jmes(jmes: str, first: object, every: list[object], exists: bool) -> None:
    finder = compile_jmes(jmes)
    assert finder.first(DATA) == first
    assert finder.every(DATA) == every
    assert finder.exists(DATA) is exists


@pytest.mark.parametrize("nothing", [None, "text", 3, ["a"]], ids=repr)
@pytest.mark.parametrize("jmes", ["a", "a.b", "a[0].b", "keys(@)"])
def test_jmes_on_what_is_no_object(jmes: str, nothing: object) -> None:
    assert compile_jmes(jmes).first(nothing) is None


@pytest.mark.parametrize("jmes", ["", "a[", "a..b", "nope(@", "&"], ids=repr)
def test_jmes_that_is_refused(jmes: str) -> None:
    with pytest.raises(SelectorError, match="JMESPath"):
        check_selector("jmes", jmes, lexbor=True)
