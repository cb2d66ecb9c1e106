"""What holds for any input: nothing raises, time grows with size, blocks point at their text."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from selectolax.lexbor import LexborHTMLParser

from framework.reading import BlockKind, read
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.reading import Document

URL = "https://site.test/folder/page"
WORD = re.compile(r"[^\W_]+")

TAGS = st.sampled_from(
    sorted(
        words(
            """
            p div span b i em a ul ol li table tr td th pre code h1 h2 h3 blockquote article main
            section nav aside header footer img br hr dl dt dd sup details summary figure
            figcaption math form
            """
        )
    )
)
ATTRIBUTES = st.sampled_from(
    (
        "",
        ' class="post-body"',
        ' class="sidebar"',
        ' id="fn1"',
        ' href="#fn1"',
        ' href="/x?a=(1)"',
        ' src="a b.png" alt="[x]"',
        " hidden",
        ' style="display:none"',
        ' rowspan="2" colspan="3"',
        ' start="7"',
    )
)
TEXTS = st.text(max_size=40) | st.sampled_from(
    (
        "Some running text, with commas. ",
        "1. item",
        "# no heading",
        "a|b",
        "`tick`",
        "x" * 300,
        "日本語の文章です。",
    )
)
#: Names that nobody meant: a bracket forgotten, another language's prefix.
NAMES = st.from_regex(r"[a-z][^\s/>\0]{1,4}", fullmatch=True)
PARTS = st.one_of(
    st.builds("<{}{}>".format, TAGS | NAMES, ATTRIBUTES), st.builds("</{}>".format, TAGS), TEXTS
)
PAGES = st.lists(PARTS, max_size=60).map("".join)


@settings(max_examples=150)
@given(st.binary(max_size=400))
def test_any_bytes_are_read(body: bytes) -> None:
    document = read(body, URL)
    assert read(b"<html>" + body, URL).url == document.url


@settings(max_examples=200)
@given(PAGES)
@example("\xad")
def test_offsets_lie_in_order_and_cover_the_text(page: str) -> None:
    document = read(f"<!doctype html><body>{page}".encode(), URL)
    at = 0
    for block in document.blocks:
        assert at <= block.start < block.end <= len(document.markdown)
        assert not document.markdown[at : block.start].strip()
        at = block.end
    assert not document.markdown[at:].strip()


def points_at_its_text(document: Document, tree: LexborHTMLParser) -> list[str]:
    """Return the words of blocks that the element under their path doesn't hold."""
    missing = []
    for block in document.blocks:
        node = tree.css_first(block.dom_path)
        assert node is not None, block.dom_path
        held = node.text(separator=" ") + " ".join(
            value or "" for child in node.css("*") for value in child.attributes.values()
        )
        held += " ".join(value or "" for value in node.attributes.values())
        words = set(WORD.findall(held))
        joined = "".join(WORD.findall(held))
        if block.kind in (BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.QUOTE):
            missing += [
                word
                for word in WORD.findall(document.block_text(block))
                if word not in words and word not in joined and not word.isdigit()
            ]
    return missing


@settings(max_examples=100)
@given(PAGES.filter(lambda page: "<math" not in page))
@example("<a</a>0")
@example("<o:p>of a word processor")
@example("\x000\x00")
def test_paths_point_at_the_text_of_their_block(page: str) -> None:
    body = f"<!doctype html><body>{page}"
    assert not points_at_its_text(read(body.encode(), URL), LexborHTMLParser(body))


def test_paths_of_a_page_point_at_exactly_their_text() -> None:
    body = (
        "<body><script>0</script><p>not this one, a first paragraph.</p><div hidden>"
        "<p>hidden</p></div>"
        "<div><h2>Head</h2><p>First paragraph of the text.</p><style>p{}</style>"
        "<p>Second <b>paragraph</b> of it.</p><ul><li>one<li>two</ul></div>"
    )
    tree = LexborHTMLParser(body)
    document = read(body.encode(), URL)
    assert len(document.blocks) > 4
    for block in document.blocks:
        node = tree.css_first(block.dom_path)
        assert node is not None
        assert " ".join(node.text().split()) == document.block_text(block)


@settings(max_examples=100)
@given(PAGES, st.integers(0, 400))
def test_a_page_cut_anywhere_is_read(page: str, at: int) -> None:
    body = f"<html><body><article>{page}</article>".encode()
    assert read(body[:at], URL).markdown is not None


HUGE: dict[str, Callable[[int], bytes]] = {
    "nested divs": lambda n: b"<div>" * n + b"deep text",
    "nested and closed": lambda n: b"<div>" * n + b"deep text" + b"</div>" * n,
    "nested lists": lambda n: b"<ul><li>a" * n,
    "nested quotes": lambda n: b"<html>" + b"<blockquote>a" * n,
    "buttons": lambda n: b"<div><p>a text of it" + b"<button></button>" * n + b"</div>",
    "nested posts": lambda n: b"<div class=comment><a class=author>ann</a><p>a text." * n,
    "posts": lambda n: b"<div class=comment><a class=author>ann</a><p>a text.</div>" * n,
    "marks of posts": lambda n: (
        b"<div class=comment>" * 2 + b"<a class=author>ann</a><time title=2024>1</time>" * n
    ),
    "nested formats": lambda n: b"<html><b>" * n + b"text",
    "open fonts": lambda n: b"<html>" + b"".join(b"<p><font color=%d>x" % i for i in range(n)),
    "unknown elements": lambda n: b"<html>" + b"<x-y>" * n + b"<p>text</p>" * n,
    "nested tables": lambda n: b"<table><tr><td>a" * n,
    "spanning cells": lambda n: b"<table>" + b"<tr><td rowspan=9999 colspan=9999>x</td>" * n,
    "attributes": lambda n: b"<div " + b" ".join(b"a%d=1" % i for i in range(n)) + b">text",
    "paragraphs": lambda n: b"<p>Some words, and more of them.</p>" * n,
    "links": lambda n: b"<p><a href=/a>Some words and more of them</a></p>" * n,
    "siblings": lambda n: b"<html>" + b"<li><a href=/a>Some words and more of them</a></li>" * n,
    "notes": lambda n: b"".join(
        b"<p>a<sup><a href=#n%d>%d</a></sup><p id=n%d>note" % (i, i, i) for i in range(n)
    ),
    "no encoding": lambda n: b"\xff<" * n,
    "open scripts": lambda n: b"\xff<script>" * n,
    "blank title": lambda n: b"<title>a" + b" " * 20 * n + b"b</title><p>text",
    "blank property": lambda n: b'<meta property="og:title" content="a' + b" " * 20 * n + b'b">x',
    "feed of marks": lambda n: (
        b"<rss><channel><item><title>x</title><description>"
        + b"&lt;" * n
        + b"</description></item></channel></rss>"
    ),
    "image addresses": lambda n: b'<p>text <img data-a="/' + b".jpg?" * n + b' x">',
    "source set": lambda n: b'<p>text <img srcset="' + b"a.jpg 1w " * n + b'">',
    "one name": lambda n: b'<p class="' + b"post-body " * n + b'">text</p>',
    "marks": lambda n: b"<p>" + b"*_`~[]()" * n,
    "open brackets": lambda n: b"<p>" + b"[(<" * n,
    "one word": lambda n: b"<p>" + b"x" * 10 * n,
    "blank": lambda n: b"<p>" + b" " * 20 * n + b"x",
}


@pytest.mark.untraced
@pytest.mark.parametrize("make", HUGE.values(), ids=HUGE.keys())
def test_time_grows_with_size_alone(make: Callable[[int], bytes]) -> None:
    def seconds(size: int) -> float:
        body = make(size)
        start = time.process_time()
        read(body, URL)
        return time.process_time() - start

    seconds(100)
    small = min(seconds(2_000), seconds(2_000))
    # Sixteen times the input may cost some forty times the time; a square would cost 256 times.
    assert seconds(32_000) < 40 * small + 1.5


@pytest.mark.untraced
@pytest.mark.slow
def test_a_million_nested_elements_are_read() -> None:
    document = read(b"<html>" + b"<div>" * 1_000_000 + b"the text at the bottom", URL)
    assert document.text == "the text at the bottom"


@pytest.mark.untraced
@pytest.mark.slow
def test_fifty_megabytes_of_text_are_read() -> None:
    document = read(
        b"some words of a very long text\n" * 1_650_000, URL, {"Content-Type": "text/plain"}
    )
    assert len(document.markdown) > 50_000_000
