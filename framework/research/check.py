"""The answer checked against its quotes, sentence by sentence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from framework.evidence.quantities import conflicts as number_conflicts
from framework.evidence.signals import conflicting, facts
from framework.research.facts import grounding
from framework.research.queries import language_of
from framework.research.sentences import (
    cited,
    claim_of,
    is_factual,
    joined,
    normalised,
    pieces,
    without,
)
from framework.research.state import Checked, Grounding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from framework.research.facts import Judge, Judged
    from framework.research.state import Source, State

__all__ = ["MARK", "Verdict", "check", "failing", "replaced"]

#: What stands behind a sentence that could not be repaired.
MARK = "*(not borne out by its sources)*"
_BORNE = 0.6
_BESIDE = 0.15
_REFUTED = 0.5
_QUOTES = 4


@dataclass(frozen=True, slots=True)
class Verdict:
    """A checked answer: its text with true citations only, its sentences, the ids it invented."""

    text: str
    sentences: tuple[Checked, ...]
    invented: tuple[int, ...] = ()


def check(answer: str, state: State, judge: Judge, *, final: bool = False) -> Verdict:
    """Check every sentence of an answer against the quotes of the sources that it cites.

    entailed: the judge finds it supported. grounded: at least 0.6 of its content words and all its
    numbers stand in the quotes, nothing against it. contradicted: refuted, or an explicit sign
    stands against it in every quote that speaks of it. unsupported: cited, but neither. Citations
    of sources that were not given, or that say nothing of the sentence while others do, are taken
    out. With `final` the failing ones are marked in the text.
    """
    known = {source.id for source in state.cited}
    parts: list[str] = []
    sentences: list[Checked] = []
    invented: dict[int, None] = {}
    for piece in pieces(answer):
        if not piece.is_sentence:
            parts.append(piece.text)
            continue
        invented.update(dict.fromkeys(one for one in cited(piece.text) if one not in known))
        text, one = _sentence(normalised(piece.text, known), state, judge)
        if one is not None:
            sentences.append(one)
            text = f"{text} {MARK}" if final and one.grounding in _FAILING else text
        parts.append(text)
    return Verdict(joined(parts), tuple(sentences), tuple(invented))


_FAILING = frozenset({Grounding.CONTRADICTED, Grounding.UNSUPPORTED})


def failing(sentences: Sequence[Checked]) -> list[tuple[int, Checked]]:
    """Return the sentences that must be repaired, with their numbers from 1."""
    return [(n, one) for n, one in enumerate(sentences, 1) if one.grounding in _FAILING]


def replaced(answer: str, repaired: Mapping[int, str]) -> str:
    """Return the answer with sentences (numbered from 1) replaced, empty texts taken out."""
    parts: list[str] = []
    number = 0
    for piece in pieces(answer):
        if piece.is_sentence and claim_of(piece.text):
            number += 1
            parts.append(repaired.get(number, piece.text))
        else:
            parts.append(piece.text)
    return joined(parts)


def _sentence(text: str, state: State, judge: Judge) -> tuple[str, Checked | None]:
    claim = claim_of(text)
    if not claim:
        return "", None
    numbers = cited(text)
    if not numbers:
        kind = Grounding.UNCITED if is_factual(claim) else Grounding.PLAIN
        return text, Checked(text=text, grounding=kind)
    sources = [state.source(number) for number in numbers]
    beside = _beside(claim, sources)
    if beside:
        text = without(text, beside)
        sources = [source for source in sources if source.id not in beside]
    verdict = _ground(claim, sources, judge)
    kept = tuple(source.id for source in sources)
    one = Checked(text=text, grounding=verdict, sources=kept)
    return text, replace(one, against=_against(claim, one, state, judge))


def _beside(claim: str, sources: Sequence[Source]) -> set[int]:
    """The cited sources that say nothing of a sentence which another one bears."""
    if len(sources) < 2 or any(_foreign(claim, source) for source in sources):
        return set()
    shares = {source.id: grounding(_words(source), claim) for source in sources}
    if max(shares.values()) < _BORNE:
        return set()
    return {number for number, share in shares.items() if share < _BESIDE}


def _words(source: Source) -> str:
    return " ".join(quote.text for quote in source.quotes)


def _foreign(claim: str, source: Source) -> bool:
    here, there = language_of(claim), language_of(_words(source))
    return here is not None and there is not None and here != there


def _ground(claim: str, sources: Sequence[Source], judge: Judge) -> Grounding:
    texts = _best_texts(claim, sources)
    judged = judge([(text, claim) for text in texts])
    if any(one.verdict == "supported" for one in judged):
        return Grounding.ENTAILED
    if _is_grounded(claim, sources):
        return Grounding.GROUNDED
    if _is_contradicted(claim, texts, judged):
        return Grounding.CONTRADICTED
    return Grounding.UNSUPPORTED


def _best_texts(claim: str, sources: Sequence[Source]) -> list[str]:
    """The quotes that share most with a claim, single and together."""
    quotes = [quote.text for source in sources for quote in source.quotes]
    best = sorted(quotes, key=lambda text: -grounding(text, claim))[:_QUOTES]
    return [*best, " ".join(best)] if len(best) > 1 else best


def _is_grounded(claim: str, sources: Sequence[Source]) -> bool:
    together = " ".join(map(_words, sources))
    if any(_foreign(claim, source) for source in sources):
        return not number_conflicts(facts(claim).numbers, facts(together).numbers)[2]
    return grounding(together, claim) >= _BORNE and not conflicting(together, claim)


def _is_contradicted(claim: str, texts: Sequence[str], judged: Sequence[Judged]) -> bool:
    if any(one.verdict == "refuted" for one in judged):
        return True
    about = [text for text in texts if grounding(text, claim) >= _BORNE / 2]
    return bool(about) and all(conflicting(text, claim) for text in about)


def _against(claim: str, one: Checked, state: State, judge: Judge) -> tuple[int, ...]:
    """The sources that contradict a sentence: the other side of a conflict of one that it cites."""
    found: dict[int, None] = {}
    for conflict in state.conflicts:
        for (source, _), (other, number) in (
            (conflict.a, conflict.b),
            (conflict.b, conflict.a),
        ):
            if source not in one.sources or other in one.sources or other in found:
                continue
            text = state.source(other).quotes[number].text
            if conflicting(text, claim) or judge([(text, claim)])[0].contradiction >= _REFUTED:
                found[other] = None
    return tuple(found)
