"""Templates of the request side: Jinja2 expressions in a sandbox, closed and checked beforehand.

Nothing but output, names, attributes, constants, comparison, `+`, `-`, `and`/`or`/`not`, the
conditional expression and the filters of FILTERS passes the check; a template that touches an
unset name yields None, so that its parameter is not sent.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from jinja2 import StrictUndefined, TemplateSyntaxError, nodes
from jinja2 import TemplateError as _JinjaError
from jinja2.exceptions import UndefinedError
from jinja2.sandbox import ImmutableSandboxedEnvironment

from framework.errors import ConsilienceError
from framework.spec import template_filters
from framework.spec.problems import suggest
from framework.spec.template_tree import (
    ADDRESS,
    GIVEN,
    TemplateError,
    check_tree,
    needed,
    open_address,
    paths,
    settle,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from jinja2 import Template as _Jinja

__all__ = [
    "FILTERS",
    "MAX_OUTPUT",
    "Items",
    "MissingValueError",
    "Template",
    "TemplateError",
    "compile_template",
]

#: The longest text that a template may yield, in bytes.
MAX_OUTPUT = 8_192

#: The filters of templates; `default` alone may touch an unset name.
FILTERS: Mapping[str, Callable[..., object]] = template_filters.FILTERS

_RESULT = "result"
_MARKS = re.compile(r"\{[{%#]")
_T = TypeVar("_T")


class MissingValueError(ConsilienceError):
    """A value that a session step should have yielded is missing; the search has to stop."""

    code = "missing_session_value"


class Items(Mapping[str, object]):
    """A frozen map whose items templates read as attributes, never its methods.

    An item that is missing is unset; one that `required` names is an error that names the owner.
    """

    __slots__ = ("_items", "owner", "required")

    def __init__(
        self, items: Mapping[str, object], owner: str = "", required: Iterable[str] = ()
    ) -> None:
        self._items = dict(items)
        self.owner = owner
        self.required = frozenset(required)

    def __getitem__(self, key: str) -> object:
        return self._items[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)


class _Address(str):
    """Text that an address takes as it is."""

    __slots__ = ()


def _finalize(value: object) -> object:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple | list):
        return ",".join(str(item) for item in value)
    if isinstance(value, datetime):
        return value.isoformat(timespec="seconds")
    return value


def _finalize_segment(value: object) -> object:
    if isinstance(value, _Address | StrictUndefined):
        return value
    return quote(str(_finalize(value)), safe="")


def _given(value: object) -> object:
    return None if isinstance(value, StrictUndefined) else value


class _Sandbox(ImmutableSandboxedEnvironment):
    """The sandbox, in which a map's attributes are its items and nothing else has any."""

    def __init__(self, finalize: Callable[..., object]) -> None:
        super().__init__(undefined=StrictUndefined, finalize=finalize, autoescape=False)
        self.globals.clear()
        self.tests.clear()
        self.filters.clear()
        self.filters.update(FILTERS)
        self.filters[ADDRESS] = _Address
        self.filters[GIVEN] = _given

    def getattr(self, obj: object, attribute: str) -> object:
        """Return an item of a map; Python attributes are out of reach."""
        if isinstance(obj, Items):
            if attribute in obj:
                return obj[attribute]
            if attribute in obj.required:
                raise MissingValueError(f'{obj.owner} has no value "{attribute}"')
        return self.undefined(obj=obj, name=attribute)


_TEXT = _Sandbox(_finalize)
_SEGMENTS = _Sandbox(_finalize_segment)


class Template:
    """A checked template; compiled when it is first rendered, and then kept.

    `names` holds what it touches, as dotted paths: `query`, `keys.brave`.
    """

    __slots__ = (
        "_compiled",
        "_environment",
        "_expression",
        "_name",
        "_needed",
        "_tree",
        "constant",
        "names",
        "source",
    )

    def __init__(self, source: str, tree: nodes.Template | None, *, address: bool) -> None:
        self.source = source
        self.constant = source if tree is None else None
        self.names: frozenset[str] = frozenset() if tree is None else frozenset(paths(tree))
        self._needed = () if tree is None else needed(tree)
        self._tree = tree
        self._name = None if address else _bare_name(tree)
        self._environment = _SEGMENTS if address else _TEXT
        self._compiled: _Jinja | None = None
        self._expression: _Jinja | None = None

    def render(self, context: Mapping[str, object]) -> str | None:
        """Return the text, or None where the template touches something unset.

        Raises TemplateError for text over 8 kB and for operations that do not fit their values,
        MissingValueError for a session value that is not there.
        """
        if self.constant is not None:
            return self.constant
        if any(name not in context for name in self._needed):
            return None
        if self._name is not None and type(value := context.get(self._name)) is str:
            return _capped(value)
        if self._compiled is None:
            self._compiled = self._environment.from_string(_tree(self._tree))
        compiled = self._compiled
        return self._guarded(lambda: _capped(_text(compiled, context)))

    def value(self, context: Mapping[str, object]) -> object:
        """Return the value with its type where the template is one whole expression, else text."""
        whole = _whole(self._tree)
        if whole is None:
            return self.render(context)
        if self._expression is None:
            assign = nodes.Assign(nodes.Name(_RESULT, "store"), whole, lineno=1)
            tree = nodes.Template([assign], lineno=1)
            tree.set_environment(self._environment)
            self._expression = self._environment.from_string(tree)
        compiled = self._expression
        return self._guarded(lambda: _evaluate(compiled, context))

    def _guarded(self, run: Callable[[], _T]) -> _T | None:
        try:
            return run()
        except UndefinedError:
            return None
        except (_JinjaError, TypeError, ValueError, OverflowError) as error:
            raise TemplateError(
                f"template {self.source!r} cannot be rendered: {error}",
                "its parts are not of the types that it combines",
            ) from error


def _tree(tree: nodes.Template | None) -> nodes.Template:
    if tree is None:
        raise TemplateError("a constant needs no compiling", "use its text")
    return tree


def _capped(text: str) -> str:
    if len(text.encode()) > MAX_OUTPUT:
        raise TemplateError(f"template yields more than {MAX_OUTPUT} bytes", "write less into it")
    return text


def _whole(tree: nodes.Template | None) -> nodes.Expr | None:
    if tree is None or len(tree.body) != 1 or not isinstance(tree.body[0], nodes.Output):
        return None
    parts = tree.body[0].nodes
    return parts[0] if len(parts) == 1 and not isinstance(parts[0], nodes.TemplateData) else None


def _bare_name(tree: nodes.Template | None) -> str | None:
    """The name in `{{ name }}`, whose text needs no rendering."""
    whole = _whole(tree)
    return whole.name if isinstance(whole, nodes.Name) else None


def _text(compiled: _Jinja, context: Mapping[str, object]) -> str:
    """Render without Jinja2's rewriting of tracebacks, which costs more than the rendering."""
    return "".join(compiled.root_render_func(compiled.new_context(dict(context))))


def _evaluate(compiled: _Jinja, context: Mapping[str, object]) -> object:
    scope = compiled.new_context(dict(context))
    for _ in compiled.root_render_func(scope):
        pass
    value = scope.vars[_RESULT]
    if isinstance(value, StrictUndefined):
        str(value)
    return _capped(value) if isinstance(value, str) else value


def compile_template(source: str, names: Iterable[str], *, address: bool = False) -> Template:
    """Check a template that may use `names` (dotted paths, or roots whose parts are free).

    With `address` every substitution is encoded as a path segment, except a setting that stands
    at the very start. Raises TemplateError with the wrong word and a hint.
    """
    template = _parsed(source, address)
    allowed = frozenset(names)
    for path in sorted(template.names):
        if path not in allowed and path.partition(".")[0] not in allowed:
            raise _unknown(path, allowed)
    return template


@lru_cache(maxsize=4096)
def _parsed(source: str, address: bool) -> Template:
    if not _MARKS.search(source):
        return Template(source, None, address=address)
    environment = _SEGMENTS if address else _TEXT
    try:
        tree = environment.parse(source)
    except TemplateSyntaxError as error:
        hint = 'a substitution is written "{{ name }}", with all brackets and quotes closed'
        raise TemplateError(f"template is not valid: {error.message}", hint) from error
    except RecursionError as error:
        raise TemplateError("template is nested too deeply", "write a shorter one") from error
    check_tree(tree)
    settle(tree)
    if address:
        open_address(tree)
    return Template(source, tree, address=address)


def _unknown(path: str, allowed: frozenset[str]) -> TemplateError:
    known = sorted(allowed)
    last = path.rpartition(".")[2]
    hint = suggest(path, known)
    near = hint.partition("?")[0] if hint.startswith("did you mean") else ""
    message = f'unknown variable "{path}"' + (f"; {near}?" if near else "")
    return TemplateError(message, f"known: {', '.join(known)}", last, "E202")
