"""Rows that may be what an engine used to read: by their words where they are shown again, else by
their likeness to the rows of the last good answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pydantic import ValidationError

from framework.authoring.anchors import anchored_groups, squeezed
from framework.authoring.groups import find_groups
from framework.authoring.html_rows import draft_rows
from framework.authoring.likeness import likeness, profile
from framework.authoring.outline import parse_outline
from framework.authoring.propose import propose
from framework.spec.model import Spec
from framework.spec.read import compile_reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from framework.authoring.draft import Draft
    from framework.authoring.groups import Group
    from framework.authoring.outline import Element, Outline
    from framework.spec.compiler import Engine
    from framework.spec.read import Reader
    from framework.types import HttpResponse, Page, Row

__all__ = ["Candidate", "candidates", "reader_of", "site_of"]

#: Likeness, in the sum with how much the rows look like results, below which nothing is proposed.
LIKE_ENOUGH = 0.65
#: How much the best candidate must exceed one that reads other rows.
MARGIN = 0.03


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Rows of a page that may be the engine's, and how they could be read.

    `certainty` is 1 where the rows' own words were found again, else their likeness.
    """

    draft: Draft
    certainty: float
    titles: tuple[str, ...]
    """Titles that must be read, in order."""
    group: Group | None = None
    rows: tuple[Row, ...] = ()
    """The known rows that it shows, where their words were found again."""
    home: str = ""
    """The engine's own site, where known rows lead away from it."""


def reader_of(values: Mapping[str, object]) -> Reader | None:
    """Return what reads answers by a file's values, or None where they are no file."""
    try:
        return compile_reader(Spec.model_validate(values))
    except (ValidationError, ValueError):
        return None


def candidates(
    engine: Engine,
    known: Sequence[tuple[HttpResponse, Page]],
    response: HttpResponse,
    outline: Outline | None,
) -> Iterator[Candidate]:
    """Yield what in a page may be the engine's rows, the surest first.

    `known` are recorded answers with what the engine reads from them.
    """
    rows = [page.rows for _, page in known if page.rows]
    if outline is None:
        yield from _by_words(propose(response, 6), engine, response, rows)
        return
    anchored = False
    for known_rows in rows:
        for group, shown in anchored_groups(outline, known_rows):
            draft = draft_rows(outline, group)
            if draft is not None:
                anchored = True
                titles = tuple(squeezed(row.title) for row in shown)
                yield Candidate(
                    draft=draft, certainty=1.0, titles=titles, group=group, rows=tuple(shown)
                )
    if not anchored and rows:
        yield from _by_likeness(engine, known, outline)


def _by_words(
    drafts: Sequence[Draft],
    engine: Engine,
    response: HttpResponse,
    known: Sequence[Sequence[Row]],
) -> Iterator[Candidate]:
    """Yield drafts of a page that is not HTML, those first that read the known titles."""
    read = [(draft, _titles(reader_of(_draft_values(engine, draft)), response)) for draft in drafts]
    for draft, titles in read:
        for rows in known:
            if titles and titles == tuple(squeezed(row.title) for row in rows):
                yield Candidate(draft=draft, certainty=1.0, titles=titles, rows=tuple(rows))
    if read and read[0][1]:
        draft, titles = read[0]
        lead = draft.score / max((d.score for d, _ in read[1:]), default=draft.score / 2)
        if lead > 1 + MARGIN:
            yield Candidate(draft=draft, certainty=min(0.9, 0.4 + lead / 4), titles=titles)


def _draft_values(engine: Engine, draft: Draft) -> dict[str, object]:
    return {
        "schema": 1,
        "id": engine.id,
        "name": engine.name,
        "kind": engine.kind.value,
        "request": {"url": "https://www.example.org/"},
        "response": draft.response(),
    }


def _titles(reader: Reader | None, response: HttpResponse) -> tuple[str, ...]:
    page = reader.read(response) if reader is not None else None
    return tuple(squeezed(row.title) for row in page.rows) if page is not None else ()


def _by_likeness(
    engine: Engine, known: Sequence[tuple[HttpResponse, Page]], outline: Outline
) -> Iterator[Candidate]:
    """Yield the group of rows that looks most like the known ones, where it stands out."""
    answer, page = known[0]
    before = parse_outline(answer)
    old = profile(_elements(engine, before) if before else [], page.rows)
    rated: list[tuple[float, Group, Draft, tuple[Row, ...]]] = []
    groups = find_groups(outline)[:6]
    for group in groups:
        draft = draft_rows(outline, group)
        reader = reader_of(_draft_values(engine, draft)) if draft is not None else None
        rows = reader.read(outline.document.response).rows if reader is not None else ()
        if draft is not None and rows and len(rows) == len(group.rows):
            alike = likeness(old, profile(group.rows, rows))
            rated.append((alike + 0.35 * group.score / groups[0].score, group, draft, rows))
    rated.sort(key=lambda item: -item[0])
    if not rated or rated[0][0] < LIKE_ENOUGH:
        return
    best = rated[0]
    others = [item for item in rated[1:] if not _overlapping(item[1], best[1])]
    if others and best[0] - others[0][0] < MARGIN:
        return
    yield Candidate(
        draft=best[2],
        certainty=round(min(0.95, best[0] / 1.35), 2),
        titles=tuple(squeezed(row.title) for row in best[3]),
        group=best[1],
        home=_home(outline.document.response.url, page.rows),
    )


def _home(address: str, rows: Sequence[Row]) -> str:
    """Return the site of an address where most rows lead to others, else nothing."""
    site = site_of(address)
    return site if sum(site_of(row.url) != site for row in rows) * 2 > len(rows) else ""


def site_of(address: str) -> str:
    """Return the last two labels of an address's host."""
    return ".".join((urlsplit(address).hostname or "").split(".")[-2:])


def _overlapping(one: Group, other: Group) -> bool:
    """Whether two groups show some of the same links."""
    return bool({link.order for link in one.links} & {link.order for link in other.links})


def _elements(engine: Engine, outline: Outline) -> list[Element]:
    """Return the elements that an engine's file reads as rows."""
    reader, document = engine.reader, outline.document
    nodes = [
        node
        for node in reader.candidates(document)
        if (reader.keep is None or reader.keep(document, node))
        and (reader.drop is None or not reader.drop(document, node))
    ]
    return [found for node in nodes if (found := outline.of(node)) is not None]
