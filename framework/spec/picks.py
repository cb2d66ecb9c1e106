"""Picks: one value taken from a response, compiled once into a function; nothing propagates."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from framework.spec.filters import FILTERS, compile_filter
from framework.spec.selectors import (
    Finder,
    SelectorError,
    check_selector,
    compile_css,
    compile_jmes,
    compile_xpath,
)
from framework.spec.templates import Items, TemplateError, compile_template

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from framework.spec.documents import Document
    from framework.spec.elements import Filter, Format, Pick
    from framework.spec.filters import Step

    #: What reads one value: the answer, the row's node (None: the whole answer), earlier fields.
    PickFunction = Callable[[Document, object, Mapping[str, object]], object]

__all__ = [
    "Languages",
    "SelectorError",
    "check_selector",
    "compile_finder",
    "compile_picks",
    "compile_root",
]

#: Matches that one pick of many looks at.
MAX_MATCHES = 1_000


@dataclass(frozen=True, slots=True)
class Languages:
    """How an answer is read: its format, which parser its HTML gets, XPath's prefixes."""

    format: Format
    lexbor: bool = True
    namespaces: Mapping[str, str] = field(default_factory=dict)


def compile_picks(picks: Sequence[Pick], languages: Languages) -> PickFunction:
    """Compile a fallback list: the first pick that yields something wins, else None.

    Raises SelectorError and ValueError for picks that do not compile.
    """
    functions = [_with_default(_compile(pick, languages), pick.default) for pick in picks]
    if len(functions) == 1:
        return functions[0]

    def run(document: Document, node: object, row: Mapping[str, object]) -> object:
        for function in functions:
            value = function(document, node, row)
            if value or _given(value):
                return value
        return None

    return run


def compile_finder(source: str, text: str, languages: Languages) -> Finder:
    """Compile a selector of `css`, `xpath` or `jmes`."""
    if source == "css":
        return compile_css(text, lexbor=languages.lexbor)
    if source == "xpath":
        return compile_xpath(text, languages.namespaces)
    return compile_jmes(text)


def compile_root(source: str, languages: Languages) -> Callable[[Document], object]:
    """Return where a selector starts in a whole answer: None on a body of another language."""
    if source == "jmes":
        return lambda document: document.data
    if source == "css":
        return _css_root(languages)
    if languages.format == "xml":
        return lambda document: document.xml
    if languages.format == "html":
        return lambda document: document.tree
    return lambda document: document.tree if document.looks_html else document.xml


def _css_root(languages: Languages) -> Callable[[Document], object]:
    anyway = languages.format == "html"
    if languages.lexbor:
        return lambda document: document.root if anyway or document.looks_html else None
    return lambda document: document.tree if anyway or document.looks_html else None


def _given(value: object) -> bool:
    return value is not None and value != "" and value != [] and value != ()


def _with_default(function: PickFunction, default: object) -> PickFunction:
    if default is None:
        return function

    def run(document: Document, node: object, row: Mapping[str, object]) -> object:
        value = function(document, node, row)
        return value if _given(value) else default

    return run


def _compile(pick: Pick, languages: Languages) -> PickFunction:
    if pick.source not in ("css", "xpath", "jmes"):
        return _whole(_simple(pick), _Steps(pick.do), pick.many)
    steps = _Steps(pick.do)
    finder = _finder(pick, languages)
    root = compile_root(pick.source, languages)
    if pick.many or steps.join is not None:
        return _collecting(finder.every, root, steps)
    return _single(finder.first, root, steps.first)


def _finder(pick: Pick, languages: Languages) -> Finder:
    as_html = pick.as_ == "html"
    if pick.source == "css":
        remove = pick.remove
        return compile_css(pick.expression, lexbor=languages.lexbor, remove=remove, as_html=as_html)
    if pick.source == "xpath":
        return compile_xpath(pick.expression, languages.namespaces, as_html=as_html)
    return compile_jmes(pick.expression)


class _Steps:
    """The filters of a pick: those before a `join`, the join, those after it."""

    __slots__ = ("first", "join", "last")

    def __init__(self, filters: Sequence[Filter]) -> None:
        names = [item.name for item in filters]
        cut = next((i for i, name in enumerate(names) if FILTERS[name].joins), None)
        steps = [compile_filter(item.name, item.argument) for item in filters]
        self.first = steps if cut is None else steps[:cut]
        self.join = None if cut is None else steps[cut]
        self.last = [] if cut is None else steps[cut + 1 :]

    def collect(self, matches: Sequence[object], document: Document) -> object:
        values: list[object] = []
        for match in matches[:MAX_MATCHES]:
            value = _apply(self.first, match, document)
            values.extend(value if isinstance(value, list) else [value])
        found = [value for value in values if _given(value)]
        if self.join is None:
            return found
        return _apply(self.last, self.join(found, document), document) if found else None


def _apply(steps: Sequence[Step], value: object, document: Document) -> object:
    for step in steps:
        if value is None:
            return None
        value = step(value, document)
    return value


def _single(
    find: Callable[[object], object], root: Callable[[Document], object], steps: Sequence[Step]
) -> PickFunction:
    def run(document: Document, node: object, _row: Mapping[str, object]) -> object:
        value = find(root(document) if node is None else node)
        if isinstance(value, list):
            value = next((item for item in value if item is not None), None)
        for step in steps:
            if value is None:
                return None
            value = step(value, document)
        return value

    return run


def _collecting(
    find: Callable[[object], list[object]], root: Callable[[Document], object], steps: _Steps
) -> PickFunction:
    def run(document: Document, node: object, _row: Mapping[str, object]) -> object:
        return steps.collect(find(root(document) if node is None else node), document)

    return run


def _whole(source: PickFunction, steps: _Steps, many: bool) -> PickFunction:
    """A pick whose source yields one value, with its filters."""

    def run(document: Document, node: object, row: Mapping[str, object]) -> object:
        value = source(document, node, row)
        if many or steps.join is not None:
            return steps.collect([] if value is None else [value], document)
        return _apply(steps.first, value, document)

    return run


def _simple(pick: Pick) -> PickFunction:
    name = pick.expression
    if pick.header is not None:
        return lambda document, _node, _row: document.response.header(name)
    if pick.cookie is not None:
        return lambda document, _node, _row: document.response.cookie(name)
    if pick.const is not None:
        constant = pick.const
        return lambda _document, _node, _row: constant
    if pick.text_of == "url":
        return lambda document, _node, _row: document.response.url
    if pick.text_of == "body":
        return lambda document, _node, _row: document.text
    return _template(name)


def _template(source: str) -> PickFunction:
    try:
        template = compile_template(source, ("row",))
    except TemplateError as error:
        raise SelectorError(error.message, error.hint) from error

    def run(_document: Document, _node: object, row: Mapping[str, object]) -> object:
        try:
            return template.render({"row": Items(row)})
        except TemplateError:
            return None

    return run
