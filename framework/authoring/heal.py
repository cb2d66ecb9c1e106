"""After drift: what a page that an engine can no longer read could be read with.

A proposal is made of the last good answer, the page as it is now, and trial: only what reads the
page's rows and still reads every answer that is on record is proposed at all.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from cssselect import HTMLTranslator
from cssselect import SelectorError as CssError

from framework.authoring.anchors import find_text, squeezed
from framework.authoring.outline import parse_outline
from framework.authoring.selecting import select_inside
from framework.authoring.suspects import Candidate, candidates, reader_of, site_of
from framework.spec.documents import Document
from framework.types import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from framework.authoring.draft import Draft, Pick
    from framework.authoring.outline import Outline
    from framework.spec.compiler import Engine
    from framework.spec.read import Reader
    from framework.types import HttpResponse, Page

__all__ = ["Change", "Healing", "heal"]

_Values = dict[str, object]

_UNION = {"css": "{}, {}", "xpath": "{} | {}", "jmes": "{} || {}"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A part of an engine file with what it could become; None where nothing was found.

    `hits` counts rows of the new page with a value: before the change and after it.
    """

    path: tuple[str, ...]
    old: object
    new: object | None
    hits: tuple[int, int] = (0, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Healing:
    """A proposal: the changes, what the page reads like with them, and how sure that is.

    Without changes `reason` says why: the page can be read as it is, or nothing was found.
    `certainty` is 1 where the rows' own words were found again, else their likeness.
    """

    changes: tuple[Change, ...] = ()
    page: Page | None = None
    certainty: float = 0.0
    reason: str = ""
    values: Mapping[str, object] = field(default_factory=dict)


def heal(
    engine: Engine,
    values: Mapping[str, object],
    good: Sequence[HttpResponse],
    response: HttpResponse,
) -> Healing:
    """Return a proposal for a page that an engine cannot read.

    `values` are the engine file's merged values, `good` its recorded answers with rows, the
    likest first. Nothing is proposed that reads less from them than before. Never raises.
    """
    now = engine.read(response)
    outline = None if engine.spec.response.format != "html" else parse_outline(response)
    known = [(answer, engine.read(answer)) for answer in good]
    suspects = list(candidates(engine, known, response, outline))
    whole = now.verdict is Verdict.OK and now.drift == 0 and now.dropped == 0
    if whole and not any(item.rows and not _as_wanted(now, item, known) for item in suspects):
        return Healing(page=now, reason="the page is read without a fault")
    reason = "nothing in the page repeats like rows"
    for candidate in suspects:
        reason = "what repeats in the page could not be told apart safely"
        healed = _try(engine, values, known, response, outline, candidate)
        if healed is not None:
            return healed
    return Healing(page=now, reason=reason)


# -- trial -------------------------------------------------------------------------------------


def _try(
    engine: Engine,
    values: Mapping[str, object],
    known: Sequence[tuple[HttpResponse, Page]],
    response: HttpResponse,
    outline: Outline | None,
    candidate: Candidate,
) -> Healing | None:
    for each in (candidate.draft.each, *candidate.draft.others):
        for union in (True, False):
            draft = replace(candidate.draft, each=each)
            changes = list(_row_changes(engine, values, draft, outline, union=union))
            if not _holds(values, changes, known):
                continue
            changes += _field_changes(
                engine, _apply(values, changes), response, outline, candidate, known
            )
            patched = _apply(values, changes)
            reader = reader_of(patched)
            page = reader.read(response) if reader is not None else None
            if reader is None or page is None or not _as_wanted(page, candidate, known):
                continue
            if _holds(values, changes, known):
                done = tuple(_counted(change, engine, reader, response) for change in changes)
                sure = candidate.certainty
                return Healing(changes=done, page=page, certainty=sure, values=patched)
    return None


def _holds(
    values: Mapping[str, object],
    changes: Sequence[Change],
    known: Sequence[tuple[HttpResponse, Page]],
) -> bool:
    """Whether every answer on record is still read as before with these changes."""
    reader = reader_of(_apply(values, changes))
    return reader is not None and all(_keeps(reader.read(a), before) for a, before in known)


def _as_wanted(
    page: Page, candidate: Candidate, known: Sequence[tuple[HttpResponse, Page]]
) -> bool:
    """Whether a page is read as it should be: the wanted rows in order, and no strange ones."""
    read = [squeezed(row.title) for row in page.rows]
    if not candidate.rows:
        return tuple(read) == candidate.titles
    addresses = {row.url for _, before in known for row in before.rows}
    wanted = set(candidate.titles)
    strange = [row for row in page.rows if squeezed(row.title) not in wanted]
    told = tuple(title for title in read if title in wanted)
    right = sum(row.url in addresses for row in page.rows)
    enough = right >= 0.9 * len(page.rows)
    return told == candidate.titles and enough and all(row.url in addresses for row in strange)


def _keeps(page: Page, before: Page) -> bool:
    """Whether an answer on record is read as before."""
    return page.verdict is before.verdict and page.rows == before.rows


def _row_changes(
    engine: Engine,
    values: Mapping[str, object],
    draft: Draft,
    outline: Outline | None,
    *,
    union: bool,
) -> Iterator[Change]:
    each = engine.spec.response.rows.each
    language = {"html": "css", "json": "jmes", "xml": "xpath"}[draft.format]
    new: object = draft.each if each.source == language else {language: draft.each}
    if union:
        new = _united(each.source, each.expression, language, draft.each)
    if new is not None and each.expression != draft.each:
        path = ("response", "rows", "each")
        yield Change(path=path, old=values_at(values, path), new=new)
    if draft.drop and not engine.spec.response.rows.drop:
        path = ("response", "rows", "drop")
        yield Change(path=path, old=None, new={"css": draft.drop})
    verdicts = values.get("verdicts")
    changed = _guarded(verdicts, draft.each, outline) if draft.format == "html" else verdicts
    if changed != verdicts:
        yield Change(path=("verdicts",), old=verdicts, new=changed)


def _united(source: str, old: str, language: str, new: str) -> object:
    """Return a selector that finds what either finds; the old one's language is kept."""
    if source == language:
        text = _UNION[language].format(old, new)
        return text if language != "xpath" else {"xpath": text}
    if (source, language) == ("xpath", "css"):
        try:
            return {"xpath": _UNION["xpath"].format(old, HTMLTranslator().css_to_xpath(new, "//"))}
        except CssError:
            return None
    return None


def values_at(values: Mapping[str, object], path: Sequence[str]) -> object:
    """Return what stands in a file's values at a path, None where nothing does."""
    part: object = values
    for name in path:
        part = part.get(name) if isinstance(part, dict) else None
    return part


def _guarded(part: object, each: str, outline: Outline | None) -> object:
    """Return verdicts whose guards `not: {css: rows}` know the new rows too.

    Only guards that find nothing in the page are changed: they stand for rows that have moved.
    """
    if isinstance(part, list):
        return [_guarded(item, each, outline) for item in part]
    if not isinstance(part, dict):
        return part
    guard = part.get("not")
    if isinstance(guard, dict) and isinstance(guard.get("css"), str) and outline is not None:
        css = guard["css"]
        if outline.root.node.css_first(css) is None:
            return {**part, "not": {**guard, "css": f"{css}, {each}"}}
        return part
    return {key: _guarded(value, each, outline) for key, value in part.items()}


def _apply(values: Mapping[str, object], changes: Sequence[Change]) -> _Values:
    patched = copy.deepcopy(dict(values))
    for change in changes:
        part: _Values = patched
        for name in change.path[:-1]:
            part = cast(_Values, part.setdefault(name, {}))
        if change.new is not None:
            part[change.path[-1]] = change.new
    return patched


def _counted(change: Change, engine: Engine, reader: Reader, response: HttpResponse) -> Change:
    """Return a change with how many rows have the thing before and after it."""
    counts = [_count(change.path, one, response, reader) for one in (engine.reader, reader)]
    return replace(change, hits=(counts[0], counts[1]))


def _count(path: tuple[str, ...], one: Reader, response: HttpResponse, healed: Reader) -> int:
    if path[:2] != ("response", "fields"):
        return len(one.candidates(Document(response, one.embedded)))
    document = Document(response, healed.embedded)
    field = next((item for item in one.fields if item.name == path[-1]), None)
    nodes = healed.candidates(document)
    return sum(field.read(document, node, {}) is not None for node in nodes) if field else 0


# -- fields ------------------------------------------------------------------------------------


def _field_changes(
    engine: Engine,
    values: Mapping[str, object],
    response: HttpResponse,
    outline: Outline | None,
    candidate: Candidate,
    known: Sequence[tuple[HttpResponse, Page]],
) -> Iterator[Change]:
    """Yield a change for each field whose own picks no longer yield what they did."""
    before = _columns(values, response)
    for name, got in before.items():
        right = _right(name, got, candidate)
        if right >= _wanted(name, candidate):
            continue
        path = ("response", "fields", name)
        old = values_at(values, path)
        best: tuple[int, object | None] = (right, None)
        for pick in _new_picks(outline, candidate, name):
            for first in (False, True):
                change = Change(path=path, old=old, new=_joined(old, pick, name, first=first))
                now = _columns(_apply(values, [change]), response).get(name, [])
                count = _right(name, now, candidate)
                if count > best[0] and _holds(values, [change], known):
                    best = (count, change.new)
        yield Change(path=path, old=old, new=best[1])


def _columns(values: Mapping[str, object], response: HttpResponse) -> dict[str, list[object]]:
    """Return what every field yields in each row that is not dropped."""
    reader = reader_of(values)
    if reader is None:
        return {}
    document = Document(response, reader.embedded)
    nodes = [
        node
        for node in reader.candidates(document)
        if (reader.keep is None or reader.keep(document, node))
        and (reader.drop is None or not reader.drop(document, node))
    ]
    return {item.name: [item.read(document, n, {}) for n in nodes] for item in reader.fields}


def _new_picks(
    outline: Outline | None, candidate: Candidate, name: str
) -> Iterator[Pick | list[Pick]]:
    again = _found_again(outline, candidate, name)
    if again is not None:
        yield again
    if name in candidate.draft.fields:
        yield candidate.draft.fields[name]


def _wanted(name: str, candidate: Candidate) -> int:
    """Return how many rows a field has to be right in for being left as it is."""
    if name == "title":
        return len(candidate.titles)
    if not candidate.rows:
        return round(0.8 * len(candidate.titles))
    if name in ("url", "snippet"):
        return round(0.95 * sum(bool(getattr(row, name)) for row in candidate.rows))
    return sum(name in row.fields for row in candidate.rows)


def _right(name: str, got: Sequence[object], candidate: Candidate) -> int:
    """Return in how many rows a field yields a known value, or a likely one."""
    texts = [squeezed(str(value)) for value in got if value is not None]
    if name == "title":
        return sum(text in candidate.titles for text in texts)
    if candidate.rows:
        values = [getattr(row, name, None) or row.fields.get(name) for row in candidate.rows]
        known = {squeezed(str(value)) for value in values if value is not None}
        return sum(text in known for text in texts)
    if name == "url" and candidate.home:
        return sum(site_of(str(value)) != candidate.home for value in got if value is not None)
    return len(texts)


def _found_again(outline: Outline | None, candidate: Candidate, name: str) -> Pick | None:
    """Return a pick for a text field whose known values stand in the rows, word for word."""
    if outline is None or candidate.group is None or name == "url":
        return None
    pairs = []
    for row, element in zip(candidate.rows, candidate.group.rows, strict=False):
        own = name in ("snippet", "title")
        value = getattr(row, name) if own else row.fields.get(name)
        if isinstance(value, str) and value:
            target = find_text(element, value, outermost=name == "title")
            if target is not None and target is not element:
                pairs.append((element, target))
    if len(pairs) < max(1, len(candidate.rows) // 3):
        return None
    found = select_inside(outline, pairs)
    if found is None or found.agreement < 0.8:
        return None
    return found.selector


def _joined(old: object, new: Pick | list[Pick], name: str, *, first: bool) -> list[object]:
    """Return a fallback list: what there was, then what was found; the other way with `first`.

    A text keeps the filters of the pick that the new one stands in for.
    """
    before = list(old) if isinstance(old, list) else [old]
    listed: list[object] = list(new) if isinstance(new, list) else [new]
    after = listed if name in ("title", "url") else [_like(item, before[0]) for item in listed]
    return [*after, *before] if first else [*before, *after]


def _like(new: object, old: object) -> object:
    if not isinstance(old, dict) or "css" not in old or (isinstance(new, dict) and "do" in new):
        return new
    kept = {key: old[key] for key in ("do", "optional", "many") if key in old}
    return {**(new if isinstance(new, dict) else {"css": new}), **kept}
