"""Facts of sources compared: which say the same, and which contradict each other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from framework.evidence.quantities import conflicts as number_conflicts
from framework.evidence.signals import conflicting, facts
from framework.research.independence import groups
from framework.research.state import Conflict

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from framework.research.state import Quote, Source

__all__ = ["Judge", "Judged", "Memo", "Said", "contradictions", "grounding", "known_facts", "said"]

#: Pairs that a model looks at in one run, those that share most first.
_MOST_PAIRS = 120
_SAME = 0.7
#: What the judge must give a contradiction, by whether a number or date speaks for it.
_BAR, _WEAK_BAR = 0.5, 0.65
_STRONG = frozenset({"number", "date"})
#: Jaccard's coefficient of the content words from which on two quotes speak of the same.
_TOPIC = 0.3


class Judged(Protocol):
    """What is known of a claim, given a text: three probabilities, a verdict, explicit signs."""

    @property
    def entailment(self) -> float:
        """How likely the text says so."""

    @property
    def contradiction(self) -> float:
        """How likely the text says otherwise."""

    @property
    def verdict(self) -> str:
        """`supported`, `refuted` or `unclear`."""

    @property
    def signs(self) -> tuple[str, ...]:
        """Explicit signs against: number, date, name, negation, opposite, kind."""


class Judge(Protocol):
    """Judges (text, claim) pairs, in order."""

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Judged]:
        """Return a judgement for every pair."""


class Memo:
    """A judge that remembers its last judgements; safe to share among threads.

    One thread judges at a time: the models use all cores anyway, and who waits for a pair that
    another one asks about gets it from memory.
    """

    def __init__(self, judge: Judge, most: int = 20_000) -> None:
        self._judge = judge
        self._most = most
        self._known: dict[tuple[str, str], Judged] = {}
        self._lock = Lock()

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> Sequence[Judged]:
        """Return a judgement for every pair."""
        with self._lock:
            fresh = [pair for pair in dict.fromkeys(pairs) if pair not in self._known]
            if len(self._known) + len(fresh) > self._most:
                kept = [pair for pair in pairs if pair in self._known]
                self._known = {pair: self._known[pair] for pair in kept}
            if fresh:
                self._known.update(zip(fresh, self._judge(fresh), strict=True))
            return [self._known[pair] for pair in pairs]


@dataclass(frozen=True, slots=True)
class Said:
    """One fact with its place: the source's id and the number of the quote there."""

    source: int
    number: int
    quote: Quote


def said(sources: Iterable[Source]) -> tuple[Said, ...]:
    """Return every quote of the sources, in order."""
    return tuple(
        Said(source.id, number, quote)
        for source in sources
        for number, quote in enumerate(source.quotes)
    )


def grounding(text: str, claim: str) -> float:
    """Return how much of a claim stands in a text: the share of its content words, 0 to 1.

    A number of the claim that the text lacks halves the share.
    """
    premise, wanted = facts(text), facts(claim)
    if not wanted.content:
        return 0.0
    share = len(wanted.content & premise.content) / len(wanted.content)
    absent = number_conflicts(wanted.numbers, premise.numbers)[2]
    return share * (0.5 if absent else 1.0)


def known_facts(fresh: Sequence[Said], before: Sequence[Said]) -> int:
    """Count the facts that bring nothing new: an earlier one has most words and all numbers."""
    count = 0
    earlier = list(before)
    for one in fresh:
        count += any(_holds(other.quote.fact, one.quote.fact) for other in earlier)
        earlier.append(one)
    return count


def _holds(known: str, fact: str) -> bool:
    return grounding(known, fact) >= _SAME and not conflicting(known, fact)


def contradictions(sources: Sequence[Source], judge: Judge) -> tuple[Conflict, ...]:
    """Return the pairs of quotes of different voices that contradict each other, surest first.

    A pair is looked at where the quotes share enough words (Jaccard 0.3) and explicit signs stand
    against it (other number, date, negation …). It counts where the judge gives a contradiction at
    least 0.5 in one direction; 0.65 where neither a number nor a date speaks for it.
    """
    voice = groups(sources)
    pairs = [
        (one, other, signs)
        for one, other in combinations(said(sources), 2)
        if voice[one.source] != voice[other.source] and (signs := _signs(one, other))
    ]
    pairs.sort(key=lambda pair: -grounding(pair[0].quote.text, pair[1].quote.fact))
    return _once(_judged(pairs[:_MOST_PAIRS], judge))


def _signs(one: Said, other: Said) -> tuple[str, ...]:
    left, right = facts(one.quote.text).content, facts(other.quote.text).content
    if len(left & right) < _TOPIC * len(left | right):
        return ()
    there = conflicting(one.quote.text, other.quote.fact)
    back = conflicting(other.quote.text, one.quote.fact)
    return tuple(dict.fromkeys((*there, *back)))


def _judged(pairs: Sequence[tuple[Said, Said, tuple[str, ...]]], judge: Judge) -> list[Conflict]:
    asked = [(one.quote.text, other.quote.fact) for one, other, _ in pairs]
    asked += [(other.quote.text, one.quote.fact) for one, other, _ in pairs]
    answers = judge(asked)
    found = []
    for at, (one, other, signs) in enumerate(pairs):
        both = (answers[at], answers[at + len(pairs)])
        sure = max(judged.contradiction for judged in both)
        if sure >= (_BAR if _STRONG & set(signs) else _WEAK_BAR):
            found.append(
                Conflict(
                    a=(one.source, one.number),
                    b=(other.source, other.number),
                    confidence=round(sure, 3),
                    reason=", ".join(signs),
                )
            )
    return found


def _once(found: Iterable[Conflict]) -> tuple[Conflict, ...]:
    """Keep the surest conflict between two sources about one quote."""
    kept: dict[tuple[tuple[int, int], int], Conflict] = {}
    for conflict in sorted(found, key=lambda one: -one.confidence):
        key = (conflict.a, conflict.b[0])
        kept.setdefault(key, conflict)
    return tuple(kept.values())
