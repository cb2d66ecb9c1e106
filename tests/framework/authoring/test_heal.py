"""Healing: deformed pages are read again, other rows are never read, files change on request."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.authoring.deform import Change, deform
from framework.authoring.heal import Healing, heal
from framework.authoring.patching import patched
from framework.spec.catalogue import Catalogue
from framework.spec.compiler import compile_text
from framework.types import HttpResponse, Verdict
from tests.conformance.recordings import engine_of, recordings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from framework.spec.compiler import Engine

CATALOGUE = Catalogue()
#: Pages that the rates are measured on.
PAGES = 40


def answers(name: str) -> list[HttpResponse]:
    return [f.response for f in CATALOGUE.fixtures(name) if f.case.startswith("ok")]


def healed(engine: Engine, page: HttpResponse, good: Iterable[HttpResponse]) -> Healing:
    return heal(engine, CATALOGUE.entry(engine.id).values, list(good), page)


def deformed(page: HttpResponse, seed: int, *changes: Change) -> HttpResponse:
    body = deform(page.body, seed, changes) if changes else deform(page.body, seed)
    return replace(page, body=body)


def rows(engine: Engine, page: HttpResponse) -> list[tuple[str, str]]:
    return [(row.title, row.url) for row in engine.read(page).rows]


@pytest.mark.parametrize("change", list(Change), ids=lambda change: change.name.lower())
@pytest.mark.parametrize("name", ["bing", "mojeek", "startpage"])
def test_each_sort_of_change_is_healed(name: str, change: Change) -> None:
    engine = CATALOGUE.get(name)
    good = answers(name)
    page = deformed(good[0], 7, change)
    healing = healed(engine, page, good)

    assert healing.page is not None
    assert [(row.title, row.url) for row in healing.page.rows] == rows(engine, good[0])


def test_a_page_that_is_read_needs_nothing() -> None:
    engine = CATALOGUE.get("mojeek")
    healing = healed(engine, answers("mojeek")[0], answers("mojeek"))

    assert healing.changes == ()
    assert healing.reason == "the page is read without a fault"


@pytest.mark.parametrize("body", [b"", b"<html><body><p>Sorry.", b"\x00\xff<<<", b"{}"])
def test_nothing_is_proposed_for_a_page_without_rows(body: bytes) -> None:
    engine = CATALOGUE.get("mojeek")
    page = replace(answers("mojeek")[0], body=body)
    healing = healed(engine, page, answers("mojeek"))

    assert healing.changes == ()
    assert healing.reason


BLOCKS = [
    (engine.id, fixture.case)
    for engine in CATALOGUE.engines()
    if engine.spec.response.format == "html"
    for fixture in CATALOGUE.fixtures(engine.id)
    if fixture.meta.step is None and (fixture.expected or {}).get("verdict") not in ("ok", None)
]


@pytest.mark.parametrize(("name", "case"), BLOCKS, ids=[f"{name}-{case}" for name, case in BLOCKS])
def test_a_block_or_an_empty_page_is_not_healed(name: str, case: str) -> None:
    engine = CATALOGUE.get(name)
    page = next(f.response for f in CATALOGUE.fixtures(name) if f.case == case)

    assert healed(engine, page, answers(name)).changes == ()


def test_keys_of_json_are_found_under_their_new_names() -> None:
    engine = CATALOGUE.get("tavily")
    good = answers("tavily")
    data = json.loads(good[0].body)
    data["data"] = {"hits": [{**row, "headline": row.pop("title")} for row in data.pop("results")]}
    page = replace(good[0], body=json.dumps(data).encode())
    healing = healed(engine, page, good)

    assert healing.page is not None
    assert [(r.title, r.url) for r in healing.page.rows] == rows(engine, good[0])


def test_a_patch_changes_what_it_must_and_keeps_comments() -> None:
    engine = CATALOGUE.get("bing")
    good = answers("bing")
    page = deformed(good[0], 2)
    healing = healed(engine, page, good)
    path = CATALOGUE.entry("bing").path
    before = path.read_text()
    after = patched({path.name: before}, healing.changes)[path.name]
    again = compile_text(after, path.name)

    kept = [line.partition("#")[2] for line in before.splitlines() if " # " in line]
    assert all(comment in after for comment in kept)
    assert rows(again, page) == rows(engine, good[0])
    assert [rows(again, one) for one in good] == [rows(engine, one) for one in good]


def test_a_verdict_that_waits_for_rows_learns_the_new_ones() -> None:
    engine = CATALOGUE.get("bing")
    page = deformed(answers("bing")[0], 2)
    page = replace(page, body=page.body + b"<script>var captcha = 1</script>")

    assert engine.read(page).verdict is Verdict.CAPTCHA
    healing = healed(engine, page, answers("bing"))
    assert healing.page is not None
    assert healing.page.verdict is Verdict.OK


@settings(max_examples=40, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["mojeek", "tavily", "arxiv"]))
def test_no_bytes_make_it_raise(body: bytes, name: str) -> None:
    good = answers(name)

    healed(CATALOGUE.get(name), replace(good[0], body=body), good)


# -- rates ----------------------------------------------------------------------------------------


@dataclass
class Rates:
    pages: int = 0
    right: int = 0
    strange: int = 0

    def add(self, wanted: list[tuple[str, str]], healing: Healing) -> None:
        self.pages += 1
        read = [(row.title, row.url) for row in healing.page.rows] if healing.page else []
        titles = {title for title, _ in wanted}
        self.right += bool(healing.changes) and read == wanted
        self.strange += bool(healing.changes) and any(title not in titles for title, _ in read)


def unreadable(seeds: Iterable[int]) -> Iterator[tuple[Engine, HttpResponse, HttpResponse]]:
    """Deformed fixtures and captures that their engines no longer read as before."""
    pages = [
        (engine, page)
        for engine in CATALOGUE.engines()
        if engine.spec.response.format == "html"
        for page in answers(engine.id)
    ]
    pages += [
        (engine_of(one), one.response(engine_of(one)))
        for one in recordings()
        if one.kind == "results" and one.path.endswith(".html")
    ]
    for seed in seeds:
        for engine, page in pages:
            changed = deformed(page, seed)
            if rows(engine, changed) != rows(engine, page):
                yield engine, page, changed


@pytest.mark.untraced
@pytest.mark.timeout(300)
@pytest.mark.parametrize("known", ["the page itself", "other pages"])
def test_most_deformed_pages_are_read_again(known: str) -> None:
    rates = Rates()
    for engine, page, changed in unreadable((1, 2, 3)):
        others = [one for one in answers(engine.id) if one.body != page.body]
        good = [page] if known == "the page itself" else others
        if rates.pages < PAGES and good:
            rates.add(rows(engine, page), healed(engine, changed, good))

    assert rates.pages == PAGES
    assert rates.right >= 0.8 * rates.pages, rates
    assert rates.strange <= 0.05 * rates.pages, rates
