"""Documents: what a body is, in which encoding, and that no body harms the parser."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from lxml import etree

from framework.spec.documents import MAX_BODY, Document, absolute, parse_json
from framework.types import HttpResponse
from tests.support.answers import NOW, answer, document

WORD = "Grüße €"


@pytest.mark.parametrize(
    ("body", "header", "charset"),
    [
        (WORD.encode(), "", "utf-8"),
        (WORD.encode(), "text/html; charset=UTF-8", "utf-8"),
        (WORD.encode("cp1252"), "text/html; charset=iso-8859-1", "cp1252"),
        (b"<meta charset=windows-1252>" + WORD.encode("cp1252"), "text/html", "cp1252"),
        (
            b'<meta http-equiv="Content-Type" content="text/html; charset=iso-8859-15">'
            + WORD.encode("iso-8859-15"),
            "",
            "iso8859-15",
        ),
        (b"<meta charset=utf-8>" + WORD.encode("cp1252"), "text/html; charset=cp1252", "cp1252"),
        (b"\xef\xbb\xbf" + WORD.encode(), "text/html; charset=cp1252", "utf-8"),
        (WORD.encode("utf-16"), "text/html", "utf-16-le"),
        (WORD.encode(), "text/html; charset=no-such-thing", "utf-8"),
    ],
    ids=[
        "none",
        "header",
        "latin-1 is cp1252",
        "meta",
        "http-equiv",
        "header wins",
        "bom",
        "utf-16",
        "unknown",
    ],
)
def test_charset(body: bytes, header: str, charset: str) -> None:
    seen = document(body, ("Content-Type", header))
    assert seen.charset == charset
    assert WORD in seen.text
    assert seen.root is not None
    assert WORD in seen.root.text()
    assert seen.tree is not None
    assert WORD in etree.tostring(seen.tree, encoding="unicode", method="text")
    assert WORD.encode() in seen.searchable


def test_bytes_that_do_not_fit_are_replaced() -> None:
    seen = document(b"a\xff\xfeb")
    assert seen.text == "a\ufffd\ufffdb"
    assert seen.root is not None
    assert "a" in seen.root.text()


def test_what_is_too_long_is_cut() -> None:
    assert len(document(b"x" * (MAX_BODY + 10)).body) == MAX_BODY


@pytest.mark.parametrize(
    "name", ["base64", "rot13", "idna", "undefined", "unicode_escape", "utf-7", "zip", "mbcs"]
)
def test_codecs_that_are_no_encodings(name: str) -> None:
    seen = document(b"<p>a\\ud800b\xff</p>", ("Content-Type", f"text/html; charset={name}"))
    assert "a" in seen.text
    assert seen.root is not None
    assert seen.tree is not None


def test_a_page_of_nothing_has_no_tree() -> None:
    assert document("<!-- nothing -->").tree is None
    assert document(" ").tree is None


def test_views_are_built_once() -> None:
    seen = document("<p>x</p>")
    assert seen.page is seen.page
    assert seen.tree is seen.tree


@pytest.mark.parametrize(
    ("body", "is_html", "is_json"),
    [
        ("<!DOCTYPE html><p>x", True, False),
        ("\n <html><body>", True, False),
        ("<div>fragment</div>", True, False),
        ("<?xml version='1.0'?><!doctype html><html>", True, False),
        ("<?xml version='1.0'?><feed><entry/></feed>", False, False),
        ('{"a": "<html>"}', False, True),
        (" [1]", False, True),
        ("plain", False, False),
        ("", False, False),
    ],
    ids=["doctype", "html", "fragment", "xhtml", "xml", "object", "array", "text", "empty"],
)
def test_language_of_a_body(body: str, is_html: bool, is_json: bool) -> None:
    seen = document(body)
    assert (seen.looks_html, seen.looks_json) == (is_html, is_json)


@pytest.mark.parametrize("body", ["", "plain", "<a><b></a>", '{"a"', "\x00", "<!DOCTYPE"], ids=repr)
def test_a_body_that_does_not_parse_is_nothing(body: str) -> None:
    seen = document(body)
    assert seen.xml is None
    assert seen.json is None


def test_json_keeps_what_the_fast_parser_refuses() -> None:
    assert parse_json(b'"\\ud800"') == "\ud800"
    assert parse_json("[" * 500 + "]" * 500) is not None
    assert parse_json("[" * 100_000) is None
    assert parse_json(b'\xef\xbb\xbf{"a": 1}') == {"a": 1}
    assert parse_json("9" * 10_000) is None


def test_json_in_another_encoding() -> None:
    body = '{"a": "ü"}'.encode("cp1252")
    assert document(body, ("Content-Type", "application/json; charset=cp1252")).json == {"a": "ü"}


def test_xml_declares_its_own_encoding() -> None:
    body = '<?xml version="1.0" encoding="iso-8859-1"?><a>ü</a>'.encode("latin-1")
    assert document(body).xml is not None
    assert document(body).xml.text == "ü"  # type: ignore[union-attr]
    header = ("Content-Type", "text/xml; charset=iso-8859-1")
    assert document(body, header).xml.text == "ü"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("head", "base"),
    [
        ('<base href="https://cdn.example.org/a/">', "https://cdn.example.org/a/"),
        ('<base href="/deep/">', "https://www.example.org/deep/"),
        ("<base>", "https://www.example.org/search?q=x"),
        ("", "https://www.example.org/search?q=x"),
        ('<base href="https://[bad">', "https://www.example.org/search?q=x"),
    ],
    ids=["absolute", "relative", "no href", "none", "broken"],
)
def test_base(head: str, base: str) -> None:
    assert document(f"<html><head>{head}</head>").base == base


def test_absolute_of_nonsense_is_nothing() -> None:
    assert absolute("https://a.org/", "//[x") is None


def test_now_is_the_date_of_the_answer() -> None:
    assert document("").now == NOW
    before = datetime.now(UTC)
    assert Document(HttpResponse(url="https://a.org/")).now >= before
    assert Document(answer("", ("date", "x"))).now == NOW


def test_time_runs_out() -> None:
    assert Document(answer(""), budget=-1).expired
    assert not document("").expired


# -- hostile bodies ----------------------------------------------------------------------------


def test_a_page_built_to_exhaust_the_parser_is_not_parsed() -> None:
    seen = document(b"<div>" * 200_000)
    assert seen.page is None
    assert seen.root is None
    assert seen.tree is None


def test_entities_do_not_grow() -> None:
    levels = "".join(f'<!ENTITY e{i} "{"".join([f"&e{i - 1};"] * 10)}">' for i in range(1, 10))
    bomb = f'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY e0 "lol">{levels}]><a>&e9;</a>'
    seen = document(bomb)
    text = "" if seen.xml is None else etree.tostring(seen.xml, encoding="unicode", method="text")
    assert len(text) < 100


def test_external_entities_are_not_read(tmp_path: object) -> None:
    secret = tmp_path / "secret.txt"  # type: ignore[operator]
    secret.write_text("the-secret")
    body = (
        f'<!DOCTYPE a [<!ENTITY x SYSTEM "{secret.as_uri()}">'
        f'<!ENTITY % p SYSTEM "{secret.as_uri()}"> %p;]><a>&x;<b>kept</b></a>'
    )
    seen = document(body)
    if seen.xml is not None:
        assert b"the-secret" not in etree.tostring(seen.xml)


def test_deep_xml_does_not_parse() -> None:
    assert document("<a>" * 5_000 + "</a>" * 5_000).xml is None


def test_deep_html_keeps_lxml_calm() -> None:
    assert document("<b>" * 3_000 + "x").tree is not None
