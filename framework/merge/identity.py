"""Names that a row carries beside its address: DOI, arXiv id, ISBN, PubMed id.

Two rows with one of these in common are the same work, wherever each of them is published.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.merge.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.types import FieldValue, Row

__all__ = ["identities"]

_DOI = re.compile(r"10\.[0-9]{4,9}/[^\s?#]+")
_ARXIV_DOI = "10.48550/arxiv."
_ARXIV = re.compile(
    r"(?:arxiv:|.*arxiv\.org/[a-z]+/)?((?:[a-z-]+(?:\.[a-z]{2})?/)?[0-9.]{7,10})"
    r"(?:v[0-9]+)?(?:\.pdf)?",
    re.IGNORECASE,
)
_ARXIV_PAGE = re.compile(r"https://arxiv\.org/(?:abs|pdf|html)/(.+)")
_PUBMED = re.compile(r"https://pubmed\.ncbi\.nlm\.nih\.gov/([0-9]+)")
_DOI_PAGE = "https://doi.org/"

#: Fields that only the record of a publication has; such a row stands for the work, not a version.
_RECORD_FIELDS = ("authors", "doi", "venue", "citations", "pdf")


def identities(row: Row) -> tuple[str, ...]:
    """Return the identity keys of a row, its address's key first."""
    key = canonical(row.url)
    if not row.fields and not key.startswith(_DOI_PAGE):
        return (key,)
    return tuple(dict.fromkeys((key, *_named(row), *_addressed(row, key))))


def _named(row: Row) -> list[str]:
    given = [(value, _FIELDS[field]) for field, value in row.fields.items() if field in _FIELDS]
    return [name for value, read in given if (name := read(value))]


def _addressed(row: Row, key: str) -> list[str]:
    """Names that the address itself is made of, for rows that are records of a publication."""
    if key.startswith(_DOI_PAGE):
        return [name] if (name := _doi(key.removeprefix(_DOI_PAGE))) else []
    if not any(field in row.fields for field in _RECORD_FIELDS):
        return []
    if found := _ARXIV_PAGE.fullmatch(key):
        return [name] if (name := _arxiv(found.group(1))) else []
    if found := _PUBMED.fullmatch(key):
        return [f"pmid:{found.group(1)}"]
    return []


def _doi(value: FieldValue) -> str:
    found = _DOI.search(value) if isinstance(value, str) else None
    if found is None:
        return ""
    doi = found.group().rstrip(".,;").lower()
    if doi.startswith(_ARXIV_DOI):
        return _arxiv(doi.removeprefix(_ARXIV_DOI))
    return f"doi:{doi}"


def _arxiv(value: FieldValue) -> str:
    found = _ARXIV.fullmatch(value.strip()) if isinstance(value, str) else None
    return f"arxiv:{found.group(1).lower()}" if found else ""


def _isbn(value: FieldValue) -> str:
    digits = re.sub(r"[\s-]", "", value).upper() if isinstance(value, str) else ""
    if re.fullmatch(r"[0-9]{9}[0-9X]", digits):
        return f"isbn:{_isbn13(digits)}"
    return f"isbn:{digits}" if re.fullmatch(r"97[89][0-9]{10}", digits) else ""


def _isbn13(isbn10: str) -> str:
    """ISO 2108: prefix 978, and a check digit with alternating weights 1 and 3."""
    body = f"978{isbn10[:9]}"
    total = sum(int(digit) * (3 if position % 2 else 1) for position, digit in enumerate(body))
    return f"{body}{-total % 10}"


def _pmid(value: FieldValue) -> str:
    text = str(value).strip() if isinstance(value, str | int) and value is not True else ""
    return f"pmid:{text}" if text.isdecimal() and text.isascii() else ""


_FIELDS: dict[str, Callable[[FieldValue], str]] = {
    "doi": _doi,
    "arxiv": _arxiv,
    "arxiv_id": _arxiv,
    "isbn": _isbn,
    "pmid": _pmid,
}
