"""Bodies that are no HTML, and types that lie."""

from __future__ import annotations

import struct

import pytest

from framework.reading import BlockKind, DocumentKind, read
from framework.reading.sniff import sniff

URL = "https://site.test/file"
PNG = (
    b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 640, 480) + b"\x08\x06\x00\x00\x00"
)
GIF = b"GIF89a" + struct.pack("<HH", 12, 34) + b"\x00"
JPEG = (
    b"\xff\xd8\xff\xe0\x00\x04\x00\x00\xff\xc0\x00\x11\x08"
    + struct.pack(">HH", 50, 60)
    + b"\x03\x00\x00"
)
WEBP = b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00\x63\x00\x00\x31\x00\x00"
RSS = (
    '<?xml version="1.0" encoding="utf-8"?><rss version="2.0"><channel><title>News'
    "</title><description>All of it.</description>"
    "<item><title>One *star*</title><link>https://site.test/1</link><pubDate>Mon, 6 "
    "May 2024 10:00:00 GMT</pubDate>"
    "<description>&lt;p&gt;What happened.&lt;/p&gt;</description></item></channel></rss>"
)
ATOM = (
    '<feed xmlns="http://www.w3.org/2005/Atom"><title>Log</title><entry><title>Two</title>'
    '<link rel="self" href="/self"/><link href="/2"/><updated>2024-05-06</updated></entry></feed>'
)

KINDS = {
    "html": (b"<!doctype html><p>x", "text/html", URL, DocumentKind.HTML),
    "html without a type": (b"  <html><p>x", "", URL, DocumentKind.HTML),
    "html said to be text": (b"<!DOCTYPE html><html><p>x", "text/plain", URL, DocumentKind.HTML),
    "html said to be markdown": (
        b"<!DOCTYPE html><html><p>x",
        "text/markdown",
        URL,
        DocumentKind.HTML,
    ),
    "xhtml": (
        b'<?xml version="1.0"?><!DOCTYPE html><html xmlns="a"><p>x',
        "application/xhtml+xml",
        URL,
        DocumentKind.HTML,
    ),
    "markdown": (b"# Title\n\ntext", "text/markdown", URL, DocumentKind.MARKDOWN),
    "markdown by name": (
        b"# Title\n\ntext",
        "text/plain",
        "https://site.test/README.md",
        DocumentKind.MARKDOWN,
    ),
    "llms.txt": (
        b"# Site\n\n- [Docs](/docs)",
        "text/plain",
        "https://site.test/llms.txt",
        DocumentKind.MARKDOWN,
    ),
    "text": (b"just some words", "text/plain", URL, DocumentKind.TEXT),
    "text without a type": (b"just some words", "", URL, DocumentKind.TEXT),
    "json": (b'{"a": 1}', "application/json", URL, DocumentKind.JSON),
    "json said to be text": (b'[{"a": 1}]', "text/plain", URL, DocumentKind.JSON),
    "rss": (RSS.encode(), "text/xml", URL, DocumentKind.FEED),
    "atom said to be html": (ATOM.encode(), "text/html", URL, DocumentKind.FEED),
    "xml": (b'<?xml version="1.0"?><data><x/></data>', "application/xml", URL, DocumentKind.XML),
    "pdf said to be html": (b"%PDF-1.4 ...", "text/html", URL, DocumentKind.PDF),
    "png": (PNG, "application/octet-stream", URL, DocumentKind.IMAGE),
    "office": (b"PK\x03\x04" + b"\x00" * 30 + b"word/document.xml", "", URL, DocumentKind.OFFICE),
    "old office": (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "", URL, DocumentKind.OFFICE),
    "archive": (
        b"PK\x03\x04" + b"\x00" * 30 + b"photo.jpg",
        "application/zip",
        URL,
        DocumentKind.BINARY,
    ),
    "gzip": (b"\x1f\x8b\x08\x00", "text/html", URL, DocumentKind.BINARY),
    "noise": (bytes(range(256)) * 4, "", URL, DocumentKind.BINARY),
    "utf-16 html": ("<html><p>x</p>" * 9).encode("utf-16-le")
    and ("<html><p>x</p>".encode("utf-16"), "text/html", URL, DocumentKind.HTML),
}


@pytest.mark.parametrize(("body", "declared", "url", "kind"), KINDS.values(), ids=KINDS.keys())
def test_sniff(body: bytes, declared: str, url: str, kind: DocumentKind) -> None:
    assert sniff(body, declared, url) is kind


def test_markdown_is_taken_as_it_is() -> None:
    source = (
        "# Title\n\nSome *text*.\n\n## Usage\n\n```sh\n# no heading\n\nmake\n```\n\n- "
        "one\n- two\n\n| a | b |\n| - | - |\n"
    )
    document = read(source.encode(), URL, {"content-type": "text/markdown; charset=utf-8"})
    assert document.markdown == source
    assert document.title == "Title"
    kinds = [block.kind for block in document.blocks]
    assert kinds == [
        BlockKind.HEADING,
        BlockKind.PARAGRAPH,
        BlockKind.HEADING,
        BlockKind.CODE,
        BlockKind.ITEM,
        BlockKind.ITEM,
        BlockKind.TABLE,
    ]
    assert document.blocks[3].section == ("Title", "Usage")
    assert document.block_text(document.blocks[3]) == "# no heading\n\nmake"


def test_plain_text_is_cut_at_empty_lines() -> None:
    document = read(b"one\ntwo\r\n\r\nthree", URL, {"Content-Type": "text/plain"})
    assert [document.block_text(block) for block in document.blocks] == ["one\ntwo", "three"]


def test_json_is_indented_in_a_fence() -> None:
    document = read('{"a":[1,"ü"]}'.encode(), URL, {"Content-Type": "application/json"})
    assert document.markdown == '```json\n{\n  "a": [\n    1,\n    "ü"\n  ]\n}\n```'


def test_a_feed_is_a_list_of_its_entries() -> None:
    document = read(RSS.encode(), URL)
    assert document.title == "News"
    assert document.markdown == (
        "# News\n\n- [One \\*star\\*](https://site.test/1) (Mon, 6 May 2024 10:00:00 "
        "GMT)\n  What happened."
    )
    assert [link.absolute_url for link in document.links] == ["https://site.test/1"]
    assert "- [Two](https://site.test/2) (2024-05-06)" in read(ATOM.encode(), URL).markdown


def test_xml_entities_are_never_resolved() -> None:
    bomb = (
        b'<!DOCTYPE r [<!ENTITY a SYSTEM "file:///etc/passwd">]><rss><channel><title>&a;'
        b"</title></channel></rss>"
    )
    assert "root:" not in read(b'<?xml version="1.0"?>' + bomb, URL).markdown


@pytest.mark.parametrize(
    ("body", "shape"),
    [(PNG, "PNG, 640×480"), (GIF, "GIF, 12×34"), (JPEG, "JPEG, 60×50"), (WEBP, "WebP, 100×50")],
)
def test_an_image_is_described(body: bytes, shape: str) -> None:
    document = read(body, "https://site.test/a/photo%20one.png")
    assert document.markdown == f"Image photo one.png: {shape} pixels, {len(body):,} bytes"
    assert document.warnings


def test_office_files_are_refused_in_words() -> None:
    document = read(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", URL)
    assert document.markdown == ""
    assert "office files" in document.warnings[0]


def test_fingerprints_name_content_and_address() -> None:
    one = read(b"<p>text</p>", URL).fingerprint
    assert len(one) == 32
    assert one == read(b"<p>text</p>", URL).fingerprint
    assert one != read(b"<p>text</p>", URL + "?b").fingerprint
    assert one != read(b"<p>next</p>", URL).fingerprint
    assert len(read(PNG, URL).fingerprint) == 32
