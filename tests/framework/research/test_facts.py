"""Facts compared: what contradicts, what was known, and judging each pair once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.research.facts import Memo, contradictions, grounding, known_facts, said
from framework.research.state import Quote, Source
from tests.research_world.running import lexical

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.research.facts import Judged


def source(number: int, text: str, domain: str = "") -> Source:
    host = domain or f"s{number}.example"
    quote = Quote(text=text, start=0, end=1, fact=text, link="")
    url = f"https://{host}/{number}"
    return Source(id=number, key=url, url=url, title="t", domain=host, quotes=(quote,))


CLAIM = "The barrage generates 540 gigawatt hours of electricity a year on average."


@pytest.mark.parametrize(
    ("other", "domain", "count"),
    [
        ("The barrage generates 410 gigawatt hours of electricity a year on average.", "", 1),
        ("The barrage generates 540 gigawatt hours of electricity a year on average.", "", 0),
        ("The museum opened in 1961 and has 410 exhibits.", "", 0),
        ("The barrage generates 410 gigawatt hours of electricity a year.", "s1.example", 0),
    ],
    ids=["other-number", "same", "other-subject", "same-voice"],
)
def test_contradictions(other: str, domain: str, count: int) -> None:
    found = contradictions([source(1, CLAIM), source(2, other, domain)], lexical)

    assert len(found) == count
    assert all(one.reason == "number" and one.confidence >= 0.5 for one in found)


@pytest.mark.parametrize(
    ("fresh", "known"),
    [
        ("The barrage generates 540 gigawatt hours a year.", 1),
        ("The barrage generates 410 gigawatt hours a year.", 0),
        ("Ada Thornby drew the first plan.", 0),
    ],
    ids=["less", "other-number", "new"],
)
def test_known_facts(fresh: str, known: int) -> None:
    assert known_facts(said([source(2, fresh)]), said([source(1, CLAIM)])) == known


def test_a_missing_number_halves_what_is_grounded() -> None:
    assert grounding(CLAIM, CLAIM) == 1.0
    assert grounding(CLAIM, CLAIM.replace("540", "610")) <= 0.5
    assert grounding(CLAIM, "the of") == 0.0


def test_a_pair_is_judged_once_and_little_is_kept() -> None:
    asked: list[tuple[str, str]] = []

    def counting(pairs: Sequence[tuple[str, str]]) -> Sequence[Judged]:
        asked.extend(pairs)
        return lexical(pairs)

    memo = Memo(counting, most=2)
    first = memo([("a b", "a"), ("a b", "a"), ("a b", "b")])
    assert memo([("a b", "b")]) == first[2:]
    assert asked == [("a b", "a"), ("a b", "b")]

    assert len(memo([("c d", "c"), ("a b", "b")])) == 2
    assert asked[2:] == [("c d", "c")]
