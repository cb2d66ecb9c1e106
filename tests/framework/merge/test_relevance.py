"""The relevance guard: strangers' rows are seen, real ones never suspected."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from framework.merge.relevance import content_words, unrelated
from framework.types import Row

if TYPE_CHECKING:
    from pathlib import Path

STRANGERS = (
    Row(title="Cheap flights to Lisbon", url="https://air.test/lisbon", snippet="Book today."),
    Row(title="Chocolate cake", url="https://cook.test/cake", snippet="Mix flour and sugar."),
)

RELATED = {
    "same word": ("javascript tutorial", "JavaScript basics", "https://a.test/"),
    "inflected": ("tutorials", "One tutorial", "https://a.test/"),
    "in the host": ("python docs", "Welcome", "https://python.test/"),
    "in the path, encoded": ("gezeiten", "x", "https://a.test/%47ezeiten"),
    "accents": ("café crème", "Cafe creme", "https://a.test/"),
    "compound": ("versicherung", "Autoversicherungen im Test", "https://a.test/"),
    "misspelt": ("javscript tutoral", "JavaScript Tutorial", "https://a.test/"),
    "chinese": ("深度学习教程", "学习编程", "https://a.test/"),
    "japanese": ("東京の天気", "東京", "https://a.test/"),
    "korean": ("서울 날씨", "오늘의 날씨는", "https://a.test/"),
    "thai": ("เรียนภาษา", "ภาษาไทย", "https://a.test/"),
    "russian": ("как выбрать ноутбуки", "Лучшие ноутбуков", "https://a.test/"),
    "short word": ("go", "Learn Go", "https://a.test/"),
    "operator left out": ("tides site:a.test -moon", "Tides", "https://b.test/"),
}


@pytest.mark.parametrize(("query", "title", "url"), RELATED.values(), ids=RELATED.keys())
def test_one_shared_word_is_enough(query: str, title: str, url: str) -> None:
    assert not unrelated(query, [*STRANGERS, Row(title=title, url=url)])


@pytest.mark.parametrize("query", ["javascript tutorial", "深度学习教程", "как выбрать ноутбук"])
def test_strangers_rows_are_seen(query: str) -> None:
    assert unrelated(query, STRANGERS)


def test_operators_are_no_words() -> None:
    assert unrelated("javascript site:air.test -cake", STRANGERS)


@pytest.mark.parametrize("query", ["", "how to", "!!!", "site:air.test"])
def test_without_content_words_nothing_is_said(query: str) -> None:
    assert content_words(query) == frozenset()
    assert not unrelated(query, STRANGERS)


def test_without_rows_nothing_is_said() -> None:
    assert not unrelated("javascript", ())


@pytest.mark.shared
def test_real_results_pass_and_mixed_up_ones_do_not(shared: Path) -> None:
    pages = []
    for path in sorted((shared / "captures").rglob("*.expected.json")):
        page = json.loads(path.read_text(encoding="utf-8"))
        found = [
            Row(title=r["title"], url=r["url"], snippet=r.get("snippet") or "")
            for r in page.get("results", [])
            if r.get("title") and r.get("url")
        ]
        if found and page.get("query"):
            pages.append((page["query"], found))
    assert pages
    assert [query for query, found in pages if unrelated(query, found)] == []
    strangers = [
        unrelated(query, found[:10])
        for query, _ in pages
        for other, found in pages
        if not content_words(query) & content_words(other)
    ]
    assert sum(strangers) / len(strangers) > 0.7
