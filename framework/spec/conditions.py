"""Conditions: a truth about an answer or about one row, compiled once; false where in doubt."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, cast

from framework.spec.patterns import check_regex, compile_search
from framework.spec.picks import Languages, compile_finder, compile_root
from framework.spec.texts import element_text, node_text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from lxml.etree import _Element
    from selectolax.lexbor import LexborNode

    from framework.spec.documents import Document
    from framework.spec.elements import Condition

    #: Tells whether an answer, or one row of it (None: the whole answer), is as described.
    Test = Callable[[Document, object], bool]

__all__ = ["compile_condition", "describe"]

#: What a source costs: headers and numbers nothing, a parsed view little, the whole text most.
_COSTS = {"css": 1, "xpath": 1, "jmes": 1, "text": 2}
#: A pattern of literal texts, and its escapes.
_LITERALS = re.compile(r"(?:[A-Za-z0-9 _/=,'\"!@#%&:;<>~-]|\\[./?+*()\[\]{}$^-]|(?<=.)\|(?=.))+")
_ESCAPED = re.compile(r"\\(.)")


def compile_condition(condition: Condition, languages: Languages) -> Test:
    """Return the test of a condition; it never raises.

    Selectors may be of any language whatever the format; on a body of another one they are
    false, and so is their negation's operand. Raises SelectorError and ValueError for what does
    not compile.
    """
    return _COMPILERS[condition.source](condition, languages)


def describe(condition: Condition) -> str:
    """Return a condition in a few words, for reports."""
    source = condition.source
    parts = condition.any or condition.all or ((condition.not_,) if condition.not_ else ())
    if parts:
        return f"{source}({', '.join(map(describe, parts))})"
    value = getattr(condition, source)
    if isinstance(value, tuple):
        return f"{source} {' or '.join(map(str, value))}"
    if condition.header is not None:
        return f"header {', '.join(condition.header)}"
    return f"{source} {value}"


def _status(condition: Condition, _languages: Languages) -> Test:
    wanted = frozenset(condition.status or ())
    return lambda document, _node: document.response.status in wanted


def _url(condition: Condition, _languages: Languages) -> Test:
    search, _ = compile_search(condition.url)

    def test(document: Document, _node: object) -> bool:
        response = document.response
        return any(search(url) is not None for url in (response.url, *response.hops))

    return test


def _header(condition: Condition, _languages: Languages) -> Test:
    patterns = (condition.header or {}).items()
    searches = [(name.lower(), compile_search(pattern)[0]) for name, pattern in patterns]

    def test(document: Document, _node: object) -> bool:
        headers = document.response.headers
        return all(
            any(key.lower() == name and search(value) is not None for key, value in headers)
            for name, search in searches
        )

    return test


def _selector(condition: Condition, languages: Languages) -> Test:
    source = condition.source
    finder = compile_finder(source, cast(str, getattr(condition, source)), languages)
    exists, root = finder.exists, compile_root(source, languages)

    def test(document: Document, node: object) -> bool:
        return exists(root(document) if node is None else node)

    return test


def _text(condition: Condition, _languages: Languages) -> Test:
    search = _searcher(condition.text or "")

    def test(document: Document, node: object) -> bool:
        if node is None:
            return search(document.searchable)
        return search(_row_text(node).encode("utf-8", "replace"))

    return test


def _searcher(pattern: str) -> Callable[[bytes], bool]:
    """A search in UTF-8 text; literal alternatives are looked up without RE2, ten times faster."""
    search = check_regex(pattern).search
    if not _LITERALS.fullmatch(pattern):
        return lambda text: search(text) is not None
    words = [_ESCAPED.sub(r"\1", word).encode() for word in pattern.split("|")]
    return lambda text: any(word in text for word in words)


def _row_text(node: object) -> str:
    """The text of a row: an element's text, a JSON value's own representation."""
    if isinstance(node, str):
        return node
    if hasattr(node, "mem_id"):
        return node_text(cast("LexborNode", node))
    if hasattr(node, "iterdescendants"):
        return element_text(cast("_Element", node))
    try:
        return str(node)
    except RecursionError:
        return ""


def _size(condition: Condition, _languages: Languages) -> Test:
    limit = condition.size_below or 0
    return lambda document, _node: len(document.body) < limit


def _any(condition: Condition, languages: Languages) -> Test:
    tests = _cheapest_first(condition.any or (), languages)
    return lambda document, node: any(test(document, node) for test in tests)


def _all(condition: Condition, languages: Languages) -> Test:
    tests = _cheapest_first(condition.all or (), languages)
    return lambda document, node: all(test(document, node) for test in tests)


def _cheapest_first(parts: tuple[Condition, ...], languages: Languages) -> list[Test]:
    """Conditions are pure, so their order is ours: a search in the whole body goes last."""
    return [compile_condition(part, languages) for part in sorted(parts, key=_cost)]


def _cost(condition: Condition) -> int:
    parts = condition.any or condition.all or ((condition.not_,) if condition.not_ else ())
    return max(map(_cost, parts)) if parts else _COSTS.get(condition.source, 0)


def _not(condition: Condition, languages: Languages) -> Test:
    test = compile_condition(cast("Condition", condition.not_), languages)
    return lambda document, node: not test(document, node)


_COMPILERS: Mapping[str, Callable[[Condition, Languages], Test]] = {
    "status": _status,
    "url": _url,
    "header": _header,
    "css": _selector,
    "xpath": _selector,
    "jmes": _selector,
    "text": _text,
    "size_below": _size,
    "any": _any,
    "all": _all,
    "not": _not,
}
