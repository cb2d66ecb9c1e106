"""Merging: identity, scores that can be redone by hand, titles, fields and order."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from framework.merge.consensus import Ballot, explain, merge, merge_best, score
from framework.types import FieldValue, Row, Vote

if TYPE_CHECKING:
    from collections.abc import Sequence


def rows(*paths: str) -> tuple[Row, ...]:
    return tuple(
        Row(title=path, url=f"https://site.test/{path}", rank=rank)
        for rank, path in enumerate(paths, 1)
    )


def ballot(engine: str, *paths: str, index: str = "", weight: float = 1.0) -> Ballot:
    return Ballot(engine=engine, rows=rows(*paths), index=index, weight=weight)


def ranking(ballots: Sequence[Ballot]) -> list[tuple[str, float]]:
    return [(result.title, round(result.score, 6)) for result in merge(ballots)]


def test_independent_engines_give_the_classic_score() -> None:
    merged = ranking([ballot("a", "x", "y"), ballot("b", "y", "x"), ballot("c", "z", "y")])
    assert merged == [("y", 6.0), ("x", 3.0), ("z", 1.0)]


def test_engines_of_one_index_are_one_voice() -> None:
    twins = [ballot("a", "x", index="one"), ballot("b", "x", index="one")]
    assert ranking(twins) == [("x", 1.0)]
    assert ranking([*twins, ballot("c", "w", "x")])[0] == ("x", 3.0)


def test_the_heaviest_vote_of_a_lineage_counts() -> None:
    merged = merge(
        [ballot("a", "x", index="one"), ballot("b", "y", "x", index="one", weight=3.0)],
    )
    scores = {result.title: result.score for result in merged}
    assert scores == {"y": 3.0, "x": 1.5}


def test_an_engine_votes_once_per_page_with_its_best_rank() -> None:
    (result,) = merge([Ballot(engine="a", rows=rows("x", "x/", "x?utm_source=b"))])
    assert result.votes == (Vote(engine="a", rank=1, index="a"),)
    assert result.score == 1.0


def test_ties_go_to_the_best_rank_then_to_the_engine_order() -> None:
    two_seconds = [ballot("a", "f", "x"), ballot("b", "g", "x")]  # x: (1/2 + 1/2) × 2 = 2
    heavy_first = ballot("c", "y", weight=2.0)  # y: 2/1 × 1 = 2, with the better rank
    assert [title for title, _ in ranking([*two_seconds, heavy_first])][:2] == ["y", "x"]
    assert [title for title, _ in ranking([ballot("b", "q"), ballot("a", "p")])] == ["q", "p"]


def test_the_shown_address_is_the_best_votes_own_without_its_wrapper() -> None:
    wrapped = "https://duckduckgo.com/l/?uddg=http%3A%2F%2Fwww.site.test%2Fx%3Futm_id%3D1"
    merged = merge(
        [
            Ballot(engine="a", rows=(Row(title="x", url="https://site.test/x", rank=2),)),
            Ballot(engine="b", rows=(Row(title="x", url=wrapped, rank=1),)),
        ]
    )
    assert [(result.url, result.key) for result in merged] == [
        ("http://www.site.test/x?utm_id=1", "https://site.test/x")
    ]


def page(engine: str, title: str, snippet: str = "", **fields: FieldValue) -> Ballot:
    row = Row(title=title, url="https://site.test/x", snippet=snippet, fields=fields)
    return Ballot(engine=engine, rows=(row,))


def test_the_title_of_most_engines_wins_then_the_longest() -> None:
    majority = [page("a", "A very long title"), page("b", "Short"), page("c", "SHORT ")]
    assert merge(majority)[0].title == "SHORT "
    assert merge(majority[:2])[0].title == "A very long title"


def test_the_longest_snippet_and_all_fields_are_kept() -> None:
    (result,) = merge(
        [
            page("a", "x", "short", published="", stars=3),
            page("b", "x", "a longer one", published="2026-01-02", stars=4),
        ]
    )
    assert result.snippet == "a longer one"
    assert result.fields == {"published": "2026-01-02", "stars": 3}


def test_one_work_at_several_addresses_is_one_result() -> None:
    merged = merge(
        [
            Ballot(
                engine="papers",
                index="p",
                rows=(
                    Row(title="x", url="http://arxiv.org/abs/2001.00001v2", fields={"pdf": "u"}),
                ),
            ),
            Ballot(
                engine="register",
                rows=(
                    Row(
                        title="x",
                        url="https://doi.org/10.5555/x",
                        fields={"arxiv": "2001.00001"},
                    ),
                ),
            ),
            Ballot(
                engine="web",
                rows=(Row(title="x", url="https://publisher.test/x", fields={"doi": "10.5555/X"}),),
            ),
        ]
    )
    assert [(result.score, len(result.votes)) for result in merged] == [(9.0, 3)]


def test_domains_and_the_number_of_results() -> None:
    given_rows = (*rows("x", "y"), Row(title="z", url="https://docs.other.test/z", rank=3))
    ballots = [Ballot(engine="a", rows=given_rows)]
    assert [r.title for r in merge(ballots, include_domains=["other.test"])] == ["z"]
    assert [r.title for r in merge(ballots, exclude_domains=["other.test"])] == ["x", "y"]
    assert [(r.title, r.rank) for r in merge(ballots, max_results=1)] == [("x", 1)]
    assert merge([]) == ()


def test_explain_can_be_redone_by_hand() -> None:
    (top, *_) = merge(
        [
            ballot("a", "y", "x", index="one"),
            ballot("b", "x", index="one", weight=0.5),
            ballot("c", "w", "v", "x"),
        ]
    )
    text = explain(top)
    assert "index one: a rank 2: 1/2; b rank 1: 0.5/1, the best counts: a" in text
    found = re.search(r"score = \((.+)\) × (\d) lineages = (.+)", text)
    assert found is not None
    terms = [float(top) / float(bottom) for top, bottom in re.findall(r"([\d.]+)/(\d+)", found[1])]
    assert sum(terms) * int(found[2]) == pytest.approx(float(found[3]), rel=1e-5)
    assert float(found[3]) == pytest.approx(top.score, rel=1e-5)


_BALLOTS = st.lists(
    st.builds(
        ballot,
        st.sampled_from("abcdef"),
        index=st.sampled_from(["", "one", "two"]),
        weight=st.sampled_from([0.5, 1.0, 2.0]),
    ),
    max_size=5,
    unique_by=lambda item: item.engine,
)
_PATHS = st.lists(st.sampled_from("uvwxyz"), max_size=6)


@settings(max_examples=150, deadline=None)
@given(_BALLOTS, st.lists(_PATHS, min_size=5, max_size=5))
def test_scores_follow_from_the_votes_and_order_the_results(
    empty: list[Ballot], paths: list[list[str]]
) -> None:
    ballots = [
        Ballot(engine=item.engine, rows=rows(*path), index=item.index, weight=item.weight)
        for item, path in zip(empty, paths, strict=False)
    ]
    merged = merge(ballots)
    assert len({result.key for result in merged}) == len(merged)
    assert [result.rank for result in merged] == list(range(1, len(merged) + 1))
    assert all(result.score == score(result.votes) for result in merged)
    assert [r.score for r in merged] == sorted((r.score for r in merged), reverse=True)


@settings(max_examples=100, deadline=None)
@given(st.permutations(["a", "b", "c", "d"]), _PATHS)
def test_scores_do_not_depend_on_the_order_of_engines(order: list[str], paths: list[str]) -> None:
    ballots = {name: ballot(name, *paths[at:]) for at, name in enumerate("abcd")}
    one = {result.key: result.score for result in merge(ballots.values())}
    other = {result.key: result.score for result in merge(ballots[name] for name in order)}
    assert one == pytest.approx(other)


def _cost(engines: int, count: int) -> float:
    ballots = [
        Ballot(engine=f"e{e}", rows=rows(*(f"p{(e * 7 + n) % (2 * count)}" for n in range(count))))
        for e in range(engines)
    ]
    merge(ballots)
    times = []
    for _ in range(3):
        start = time.process_time()
        merge(ballots)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.untraced
def test_cost_is_linear_up_to_sixty_engines_of_a_thousand_rows() -> None:
    small, large = _cost(15, 250), _cost(60, 1000)
    assert large / small < 16 * 6


def test_the_best_results_come_with_the_number_of_all() -> None:
    ballots = [ballot("a", "x", "y", "z"), ballot("b", "y", "w")]
    results, total = merge_best(ballots, 2)
    assert results == merge(ballots)[:2]
    assert total == len(merge(ballots)) == 4
