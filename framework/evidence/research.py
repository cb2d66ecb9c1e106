"""What several pages say on a question: ranked together, grouped by what they agree on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.evidence.agreement import cluster, statements
from framework.evidence.context import LEAST_SCORE, Evidence, Ranking, evidence, rank
from framework.evidence.packing import SEPARATOR, alike, pack
from framework.reading import tokens
from framework.reading.terms import terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.evidence.agreement import Cluster, Statement
    from framework.evidence.chunks import Chunk, Source
    from framework.evidence.models import ModelStore
    from framework.evidence.packing import Packed

__all__ = ["Agreement", "Contradiction", "Finding", "Research", "Said", "TokenBudget", "weigh"]

#: Passages whose sentences are compared across sources, and sentences taken of each.
_COMPARED, _SENTENCES = 16, 2
_BONUS, _MOST_BONUS = 0.15, 1.5


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence with the source that says it."""

    source_index: int
    url: str
    text: str


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two sources that exclude each other, in their own words, with how surely and why."""

    a: Said
    b: Said
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A ranked passage: `agreement_count` counts the sources that say the same, itself included.

    `opposed_by` lists the sources that contradict it; they never raise the count.
    """

    evidence: Evidence
    source_index: int
    source_url: str
    source_title: str
    cluster_id: int
    agreement_count: int
    opposed_by: tuple[int, ...]
    combined_score: float


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far the sources agree, 0 (each alone) to 1 (all say all of it), and what judged."""

    score: float
    method: str


@dataclass(frozen=True, slots=True)
class TokenBudget:
    """Tokens (o200k) allowed, read and returned."""

    limit: int
    raw: int
    returned: int


@dataclass(frozen=True, slots=True)
class Research:
    """The answer of `weigh`."""

    query: str
    ranked_evidence: tuple[Finding, ...]
    agreement: Agreement
    contradictions: tuple[Contradiction, ...]
    ranking: Ranking
    token_budget: TokenBudget


def weigh(
    sources: Sequence[Source],
    query: str,
    *,
    max_tokens: int = 3_000,
    rerank: bool = True,
    store: ModelStore | None = None,
) -> Research:
    """Rank the passages of all sources together and say which agree and which contradict.

    The text returned never has more than `max_tokens` tokens. Raises InvalidInputError for an empty
    query. CPU-bound.
    """
    ranked = rank(sources, query, rerank=rerank, store=store)
    order = [i for i in ranked.order if ranked.score[i] >= LEAST_SCORE]
    said = [s for i in order[:_COMPARED] for s in _leading(ranked.chunks[i], query)]
    clusters, method = cluster(said, store)
    supports, opposed, home = _by_chunk(ranked.chunks, order, said, clusters)
    combined = {
        i: round(ranked.score[i] * min(_MOST_BONUS, 1 + _BONUS * (len(supports[i]) - 1)), 4)
        for i in order
    }
    order.sort(key=lambda i: -combined[i])
    packed = pack(((ranked.chunks[i], ranked.score[i]) for i in order), query, max_tokens)
    places = {chunk.id: i for i, chunk in enumerate(ranked.chunks)}

    def finding(item: Packed) -> Finding:
        i, source = places[item.chunk.id], sources[item.chunk.source]
        return Finding(
            evidence=evidence(ranked, item, query, source.url),
            source_index=item.chunk.source,
            source_url=source.url,
            source_title=source.title,
            cluster_id=home[i],
            agreement_count=len(supports[i]),
            opposed_by=tuple(sorted(opposed[i])),
            combined_score=combined[i],
        )

    findings = [finding(item) for item in packed]
    return Research(
        query=query,
        ranked_evidence=tuple(findings),
        agreement=Agreement(_agreement(findings, len(sources)), method),
        contradictions=_contradictions(said, clusters, sources),
        ranking=Ranking(ranked.methods, len(ranked.chunks), len(findings)),
        token_budget=_budget(findings, sources, max_tokens),
    )


def _leading(chunk: Chunk, query: str) -> list[Statement]:
    """Return the sentences of a passage that touch the query most."""
    wanted = set(terms(query))
    found = statements(chunk.source, chunk.id, chunk.plain)
    found.sort(key=lambda s: -len(wanted & set(terms(s.text))))
    return found[:_SENTENCES]


def _by_chunk(
    chunks: Sequence[Chunk],
    order: Sequence[int],
    said: Sequence[Statement],
    clusters: Sequence[Cluster],
) -> tuple[dict[int, set[int]], dict[int, set[int]], dict[int, int]]:
    """Return for every passage the sources that support it, those against it, and its cluster."""
    places = {chunks[i].id: i for i in order}
    supports = {i: {chunks[i].source} for i in order}
    opposed: dict[int, set[int]] = {i: set() for i in order}
    home = dict.fromkeys(order, -1)
    for group in clusters:
        against = {said[n].source for n in group.opponents}
        together = {said[n].source for n in group.supporters} - against
        for n in group.supporters:
            i = places[said[n].chunk]
            home[i] = group.id if home[i] < 0 else home[i]
            supports[i] |= together
            opposed[i] |= against - {chunks[i].source}
    for i in order:
        supports[i] |= {
            chunks[j].source
            for j in order[:_COMPARED]
            if chunks[j].source != chunks[i].source
            and alike(chunks[i].plain, chunks[j].plain) > 0.9
        }
        supports[i] -= opposed[i]
    return supports, opposed, home


def _agreement(findings: Sequence[Finding], count: int) -> float:
    if not findings or count < 2:
        return 0.0
    total = sum(found.agreement_count - 1 for found in findings)
    return round(total / (len(findings) * (count - 1)), 3)


def _contradictions(
    said: Sequence[Statement], clusters: Sequence[Cluster], sources: Sequence[Source]
) -> tuple[Contradiction, ...]:
    found, seen = [], set()
    for group in clusters:
        for foe in group.opponents:
            friend = next((n for n in group.supporters if said[n].source != said[foe].source), None)
            if friend is None or frozenset((friend, foe)) in seen:
                continue
            seen.add(frozenset((friend, foe)))
            a, b = (
                Said(said[n].source, sources[said[n].source].url, said[n].text)
                for n in sorted((friend, foe))
            )
            found.append(Contradiction(a, b, group.confidence, group.reason))
    found.sort(key=lambda item: -item.confidence)
    return tuple(found)


def _budget(findings: Sequence[Finding], sources: Sequence[Source], limit: int) -> TokenBudget:
    returned = tokens.count(SEPARATOR.join(found.evidence.text for found in findings))
    raw = sum(tokens.count(source.document.markdown) for source in sources)
    return TokenBudget(limit, raw, returned)
