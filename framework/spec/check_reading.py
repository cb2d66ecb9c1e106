"""Selectors, filters, patterns and conditions of a spec, compiled once to see that they can be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.spec.filters import FILTERS, check_regex, compile_filter
from framework.spec.picks import SelectorError, check_selector
from framework.spec.problems import Fault, suggest
from framework.spec.templates import TemplateError, compile_template

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from framework.spec.elements import Condition, Pick
    from framework.spec.model import Spec

__all__ = ["check_reading", "uses_xpath"]

_Path = tuple[str | int, ...]

#: The selector languages that fit a response's format.
_FITTING: Mapping[str, tuple[str, ...]] = {
    "html": ("css", "xpath"),
    "xml": ("xpath",),
    "json": ("jmes",),
}
_SELECTORS = ("css", "xpath", "jmes")
#: What `keep` and `drop` may look at: the row itself.
_OF_ROW = ("css", "xpath", "jmes", "text", "any", "all", "not")


def check_reading(spec: Spec) -> Iterator[Fault]:
    """Yield what is wrong with the reading half of a spec."""
    yield from _Checker(spec).run()


def uses_xpath(spec: Spec) -> bool:
    """Tell whether an HTML spec reads anything with XPath, so that lxml parses its pages."""
    response = spec.response
    if response.format != "html":
        return False
    picks = [
        pick for part in (response.fields, response.extras) for p in part.values() for pick in p
    ]
    rows = [response.rows.keep, response.rows.drop]
    conditions = [rule.when for rule in spec.verdicts] + [item for item in rows if item]
    return (
        response.rows.each.source == "xpath"
        or any(pick.source == "xpath" for pick in picks)
        or any(_has_xpath(condition) for condition in conditions)
    )


def _has_xpath(condition: Condition) -> bool:
    parts = [*(condition.any or ()), *(condition.all or ())]
    parts += [condition.not_] if condition.not_ else []
    return condition.xpath is not None or any(_has_xpath(part) for part in parts)


class _Checker:
    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.format = spec.response.format
        self.lexbor = not uses_xpath(spec)

    def run(self) -> Iterator[Fault]:
        response = self.spec.response
        yield from self._frame()
        yield from self._rows()
        yield from self._table(response.fields, ("response", "fields"))
        yield from self._table(response.extras, ("response", "extras"))
        for index, step in enumerate(self.spec.session):
            for name, picks in step.take.items():
                yield from self._fallbacks(picks, ("session", index, "take", name), fit=False)
        for index, rule in enumerate(self.spec.verdicts):
            yield from self._condition(rule.when, ("verdicts", index, "when"))
        yield from self._paging()

    def _frame(self) -> Iterator[Fault]:
        response = self.spec.response
        if response.embedded is not None and self.format != "json":
            hint = "write format: json, or remove embedded"
            yield Fault(
                ("response", "embedded"), "E304", "only JSON can be embedded", hint, key=True
            )
        if response.embedded is not None and response.embedded.css is not None:
            at = ("response", "embedded", "css")
            yield from self._selector("css", response.embedded.css, at)

    def _rows(self) -> Iterator[Fault]:
        rows = self.spec.response.rows
        at: _Path = ("response", "rows")
        yield from self._fits(rows.each.source, (*at, "each"))
        yield from self._selector(
            rows.each.source, rows.each.expression, (*at, "each", rows.each.source)
        )
        for name, condition in (("keep", rows.keep), ("drop", rows.drop)):
            if condition is not None:
                yield from self._condition(condition, (*at, name), of_row=True)

    def _paging(self) -> Iterator[Fault]:
        paging = self.spec.paging
        if paging is None:
            return
        if paging.by == "link":
            yield from self._fallbacks(paging.next, ("paging", "next"))
        elif paging.by == "token":
            yield from self._fallbacks(paging.token, ("paging", "token"))
        elif paging.by == "form":
            if self.format != "html":
                hint = "page by page, offset, link or token"
                yield Fault(("paging", "by"), "E304", f"a {self.format} answer has no form", hint)
            yield from self._selector("css", paging.form, ("paging", "form"))

    def _table(self, table: Mapping[str, tuple[Pick, ...]], at: _Path) -> Iterator[Fault]:
        earlier: list[str] = []
        for name, picks in table.items():
            yield from self._fallbacks(picks, (*at, name), row=earlier)
            earlier.append(name)

    def _fallbacks(
        self, picks: tuple[Pick, ...], at: _Path, *, row: list[str] | None = None, fit: bool = True
    ) -> Iterator[Fault]:
        for index, pick in enumerate(picks):
            yield from self._pick(pick, (*at, index), row or [], fit)

    def _pick(self, pick: Pick, at: _Path, row: list[str], fit: bool) -> Iterator[Fault]:
        where = (*at, pick.source)
        if pick.source in _SELECTORS:
            if fit:
                yield from self._fits(pick.source, where)
            yield from self._selector(pick.source, pick.expression, where)
        if pick.text is not None:
            yield from _template(pick.text, row, where)
        if pick.remove is not None:
            yield from self._selector("css", pick.remove, (*at, "remove"))
        for index, item in enumerate(pick.do):
            yield from _filter(item.name, item.argument, (*at, "do", index))

    def _fits(self, source: str, at: _Path) -> Iterator[Fault]:
        fitting = _FITTING[self.format]
        if source not in fitting:
            message = f'"{source}" does not fit a {self.format} answer'
            yield Fault(at, "E304", message, f"use {' or '.join(fitting)}", key=True)

    def _selector(self, source: str, text: str, at: _Path) -> Iterator[Fault]:
        try:
            check_selector(source, text, lexbor=self.lexbor, **self._spaces(source))
        except SelectorError as error:
            yield Fault(at, "E301", error.message, error.hint)

    def _spaces(self, source: str) -> dict[str, Mapping[str, str]]:
        return {"namespaces": self.spec.response.namespaces} if source == "xpath" else {}

    def _condition(
        self, condition: Condition, at: _Path, *, of_row: bool = False
    ) -> Iterator[Fault]:
        source = condition.source
        where = (*at, source)
        if of_row and source not in _OF_ROW:
            hint = f"use {', '.join(_OF_ROW)}"
            yield Fault(where, "E304", f'"{source}" says nothing about a row', hint, key=True)
        if of_row and source in _SELECTORS:
            yield from self._fits(source, where)
        yield from self._source(condition, where)
        for index, part in enumerate(condition.any or condition.all or ()):
            yield from self._condition(part, (*where, index), of_row=of_row)
        if condition.not_ is not None:
            yield from self._condition(condition.not_, where, of_row=of_row)

    def _source(self, condition: Condition, at: _Path) -> Iterator[Fault]:
        source = condition.source
        if source in _SELECTORS:
            yield from self._selector(source, str(getattr(condition, source)), at)
        elif source in ("url", "text"):
            yield from _regex(str(getattr(condition, source)), at)
        elif condition.header is not None:
            for name, pattern in condition.header.items():
                yield from _regex(pattern, (*at, name))


def _regex(pattern: str, at: _Path) -> Iterator[Fault]:
    try:
        check_regex(pattern)
    except ValueError as error:
        yield Fault(at, "E302", str(error), "RE2 syntax: no look-around, no back-references")


def _filter(name: str, argument: object, at: _Path) -> Iterator[Fault]:
    try:
        compile_filter(name, argument)
    except ValueError as error:
        known = FILTERS.get(name)
        hint = f"such as {known.example}" if known else suggest(name, FILTERS)
        yield Fault(at, "E303", str(error), hint)


def _template(text: str, row: list[str], at: _Path) -> Iterator[Fault]:
    try:
        compile_template(text, [f"row.{name}" for name in row])
    except TemplateError as error:
        yield Fault(at, error.kind, error.message, error.hint, error.word)
