"""Which results are worth reading: agreement of engines, novelty, and different owners."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from framework.merge.consensus import score
from framework.merge.relevance import content_words
from framework.research.independence import domain_of
from framework.research.state import Candidate, State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framework.types import Result, SearchAnswer

__all__ = ["candidates", "pages_wanted", "pooled", "ranked"]

_POOL = 400
_MOST_PAGES = 6
_LEAST_PAGES = 3
_ROUNDS = 3
#: What novelty, relevance and a new owner weigh beside agreement (1.0).
_NOVEL, _RELEVANT, _DIVERSE = 0.6, 0.8, 0.7


def candidates(answer: SearchAnswer, per_engine: int) -> tuple[Candidate, ...]:
    """Return the results that an engine has among its first `per_engine`, scored by those votes."""
    found = []
    for result in answer.results:
        votes = tuple(vote for vote in result.votes if vote.rank <= per_engine)
        if votes:
            found.append(_candidate(result, score(votes), {vote.index for vote in votes}))
    return tuple(found)


def _candidate(result: Result, points: float, indexes: Iterable[str]) -> Candidate:
    published = result.fields.get("published")
    return Candidate(
        key=result.key,
        url=result.url,
        title=result.title,
        snippet=result.snippet,
        score=points,
        indexes=tuple(sorted(indexes)),
        published=None if published is None else str(published),
    )


def pooled(state: State, found: Iterable[Candidate]) -> State:
    """Add results to the pool; one that came before keeps its best score, and both lineages."""
    pool = {candidate.key: candidate for candidate in state.pool}
    tried = set(state.seen)
    fresh = 0
    for candidate in found:
        known = pool.get(candidate.key)
        if candidate.key not in tried:
            fresh += known is None
            pool[candidate.key] = _joined(known, candidate) if known else candidate
    kept = sorted(pool.values(), key=lambda one: -one.score)[:_POOL]
    return replace(state, pool=tuple(kept), found=state.found + fresh)


def _joined(one: Candidate, other: Candidate) -> Candidate:
    return replace(
        one,
        score=max(one.score, other.score) + min(one.score, other.score) / 2,
        indexes=tuple(sorted({*one.indexes, *other.indexes})),
        published=one.published or other.published,
    )


def pages_wanted(state: State) -> int:
    """Return how many pages this round should read: the rest of the budget, spread over rounds."""
    limit = state.task.max_citation_urls
    if limit < 0:
        return _MOST_PAGES
    left = max(0, limit - len(state.sources))
    return min(left, _MOST_PAGES, max(_LEAST_PAGES, -(-left // _ROUNDS)))


def ranked(state: State, most: int) -> tuple[Candidate, ...]:
    """Return the best candidates, one after the other, each judged beside those before it.

    value = score / best score + 0.8 · share of the asked words + 0.6 · novelty + 0.7 for an owner
    that is not there yet; novelty is 1 minus the largest overlap with a title and snippet that was
    read or taken already.
    """
    best = max((candidate.score for candidate in state.pool), default=1.0) or 1.0
    asked = content_words(" ".join((state.task.objective, *state.gaps)))
    words = {one.key: content_words(f"{one.title} {one.snippet}") for one in state.pool}
    taken: list[Candidate] = []
    left = list(state.pool)
    known = [content_words(source.title) for source in state.sources]
    owners = {source.domain for source in state.sources}
    while left and len(taken) < most:

        def value(one: Candidate) -> float:
            novelty = 1.0 - max((_overlap(words[one.key], other) for other in known), default=0.0)
            return (
                one.score / best
                + _RELEVANT * _share(asked, words[one.key])
                + _NOVEL * novelty
                + _DIVERSE * (domain_of(one.url) not in owners)
            )

        chosen = max(left, key=value)
        left.remove(chosen)
        taken.append(chosen)
        known.append(words[chosen.key])
        owners.add(domain_of(chosen.url))
    return tuple(taken)


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / max(1, min(len(one), len(other)))


def _share(asked: frozenset[str], there: frozenset[str]) -> float:
    return len(asked & there) / max(1, len(asked))
