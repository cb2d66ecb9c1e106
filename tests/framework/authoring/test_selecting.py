"""Selectors for known elements, and how lasting their names are."""

from __future__ import annotations

import pytest

from framework.authoring.outline import Outline, parse_outline, stability
from framework.authoring.selecting import select_all, select_inside
from framework.types import HttpResponse


def outline(body: str) -> Outline:
    found = parse_outline(HttpResponse(url="https://a.example/", body=body.encode()))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("body", "wanted", "never"),
    [
        ("<p class=hit>1<p class=hit>2<p>3", ".hit", "p:not(.hit)"),
        ("<ul id=r><li>1<li>2</ul><ul><li>3</ul>", "#r > li", "ul:not(#r) li"),
        ("<p class='a b'>1<p class='a b'>2<p class=a>3<p class=b>4", ".a.b", "p:not(.a.b)"),
        ("<p class='a x'>1<p class='a'>2<p class='a ad'>3", "p:not(.ad)", ".ad"),
        ("<p class=a><b class=t>1</b><p class=a><b class=t>2</b><p class=a>3", "p:has(b)",
         "p:not(:has(b))"),
        ("<p data-kind=web>1<p data-kind=web>2<p data-kind=ad>3", "[data-kind=web]",
         "[data-kind=ad]"),
    ],
    ids=["class", "container", "two classes", "exclusion", "content", "attribute"],
)  # fmt: skip
def test_a_selector_finds_these_and_no_others(body: str, wanted: str, never: str) -> None:
    page = outline(body)
    targets = page.select(wanted)
    found = select_all(page, targets)

    assert found is not None
    assert page.select(found.selector) == targets
    assert not set(page.select(found.selector)) & set(page.select(never))


def test_a_selector_inside_rows_finds_each_rows_own() -> None:
    page = outline(
        "<li><a class=k>x</a><h3><a>1</a></h3></li><li><h3><a>2</a></h3><a class=k>y</a></li>"
    )
    rows = page.select("li")
    pairs = [(row, page.select("h3 a", row)[0]) for row in rows]
    found = select_inside(page, pairs)

    assert found is not None
    assert (found.precision, found.recall) == (1.0, 1.0)
    assert [page.first(found.selector, row) for row in rows] == [link for _, link in pairs]


def test_lasting_names_are_words() -> None:
    names = ["result-title", "snippet", "css-1x2y3z", "MjjYud", "wLL07_0Xnd1QZpzpfR4W"]

    assert set(sorted(names, key=stability)[-2:]) == {"snippet", "result-title"}
    assert all(0 <= stability(name) <= 1 for name in names)
