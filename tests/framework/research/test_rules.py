"""The small rules of a run: queries, choice of pages, voices, quality, confidence, stops."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.research.independence import copied, domain_of, groups, sketch_of
from framework.research.quality import confidence, level, quality, recency, sure
from framework.research.queries import accepted, is_duplicate, language_of
from framework.research.select import candidates, pages_wanted, pooled, ranked
from framework.research.state import (
    Candidate,
    Checked,
    Grounding,
    Quote,
    RoundStats,
    Source,
    State,
    Stop,
    Task,
)
from framework.research.stop import reserve, rounds_stop
from framework.types import Query, Result, SearchAnswer, Vote

TASK = Task(objective="history of the tidal barrage", today="2026-11-29")


def source(number: int, url: str = "", **more: Any) -> Source:
    url = url or f"https://site{number}.example/"
    return Source(id=number, key=url, url=url, title="t", domain=domain_of(url), **more)


QUOTE = Quote(text="words", start=0, end=5, fact="words", link="")


@pytest.mark.parametrize(
    ("query", "earlier", "expected"),
    [
        ("Barrage history tidal", ["tidal barrage history"], True),
        ("history of the tidal barrage?", ["tidal barrage history"], True),
        ("tidal barrage effects", ["tidal barrage history"], False),
        ("東京の人口", ["東京の人口"], True),
        ("東京の人口", ["東京の気温"], False),
        ("the", ["a"], True),
    ],
    ids=["order", "small-words", "other", "unspaced-same", "unspaced-other", "nothing"],
)
def test_duplicate_queries(query: str, earlier: list[str], expected: bool) -> None:
    assert is_duplicate(query, earlier) is expected


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("How was the barrage built and what did it do?", "en"),
        ("Wie wurde das Kraftwerk gebaut und was ist mit der Bucht?", "de"),
        ("Comment est-ce que le barrage a été construit dans les années?", "fr"),
        ("東京の人口はどう変わったか", "ja"),
        ("Как построили плотину", "ru"),
        ("서울의 인구", "ko"),
        ("barrage 1998", None),
    ],
    ids=["en", "de", "fr", "ja", "ru", "ko", "unknown"],
)
def test_languages(text: str, language: str | None) -> None:
    assert language_of(text) == language


def test_queries_in_another_language_are_refused_where_there_are_own() -> None:
    proposed = ["Wie wurde das Kraftwerk gebaut und wann", "how was the power station built"]

    assert accepted(proposed, [], "de") == (proposed[0],)
    assert accepted(proposed[1:], [], "de") == (proposed[1],)
    assert accepted(["x " * 300], [], None) == (("x " * 100).strip(),)


def vote(engine: str, rank: int) -> Vote:
    return Vote(engine=engine, rank=rank, index=engine)


def test_only_the_first_rows_of_each_engine_count() -> None:
    results = tuple(
        Result(
            key=f"k{n}",
            rank=n,
            title="t",
            url=f"https://{n}.example",
            snippet="",
            score=9,
            votes=votes,
        )
        for n, votes in enumerate(
            [(vote("a", 1), vote("b", 9)), (vote("a", 3),), (vote("b", 2),)], 1
        )
    )
    answer = SearchAnswer(query=Query(text="q"), results=results, engines=())

    found = candidates(answer, 2)

    assert [one.key for one in found] == ["k1", "k3"]
    assert [one.score for one in found] == [1.0, 0.5]
    assert found[0].indexes == ("a",)


def candidate(key: str, title: str, score: float = 1.0, url: str = "") -> Candidate:
    return Candidate(
        key=key, url=url or f"https://{key}.example/", title=title, snippet="", score=score
    )


def test_the_choice_prefers_new_owners_and_new_words() -> None:
    found = [
        candidate("one", "tidal barrage history", 1.0, "https://a.example/1"),
        candidate("two", "tidal barrage history", 0.95, "https://a.example/2"),
        candidate("three", "barrage costs and crowns", 0.5, "https://b.example/"),
    ]
    state = pooled(State(task=TASK), found)

    assert [one.key for one in ranked(state, 2)] == ["one", "three"]
    assert pooled(replace(state, seen=("one",), pool=()), found).pool[0].key == "two"
    assert ranked(State(task=TASK), 5) == ()


@pytest.mark.parametrize(
    ("limit", "read", "wanted"),
    [(-1, 90, 6), (10, 0, 4), (10, 4, 3), (10, 9, 1), (10, 10, 0), (0, 0, 0), (50, 0, 6)],
    ids=str,
)
def test_the_pages_of_a_round(limit: int, read: int, wanted: int) -> None:
    sources = tuple(source(n) for n in range(1, read + 1))
    state = State(task=replace(TASK, max_citation_urls=limit), sources=sources)

    assert pages_wanted(state) == wanted


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://www.a.example/x", "a.example"),
        ("https://deep.sub.a.example/", "a.example"),
        ("https://news.site.co.uk/", "site.co.uk"),
        ("https://ann.github.io/p", "ann.github.io"),
        ("https://192.0.2.7/", "192.0.2.7"),
        ("https://localhost/", "localhost"),
    ],
    ids=["www", "deep", "registry", "shared", "address", "bare"],
)
def test_domains(url: str, domain: str) -> None:
    assert domain_of(url) == domain


TEXT = " ".join(f"word{n} and so on" for n in range(200))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (TEXT, f"A foreword. {TEXT} And an afterword.", True),
        (TEXT, TEXT[: len(TEXT) // 2], True),
        (TEXT, TEXT.replace("word", "term"), False),
        ("too short to say", "too short to say", False),
    ],
    ids=["framed", "half", "other", "short"],
)
def test_copies(one: str, other: str, expected: bool) -> None:
    assert copied(sketch_of(one), sketch_of(other)) is expected


def test_voices_join_owners_and_copies() -> None:
    sources = [
        source(1, "https://a.example/1"),
        source(2, "https://b.example/"),
        source(3, "https://www.a.example/2"),
        source(4, "https://c.example/", copy_of=2),
    ]

    assert groups(sources) == {1: 1, 2: 2, 3: 1, 4: 2}


@pytest.mark.parametrize(
    ("published", "expected"),
    [
        ("2026-03-01", 1.0),
        ("2025-12-01T08:00:00Z", 1.0),
        ("2016-11-29", 0.3),
        ("1990", 0.3),
        (None, 0.5),
        ("2024-13-77", 0.5),
        ("2030-01-01", 1.0),
    ],
    ids=["now", "last-year", "ten-years", "old", "none", "broken", "future"],
)
def test_recency(published: str | None, expected: float) -> None:
    assert recency(published, "2026-11-29") == pytest.approx(expected, abs=0.01)


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ((1.0, 1.0, 1.0, 1.0, "low"), 1.0),
        ((1.0, 1.0, 1.0, 1.0, "high"), 0.5),
        ((0.0, 0.0, 0.0, 0.0, "low"), 0.0),
        ((1.0, 0.0, 0.0, 0.0, "low"), 0.45),
        ((0.0, 1.0, 0.0, 0.0, "low"), 0.25),
        ((0.0, 0.0, 1.0, 0.0, "low"), 0.15),
        ((0.0, 0.0, 0.0, 1.0, "low"), 0.15),
    ],
    ids=["all", "risky", "nothing", "support", "directness", "recency", "independence"],
)
def test_quality(parts: tuple[float, float, float, float, str], expected: float) -> None:
    support, direct, recent, independent, risk = parts
    value = quality(
        support=support, directness=direct, recency=recent, independence=independent, risk=risk
    )
    assert value == pytest.approx(expected)


@pytest.mark.parametrize(
    ("support", "against", "expected"),
    [
        ([], [], 0.0),
        ([1.0], [], 0.6),
        ([1.0, 1.0], [], 0.84),
        ([1.0, 1.0, 1.0], [], 0.936),
        ([0.5], [], 0.3),
        ([1.0], [1.0], 0.384),
        ([1.0, 1.0], [1.0], 0.5376),
        ([], [1.0], 0.0),
    ],
    ids=["none", "one", "two", "three", "half", "against", "two-against", "only-against"],
)
def test_confidence_of_a_statement(
    support: list[float], against: list[float], expected: float
) -> None:
    assert sure(support, against) == pytest.approx(expected)


QUALITIES = st.lists(st.floats(0.01, 1.0), max_size=6)


@given(QUALITIES, QUALITIES, st.floats(0.01, 1.0))
def test_confidence_grows_with_support_and_falls_with_contradiction(
    support: list[float], against: list[float], more: float
) -> None:
    value = sure(support, against)

    assert 0.0 <= value <= 1.0
    assert sure([*support, more], against) >= value
    assert sure(support, [*against, more]) <= value


def sentence(grounding: Grounding, *sources: int) -> Checked:
    return Checked(text="s", grounding=grounding, sources=sources)


@pytest.mark.parametrize(
    ("checked", "expected"),
    [
        ([], 0.0),
        ([sentence(Grounding.PLAIN)], 0.0),
        ([sentence(Grounding.ENTAILED, 1)], 0.6),
        ([sentence(Grounding.GROUNDED, 1, 2)], 0.84),
        ([sentence(Grounding.ENTAILED, 1, 3)], 0.6),
        ([sentence(Grounding.ENTAILED, 1), sentence(Grounding.UNCITED)], 0.3),
        ([sentence(Grounding.ENTAILED, 1), sentence(Grounding.CONTRADICTED, 2)], 0.3),
        ([sentence(Grounding.ENTAILED, 1), sentence(Grounding.PLAIN)], 0.6),
    ],
    ids=["none", "plain", "one", "two", "same-voice", "uncited", "contradicted", "beside-plain"],
)
def test_confidence_of_an_answer(checked: list[Checked], expected: float) -> None:
    values = {1: 1.0, 2: 1.0, 3: 1.0}
    assert confidence(checked, values, {1: 1, 2: 2, 3: 1}) == pytest.approx(expected)


def test_levels() -> None:
    assert [level(value) for value in (0.0, 0.5, 0.74, 0.75, 1.0)] == [
        "low",
        "medium",
        "medium",
        "high",
        "high",
    ]


def rounds(*known: tuple[int, int, int]) -> tuple[RoundStats, ...]:
    return tuple(
        RoundStats(number=n, pages=pages, facts=facts, known=old)
        for n, (pages, facts, old) in enumerate(known, 1)
    )


CITED = (source(1, quotes=(QUOTE,)),)


@pytest.mark.parametrize(
    ("changes", "stop"),
    [
        ({}, None),
        ({"judged": True}, Stop.COMPLETE),
        ({"judged": True, "sources": ()}, None),
        ({"judged": True, "gaps": ("open",)}, None),
        ({"failures": 3, "judged": True}, Stop.LLM_FAILED),
        ({"round": 20}, Stop.LOOPS),
        ({"sources": tuple(source(n) for n in range(1, 11))}, Stop.URLS),
        ({"rounds": rounds((3, 10, 6), (3, 10, 6))}, Stop.SATURATED),
        ({"rounds": rounds((3, 10, 6), (3, 10, 5))}, None),
        ({"rounds": rounds((3, 0, 0), (3, 0, 0))}, Stop.SATURATED),
        ({"rounds": rounds((0, 0, 0), (0, 0, 0))}, Stop.NOTHING_FOUND),
        ({"rounds": rounds((0, 0, 0))}, None),
    ],
    ids=[
        "goes-on", "complete", "nothing-cited", "gaps", "failing", "loops", "pages", "saturated",
        "one-below", "no-facts", "nothing-found", "once-only",
    ],
)  # fmt: skip
def test_stops(changes: dict[str, Any], stop: Stop | None) -> None:
    state = replace(State(task=TASK, sources=CITED), **changes)

    assert rounds_stop(state) is stop


def test_a_client_that_can_be_asked_no_more_ends_the_run() -> None:
    task = replace(TASK, max_exchanges=10)

    assert rounds_stop(State(task=task, exchanges=6)) is None
    assert rounds_stop(State(task=task, exchanges=7)) is Stop.EXCHANGES


@pytest.mark.parametrize(("budget", "kept"), [(20.0, 5.0), (600.0, 45.0)], ids=str)
def test_time_is_kept_for_the_answer(budget: float, kept: float) -> None:
    assert reserve(State(task=replace(TASK, time_budget=budget))) == kept
