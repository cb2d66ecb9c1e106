"""One compiled request: templates in, an encoded HttpRequest out. No spec calls an encoder."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from framework.errors import InvalidInputError
from framework.spec.address import address_fault
from framework.spec.problems import Fault
from framework.spec.templates import Template, TemplateError, compile_template
from framework.types import HttpRequest

if TYPE_CHECKING:
    from collections.abc import Iterator, Set

    from framework.spec.model import Request, Setting

__all__ = ["LISTS", "CompiledRequest", "Scope", "compile_request"]

#: The variables that a JSON body may send as a whole list: `{list: include_domains}`.
LISTS = ("include_domains", "exclude_domains")

_TOKEN = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f]+")
_COOKIE_SAFE = "!#$%&'()*+-./:<=>?@[]^_`{|}~"
_Path = tuple[str | int, ...]


class _Unset:
    """Stands for a value that is not sent."""


_UNSET = _Unset()


@dataclass(frozen=True, slots=True)
class Scope:
    """What the templates of one request may use.

    `undeclared` names what is always unset and says how to declare it, `forbidden` what is out of
    reach and why.
    """

    names: frozenset[str]
    settings: Mapping[str, Setting]
    undeclared: Mapping[str, str]
    forbidden: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _List:
    name: str


_Json = Template | _List | dict[str, "_Json"] | list["_Json"] | int | float | bool | None
_Pairs = tuple[tuple[str, Template], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CompiledRequest:
    """A request whose templates are checked; `names` holds every variable that it touches."""

    url: Template
    method: str
    mirrors: tuple[str, ...] = ()
    query: _Pairs = ()
    form: _Pairs | None = None
    json: _Json = None
    text: Template | None = None
    headers: _Pairs = ()
    cookies: _Pairs = ()
    names: frozenset[str] = frozenset()
    lists: tuple[tuple[str, str, str], ...] = ()
    """Parameter, variable and separator of domains that are sent as a parameter of their own."""
    repeatable: bool = False

    def build(self, context: Mapping[str, object], mirror: int = 0) -> HttpRequest:
        """Render and encode; a pair whose template touches an unset name is not sent.

        Raises InvalidInputError where the address itself cannot be made.
        """
        body, kind = self._body(context)
        headers = self.headers_for(context)
        if kind and not any(name.lower() == "content-type" for name, _ in headers):
            headers = (*headers, ("Content-Type", kind))
        return HttpRequest(
            url=self._url(context, mirror),
            method=self.method,
            headers=headers,
            cookies=self.cookies_for(context),
            body=body,
            repeatable=self.repeatable,
        )

    def headers_for(self, context: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
        """Return the headers that are set, without control characters."""
        pairs = _rendered(self.headers, context)
        return tuple((name, _CONTROLS.sub(" ", value).strip()) for name, value in pairs)

    def cookies_for(self, context: Mapping[str, object]) -> tuple[tuple[str, str], ...]:
        """Return the cookies that are set, with what would end a cookie percent-encoded."""
        pairs = _rendered(self.cookies, context)
        return tuple((name, quote(value, safe=_COOKIE_SAFE)) for name, value in pairs)

    def _url(self, context: Mapping[str, object], mirror: int) -> str:
        address = self.url.render(context)
        parts = urlsplit(address or "")
        if (
            parts.scheme not in ("http", "https")
            or not parts.hostname
            or parts.username is not None
        ):
            raise InvalidInputError(
                f"the address {self.url.source!r} has no http or https address for its values",
                hint="set the value that it starts with",
            )
        if mirror:
            other = urlsplit(self.mirrors[(mirror - 1) % len(self.mirrors)])
            parts = parts._replace(scheme=other.scheme, netloc=other.netloc)
        pairs = [*_rendered(self.query, context)]
        if self.form is None and self.json is None:
            pairs += self._list_pairs(context)
        query = "&".join(part for part in (parts.query, urlencode(pairs)) if part)
        return urlunsplit(parts._replace(query=query, fragment=""))

    def _body(self, context: Mapping[str, object]) -> tuple[bytes, str]:
        if self.form is not None:
            pairs = [*_rendered(self.form, context), *self._list_pairs(context)]
            return urlencode(pairs).encode(), "application/x-www-form-urlencoded"
        if self.json is not None:
            value = _json_value(self.json, context)
            if isinstance(value, dict):
                value |= {key: list(items) for key, items, _ in self._given_lists(context)}
            body = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
            return body.encode(), "application/json"
        if self.text is not None:
            return (self.text.render(context) or "").encode(), "text/plain; charset=utf-8"
        return b"", ""

    def _given_lists(
        self, context: Mapping[str, object]
    ) -> Iterator[tuple[str, tuple[str, ...], str]]:
        for parameter, variable, separator in self.lists:
            items = context.get(variable)
            if isinstance(items, tuple) and items:
                yield parameter, items, separator

    def _list_pairs(self, context: Mapping[str, object]) -> list[tuple[str, str]]:
        return [(key, glue.join(items)) for key, items, glue in self._given_lists(context)]


def _rendered(pairs: _Pairs, context: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, template in pairs:
        value = template.render(context)
        if value is not None:
            yield name, value


def _json_value(part: _Json, context: Mapping[str, object]) -> object:
    if isinstance(part, Template):
        value = part.value(context)
        return _UNSET if value is None else value
    if isinstance(part, _List):
        items = context.get(part.name)
        return list(items) if isinstance(items, tuple) and items else _UNSET
    if isinstance(part, dict):
        values = {key: _json_value(item, context) for key, item in part.items()}
        return {key: value for key, value in values.items() if value is not _UNSET}
    if isinstance(part, list):
        listed = [_json_value(item, context) for item in part]
        return [value for value in listed if value is not _UNSET]
    return part


def compile_request(
    request: Request,
    scope: Scope,
    at: _Path,
    faults: list[Fault],
    lists: tuple[tuple[str, str, str], ...] = (),
) -> CompiledRequest:
    """Check a request's address and templates; what is wrong is added to `faults`."""
    return _Compiler(scope, faults).request(request, at, lists)


class _Compiler:
    def __init__(self, scope: Scope, faults: list[Fault]) -> None:
        self.scope = scope
        self.faults = faults
        self.names: set[str] = set()

    def request(
        self, request: Request, at: _Path, lists: tuple[tuple[str, str, str], ...]
    ) -> CompiledRequest:
        self._addresses(request, at)
        parts = {
            "url": self._template(request.url, (*at, "url"), address=True),
            "query": self._pairs(request.query, (*at, "query")),
            "form": None if request.form is None else self._pairs(request.form, (*at, "form")),
            "json": self._json(request.json_, (*at, "json")),
            "text": None if request.text is None else self._template(request.text, (*at, "text")),
            "headers": self._named(request.headers, (*at, "headers")),
            "cookies": self._named(request.cookies, (*at, "cookies")),
        }
        own = tuple(item for item in lists if item[1] not in self.names)
        return CompiledRequest(
            method=request.verb,
            mirrors=request.mirrors,
            repeatable=request.repeatable,
            names=frozenset(self.names),
            lists=own,
            **parts,  # type: ignore[arg-type]  # each value has its field's type
        )

    def _addresses(self, request: Request, at: _Path) -> None:
        self._address(request.url, self.scope.settings, (*at, "url"))
        for index, mirror in enumerate(request.mirrors):
            self._address(mirror, None, (*at, "mirrors", index))

    def _address(self, url: str, settings: Mapping[str, Setting] | None, at: _Path) -> None:
        fault = address_fault(url, settings)
        if fault:
            hint = 'an operator\'s own address goes into settings: url: "{{ settings.base }}/…"'
            self.faults.append(Fault(at, "E201", fault, hint))

    def _template(self, source: object, at: _Path, *, address: bool = False) -> Template:
        text = _text(source)
        try:
            template = compile_template(text, self.scope.names, address=address)
        except TemplateError as error:
            self.faults.append(self._fault(error, at))
            return compile_template("", ())
        self.names |= template.names
        self._warn(template.names, at)
        return template

    def _warn(self, names: Set[str], at: _Path) -> None:
        for name in sorted(names & self.scope.undeclared.keys()):
            message = f'"{name}" is not declared, so it is never set'
            self.faults.append(Fault(at, "W103", message, self.scope.undeclared[name], name))

    def _fault(self, error: TemplateError, at: _Path) -> Fault:
        why = self.scope.forbidden.get(error.word, "") if error.kind == "E202" else ""
        if why:
            return Fault(at, "E204", f'"{error.word}" is out of reach here', why, error.word)
        return Fault(at, error.kind, error.message, error.hint, error.word)

    def _pairs(self, values: Mapping[str, object], at: _Path) -> _Pairs:
        pairs: list[tuple[str, Template]] = []
        for name, value in values.items():
            if isinstance(value, tuple):
                listed = (self._template(item, (*at, name, i)) for i, item in enumerate(value))
                pairs.extend((name, item) for item in listed)
            else:
                pairs.append((name, self._template(value, (*at, name))))
        return tuple(pairs)

    def _named(self, values: Mapping[str, object], at: _Path) -> _Pairs:
        for name in values:
            if not _TOKEN.fullmatch(name):
                hint = "a name has letters, digits and - only, no space and no colon"
                self.faults.append(
                    Fault((*at, name), "E103", f'"{name}" is not a name', hint, key=True)
                )
        return self._pairs(values, at)

    def _json(self, value: object, at: _Path) -> _Json:
        if isinstance(value, str):
            return self._template(value, at)
        if isinstance(value, Mapping):
            listed = value.get("list") if len(value) == 1 else None
            if isinstance(listed, str) and "{" not in listed:
                return self._list(listed, at)
            return {str(key): self._json(item, (*at, str(key))) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self._json(item, (*at, index)) for index, item in enumerate(value)]
        return value if isinstance(value, int | float) else None

    def _list(self, name: str, at: _Path) -> _Json:
        if name not in LISTS:
            hint = f"known: {', '.join(LISTS)}"
            self.faults.append(Fault((*at, "list"), "E202", f'unknown list "{name}"', hint, name))
        self._warn({name}, (*at, "list"))
        self.names.add(name)
        return _List(name)


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)
