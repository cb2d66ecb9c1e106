"""What the templates are given."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.reading import read
from framework.types import EngineReport, Query, Result, SearchAnswer, Verdict, Vote
from server.web import views


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "data:text/html,x",
        "//host.example/",
        "https://",
        "https://user@host.example/",
        "http://[::1",
        "",
    ],
)
def test_only_web_addresses_are_linked(url: str) -> None:
    row = Result(key="k", rank=1, title="t", url=url, snippet="", score=1.0, votes=())
    answer = SearchAnswer(query=Query(text="a"), results=(row,), engines=())

    (shown,) = views.results(answer)

    assert (shown.href, shown.reader) == ("", "")


def test_a_result_as_it_is_shown() -> None:
    votes = (Vote(engine="a", rank=1, index="a"), Vote(engine="b", rank=2, index="b"))
    row = Result(
        key="k",
        rank=3,
        title="Tides",
        url="https://www.host.example/a/b?c=d",
        snippet="Of tides",
        score=3.0,
        votes=votes,
        fields={"published": "2025-01-02T03:04:05Z"},
    )
    (shown,) = views.results(SearchAnswer(query=Query(text="tides"), results=(row,), engines=()))

    assert shown.shown == "host.example › a › b"
    assert (shown.indexes, shown.score, shown.published) == (2, "3.00", "2025-01-02")
    assert shown.snippet == (views.Piece("Of "), views.Piece("tides", hit=True))
    assert shown.reader == "/page?url=https%3A%2F%2Fwww.host.example%2Fa%2Fb%3Fc%3Dd&q=tides"


def test_a_second_vote_of_an_index_is_told_apart() -> None:
    votes = (
        Vote(engine="a", rank=1, index="x"),
        Vote(engine="b", rank=2, index="y"),
        Vote(engine="c", rank=3, index="x"),
    )
    row = Result(
        key="k", rank=1, title="t", url="https://a.example/", snippet="", score=1.0, votes=votes
    )
    (shown,) = views.results(SearchAnswer(query=Query(text="a"), results=(row,), engines=()))

    assert [vote.repeats for vote in shown.votes] == [False, False, True]


@pytest.mark.parametrize(
    ("verdicts", "expected"),
    [
        ((Verdict.OK, Verdict.EMPTY), False),
        ((Verdict.EMPTY, Verdict.BLOCKED), True),
        ((Verdict.RESTING,), True),
        ((), False),
    ],
    ids=["all heard", "one blocked", "one rests", "none asked"],
)
def test_engines_that_could_not_say(verdicts: tuple[Verdict, ...], expected: bool) -> None:
    reports = [EngineReport(id="a", verdict=verdict) for verdict in verdicts]
    assert views.unheard(reports) is expected


@given(st.text(), st.lists(st.text()))
def test_marking_loses_nothing(text: str, words: list[str]) -> None:
    assert "".join(piece.text for piece in views.marked(text, words)) == text


@pytest.mark.parametrize("verdict", list(Verdict))
def test_every_verdict_has_a_look(verdict: Verdict) -> None:
    (shown,) = views.reports([EngineReport(id="a", verdict=verdict, retry_after=3, detail="why")])

    assert shown.tone in {"fine", "plain", "wait", "trouble"}
    fine = verdict in {Verdict.OK, Verdict.EMPTY}
    assert shown.detail == ("again in 3 s" if fine else "why; again in 3 s")


def test_a_long_page_is_cut_and_says_so() -> None:
    body = "<article>" + "<p>A paragraph that is long enough to count.</p>" * 900 + "</article>"
    parts, more = views.paragraphs(read(body.encode(), "https://a.example/"))

    assert (len(parts), more) == (400, True)
