"""The deformer: the same seed gives the same page, and nothing but names and places changes."""

from __future__ import annotations

import re

import pytest
from selectolax.lexbor import LexborHTMLParser

from framework.authoring.deform import Change, deform
from framework.spec.catalogue import Catalogue

CATALOGUE = Catalogue()
PAGES = {
    name: next(f.response.body for f in CATALOGUE.fixtures(name) if f.case == "ok")
    for name in ("bing", "brave", "mojeek", "startpage")
}


def words(body: bytes) -> list[str]:
    page = LexborHTMLParser(body)
    page.strip_tags(["script", "style"])
    assert page.body is not None
    return sorted(re.findall(r"\w+", page.body.text(separator=" ")))


@pytest.mark.parametrize("name", sorted(PAGES))
@pytest.mark.parametrize("seed", [1, 2])
def test_words_and_links_stay(name: str, seed: int) -> None:
    changed = deform(PAGES[name], seed)
    before, after = (LexborHTMLParser(body) for body in (PAGES[name], changed))

    assert words(changed) == words(PAGES[name])
    assert sorted(str(a.attributes.get("href")) for a in before.css("a")) == sorted(
        str(a.attributes.get("href")) for a in after.css("a")
    )


def test_a_seed_is_repeatable_and_seeds_differ() -> None:
    body = PAGES["bing"]

    assert deform(body, 3) == deform(body, 3)
    assert deform(body, 3) != deform(body, 4)


@pytest.mark.parametrize("change", list(Change), ids=lambda change: change.name.lower())
def test_each_change_does_something(change: Change) -> None:
    changed = [deform(body, 5, (change,)) != deform(body, 5, ()) for body in PAGES.values()]

    assert any(changed)
