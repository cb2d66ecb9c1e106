"""From an answer to what it says: verdict, rows, extras, next page. Pure, and it never raises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.spec.check_reading import uses_xpath
from framework.spec.conditions import compile_condition, describe
from framework.spec.documents import BUDGET, Document
from framework.spec.embedded import compile_embedded
from framework.spec.fields import EXTRAS, FieldType, allowed
from framework.spec.following import compile_following
from framework.spec.patterns import text_of
from framework.spec.picks import Languages, compile_finder, compile_picks, compile_root
from framework.spec.values import typed
from framework.types import Page, Row, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from framework.spec.conditions import Test
    from framework.spec.following import Following
    from framework.spec.model import Pick, SessionStep, Spec
    from framework.spec.picks import PickFunction
    from framework.types import FieldValue, HttpResponse, Query

__all__ = ["MAX_CANDIDATES", "MAX_ROWS", "Reader", "compile_reader"]

#: Rows of one page that are kept, and matches of `rows.each` that are looked at.
MAX_ROWS = 200
MAX_CANDIDATES = 1_000

#: Rows per page where a file does not say: what ranks of later pages count on from.
_PAGE_SIZE = 10
_MAX_DETAIL = 200
#: Characters of a session value.
_MAX_TOKEN = 8_192


@dataclass(frozen=True, slots=True)
class _Field:
    """One field: its pick, its type's conversion, whether a miss is normal."""

    name: str
    pick: PickFunction
    convert: Callable[[object, Document], FieldValue | None]
    optional: bool

    def read(
        self, document: Document, node: object, row: Mapping[str, object]
    ) -> FieldValue | None:
        value = self.pick(document, node, row)
        return None if value is None else self.convert(value, document)


@dataclass(frozen=True, slots=True)
class _Rule:
    """One entry of `verdicts`."""

    verdict: Verdict
    test: Test
    detail: str


@dataclass(slots=True)
class _Harvest:
    """What the rows of one answer came to."""

    rows: list[Row]
    candidates: int = 0
    refused: int = 0
    dropped: int = 0
    missing: int = 0
    expired: bool = False


@dataclass(frozen=True, slots=True)
class Reader:
    """The reading half of an engine file, compiled; its methods are pure and never raise."""

    rules: tuple[_Rule, ...]
    embedded: Callable[[Document], object] | None
    candidates: Callable[[Document], list[object]]
    keep: Test | None
    drop: Test | None
    fields: tuple[_Field, ...]
    extras: tuple[_Field, ...]
    steps: Mapping[str, tuple[_Field, ...]]
    following: Following
    size: int
    budget: float = BUDGET
    """Seconds that reading one answer may take."""

    def verdict(self, response: HttpResponse) -> Verdict | None:
        """Return the first verdict whose condition is true, None where none is."""
        rule = self._rule(Document(response, self.embedded, budget=self.budget))
        return rule.verdict if rule else None

    def read(self, response: HttpResponse, page: int = 1, query: Query | None = None) -> Page:
        """Return what an answer says.

        A declared verdict wins; then a status of 400 or more is `error`; then rows are read. No
        rows without a verdict is `changed`, as are rows that all lack a title or an address.
        Ranks count on from the pages before. `query` is not needed by any file today.
        """
        document = Document(response, self.embedded, budget=self.budget)
        early = self._early(document)
        if early is not None:
            return early
        harvest = self._harvest(document, (page - 1) * self.size)
        if not harvest.rows:
            return _nothing(harvest, document)
        return Page(
            verdict=Verdict.OK,
            rows=tuple(harvest.rows),
            extras=self._extras(document),
            next=self.following(document, page + 1),
            drift=self._drift(harvest),
            dropped=harvest.dropped,
            detail=_stopped(document) if harvest.expired else "",
        )

    def take(self, step: str, response: HttpResponse) -> dict[str, str] | Page:
        """Return the values of a session step's answer, or the page that ends the search.

        Verdicts are tried first; a value that is missing and not optional is `changed`.
        """
        document = Document(response, budget=self.budget)
        early = self._early(document)
        if early is not None:
            return early
        taken: dict[str, str] = {}
        for field in self.steps[step]:
            value = field.read(document, None, {})
            if value:
                taken[field.name] = str(value)
            elif not field.optional:
                detail = f'session step "{step}" yields no value "{field.name}"'
                return Page(verdict=Verdict.CHANGED, detail=detail)
        return taken

    def _rule(self, document: Document) -> _Rule | None:
        return next((rule for rule in self.rules if rule.test(document, None)), None)

    def _early(self, document: Document) -> Page | None:
        rule = self._rule(document)
        if rule is not None:
            extras = self._extras(document) if rule.verdict is Verdict.EMPTY else {}
            return Page(verdict=rule.verdict, extras=extras, detail=rule.detail)
        status = document.response.status
        if status >= 400:
            return Page(verdict=Verdict.ERROR, detail=f"HTTP status {status}")
        return None

    def _harvest(self, document: Document, offset: int) -> _Harvest:
        harvest = _Harvest([])
        for node in self.candidates(document)[:MAX_CANDIDATES]:
            harvest.expired = document.expired
            if harvest.expired or len(harvest.rows) == MAX_ROWS:
                break
            harvest.candidates += 1
            if self._refused(document, node):
                harvest.refused += 1
            else:
                self._row(document, node, harvest, offset)
        return harvest

    def _refused(self, document: Document, node: object) -> bool:
        if self.keep is not None and not self.keep(document, node):
            return True
        return self.drop is not None and self.drop(document, node)

    def _row(self, document: Document, node: object, harvest: _Harvest, offset: int) -> None:
        values: dict[str, FieldValue] = {}
        for field in self.fields:
            found = field.pick(document, node, values)
            value = None if found is None else field.convert(found, document)
            if value is not None:
                values[field.name] = value
            elif not field.optional:
                harvest.missing += 1
        title, url = values.pop("title", None), values.pop("url", None)
        if not title or not url:
            harvest.dropped += 1
            return
        snippet = values.pop("snippet", "")
        rank = offset + len(harvest.rows) + 1
        harvest.rows.append(
            Row(title=str(title), url=str(url), snippet=str(snippet), rank=rank, fields=values)
        )

    def _extras(self, document: Document) -> Mapping[str, FieldValue]:
        values = ((extra.name, extra.read(document, None, {})) for extra in self.extras)
        return {name: value for name, value in values if value is not None}

    def _drift(self, harvest: _Harvest) -> float:
        expected = sum(not field.optional for field in self.fields)
        read = (harvest.candidates - harvest.refused) * expected
        return round(harvest.missing / read, 4) if read else 0.0


def _nothing(harvest: _Harvest, document: Document) -> Page:
    """The page of an answer without rows and without a verdict."""
    if harvest.expired:
        return Page(verdict=Verdict.ERROR, detail=_stopped(document))
    if harvest.dropped:
        detail = f"all {harvest.dropped} rows lack a title or an address"
        return Page(verdict=Verdict.CHANGED, drift=1.0, dropped=harvest.dropped, detail=detail)
    if harvest.refused:
        detail = f"keep and drop leave none of {harvest.refused} rows"
        return Page(verdict=Verdict.CHANGED, detail=detail)
    return Page(verdict=Verdict.CHANGED, detail="rows.each matches nothing and no verdict does")


def _stopped(document: Document) -> str:
    return f"reading stopped after {document.budget:g} s"


def compile_reader(spec: Spec) -> Reader:
    """Compile the reading half of a spec; raises SelectorError or ValueError for what does not
    compile, which the checks before have reported with their places.
    """
    response = spec.response
    languages = Languages(response.format, not uses_xpath(spec), response.namespaces)
    kinds = allowed(spec.kind)
    return Reader(
        rules=tuple(_rules(spec, languages)),
        embedded=compile_embedded(response.embedded),
        candidates=_candidates(spec, languages),
        keep=compile_condition(response.rows.keep, languages) if response.rows.keep else None,
        drop=compile_condition(response.rows.drop, languages) if response.rows.drop else None,
        fields=tuple(_fields(response.fields, kinds, languages)),
        extras=tuple(_fields(response.extras, EXTRAS, languages)),
        steps={step.id: tuple(_taken(step, languages)) for step in spec.session},
        following=compile_following(spec, languages),
        size=(spec.paging.size if spec.paging else None) or _PAGE_SIZE,
    )


def _rules(spec: Spec, languages: Languages) -> Iterable[_Rule]:
    for rule in spec.verdicts:
        test = compile_condition(rule.when, languages)
        yield _Rule(Verdict(rule.verdict), test, describe(rule.when)[:_MAX_DETAIL])


def _candidates(spec: Spec, languages: Languages) -> Callable[[Document], list[object]]:
    each = spec.response.rows.each
    nodes = compile_finder(each.source, each.expression, languages).nodes
    root = compile_root(each.source, languages)
    return lambda document: nodes(root(document))


def _fields(
    table: Mapping[str, tuple[Pick, ...]], kinds: Mapping[str, FieldType], languages: Languages
) -> Iterable[_Field]:
    for name, picks in table.items():
        optional = any(pick.optional for pick in picks)
        convert = typed(name, kinds.get(name, FieldType.TEXT), parsed=_dated(picks))
        yield _Field(name, compile_picks(picks, languages), convert, optional)


def _dated(picks: tuple[Pick, ...]) -> bool:
    """Whether whatever these picks yield has gone through a filter that makes dates."""
    return all(
        pick.do and pick.do[-1].name in ("date", "epoch") and pick.default is None for pick in picks
    )


def _taken(step: SessionStep, languages: Languages) -> Iterable[_Field]:
    own = Languages(step.format or languages.format, languages.lexbor, languages.namespaces)
    for name, picks in step.take.items():
        optional = any(pick.optional for pick in picks)
        yield _Field(name, compile_picks(picks, own), _token, optional)


def _token(value: object, _document: Document) -> FieldValue | None:
    """A session value: as it is, lists joined, within the size of a header."""
    items = value if isinstance(value, list) else [value]
    text = ",".join(item for item in map(text_of, items) if item)
    return text[:_MAX_TOKEN] if text.isprintable() else None
