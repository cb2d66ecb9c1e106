"""The short of it: the sentences that say most, where they stand, and how sure one may be."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.evidence.packing import alike
from framework.evidence.sentences import sentences
from framework.reading.document import BlockKind
from framework.reading.terms import terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.evidence.packing import Packed

__all__ = ["Capsule", "Confidence", "capsule", "confidence"]

_SENTENCES, _SECTIONS, _HIGHLIGHTS = 3, 5, 3
_SHORTEST, _LONGEST = 30, 280
_TABULAR = frozenset({BlockKind.TABLE, BlockKind.CODE, BlockKind.MATH})


@dataclass(frozen=True, slots=True)
class Capsule:
    """Up to three sentences, five sections and three passages that matter most for the task."""

    tldr: tuple[str, ...] = ()
    top_sections: tuple[str, ...] = ()
    highlight_chunk_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Confidence:
    """How surely the passages answer: `level` low, medium or high, with reasons and what to try."""

    level: str
    score: float
    reasons: tuple[str, ...] = ()
    suggestion: str = ""


def capsule(packed: Sequence[Packed], query: str) -> Capsule:
    """Pick the sentences nearest to the query out of the best passages, none said twice."""
    wanted = set(terms(query))
    scored = sorted(_candidates(packed, wanted), key=lambda pair: -pair[0])
    tldr: list[str] = []
    for _, sentence in scored:
        if len(tldr) < _SENTENCES and all(alike(sentence, other) < 0.6 for other in tldr):
            tldr.append(sentence)
    sections: dict[str, float] = {}
    for item in packed:
        if item.chunk.section:
            name = " > ".join(item.chunk.section)
            sections[name] = sections.get(name, 0.0) + item.score
    best = sorted(sections, key=lambda name: -sections[name])
    ids = tuple(item.chunk.id for item in packed[:_HIGHLIGHTS])
    return Capsule(tuple(tldr), tuple(best[:_SECTIONS]), ids)


def _candidates(packed: Sequence[Packed], wanted: set[str]) -> list[tuple[float, str]]:
    found = []
    for item in packed:
        if item.chunk.kind in _TABULAR:
            continue
        for start, end in sentences(item.chunk.plain):
            sentence = re.sub(r"\s+", " ", item.chunk.plain[start:end]).strip()
            if _SHORTEST <= len(sentence) <= _LONGEST:
                shared = len(wanted & set(terms(sentence)))
                found.append((item.score + 0.5 * shared / max(1, len(wanted)), sentence))
    return found


#: Confidence from which the level is medium, and high.
_MEDIUM, _HIGH = 0.4, 0.7


def confidence(
    best: float | None, coverage: float, tokens: int, *, terms_asked: int, threshold: float = 0.5
) -> Confidence:
    """Judge the evidence by absolute measures, never by comparison within the page.

    `best` is the cross-encoder's probability for the best passage (None where it did not run), an
    answer from `threshold` on; `coverage` the share of what was asked for that the best passages
    hold. High needs both, so a page on something else is never high; words alone reach it only
    where nearly all are there.
    """
    score = 0.6 * best + 0.4 * coverage if best is not None else min(0.75, coverage * 0.85)
    reasons = [
        reason
        for reason, given in (
            ("no_passage_matches", tokens == 0),
            ("few_query_terms_matched", coverage < 0.5),
            ("no_passage_answers_surely", best is not None and best < threshold),
            ("very_short_evidence", 0 < tokens < 20),
            ("query_is_one_word", terms_asked < 2),
            ("words_only", best is None),
        )
        if given
    ]
    limit = 0.69 if {"few_query_terms_matched", "no_passage_answers_surely"} & set(reasons) else 1.0
    if tokens == 0 or coverage < 0.2:
        limit = 0.3
    score = round(min(score, limit), 3)
    level = "high" if score >= _HIGH else "medium" if score >= _MEDIUM else "low"
    return Confidence(level, score, tuple(reasons), _suggestion(level, tokens))


def _suggestion(level: str, tokens: int) -> str:
    if tokens == 0:
        return "the page does not speak of this; try another page or other words"
    if level == "low":
        return "the page hardly speaks of this; search for a page on the subject itself"
    return "" if level == "high" else "check the passages; a narrower task may find better ones"
