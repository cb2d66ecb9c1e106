"""What a question means to one engine: the variables of its templates."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError
from framework.spec.model import OffsetPaging, PagePaging
from framework.spec.request import LISTS, Scope
from framework.spec.template_filters import country, lang
from framework.spec.templates import Items

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.spec.model import DomainsInput, RegionInput, SessionStep, Spec
    from framework.types import Query

__all__ = ["PER_PAGE", "PER_QUERY", "Variables", "build_context", "query_text", "scope_of"]

_CONTROLS = re.compile(r"[\x00-\x1f\x7f\u2028\u2029]+")

#: Variables that are there for every engine.
_ALWAYS = ("query", "page", "now", "lang", "country")
#: Variables that need an entry of `inputs`.
_DECLARED = ("region", "time", "safe", "since", "count")
#: Variables that are set only where the file declares them, and how it does.
_DECLARATIONS: Mapping[str, str] = {
    **{name: f"declare it under inputs: {name}: …" for name in _DECLARED},
    "offset": "declare paging with its size",
    "size": "declare paging with its size",
    "include_domains": "declare it: inputs: {domains: {param: NAME}}",
    "exclude_domains": "declare it: inputs: {exclude_domains: {param: NAME}}",
}
_SHARED_STEP = "a step that sees the query has scope: query"
#: Variables that a session step sees only where its values belong to one query.
PER_QUERY = frozenset({"query", "page", "offset", "size", *_DECLARED, "lang", "country", *LISTS})
#: Variables that make a step's values belong to one page.
PER_PAGE = frozenset({"page", "offset"})


def _no_items() -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Variables:
    """What a request needs beyond the question.

    `session` maps a step to its values, `cursor` holds what the page before handed on, `mirror`
    counts from 1 (0: the address itself), `now` carries a time zone.
    """

    session: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    cursor: Mapping[str, str] = field(default_factory=_no_items)
    keys: Mapping[str, str] = field(default_factory=_no_items)
    settings: Mapping[str, str] = field(default_factory=_no_items)
    now: datetime = field(default_factory=lambda: datetime.now(UTC))
    mirror: int = 0


def scope_of(spec: Spec, step: SessionStep | None = None) -> Scope:
    """Return what the templates of the search request, or of a session step, may use.

    Variables that the file does not declare are always unset; a file that extends another may well
    have deleted the declaration, so they are worth a warning only elsewhere.
    """
    declared = _inputs(spec) | _pages(spec)
    undeclared = {name: how for name, how in _DECLARATIONS.items() if name not in declared}
    names = {*_ALWAYS, *_DECLARATIONS}
    shared = step is not None and step.scope != "query"
    names |= {f"keys.{name}" for name in spec.keys}
    names |= {f"settings.{name}" for name in spec.settings}
    names |= _session(spec, step)
    return Scope(
        names=frozenset(names - PER_QUERY if shared else names),
        settings=spec.settings,
        undeclared={} if spec.extends else undeclared,
        forbidden=dict.fromkeys(PER_QUERY, _SHARED_STEP) if shared else {},
    )


def _inputs(spec: Spec) -> set[str]:
    names = {name for name in _DECLARED if getattr(spec.inputs, name) is not None}
    lists = {"include_domains": spec.inputs.domains, "exclude_domains": spec.inputs.exclude_domains}
    return names | {name for name, given in lists.items() if given is not None and given.param}


def _pages(spec: Spec) -> set[str]:
    return {"offset", "size"} if spec.paging is not None and spec.paging.size else set()


def _session(spec: Spec, step: SessionStep | None) -> set[str]:
    names: set[str] = set()
    for earlier in spec.session:
        if earlier is step:
            return names
        names |= {f"session.{earlier.id}.{name}" for name in earlier.take}
    if spec.paging is not None and spec.paging.by == "token":
        names.add(f"session.{spec.paging.send_as}")
    return names


def build_context(spec: Spec, query: Query, page: int, variables: Variables) -> dict[str, object]:
    """Return the variables for one page of a question; what was not asked for is left out."""
    inputs = spec.inputs
    context: dict[str, object | None] = {
        "query": query_text(spec, query),
        "now": variables.now,
        "time": (inputs.time or {}).get(query.time) if query.time else None,
        "safe": (inputs.safe or {}).get(query.safe) if query.safe else None,
        "count": min(max(1, query.max_results), inputs.count.max) if inputs.count else None,
        "since": _since(spec, query),
        "include_domains": query.include_domains or None,
        "exclude_domains": query.exclude_domains or None,
        **_places(inputs.region, query),
        **_page(spec, page),
        "keys": _keys(spec, variables),
        "settings": _settings(spec, variables),
        "session": _session_items(spec, variables),
    }
    return {name: value for name, value in context.items() if value is not None}


def query_text(spec: Spec, query: Query) -> str:
    """Return the query as this engine gets it: with its domain operators, cut to its length."""
    text = _CONTROLS.sub(" ", query.text).strip()
    operators = [
        _operators(spec.inputs.domains, query.include_domains, " OR "),
        _operators(spec.inputs.exclude_domains, query.exclude_domains, " "),
    ]
    tail = "".join(f" {part}" for part in operators if part)
    limit = spec.inputs.query.max_length
    return (_cut(text, limit - len(tail)) if limit else text) + tail


def _operators(given: DomainsInput | None, domains: tuple[str, ...], glue: str) -> str:
    if given is None or given.operator is None or not domains:
        return ""
    parts = [given.operator.replace("{}", domain) for domain in domains]
    glue = glue if given.join is None else given.join
    joined = glue.join(parts)
    return f"({joined})" if len(parts) > 1 and glue.strip() else joined


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = text[: max(1, limit)]
    at_word = head.rsplit(" ", 1)[0] if not text[len(head)].isspace() else head
    return at_word.rstrip() or head


def _since(spec: Spec, query: Query) -> str | None:
    if spec.inputs.since is None or query.since is None:
        return None
    try:
        since = datetime.fromisoformat(query.since)
    except ValueError as error:
        raise InvalidInputError(
            f"since must be a date, not {query.since!r}", hint="write it as 2026-01-31"
        ) from error
    return since.strftime(spec.inputs.since.format)


def _places(declared: RegionInput | None, query: Query) -> dict[str, object | None]:
    """Return region, lang and country: as asked, else those of the engine's default region."""
    tag = query.region or query.language
    key, value = _region(declared, tag)
    shown = tag or key
    language = query.language or shown
    return {
        "region": value,
        "lang": lang(language) if language else None,
        "country": (country(shown) or None) if shown else None,
    }


def _region(declared: RegionInput | None, tag: str | None) -> tuple[str | None, str | None]:
    if declared is None:
        return None, None
    if tag and not declared.map:
        return tag, tag
    keys = [key for key in declared.map if tag and key.lower() == tag.lower()]
    if tag and not keys and not country(tag):
        keys = [key for key in declared.map if lang(key) == lang(tag)]
    if keys:
        return keys[0], declared.map[keys[0]]
    named = [key for key, value in declared.map.items() if value == declared.default]
    return (named[0] if named else None), declared.default


def _page(spec: Spec, page: int) -> dict[str, object | None]:
    paging = spec.paging
    size = paging.size if paging is not None else None
    first_page = paging.first if isinstance(paging, PagePaging) else 1
    first_row = paging.first if isinstance(paging, OffsetPaging) else 0
    offset = first_row + (page - 1) * size if size else None
    return {"page": first_page + page - 1, "size": size, "offset": offset}


def _keys(spec: Spec, variables: Variables) -> Items:
    required = [name for name, key in spec.keys.items() if not key.optional]
    return Items({k: v for k, v in variables.keys.items() if v}, "keys", required)


def _settings(spec: Spec, variables: Variables) -> Items:
    values = {
        name: variables.settings.get(name) or setting.default
        for name, setting in spec.settings.items()
    }
    required = [name for name, setting in spec.settings.items() if not setting.optional]
    return Items({k: v.rstrip("/") for k, v in values.items() if v}, "settings", required)


def _session_items(spec: Spec, variables: Variables) -> Items:
    steps: dict[str, object] = {
        step.id: Items(
            variables.session.get(step.id, {}), f'session step "{step.id}"', tuple(step.take)
        )
        for step in spec.session
    }
    return Items({**variables.cursor, **steps}, "session")
