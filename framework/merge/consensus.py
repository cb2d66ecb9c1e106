"""Consensus: the rows of several engines become one ranked list of pages.

`score = (Σ over index lineages of max over its engines of weight / rank) × number of lineages`:
engines that draw on one index are one voice, and independent voices that agree lift a page. With
every engine its own lineage this is the classic Σ 1/rank × engines.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from framework.merge.canonical import canonical, unwrap
from framework.merge.domains import DomainFilter
from framework.merge.identity import identities
from framework.types import Result, Row, Vote

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from framework.types import FieldValue

__all__ = ["Ballot", "explain", "merge", "merge_best", "score"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ballot:
    """What one engine returned: its rows in order, its index lineage and its weight."""

    engine: str
    rows: tuple[Row, ...]
    index: str = ""
    weight: float = 1.0

    @property
    def lineage(self) -> str:
        """The index lineage; an engine that declares none is its own."""
        return self.index or self.engine


class _Entry(NamedTuple):
    """One row together with who gave it; sorts the best vote first.

    `strength` is minus its contribution; `order` is the engine's position, `number` the row's.
    """

    strength: float
    rank: int
    order: int
    number: int
    ballot: Ballot
    row: Row


@dataclass(slots=True)
class _Groups:
    """Rows that share an identity, found in one pass (disjoint sets with path halving)."""

    parents: list[int] = field(default_factory=list)
    members: dict[str, int] = field(default_factory=dict)

    def add(self, keys: tuple[str, ...]) -> int:
        """Put a row with these keys into its group, joining groups that it connects."""
        own = len(self.parents)
        self.parents.append(own)
        for key in keys:
            known = self.members.setdefault(key, own)
            if known != own:
                self.join(known, own)
        return own

    def join(self, one: int, other: int) -> None:
        low, high = sorted((self.root(one), self.root(other)))
        self.parents[high] = low

    def root(self, node: int) -> int:
        while self.parents[node] != node:
            self.parents[node] = self.parents[self.parents[node]]
            node = self.parents[node]
        return node


def merge(
    ballots: Iterable[Ballot],
    *,
    include_domains: Sequence[str] = (),
    exclude_domains: Sequence[str] = (),
    max_results: int | None = None,
) -> tuple[Result, ...]:
    """Merge the rows of several engines into results, best first.

    Each engine votes once per page, with its best rank. Ties go to the best rank, then to the order
    of the ballots. Cost is linear in the number of rows (plus one sort of the results).
    """
    return merge_best(
        ballots,
        max_results,
        include_domains=include_domains,
        exclude_domains=exclude_domains,
    )[0]


def merge_best(
    ballots: Iterable[Ballot],
    max_results: int | None,
    *,
    include_domains: Sequence[str] = (),
    exclude_domains: Sequence[str] = (),
) -> tuple[tuple[Result, ...], int]:
    """Return what `merge` does, and how many results there would be without `max_results`."""
    wanted = DomainFilter(include_domains, exclude_domains)
    pages = [_tallied(entries) for entries in _grouped(ballots, wanted)]
    pages.sort(key=_standing)
    results = (_result(page, rank) for rank, page in enumerate(pages[:max_results], 1))
    return tuple(results), len(pages)


def _grouped(ballots: Iterable[Ballot], wanted: DomainFilter) -> Iterable[list[_Entry]]:
    groups, entries = _Groups(), list[_Entry]()
    for order, ballot in enumerate(ballots):
        for row in ballot.rows:
            if wanted and not wanted.allows(row.url):
                continue
            number = groups.add(identities(row))
            strength = -ballot.weight / row.rank
            entries.append(_Entry(strength, row.rank, order, number, ballot, row))
    pages: dict[int, list[_Entry]] = {}
    for entry in entries:
        pages.setdefault(groups.root(entry.number), []).append(entry)
    return pages.values()


class _Page(NamedTuple):
    """One page of the merged list; `best` is its best rank and the position of who gave it."""

    score: float
    best: tuple[int, int]
    entries: list[_Entry]
    voters: list[_Entry]
    votes: tuple[Vote, ...]


def _tallied(entries: list[_Entry]) -> _Page:
    """Count one vote for each engine; leaves a page's rows sorted, the best vote first."""
    voters = entries if len(entries) == 1 else _voters(entries)
    votes = tuple(map(_vote, voters))
    best = min((entry.rank, entry.order) for entry in voters)
    return _Page(score(votes), best, entries, voters, votes)


def _voters(entries: list[_Entry]) -> list[_Entry]:
    """The best row of each engine, in the order of the engines; sorts the entries."""
    entries.sort()
    best_of_engine = {entry.order: entry for entry in reversed(entries)}
    return [best_of_engine[order] for order in sorted(best_of_engine)]


def _standing(page: _Page) -> tuple[float, int, int]:
    return (-page.score, *page.best)


def _result(page: _Page, rank: int) -> Result:
    best = page.entries[0].row
    return Result(
        key=canonical(best.url),
        rank=rank,
        title=_title([entry.row.title for entry in page.voters]),
        url=unwrap(best.url),
        snippet=max((entry.row.snippet for entry in page.entries), key=len),
        score=page.score,
        votes=page.votes,
        fields=_fields(page.entries),
    )


def _vote(entry: _Entry) -> Vote:
    ballot = entry.ballot
    return Vote(
        engine=ballot.engine, rank=entry.row.rank, index=ballot.lineage, weight=ballot.weight
    )


def _title(titles: Sequence[str]) -> str:
    """The title most engines give (case and blanks ignored), then the longest, then the first."""
    if len(titles) == 1:
        return titles[0]
    counts = Counter(_folded(title) for title in titles)
    return max(titles, key=lambda title: (counts[_folded(title)], len(title)))


def _folded(title: str) -> str:
    return " ".join(title.split()).casefold()


def _fields(entries: Sequence[_Entry]) -> dict[str, FieldValue]:
    """Everything any row knows beyond title and snippet; the best vote wins where two differ."""
    merged: dict[str, FieldValue] = {}
    for entry in entries:
        for name, value in entry.row.fields.items():
            if value not in ("", ()) and name not in merged:
                merged[name] = value
    return merged


def _voices(votes: Iterable[Vote]) -> dict[str, Vote]:
    """The strongest vote of each index lineage, in the order of the votes."""
    voices: dict[str, Vote] = {}
    for vote in votes:
        known = voices.get(vote.index)
        if known is None or vote.weight / vote.rank > known.weight / known.rank:
            voices[vote.index] = vote
    return voices


def score(votes: Iterable[Vote]) -> float:
    """Return the score of a page from its votes alone, by the formula of this module."""
    voices = _voices(votes)
    return math.fsum([vote.weight / vote.rank for vote in voices.values()]) * len(voices)


def explain(result: Result) -> str:
    """Return in words why a result has its score, as arithmetic that can be redone by hand."""
    voices = _voices(result.votes)
    lines = [f"#{result.rank} {result.title}", f"  {result.url}"]
    lines += [_explain_lineage(index, voice, result.votes) for index, voice in voices.items()]
    terms = " + ".join(f"{_number(vote.weight)}/{vote.rank}" for vote in voices.values())
    plural = "lineage" if len(voices) == 1 else "lineages"
    lines.append(f"  score = ({terms}) × {len(voices)} {plural} = {_number(result.score)}")
    return "\n".join(lines)


def _explain_lineage(index: str, voice: Vote, votes: Iterable[Vote]) -> str:
    told = [
        f"{vote.engine} rank {vote.rank}: {_number(vote.weight)}/{vote.rank}"
        for vote in votes
        if vote.index == index
    ]
    rule = f", the best counts: {voice.engine}" if len(told) > 1 else ""
    return f"  index {index}: {'; '.join(told)}{rule}"


def _number(value: float) -> str:
    return f"{value:.6g}"
