"""Passages: exact places, sizes, nothing dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.evidence.chunks import MOST, cut, cut_all
from framework.evidence.context import build
from framework.reading.tokens import estimate

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.evidence.chunks import Source
    from framework.evidence.models import ModelStore
    from framework.reading import Document

LONG = " ".join(f"Sentence number {n} tells of the garden and its {n} paths." for n in range(60))


def test_text_is_the_document_at_its_place(page: Callable[..., Document]) -> None:
    document = page(f"<h1>Garden</h1><p>{LONG}</p><h2>Visit</h2><p>Open on Sunday.</p>")
    chunks = cut(document)
    assert all(document.markdown[c.start : c.end] == c.text for c in chunks)
    assert all(c.dom_path.startswith("html > body") for c in chunks)
    assert chunks[-1].section == ("Garden", "Visit")


def test_long_paragraphs_are_cut_at_sentences(page: Callable[..., Document]) -> None:
    chunks = cut(page(f"<p>{LONG}</p>"))
    assert len(chunks) > 3
    assert all(estimate(c.text) <= MOST for c in chunks)
    assert all(c.text.startswith("Sentence") and c.text.endswith("paths.") for c in chunks)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(" ".join(f"and then we saw house {n}" for n in range(400)), id="transcript"),
        pytest.param("".join(f"そして家{n}を見た" for n in range(400)), id="no blanks"),
        pytest.param("x" * 6_000, id="one word"),
    ],
)
def test_text_without_sentences_is_cut_too(page: Callable[..., Document], text: str) -> None:
    document = page(f"<p>{text}</p>")
    chunks = cut(document)
    assert len(chunks) > 3
    assert all(estimate(c.text) <= MOST for c in chunks)
    assert "".join("".join(c.text.split()) for c in chunks) == "".join(text.split())
    assert all(document.markdown[c.start : c.end] == c.text for c in chunks)


def test_a_page_without_sentences_still_answers_within_a_small_budget(
    page: Callable[..., Document], no_models: ModelStore
) -> None:
    told = " ".join(f"and then we saw house {n}" for n in range(300))
    document = page(f"<p>{told} where the red heron slept {told}</p>")
    found = build(document, "Where did the red heron sleep?", max_tokens=200, store=no_models)
    assert "red heron slept" in found.evidence_chunks[0].text
    assert found.tokens.returned <= 200


def test_small_neighbours_are_joined_within_their_section(page: Callable[..., Document]) -> None:
    chunks = cut(page("<h1>A</h1><p>One.</p><p>Two.</p><h2>B</h2><p>Three.</p>"))
    assert [c.plain for c in chunks] == ["One.\nTwo.", "Three."]


def test_short_answers_and_rows_are_kept(page: Callable[..., Document]) -> None:
    rows = "".join(f"<tr><td>Item {n}</td><td>{n} g</td></tr>" for n in range(120))
    table = f"<table><tr><th>Name</th><th>Mass</th></tr>{rows}</table>"
    chunks = cut(page(f"<p>Yes.</p>{table}<ul><li>12 V</li></ul>"))
    text = "\n".join(c.text for c in chunks)
    assert all(word in text for word in ("Yes.", "Item 119", "12 V"))


def test_sources_are_counted(source: Callable[..., Source]) -> None:
    chunks = cut_all([source("First page."), source("Second page.")])
    assert [(c.source, c.id) for c in chunks] == [(0, "s0c0"), (1, "s1c0")]


def test_empty_page_has_no_passages(page: Callable[..., Document]) -> None:
    assert cut(page("")) == ()
