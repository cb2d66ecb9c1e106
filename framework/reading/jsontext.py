"""JSON as a page: indented in a fence, or as it is where it doesn't parse."""

from __future__ import annotations

import json
from contextlib import suppress

from framework.reading.code import fence
from framework.reading.document import Metadata

__all__ = ["write"]

_INDENT_MOST = 2_000_000


def write(raw: str, url: str) -> tuple[str, Metadata]:
    """Return a JSON text in a fence, indented unless it is very large."""
    text = raw.strip()
    if len(text) <= _INDENT_MOST:
        with suppress(ValueError, RecursionError):
            text = json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    return (fence(text, "json") if text else ""), Metadata()
