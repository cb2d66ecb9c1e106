"""CSS, XPath and JMESPath, compiled once into finders of nodes and of their values."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from cssselect import HTMLTranslator
from cssselect import SelectorError as _CssError
from jmespath.exceptions import JMESPathError
from jmespath.visitor import TreeInterpreter
from lxml import etree
from selectolax.lexbor import LexborHTMLParser, LexborNode, SelectolaxError

from framework.spec.patterns import check_jmes
from framework.spec.texts import (
    element_html,
    element_own_text,
    element_text,
    node_own_text,
    node_text,
    node_text_without,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from jmespath.visitor import _TreeNode

__all__ = [
    "Finder",
    "SelectorError",
    "check_selector",
    "compile_css",
    "compile_jmes",
    "compile_xpath",
    "element_css",
    "split_pseudo",
]

_PSEUDO = re.compile(r"::\s*(?:(text)|attr\(\s*([^()\s]+)\s*\))\s*$")
_NAME = re.compile(r"[A-Za-z_][\w.:-]*", re.ASCII)
_DOTTED = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*", re.ASCII)
_REGEX_CALL = re.compile(r"\bre:(?:test|match|replace)\s*\(")

#: What fails in CSS, found in the text, and what to write instead.
_CSS_HINTS = (
    (re.compile(r"^\s*[>+~]"), "a row's selector starts at the row itself; write it without it"),
    (re.compile(r":scope\b"), "leave :scope out: a row's selector sees the row itself"),
    (
        re.compile(r":(?:-soup-)?contains\("),
        'write :lexbor-contains("text"), or "text" i for either case',
    ),
    (re.compile(r"::?(?!text|attr)\w+$"), "only ::text and ::attr(name) take values"),
    (re.compile(r"::"), "::text and ::attr(name) stand at the very end"),
)


#: What a hint offers where it is not plain what fails.
_CSS_FORMS = "such as: div.result > h3 a, #main [data-id], a[href^='http'], li:not(.ad)"
_XPATH_FORMS = "such as: .//a/@href, string(h3), .//div[contains(@class, 'result')]"
_JMES_FORMS = "such as: results, data.items[].link, hits[0].title"
_OPENING = {")": "(", "]": "["}


class SelectorError(ValueError):
    """A selector that does not compile: the problem in `message`, the remedy in `hint`."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}\n{hint}")
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Finder:
    """A compiled selector: called with the node of the right language that it starts from.

    `first` yields the first match that has a value, `every` the values of all matches, `nodes`
    the matches themselves, `exists` whether there is one. None of them raises.
    """

    first: Callable[[object], object]
    every: Callable[[object], list[object]]
    nodes: Callable[[object], list[object]]
    exists: Callable[[object], bool]


def check_selector(
    source: str, text: str, *, lexbor: bool, namespaces: Mapping[str, str] | None = None
) -> None:
    """Raise SelectorError where a `css`, `xpath` or `jmes` selector does not compile."""
    if source == "css":
        compile_css(text, lexbor=lexbor)
    elif source == "xpath":
        compile_xpath(text, namespaces or {})
    else:
        compile_jmes(text)


def split_pseudo(text: str) -> tuple[str, str, str]:
    """Split off `::text` and `::attr(name)`: selector, `text`, `attr` or nothing, the name.

    Nothing before it means the row itself; white space before it means anything inside.
    A list of selectors may repeat the same ending for each of its parts.
    """
    parts = _alternatives(text)
    endings = [_PSEUDO.search(part) for part in parts]
    match = endings[-1]
    if match is None:
        return text.strip(), "", ""
    if len({ending[0].replace(" ", "") if ending else None for ending in endings}) > 1:
        raise SelectorError(
            "parts of a list of selectors take different values", "write a fallback list of picks"
        )
    heads = [_head(part, ending) for part, ending in zip(parts, endings, strict=True) if ending]
    return ", ".join(heads), "text" if match[1] else "attr", match[2] or ""


def _head(part: str, ending: re.Match[str]) -> str:
    head = part[: ending.start()]
    inside = head.strip() and head[-1:].isspace()
    return f"{head.strip()} *" if inside else head.strip()


def _alternatives(text: str) -> list[str]:
    """Split at the commas that stand outside brackets and quotes."""
    parts, depth, quote, start = [], 0, "", 0
    for index, char in enumerate(text):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in "([":
            depth += 1
        elif char in ")]":
            depth -= 1
        elif char == "," and depth == 0:
            parts.append(text[start:index])
            start = index + 1
    return [*parts, text[start:]]


def compile_css(
    text: str, *, lexbor: bool, remove: str | None = None, as_html: bool = False
) -> Finder:
    """Compile CSS with our `::text` and `::attr(name)`; raises SelectorError with a hint."""
    selector, take, name = split_pseudo(text)
    if take == "attr" and not _NAME.fullmatch(name):
        raise SelectorError(f'"{name}" is not an attribute\'s name', "write ::attr(href)")
    if lexbor:
        read = _node_reader(take, name, remove, as_html)
        return _lexbor(selector, read)
    find = element_css(selector) if selector else _itself
    return _finder(find, _element_reader(take, name, remove, as_html))


def _css_problem(text: str, reason: str) -> SelectorError:
    hint = next((hint for pattern, hint in _CSS_HINTS if pattern.search(text)), "")
    return SelectorError(
        f'"{text}" is not a valid CSS selector{reason}', hint or _unclosed(text) or _CSS_FORMS
    )


def _unclosed(text: str) -> str:
    """Name the bracket or quote that a selector opens and does not close, or closes unopened."""
    opened: list[str] = []
    for char in text:
        if opened and opened[-1] in "\"'":
            if char == opened[-1]:
                opened.pop()
        elif char in "([\"'":
            opened.append(char)
        elif char in ")]" and (not opened or opened.pop() != _OPENING[char]):
            return f"no {_OPENING[char]} stands before the {char}"
    return f"the {opened[-1]} is not closed" if opened else ""


# -- lexbor ------------------------------------------------------------------------------------

_PROBE = LexborHTMLParser("<p>")


def check_css(selector: str) -> None:
    """Raise SelectorError where lexbor does not accept a selector."""
    try:
        _PROBE.css_first(selector)
    except (SelectolaxError, ValueError, RuntimeError) as error:
        raise _css_problem(selector, "") from error


def _node_reader(
    take: str, name: str, remove: str | None, as_html: bool
) -> Callable[[LexborNode], str | None]:
    if take == "attr":
        return lambda node: node.attrs.get(name)
    if as_html:
        return lambda node: node.html
    if take == "text":
        return node_own_text
    if remove is None:
        return node_text
    check_css(remove)
    return lambda node: node_text_without(node, remove)


def _lexbor(selector: str, read: Callable[[LexborNode], str | None]) -> Finder:
    if not selector:
        return _finder(_itself, read)
    check_css(selector)

    def nodes(scope: object) -> list[LexborNode]:
        return scope.css(selector) if isinstance(scope, LexborNode) else []

    def every(scope: object) -> list[object]:
        return [value for node in nodes(scope) if (value := read(node))]

    def first(scope: object) -> object:
        if not isinstance(scope, LexborNode):
            return None
        node = scope.css_first(selector)
        if node is None:
            return None
        return read(node) or next(iter(every(scope)), None)

    def exists(scope: object) -> bool:
        return isinstance(scope, LexborNode) and scope.css_first(selector) is not None

    return Finder(first, every, nodes, exists)  # type: ignore[arg-type]  # lists of nodes


# -- lxml --------------------------------------------------------------------------------------

_TRANSLATOR = HTMLTranslator()


def element_css(selector: str) -> Callable[[object], list[object]]:
    """Compile CSS for lxml's trees; what it finds lies in the element or is the element itself."""
    try:
        path = _TRANSLATOR.css_to_xpath(selector)
        return _evaluator(etree.XPath(path, regexp=False, smart_strings=False))
    except (_CssError, etree.XPathError) as error:
        raise _css_problem(selector, f": {error}") from error


def _element_reader(
    take: str, name: str, remove: str | None, as_html: bool
) -> Callable[[etree._Element], str | None]:
    if take == "attr":
        return lambda element: element.get(name)
    if as_html:
        return element_html
    if take == "text":
        return element_own_text
    if remove is None:
        return element_text
    find = element_css(remove)
    return lambda element: element_text(element, frozenset(find(element)))


def compile_xpath(
    text: str,
    namespaces: Mapping[str, str],
    *,
    as_html: bool = False,
) -> Finder:
    """Compile XPath 1.0 with prefixes; raises SelectorError. EXSLT expressions are refused."""
    if _REGEX_CALL.search(text):
        raise SelectorError(
            "regular expressions in XPath can take forever", "filter with do: [{match: …}]"
        )
    try:
        path = etree.XPath(text, namespaces=dict(namespaces), regexp=False, smart_strings=False)
    except (etree.XPathError, ValueError, TypeError) as error:
        raise SelectorError(
            f'"{text}" is not a valid XPath expression: {error}', _XPATH_FORMS
        ) from error
    _check_prefixes(path, text, namespaces)
    find = _evaluator(path)
    element = element_html if as_html else element_text

    def read(match: object) -> object:
        return element(match) if isinstance(match, etree._Element) else match

    return _finder(find, read)


def _check_prefixes(path: etree.XPath, text: str, namespaces: Mapping[str, str]) -> None:
    try:
        path(etree.Element("probe"))
    except etree.XPathError as error:
        known = ", ".join(namespaces) or "none"
        raise SelectorError(
            f'"{text}" cannot be evaluated: {error}', f"declared namespaces: {known}"
        ) from error


def _evaluator(path: etree.XPath) -> Callable[[object], list[object]]:
    def find(scope: object) -> list[object]:
        if not isinstance(scope, etree._Element):
            return []
        try:
            found = path(scope)
        except (etree.LxmlError, ValueError):
            return []
        if isinstance(found, list):
            return cast(list[object], found)
        return [] if found is False or found == "" or found != found else [found]

    return find


def _itself(scope: object) -> list[object]:
    return [] if scope is None else [scope]


def _finder(find: Callable[[object], list[object]], read: Callable[..., object]) -> Finder:
    def every(scope: object) -> list[object]:
        values = (read(match) for match in find(scope))
        return [value for value in values if value is not None and value != ""]

    def first(scope: object) -> object:
        for match in find(scope):
            value = read(match)
            if value is not None and value != "":
                return value
        return None

    return Finder(first, every, find, lambda scope: bool(find(scope)))


# -- JMESPath ----------------------------------------------------------------------------------


def compile_jmes(text: str) -> Finder:
    """Compile JMESPath; raises SelectorError. Plain dotted names are looked up directly."""
    try:
        parsed = check_jmes(text)
    except ValueError as error:
        raise SelectorError(f'"{text}" {error}', _JMES_FORMS) from error
    search = _dotted(text.split(".")) if _DOTTED.fullmatch(text) else _interpreted(parsed.parsed)

    def every(scope: object) -> list[object]:
        found = search(scope)
        if isinstance(found, list):
            return [item for item in found if item is not None]
        return [] if found is None else [found]

    return Finder(search, every, every, lambda scope: _true(search(scope)))


def _dotted(names: list[str]) -> Callable[[object], object]:
    if len(names) == 1:
        name = names[0]
        return lambda value: value.get(name) if isinstance(value, dict) else None

    def search(value: object) -> object:
        for name in names:
            if not isinstance(value, dict):
                return None
            value = value.get(name)
        return value

    return search


def _interpreted(tree: _TreeNode) -> Callable[[object], object]:
    visit = TreeInterpreter().visit

    def search(value: object) -> object:
        try:
            found: object = visit(tree, value)
        except (JMESPathError, RecursionError, TypeError, ValueError, AttributeError, KeyError):
            return None
        return found

    return search


def _true(value: object) -> bool:
    """JMESPath's own truth: empty texts, lists and maps, false and null are false; 0 is true."""
    return value is not None and value is not False and value not in ("", [], {})
