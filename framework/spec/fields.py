"""The closed table of row fields and extras, with the type that each of them is read as."""

from __future__ import annotations

from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

from framework.types import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["COMMON", "EXTRAS", "FIELDS", "REQUIRED", "FieldType", "allowed"]


class FieldType(StrEnum):
    """How a field's text becomes a value."""

    TEXT = "text"
    URL = "url"
    DATE = "date"
    INTEGER = "integer"
    NUMBER = "number"
    LIST = "list"


_T = FieldType

#: A row without one of these is dropped and counted.
REQUIRED = ("title", "url")

#: Fields that a row of any kind may have.
COMMON: Mapping[str, FieldType] = MappingProxyType(
    {
        "title": _T.TEXT,
        "url": _T.URL,
        "snippet": _T.TEXT,
        "published": _T.DATE,
        "thumbnail": _T.URL,
        "authors": _T.LIST,
        "highlights": _T.LIST,
        "source": _T.TEXT,
        "tags": _T.LIST,
        "score": _T.NUMBER,
        "comments": _T.INTEGER,
    }
)

#: Fields that only rows of one kind have: durations in seconds, sizes in bytes.
FIELDS: Mapping[Kind, Mapping[str, FieldType]] = MappingProxyType(
    {
        Kind.WEB: {},
        Kind.NEWS: {},
        Kind.IMAGES: {
            "image": _T.URL,
            "width": _T.INTEGER,
            "height": _T.INTEGER,
            "licence": _T.TEXT,
        },
        Kind.VIDEOS: {"duration": _T.INTEGER, "views": _T.INTEGER},
        Kind.PAPERS: {
            "doi": _T.TEXT,
            "pdf": _T.URL,
            "venue": _T.TEXT,
            "citations": _T.INTEGER,
        },
        Kind.CODE: {
            "stars": _T.INTEGER,
            "forks": _T.INTEGER,
            "language": _T.TEXT,
            "licence": _T.TEXT,
            "answers": _T.INTEGER,
            "downloads": _T.INTEGER,
        },
        Kind.DATA: {
            "downloads": _T.INTEGER,
            "licence": _T.TEXT,
            "size": _T.INTEGER,
            "stars": _T.INTEGER,
            "format": _T.TEXT,
            "doi": _T.TEXT,
        },
        Kind.REFERENCE: {"isbn": _T.TEXT, "answers": _T.INTEGER},
        Kind.FILES: {
            "size": _T.INTEGER,
            "downloads": _T.INTEGER,
            "format": _T.TEXT,
            "seeders": _T.INTEGER,
            "leechers": _T.INTEGER,
        },
        Kind.MAP: {
            "lat": _T.NUMBER,
            "lon": _T.NUMBER,
            "place": _T.TEXT,
            "category": _T.TEXT,
        },
        Kind.SOCIAL: {"answers": _T.INTEGER},
    }
)

#: What a page may say beyond its rows.
EXTRAS: Mapping[str, FieldType] = MappingProxyType(
    {
        "suggestions": _T.LIST,
        "correction": _T.TEXT,
        "answer": _T.TEXT,
        "total": _T.INTEGER,
    }
)


def allowed(kind: Kind) -> Mapping[str, FieldType]:
    """Return every field that a row of this kind may have, common ones first, with its type."""
    return {**COMMON, **FIELDS[kind]}
