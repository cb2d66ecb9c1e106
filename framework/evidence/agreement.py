"""Which sources say the same and which contradict each other, judged in both directions."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.evidence import nli
from framework.evidence.nli import STRONG
from framework.evidence.sentences import sentences
from framework.evidence.signals import facts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from framework.evidence.models import ModelStore
    from framework.evidence.nli import Judgement

__all__ = ["Cluster", "Relation", "Statement", "cluster", "relate"]

#: Share of common content words from which two sentences may speak of the same thing.
_TOPICAL = 0.34
#: Pairs that are judged at most; the nearest come first.
MAX_PAIRS = 60
_AGREE = 0.5
_OPPOSED = STRONG | {"number"}


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence of a source's passage."""

    source: int
    chunk: str
    text: str


@dataclass(frozen=True, slots=True)
class Relation:
    """How two statements stand: agreement, contradiction or neither, with why and how surely."""

    kind: str
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class Cluster:
    """Statements that say the same, and those of other sources that say the opposite.

    `supporters` and `opponents` hold places in the list that was clustered.
    """

    id: int
    supporters: tuple[int, ...]
    opponents: tuple[int, ...]
    confidence: float
    reason: str


def relation(there: Judgement, back: Judgement) -> Relation:
    """Judge a pair by what holds in both directions.

    Agreement asks for entailment both ways, twice as likely as contradiction, and no explicit sign
    against; contradiction for the verdict refuted one way, or contradiction likeliest both ways
    with an explicit sign.
    """
    signs = sorted({*there.signs, *back.signs} - {"name"})
    against = (there.contradiction + back.contradiction) / 2
    towards = min(there.entailment, back.entailment)
    opposed = against > max(there.entailment, back.entailment) and bool(set(signs) & _OPPOSED)
    if "refuted" in (there.verdict, back.verdict) or opposed:
        why = f"differ in {', '.join(signs)}" if signs else "one excludes the other"
        return Relation("contradiction", round(against, 3), why)
    strong = max(there.entailment, back.entailment)
    if not signs and towards >= max(_AGREE, 2 * against) and strong >= 0.6:
        return Relation("agreement", round(towards, 3), "each entails the other")
    return Relation("neither", round(1.0 - max(against, towards), 3), "")


def relate(one: str, other: str, store: ModelStore | None = None) -> Relation:
    """Judge how two sentences stand to each other."""
    there, back = nli.judge([(one, other), (other, one)], store)
    return relation(there, back)


def topical(one: str, other: str) -> float:
    """Return the share of content words that two sentences have in common, of the shorter's."""
    a, b = facts(one).content, facts(other).content
    least = min(len(a), len(b))
    return len(a & b) / least if least >= 2 else 0.0


def statements(source: int, chunk: str, text: str) -> list[Statement]:
    """Return the full sentences of a passage."""
    found = []
    for start, end in sentences(text):
        sentence = re.sub(r"\s+", " ", text[start:end]).strip(" -*>|#")
        if len(sentence.split()) >= 4 and len(sentence) <= 400:
            found.append(Statement(source, chunk, sentence))
    return found


def cluster(
    items: Sequence[Statement], store: ModelStore | None = None
) -> tuple[tuple[Cluster, ...], str]:
    """Group statements of different sources that agree, name who contradicts; say what judged.

    Only pairs of different sources that share content words are judged, the nearest first, at most
    `MAX_PAIRS`. A source that contradicts a cluster never counts among its supporters.
    """
    pairs = sorted(
        (
            (topical(a.text, b.text), i, j)
            for i, a in enumerate(items)
            for j, b in enumerate(items[i + 1 :], i + 1)
            if a.source != b.source
        ),
        key=lambda pair: (-pair[0], pair[1], pair[2]),
    )
    near = [(i, j) for share, i, j in pairs if share >= _TOPICAL][:MAX_PAIRS]
    both = [(items[a].text, items[b].text) for i, j in near for a, b in ((i, j), (j, i))]
    judged = nli.judge(both, store)
    relations = {pair: relation(judged[2 * n], judged[2 * n + 1]) for n, pair in enumerate(near)}
    method = f"nli in both directions ({judged[0].method})" if judged else "none needed"
    return _clusters(items, relations), method


def _clusters(
    items: Sequence[Statement], relations: dict[tuple[int, int], Relation]
) -> tuple[Cluster, ...]:
    groups = [{i} for i in range(len(items))]
    against = {pair: found for pair, found in relations.items() if found.kind == "contradiction"}
    agreed = [(pair, found) for pair, found in relations.items() if found.kind == "agreement"]
    for (i, j), _ in sorted(agreed, key=lambda item: -item[1].confidence):
        one = next(group for group in groups if i in group)
        other = next(group for group in groups if j in group)
        if one is not other and not _hostile(one, other, against):
            one |= other
            groups.remove(other)
    return tuple(_cluster(n, sorted(group), against) for n, group in enumerate(groups))


def _hostile(one: set[int], other: set[int], against: Iterable[tuple[int, int]]) -> bool:
    """Tell whether anything in one group contradicts anything in the other."""
    return any((a in one and b in other) or (a in other and b in one) for a, b in against)


def _cluster(number: int, members: list[int], against: dict[tuple[int, int], Relation]) -> Cluster:
    foes = {
        (b if a in members else a): found
        for (a, b), found in against.items()
        if (a in members) != (b in members)
    }
    best = max(foes.values(), key=lambda found: found.confidence, default=None)
    return Cluster(
        id=number,
        supporters=tuple(members),
        opponents=tuple(sorted(foes)),
        confidence=best.confidence if best else 0.0,
        reason=best.reason if best else "",
    )
