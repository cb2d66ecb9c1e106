"""What bytes are, whatever their declared type says."""

from __future__ import annotations

import re

from framework.reading.document import DocumentKind

__all__ = ["sniff"]

_OFFICE_TYPES = (
    "officedocument",
    "msword",
    "ms-excel",
    "ms-powerpoint",
    "opendocument",
    "application/rtf",
)
_OFFICE_NAMES = re.compile(r"\.(?:docx?|xlsx?|pptx?|odt|ods|odp|rtf)(?:[?#]|$)", re.I)
_MARKDOWN_NAMES = re.compile(
    r"\.(?:md|markdown|mdx)(?:[?#]|$)|/llms(?:-full)?\.txt(?:[?#]|$)", re.I
)
_MAGIC = (
    (b"%PDF-", DocumentKind.PDF),
    (b"\x89PNG\r\n\x1a\n", DocumentKind.IMAGE),
    (b"\xff\xd8\xff", DocumentKind.IMAGE),
    (b"GIF8", DocumentKind.IMAGE),
    (b"\xd0\xcf\x11\xe0", DocumentKind.OFFICE),
    (b"{\\rtf", DocumentKind.OFFICE),
    (b"\x1f\x8b", DocumentKind.BINARY),
    (b"\x7fELF", DocumentKind.BINARY),
    (b"MZ\x90", DocumentKind.BINARY),
    (b"OggS", DocumentKind.BINARY),
    (b"\x00asm", DocumentKind.BINARY),
    (b"ID3", DocumentKind.BINARY),
)
_HTML = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|script|div|p|table|article|main|h1|a|ul|"
    rb"section|span|link|style|img|br|b|i|pre)\b",
    re.I,
)
_FEED = re.compile(rb"<(?:rss|feed|rdf:RDF)\b", re.I)
_MARKDOWN = re.compile(r"^#{1,6} \S|^```|^[-*] \S|\[[^\]\n]+\]\([^)\s]+\)", re.M)
_BYTES_OF_BINARY = bytes(range(9)) + bytes(range(14, 27)) + bytes(range(28, 32))


def sniff(body: bytes, content_type: str = "", url: str = "") -> DocumentKind:
    """Return the kind of a body: magic numbers first, then markup, then the declared type."""
    kind = _by_magic(body, url)
    if kind is not None:
        return kind
    declared = content_type.partition(";")[0].strip().lower()
    head = body[:2048].lstrip(b"\xef\xbb\xbf \t\r\n")
    if declared in ("text/markdown", "text/x-markdown"):
        return (
            DocumentKind.HTML
            if head[:15].lower().startswith((b"<!doctype", b"<html"))
            else DocumentKind.MARKDOWN
        )
    if _is_xml(head):
        return _xml_kind(head, declared)
    if (
        head[:1] in (b"{", b"[")
        and ("json" in declared or not _HTML.search(head))
        and "html" not in declared
    ):
        return DocumentKind.JSON if "json" in declared or _closes(body) else DocumentKind.TEXT
    if "html" in declared or (head[:1] == b"<" and _HTML.search(head)):
        return DocumentKind.HTML
    if any(name in declared for name in _OFFICE_TYPES):
        return DocumentKind.OFFICE
    if _is_binary(body):
        return DocumentKind.IMAGE if declared.startswith("image/") else DocumentKind.BINARY
    return _text_kind(body, declared, url)


def _by_magic(body: bytes, url: str) -> DocumentKind | None:
    for magic, kind in _MAGIC:
        if body.startswith(magic):
            return kind
    if b"%PDF-" in body[:1024] and not _HTML.search(body[:1024]):
        return DocumentKind.PDF
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return DocumentKind.IMAGE
    if body[4:12] in (b"ftypavif", b"ftypheic", b"ftypmif1"):
        return DocumentKind.IMAGE
    if body[:4] == b"PK\x03\x04":
        named = (
            b"word/" in body[:4000]
            or b"xl/" in body[:4000]
            or b"ppt/" in body[:4000]
            or b"opendocument" in body[:200]
            or b"[Content_Types]" in body[:200]
        )
        return DocumentKind.OFFICE if named or _OFFICE_NAMES.search(url) else DocumentKind.BINARY
    return None


def _is_xml(head: bytes) -> bool:
    return head.startswith((b"<?xml", b"<svg")) or bool(_FEED.match(head[:200]))


def _xml_kind(head: bytes, declared: str) -> DocumentKind:
    if re.search(rb"<html\b|<!doctype html", head, re.I):
        return DocumentKind.HTML
    if _FEED.search(head):
        return DocumentKind.FEED
    return (
        DocumentKind.HTML
        if "html" in declared and not head.startswith((b"<?xml", b"<svg"))
        else DocumentKind.XML
    )


def _closes(body: bytes) -> bool:
    tail = body[-200:].rstrip()
    return tail.endswith((b"}", b"]"))


def _is_binary(body: bytes) -> bool:
    head = body[:4096]
    if not head or head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return False
    zeros = head.count(0)
    if zeros * 3 > len(head) and abs(head[0::2].count(0) - head[1::2].count(0)) > zeros // 2:
        return False
    strange = len(head) - len(head.translate(None, _BYTES_OF_BINARY))
    return strange * 20 > len(head)


def _text_kind(body: bytes, declared: str, url: str) -> DocumentKind:
    if "json" in declared:
        return DocumentKind.JSON
    if _MARKDOWN_NAMES.search(url):
        return DocumentKind.MARKDOWN
    if declared == "text/plain" or (declared and not declared.endswith("octet-stream")):
        return DocumentKind.TEXT
    if _HTML.search(body[:65536]) and not _MARKDOWN.search(body[:2048].decode("utf-8", "replace")):
        return DocumentKind.HTML
    return DocumentKind.TEXT if not _HTML.search(body[:65536]) else DocumentKind.HTML
