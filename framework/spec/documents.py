"""One answer of an engine, with views that are built once, when something first asks for them."""

from __future__ import annotations

import json
import re
import time
from codecs import BOM_UTF8
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING, cast
from urllib.parse import urljoin

from lxml import etree
from pydantic_core import from_json
from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser
from w3lib.encoding import (
    html_body_declared_encoding,
    http_content_type_encoding,
    read_bom,
    resolve_encoding,
)

from framework.spec.dates import parse_instant
from framework.spec.hostile import is_hostile

if TYPE_CHECKING:
    from collections.abc import Callable

    from selectolax.lexbor import LexborNode

    from framework.types import HttpResponse

__all__ = ["BUDGET", "MAX_BODY", "Document", "absolute", "is_hostile", "parse_json"]

#: Bytes of a body that are looked at; the rest is cut.
MAX_BODY = 5 * 1024 * 1024

#: Seconds that the reading of one answer may take before it stops with what it has.
BUDGET = 2.0

#: Where `<base>` may stand.
_HEAD = 64 * 1024
_HTML = re.compile(rb"<(?:!doctype\s+html|html|head|body|title|script|meta|div)\b", re.IGNORECASE)
_DECLARATION = re.compile(r"\A\s*<\?xml[^>]*\?>")


class Document:
    """An answer as picks and conditions see it: text, HTML, XML, JSON, headers, cookies, address.

    Every view is None where the body is not of that language or does not parse; nothing raises.
    With `lexbor` false the HTML view is lxml's, for files that use XPath.
    """

    def __init__(
        self,
        response: HttpResponse,
        embedded: Callable[[Document], object] | None = None,
        *,
        budget: float = BUDGET,
    ) -> None:
        self.response = response
        self.embedded = embedded
        self.body = response.body[:MAX_BODY]
        self.budget = budget
        self.deadline = time.monotonic() + budget

    @property
    def expired(self) -> bool:
        """Whether the time for reading this answer is used up."""
        return time.monotonic() > self.deadline

    @cached_property
    def now(self) -> datetime:
        """The moment of the answer: its Date header, else the present."""
        header = self.response.header("date")
        return (parse_instant(header) if header else None) or datetime.now(UTC)

    @cached_property
    def charset(self) -> str:
        """The encoding: byte order mark, then the header, then the page itself, else UTF-8."""
        head = self.body[:4_096]
        marked, _ = read_bom(head)
        header = http_content_type_encoding(self.response.header("content-type"))
        named = marked or header or html_body_declared_encoding(head)
        return (resolve_encoding(named) if named else None) or "utf-8"

    @cached_property
    def text(self) -> str:
        """The decoded body; bytes that do not fit become replacement characters."""
        try:
            return self.body.decode(self.charset, "replace").removeprefix("\ufeff")
        except (LookupError, ValueError):
            return self.body.decode("utf-8", "replace")

    @cached_property
    def searchable(self) -> bytes:
        """The body in UTF-8, which RE2 searches."""
        return self.body if self.charset == "utf-8" else self.text.encode("utf-8", "replace")

    @cached_property
    def looks_html(self) -> bool:
        """Whether the body starts like a web page."""
        head = self.body[:2_048].lstrip(b"\xef\xbb\xbf \t\r\n")
        return head.startswith(b"<") and _HTML.search(head) is not None

    @cached_property
    def page(self) -> LexborHTMLParser | None:
        """The body as HTML, parsed by lexbor."""
        if is_hostile(self.body):
            return None
        source = self.body if self.charset == "utf-8" else self.text
        return LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)

    @cached_property
    def root(self) -> LexborNode | None:
        """The root element of the HTML view."""
        return self.page.root if self.page is not None else None

    @cached_property
    def tree(self) -> etree._Element | None:
        """The body as HTML, parsed by lxml."""
        if not self.body.strip() or is_hostile(self.body):
            return None
        parser = etree.HTMLParser(
            encoding="utf-8", no_network=True, huge_tree=False, remove_comments=True
        )
        try:
            return etree.fromstring(self.text.encode("utf-8", "replace"), parser)
        except (etree.LxmlError, ValueError):
            return None

    @cached_property
    def xml(self) -> etree._Element | None:
        """The body as XML: no entities but XML's own, no network, no DTD."""
        parser = _xml_parser()
        try:
            return etree.fromstring(self._xml_source(), parser)
        except (etree.LxmlError, ValueError):
            return None

    def _xml_source(self) -> bytes:
        """The bytes as they are; where a header names another encoding, re-encoded as UTF-8."""
        if self.charset == "utf-8" or not http_content_type_encoding(
            self.response.header("content-type")
        ):
            return self.body.strip()
        return _DECLARATION.sub("", self.text).strip().encode("utf-8", "replace")

    @cached_property
    def json(self) -> object:
        """The body as JSON, or None."""
        return parse_json(self.body if self.charset == "utf-8" else self.text)

    @cached_property
    def data(self) -> object:
        """The JSON that is read: what is embedded in the page, where the file says so, else all."""
        return self.embedded(self) if self.embedded is not None else self.json

    @cached_property
    def looks_json(self) -> bool:
        """Whether the body starts like a JSON object or array."""
        return self.body[:64].lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"[")

    @cached_property
    def base(self) -> str:
        """The address that relative links start from: `<base href>`, else the final address."""
        url = self.response.url
        head = self.body[:_HEAD]
        if not (b"<base" in head or b"<BASE" in head) or not self.looks_html:
            return url
        page = self.page
        node = page.css_first("base[href]") if page is not None else None
        return absolute(url, node.attributes.get("href") or "") or url if node else url


def parse_json(source: bytes | str) -> object:
    """Return the value of JSON text, None where it is none or is nested too deeply."""
    if isinstance(source, bytes):
        source = source.removeprefix(BOM_UTF8)
    try:
        return cast(object, from_json(source))
    except ValueError:
        return _lenient_json(source)


def _lenient_json(source: bytes | str) -> object:
    """Lone surrogates and deeper nesting, which the fast parser refuses."""
    try:
        return cast(object, json.loads(source))
    except (ValueError, RecursionError):
        return None


def absolute(base: str, link: str) -> str | None:
    """Return a link resolved against an address, or None where it makes no sense."""
    try:
        return urljoin(base, link)
    except ValueError:
        return None


def _xml_parser() -> etree.XMLParser:
    return etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
    )
