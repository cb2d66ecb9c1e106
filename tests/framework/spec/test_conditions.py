"""Conditions: every source on every kind of body, in answers and in rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from lxml import etree
from selectolax.lexbor import LexborHTMLParser

from framework.spec.conditions import compile_condition, describe
from framework.spec.elements import CONDITIONS, Condition
from framework.spec.picks import SelectorError
from tests.support.answers import HTML, JSON, LXML, XML, document

if TYPE_CHECKING:
    from framework.spec.picks import Languages

PAGE = "<!doctype html><html><form id=captcha><input name=c></form>Are you human? Ünicode</html>"
DATA = '{"error": {"code": 27, "detail": ""}, "list": [], "ok": false}'
FEED = "<feed><entry/><error>no</error></feed>"
BODIES = {"page": PAGE, "data": DATA, "feed": FEED, "empty": "", "text": "Resource not found."}


def holds(condition: object, body: str, languages: Languages, **parts: object) -> bool:
    model = Condition.model_validate(condition)
    seen = document(body, ("X-Left", "5, 0"), ("X-Left", "9"), ("Server", "captcha"), **parts)
    return compile_condition(model, languages)(seen, None)


#: A condition, and the bodies that it is true of, whatever the format.
TRUTHS: list[tuple[dict[str, object], set[str]]] = [
    ({"css": "#captcha input[name=c]"}, {"page"}),
    ({"css": "#other"}, set()),
    ({"jmes": "error.code == `27`"}, {"data"}),
    ({"jmes": "error.code"}, {"data"}),
    ({"jmes": "error.detail"}, set()),
    ({"jmes": "list"}, set()),
    ({"jmes": "ok"}, set()),
    ({"jmes": "length(ok)"}, set()),
    ({"text": "(?i)are you HUMAN"}, {"page"}),
    ({"text": "human|captcha"}, {"page"}),
    ({"text": r"not found\.|no such"}, {"text"}),
    ({"text": r"^\s*Resource"}, {"text"}),
    ({"text": "Ünicode"}, {"page"}),
    ({"size_below": 30}, {"empty", "text"}),
    ({"size_below": 1}, {"empty"}),
    ({"any": [{"css": "#captcha"}, {"jmes": "error"}]}, {"page", "data"}),
    ({"all": [{"css": "#captcha"}, {"text": "human"}]}, {"page"}),
    ({"all": [{"css": "#captcha"}, {"jmes": "error"}]}, set()),
    ({"not": {"css": "#captcha"}}, {"data", "feed", "empty", "text"}),
    ({"not": {"not": {"css": "#captcha"}}}, {"page"}),
]


@pytest.mark.parametrize("languages", [HTML, LXML, JSON, XML], ids=["html", "lxml", "json", "xml"])
@pytest.mark.parametrize(("condition", "bodies"), TRUTHS, ids=[str(c) for c, _ in TRUTHS])
def test_of_a_body(condition: object, bodies: set[str], languages: Languages) -> None:
    true = {name for name, body in BODIES.items() if holds(condition, body, languages)}
    assert true == bodies


@pytest.mark.parametrize(
    ("xpath", "languages", "bodies"),
    [
        ("//form", HTML, {"page"}),
        ("//form", LXML, {"page"}),
        ("//form", JSON, {"page"}),
        ("//error", XML, {"feed"}),
        ("//error", JSON, {"feed"}),
        ("//error[. = 'no']", XML, {"feed"}),
        ("count(//entry) = 1", XML, {"feed"}),
        ("count(//entry) = 2", XML, set()),
        ("string(//error)", XML, {"feed"}),
    ],
    ids=str,
)
def test_xpath(xpath: str, languages: Languages, bodies: set[str]) -> None:
    condition = {"xpath": xpath}
    true = {name for name, body in BODIES.items() if holds(condition, body, languages)}
    assert true == bodies


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        ({"status": 403}, True),
        ({"status": [200, 403]}, True),
        ({"status": [404]}, False),
        ({"url": "/sorry/"}, True),
        ({"url": "^https://final\\.example\\.org/"}, True),
        ({"url": "first\\.example"}, True),
        ({"url": "nowhere"}, False),
        ({"header": {"x-left": r",\s*0$"}}, True),
        ({"header": {"X-LEFT": "^9$"}}, True),
        ({"header": {"X-Left": "7"}}, False),
        ({"header": {"X-Absent": ""}}, None),
        ({"header": {"X-Absent": ".*"}}, False),
        ({"header": {"X-Left": "9", "Server": "captcha"}}, True),
        ({"header": {"X-Left": "9", "Server": "nginx"}}, False),
        ({"all": [{"status": 403}, {"header": {"server": "captcha"}}]}, True),
    ],
    ids=str,
)
def test_of_an_answer(condition: object, truth: bool | None) -> None:
    if truth is None:
        with pytest.raises(ValueError, match=r"."):
            holds(condition, "", HTML)
        return
    seen = holds(
        condition,
        "",
        HTML,
        status=403,
        url="https://final.example.org/x",
        hops=("https://first.example.org/", "https://www.example.org/sorry/index"),
    )
    assert seen is truth


def test_every_condition_is_tried() -> None:
    assert set(CONDITIONS) == {
        "status", "url", "header", "css", "xpath", "jmes", "text", "size_below", "any", "all", "not"
    }  # fmt: skip


ROW = '<div class="ad" data-x="1"><a href="/y.js?ad">Sponsored <b>text</b></a></div>'


@pytest.mark.parametrize("lexbor", [True, False], ids=["lexbor", "lxml"])
@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        ({"css": ".ad"}, True),
        ({"css": "a[href*='y.js']"}, True),
        ({"css": ".web"}, False),
        ({"text": "Sponsored text"}, True),
        ({"text": "^organic"}, False),
        ({"not": {"css": ".ad"}}, False),
        ({"any": [{"css": ".web"}, {"text": "ponsor"}]}, True),
    ],
    ids=str,
)
def test_of_an_html_row(condition: object, truth: bool, lexbor: bool) -> None:
    page = "<p>outside</p>" + ROW
    node = (
        LexborHTMLParser(page).css_first("div")
        if lexbor
        else etree.fromstring(page, etree.HTMLParser()).find(".//div")
    )
    test = compile_condition(Condition.model_validate(condition), HTML if lexbor else LXML)
    assert test(document(page), node) is truth


@pytest.mark.parametrize(
    ("condition", "truth"),
    [
        ({"jmes": "type == 'ads'"}, True),
        ({"jmes": "type == 'web'"}, False),
        ({"text": "ads"}, True),
        ({"not": {"jmes": "url"}}, True),
    ],
    ids=str,
)
def test_of_a_json_row(condition: object, truth: bool) -> None:
    test = compile_condition(Condition.model_validate(condition), JSON)
    assert test(document("[]"), {"type": "ads"}) is truth


@pytest.mark.parametrize("row", ["a string", "\ud800", 5, None, ["x"]], ids=ascii)
def test_text_of_any_row(row: object) -> None:
    test = compile_condition(Condition.model_validate({"text": "nothing like it"}), JSON)
    assert test(document("[]"), row) is False


def test_a_row_that_is_nested_too_deeply_has_no_text() -> None:
    row: list[object] = []
    for _ in range(100_000):
        row = [row]
    test = compile_condition(Condition.model_validate({"text": "x"}), JSON)
    assert test(document("[]"), row) is False


@pytest.mark.parametrize(
    ("pattern", "bodies"),
    [
        ("a|b", ("xaz", "b")),
        ("a.c", ("abc",)),
        (r"a\.c", ("a.c",)),
        (r"a\|b", ("a|b",)),
        ("a||b", ("", "zzz")),
    ],
    ids=str,
)
def test_literal_texts_are_what_re2_finds(pattern: str, bodies: tuple[str, ...]) -> None:
    for body in bodies:
        assert holds({"text": pattern}, body, HTML)


@pytest.mark.parametrize(
    "condition",
    [
        {"css": "a["},
        {"text": "(?=x)"},
        {"url": "("},
        {"header": {"a": "["}},
        {"xpath": "b:x"},
        {"jmes": "["},
        {"not": {"css": "> a"}},
        {"any": [{"text": r"(a)\1"}]},
    ],
    ids=str,
)
def test_what_does_not_compile(condition: object) -> None:
    with pytest.raises((SelectorError, ValueError)):
        compile_condition(Condition.model_validate(condition), HTML)


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ({"css": "#b"}, "css #b"),
        ({"status": [403, 503]}, "status 403 or 503"),
        ({"header": {"X-A": "1", "X-B": "2"}}, "header X-A, X-B"),
        ({"any": [{"css": "a"}, {"not": {"text": "t"}}]}, "any(css a, not(text t))"),
        ({"size_below": 9}, "size_below 9"),
    ],
    ids=str,
)
def test_describe(condition: object, words: str) -> None:
    assert describe(Condition.model_validate(condition)) == words
