"""JSON that is hidden in a page: in an element, behind a literal text, or both."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from framework.spec.documents import parse_json
from framework.spec.selectors import check_css, split_pseudo

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.spec.documents import Document
    from framework.spec.model import Embedded

__all__ = ["compile_embedded"]

_DECODER = json.JSONDecoder()
#: Places where the marker may stand before the one that JSON follows.
_MAX_TRIES = 20


def compile_embedded(embedded: Embedded | None) -> Callable[[Document], object] | None:
    """Return what finds the JSON of an answer, None where the whole body is JSON.

    With `css` the text, or the attribute, of the elements that match is looked at, else the whole
    body. JSON starts after `after` and ends where it is complete; `before` bounds it where it
    cannot be told. A JSON string that holds JSON is parsed again. Raises SelectorError.
    """
    if embedded is None:
        return None
    sources = _sources(embedded.css)
    after, before = embedded.after or "", embedded.before

    def find(document: Document) -> object:
        for source in sources(document):
            value = _value(source, after, before)
            if value is not None:
                return value
        return None

    return find


def _sources(css: str | None) -> Callable[[Document], list[str]]:
    if css is None:
        return lambda document: [document.text]
    selector, take, name = split_pseudo(css)
    check_css(selector)

    def read(document: Document) -> list[str]:
        nodes = document.root.css(selector) if document.root is not None else []
        if take == "attr":
            return [value for node in nodes if (value := node.attributes.get(name))]
        return [node.text() for node in nodes]

    return read


def _value(source: str, after: str, before: str | None) -> object:
    start = 0
    for _ in range(_MAX_TRIES):
        at = source.find(after, start)
        if at < 0:
            return None
        start = at + max(1, len(after))
        value = _decode(source, at + len(after), before)
        if value is not None:
            return value
    return None


def _decode(source: str, start: int, before: str | None) -> object:
    while source[start : start + 1].isspace():
        start += 1
    try:
        value: object = _DECODER.raw_decode(source, start)[0]
    except (ValueError, RecursionError):
        end = source.find(before, start) if before else -1
        value = parse_json(source[start:end].strip()) if end >= 0 else None
    return parse_json(value) if isinstance(value, str) else value
