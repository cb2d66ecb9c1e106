"""What a page says for a task: order, places, budget, confidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.errors import InvalidInputError
from framework.evidence.context import build, rank
from framework.evidence.models import ModelStore
from framework.evidence.packing import SEPARATOR, alike
from framework.evidence.rerank import ratings
from framework.reading import read
from framework.reading.tokens import count

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.evidence.chunks import Source
    from framework.reading import Document

NONE = ModelStore(records=())
GARDEN = """<h1>The walled garden</h1>
<p>The garden was laid out by monks who grew pears and herbs.</p>
<h2>Tickets</h2><p>A ticket costs nine euros; children under six years pay nothing.</p>
<h2>Getting there</h2><p>Bus 14 stops at the northern gate every twenty minutes.</p>"""
VOICES = {
    "en": "The ferry to the island leaves at noon. ",
    "de": "Die Fähre zur Insel fährt mittags ab. ",
    "fr": "Le bac pour l'île part à midi. ",
    "ru": "Паром на остров отходит в полдень. ",
    "zh": "去岛上的渡轮中午出发。",
    "ja": "島へのフェリーは正午に出ます。",
    "ar": "تغادر العبارة إلى الجزيرة عند الظهر. ",
    "th": "เรือข้ามฟากไปเกาะออกตอนเที่ยง ",
}


def test_the_passage_that_answers_is_first(page: Callable[..., Document]) -> None:
    found = build(page(GARDEN), "what does a ticket cost", store=NONE)
    first = found.evidence_chunks[0]
    assert "nine euros" in first.text
    assert first.section_path == ("The walled garden", "Tickets")
    assert set(first.matched_terms) == {"ticket", "cost"}
    assert first.text_fragment_url.startswith("https://site.example/page#:~:text=")
    assert found.ranking.methods == ("bm25", "letter-bm25")


def test_passages_stand_where_they_say(page: Callable[..., Document]) -> None:
    document = page(GARDEN)
    for item in build(document, "garden bus ticket", store=NONE).evidence_chunks:
        assert document.markdown[item.char_start : item.char_end] == item.text
        assert item.tokens == count(item.text)


@pytest.mark.parametrize("language", VOICES)
@settings(max_examples=15, deadline=None)
@given(budget=st.integers(1, 400), repeats=st.integers(1, 60))
def test_budget_is_never_exceeded(language: str, budget: int, repeats: int) -> None:
    voice = VOICES[language]
    paragraphs = "".join(
        f"<p>{voice * repeats}{n}. </p><ul><li>{voice}</li></ul>" for n in range(4)
    )
    html = f"<html><body><main><h1>{voice}</h1>{paragraphs}</main></body></html>"
    document = read(html.encode(), "https://site.example/")
    found = build(document, voice, max_tokens=budget, store=NONE)
    text = SEPARATOR.join(item.text for item in found.evidence_chunks)
    assert count(text) <= budget
    assert found.tokens.returned <= budget


def test_repetition_is_returned_once(page: Callable[..., Document]) -> None:
    text = "The old lighthouse keeper counted forty ships in the storm of that winter night. " * 8
    found = build(page(f"<h1>A</h1><p>{text}</p><h1>B</h1><p>{text}</p>"), "lighthouse", store=NONE)
    assert len(found.evidence_chunks) == 1


def test_a_page_on_something_else_is_never_sure(page: Callable[..., Document]) -> None:
    found = build(page(GARDEN), "interest rates of the central bank", store=NONE)
    assert found.retrieval_confidence.level == "low"
    assert found.retrieval_confidence.suggestion


def test_minimum_score_leaves_weak_passages_out(page: Callable[..., Document]) -> None:
    everything = build(page(GARDEN), "what does a ticket cost", store=NONE)
    strict = build(page(GARDEN), "what does a ticket cost", min_score=0.9, store=NONE)
    assert len(strict.evidence_chunks) < len(everything.evidence_chunks) or all(
        item.score >= 0.9 for item in everything.evidence_chunks
    )


def test_capsule_is_short_and_from_the_page(page: Callable[..., Document]) -> None:
    document = page(GARDEN)
    capsule = build(document, "bus to the gate", store=NONE).capsule
    assert 1 <= len(capsule.tldr) <= 3
    assert all(sentence in document.text.replace("\n", " ") for sentence in capsule.tldr)
    assert capsule.highlight_chunk_ids


def test_empty_task_is_refused(page: Callable[..., Document]) -> None:
    with pytest.raises(InvalidInputError, match="task is empty"):
        build(page(GARDEN), "  ", store=NONE)


def test_scores_compare_across_sources(source: Callable[..., Source]) -> None:
    near = source("The comet passes the earth in March and can be seen at dawn.")
    far = source("Our bakery sells bread, rolls and cakes from seven to noon.")
    ranked = rank([far, near], "when can the comet be seen", store=NONE)
    best = ranked.chunks[ranked.order[0]]
    assert best.source == 1
    assert all(ranked.score[i] < 0.2 for i in ranked.order if ranked.chunks[i].source == 0)


def test_alike_is_symmetric_and_sees_parts() -> None:
    whole = "one two three four five six seven eight"
    assert alike(whole, "three four five six") == alike("three four five six", whole) == 1.0
    assert alike(whole, "nine ten eleven twelve") == 0.0


def test_cross_encoder_prefers_the_answer(packaged: ModelStore) -> None:
    texts = [
        "The tower is a landmark of the town and often painted.",
        "With its spire the tower is 72 metres high.",
        "The town lies on a river.",
    ]
    rated = ratings("How high is the tower?", texts, packaged)
    assert rated is not None
    assert max(range(3), key=lambda i: rated[i] or 0.0) == 1
    assert all(0.0 <= (value or 0.0) <= 1.0 for value in rated)


def test_cross_encoder_stops_when_its_time_is_up(packaged: ModelStore) -> None:
    ticks = iter(range(100))
    texts = ["The tower is high and it is in the town."] * 30
    rated = ratings("tower", texts, packaged, cpu_seconds=0.5, clock=lambda: float(next(ticks)))
    assert rated is not None
    assert rated[0] is not None
    assert rated[-1] is None
    assert len(rated) == 30


def test_cross_encoder_is_not_asked_in_other_languages(packaged: ModelStore) -> None:
    assert (
        ratings("Wie hoch ist der Turm?", ["Der Turm ist hoch und steht am Fluss."], packaged)
        is None
    )


def test_context_says_when_the_model_ran(
    page: Callable[..., Document], packaged: ModelStore
) -> None:
    found = build(page(GARDEN), "what does a ticket cost", store=packaged)
    assert found.ranking.methods[-1] == "cross-encoder"
    assert "nine euros" in found.evidence_chunks[0].text
    assert "cross_encoder" in found.evidence_chunks[0].score_breakdown
    plain = build(page(GARDEN), "what does a ticket cost", rerank=False, store=packaged)
    assert plain.ranking.methods == ("bm25", "letter-bm25")
