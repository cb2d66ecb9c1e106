"""Query-focused reading: the right passages, in page order, never over the budget."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.errors import InvalidInputError
from framework.reading import Document, read, tokens
from framework.reading.bm25 import Bm25
from framework.reading.passages import Passages, select
from framework.reading.terms import grams, terms

URL = "https://site.test/lamps"
SECTIONS = {
    "Lamps": (
        "The copper lamp was built in the harbour town, where it still shines over the "
        "pier at night."
    ),
    "Birds": (
        "Every spring the storks return to the old roofs and build their nests of twigs and straw."
    ),
    "Trains": (
        "The narrow railway closed long ago, but its engines are shown in a museum near "
        "the station."
    ),
    "Bread": (
        "Bakers of the valley bake a dark bread with rye, caraway and a little honey from "
        "the hills."
    ),
}


def page(sections: dict[str, str], times: int = 1) -> Document:
    parts = "".join(
        f"<h2>{head}</h2><p>{' '.join([text] * times)}</p>" for head, text in sections.items()
    )
    return read(f"<main><h1>All of it</h1>{parts}</main>".encode(), URL)


QUERIES = {
    "words": ("Where do storks build nests?", "Birds"),
    "inflected": ("engine in museums", "Trains"),
    "by its heading": ("bread", "Bread"),
}


@pytest.mark.parametrize(("query", "section"), QUERIES.values(), ids=QUERIES.keys())
def test_the_right_passage_comes_first(query: str, section: str) -> None:
    (passage,) = select(page(SECTIONS), query, max_chunks=1)
    assert passage.text == SECTIONS[section]
    assert passage.section[-1] == section


SCRIPTS = {
    "ru": (
        "Старый маяк стоит на берегу моря уже двести лет.",
        "В долине пекут тёмный хлеб с мёдом.",
        "где стоят маяки",
    ),
    "ar": (
        "بنيت المنارة القديمة على شاطئ البحر قبل مئتي عام",
        "يخبز أهل الوادي خبزا داكنا بالعسل",
        "أين بنيت المنارات",
    ),
    "zh": ("这座古老的灯塔在海边矗立了两百年。", "山谷里的人用蜂蜜烤黑面包。", "灯塔在哪里"),
    "th": ("ประภาคารเก่าตั้งอยู่ริมทะเลมาสองร้อยปีแล้ว", "ชาวหุบเขาอบขนมปังสีเข้มกับน้ำผึ้ง", "ประภาคารตั้งอยู่ที่ไหน"),
    "es": (
        "El faro antiguo está en la costa desde hace dos siglos.",
        "En el valle hornean pan oscuro con miel.",
        "¿dónde están los faros antiguos?",
    ),
}


@pytest.mark.parametrize(("right", "wrong", "query"), SCRIPTS.values(), ids=SCRIPTS.keys())
def test_any_script_is_searched(right: str, wrong: str, query: str) -> None:
    document = page({"One": wrong, "Two": right, "Three": wrong + " " + wrong})
    (passage,) = select(document, query, max_chunks=1)
    assert passage.text == right


def test_passages_come_in_page_order_with_their_place() -> None:
    document = page(SECTIONS)
    found = select(document, "honey bread, copper lamp", max_tokens=200)
    assert [passage.start for passage in found] == sorted(passage.start for passage in found)
    for passage in found:
        assert document.markdown[passage.start : passage.end] == passage.text
        assert passage.tokens == tokens.count(passage.text)
        assert passage.dom_path.startswith("html > body")


def test_nothing_that_matches_gives_nothing() -> None:
    assert select(page(SECTIONS), "zzzz") == ()


@settings(max_examples=60)
@given(st.integers(1, 120), st.sampled_from(["storks", "honey lamp engine", "the", "ö"]))
def test_the_budget_always_holds(most: int, query: str) -> None:
    found = Passages(page(SECTIONS, times=6)).select(query, max_tokens=most)
    assert tokens.count("\n\n".join(passage.text for passage in found)) <= most


def test_a_long_passage_is_cut_around_its_best_sentence() -> None:
    filler = "Nothing of note is told in this sentence of the text. " * 30
    document = page({"Long": filler + "The heron nests on the island. " + filler})
    (passage,) = select(document, "where does the heron nest", max_tokens=60)
    assert "heron nests on the island." in passage.text
    assert passage.tokens <= 60


def test_a_text_without_sentences_is_cut_at_the_hit() -> None:
    document = page({"One": "word " * 400 + "heron " + "word " * 400})
    (passage,) = select(document, "heron", max_tokens=40)
    assert "heron" in passage.text


@pytest.mark.parametrize(
    ("query", "limits", "named"),
    [
        (" ", {}, "query"),
        ("x", {"max_tokens": 0}, "max_tokens"),
        ("x", {"max_chunks": 0}, "max_chunks"),
    ],
)
def test_wrong_arguments_are_refused_by_name(
    query: str, limits: dict[str, int], named: str
) -> None:
    with pytest.raises(InvalidInputError, match=named):
        select(page(SECTIONS), query, **limits)


def test_terms_fold_case_accents_and_endings() -> None:
    assert terms("Élèves élève") == ["eleves", "eleve"]
    assert terms("лампами Лампы")[0] == terms("лампами")[0]
    assert terms("東京都") == ["東京", "京都"]
    assert terms("الكتاب") == terms("كتاب")
    assert grams("lamp") == [" lam", "lamp", "amp "]


def test_bm25_prefers_rare_terms() -> None:
    index = Bm25(["the red lamp", "the red door", "the blue door"], terms)
    scores = index.scores("lamp red")
    assert scores[0] > scores[1] > scores[2] == 0
    assert index.shared("lamp red", 1) == ("red",)
