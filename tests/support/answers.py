"""Answers of engines for tests, and readers compiled from small files."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

from framework.spec.documents import Document
from framework.spec.picks import Languages
from framework.types import HttpResponse
from tests.support.specs import engine, spec_text

if TYPE_CHECKING:
    from framework.spec.read import Reader

URL = "https://www.example.org/search?q=x"
NOW = datetime(2026, 4, 10, 12, 0, tzinfo=UTC)
DATE = ("Date", "Fri, 10 Apr 2026 12:00:00 GMT")

HTML = Languages("html")
LXML = Languages("html", lexbor=False)
JSON = Languages("json")
XML = Languages("xml")


class Clock:
    """A clock that stands still."""

    now = NOW


def answer(body: str | bytes, *headers: tuple[str, str], **parts: object) -> HttpResponse:
    """Return an answer with that body; `url`, `status` and `hops` as in HttpResponse."""
    raw = body.encode() if isinstance(body, str) else body
    return HttpResponse(**{"url": URL, "body": raw, "headers": (DATE, *headers), **parts})  # type: ignore[arg-type]


def document(body: str | bytes, *headers: tuple[str, str], **parts: object) -> Document:
    """Return a document of an answer with that body."""
    return Document(answer(body, *headers, **parts))


def reader(**parts: str) -> Reader:
    """Return the reader of the good file with whole top-level keys replaced."""
    return engine(spec_text(**parts)).reader
