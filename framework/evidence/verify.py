"""Is a claim borne out by what was read: statement by statement, source by source, with quotes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError
from framework.evidence import clauses, nli
from framework.evidence.chunks import cut_all
from framework.evidence.lexical import WordIndex
from framework.evidence.nli import entailment
from framework.evidence.quantities import conflicts
from framework.evidence.rerank import ratings
from framework.evidence.sentences import sentences, windows
from framework.evidence.signals import facts, stem
from framework.reading.bm25 import Bm25
from framework.reading.terms import terms
from framework.reading.tokens import estimate
from framework.research.quotes import text_link

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from framework.evidence.chunks import Chunk, Source
    from framework.evidence.models import ModelStore
    from framework.evidence.nli import Judgement

__all__ = [
    "Clause",
    "Quote",
    "SourceVerdict",
    "Verification",
    "entailment",
    "verify",
]

#: Windows of a source that are judged for one statement, and passages they are taken from.
WINDOWS, PASSAGES = 5, 6
_QUOTES = 3


@dataclass(frozen=True, slots=True)
class Quote:
    """Words of a source that bear on a statement; offsets count in the document's Markdown."""

    text: str
    clause: int
    verdict: str
    confidence: float
    signs: tuple[str, ...]
    char_start: int
    char_end: int
    dom_path: str
    text_fragment_url: str


@dataclass(frozen=True, slots=True)
class Clause:
    """One statement of the claim with the verdict over all sources."""

    text: str
    verdict: str
    confidence: float


@dataclass(frozen=True, slots=True)
class SourceVerdict:
    """What one source says: supported, refuted, mixed or unclear, with its best quotes."""

    url: str
    title: str
    verdict: str
    confidence: float
    quotes: tuple[Quote, ...]
    method: str


@dataclass(frozen=True, slots=True)
class Verification:
    """The verdict on a claim; `reasons` say in words how it came about, `method` what judged."""

    claim: str
    verdict: str
    confidence: float
    clauses: tuple[Clause, ...]
    sources: tuple[SourceVerdict, ...]
    method: str
    reasons: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Window:
    source: int
    clause: int
    chunk: Chunk
    start: int
    end: int
    text: str


def verify(
    claim: str,
    sources: Sequence[Source],
    *,
    max_tokens_per_source: int = 1_400,
    store: ModelStore | None = None,
) -> Verification:
    """Judge a claim against sources.

    Each statement of the claim is compared with the windows of one to three sentences that speak
    of it most; within `max_tokens_per_source` of text. Supported needs a text that entails the
    statement and carries its numbers and names; refuted needs more than one sign. Sources or
    statements that disagree make the whole mixed. Raises InvalidInputError for a claim under three
    characters. CPU-bound.
    """
    if len(claim.strip()) < 3:
        raise InvalidInputError(
            "the claim is shorter than 3 characters", hint="give a full sentence to be checked"
        )
    statements = clauses.split(claim)
    found = list(_windows(statements, sources, max_tokens_per_source, store))
    judged = nli.judge([(w.text, statements[w.clause]) for w in found], store)
    quotes = [
        _quote(window, judgement, statements[window.clause], sources[window.source])
        for window, judgement in zip(found, judged, strict=True)
    ]
    method = judged[0].method if judged else "none"
    by_source = [
        [quote for quote, window in zip(quotes, found, strict=True) if window.source == n]
        for n in range(len(sources))
    ]
    verdicts = tuple(
        _source_verdict(source, mine, len(statements), method)
        for source, mine in zip(sources, by_source, strict=True)
    )
    table = tuple(
        Clause(text, *_settled([_clause_of(mine, n) for mine in by_source]))
        for n, text in enumerate(statements)
    )
    verdict, confidence = _whole(table)
    return Verification(
        claim, verdict, confidence, table, verdicts, method, _reasons(table, verdicts)
    )


def _windows(
    statements: Sequence[str],
    sources: Sequence[Source],
    budget: int,
    store: ModelStore | None,
) -> Iterable[_Window]:
    chunks = cut_all(sources)
    index = WordIndex(chunks, [source.title for source in sources])
    for number, statement in enumerate(statements):
        scores = index.scores(statement)
        for n in range(len(sources)):
            mine = [i for i, c in enumerate(chunks) if c.source == n and scores[i].coverage > 0]
            mine.sort(key=lambda i: -scores[i].score)
            kept = _affordable([chunks[i] for i in mine[:PASSAGES]], budget)
            yield from _best_windows(statement, number, kept, sources[n].title, store)


def _affordable(chunks: Sequence[Chunk], budget: int) -> list[Chunk]:
    kept: list[Chunk] = []
    used = 0
    for chunk in chunks:
        used += estimate(chunk.plain)
        if used > budget and kept:
            break
        kept.append(chunk)
    return kept


def _best_windows(
    statement: str, number: int, chunks: Sequence[Chunk], title: str, store: ModelStore | None
) -> list[_Window]:
    """Return the windows nearest to a statement: by words, the best re-ranked where possible."""
    spans = [(c, a, b) for c in chunks for a, b in windows(c.plain)]
    texts = [c.plain[a:b] for c, a, b in spans]
    if not texts:
        return []
    words = Bm25(texts, terms).scores(statement)
    order = sorted(range(len(texts)), key=lambda i: (-words[i], len(texts[i])))[: 2 * WINDOWS]
    rated = ratings(statement, [texts[i] for i in order], store)
    if rated:
        order = [
            i for _, i in sorted(zip(rated, order, strict=True), key=lambda pair: -(pair[0] or 0.0))
        ]
    return [
        _Window(c.source, number, c, a, b, _placed(c.plain[a:b], c, title))
        for c, a, b in (spans[i] for i in order[:WINDOWS])
    ]


def _placed(text: str, chunk: Chunk, title: str) -> str:
    """Lead with the heading or title where the window itself does not name what it speaks of."""
    head = chunk.section[-1] if chunk.section else title
    known = facts(text)
    if not head or len(head) > 120 or facts(head).content <= known.content:
        return text
    return f"{head}: {text}"


def _quote(window: _Window, judgement: Judgement, statement: str, source: Source) -> Quote:
    verdict = _sound(window, judgement, statement, source)
    chunk = window.chunk
    text = chunk.plain[window.start : window.end]
    at = chunk.text.find(text)
    start = chunk.start + at if at >= 0 else chunk.start
    confidence = judgement.entailment if verdict == "supported" else judgement.contradiction
    if verdict == "unclear":
        confidence = max(judgement.entailment, judgement.contradiction) / 2
    return Quote(
        text=text,
        clause=window.clause,
        verdict=verdict,
        confidence=round(confidence, 3),
        signs=judgement.signs,
        char_start=start,
        char_end=start + len(text) if at >= 0 else chunk.end,
        dom_path=chunk.dom_path,
        text_fragment_url=text_link(source.url, text),
    )


def _sound(window: _Window, judgement: Judgement, statement: str, source: Source) -> str:
    """Return the verdict after the explicit comparison of numbers, names and subject."""
    verdict = judgement.verdict
    text, claim = facts(window.text), facts(statement)
    shared = len(claim.content & text.content) / max(1, len(claim.content))
    if verdict == "supported":
        _, _, absent = conflicts(claim.numbers, text.numbers)
        place = f"{source.title} {' '.join(window.chunk.section)}"
        known = set(text.words) | set(facts(place).words)
        unnamed = [name for name in claim.names if name not in known]
        unnamed += [
            w
            for w in (_leading_name(statement),)
            if w and stem(w) not in text.stems and w not in known
        ]
        if absent or unnamed or shared < 0.3 or "negation" in judgement.signs:
            return "unclear"
    if verdict == "refuted" and (shared < 0.4 or len(sentences(window.text)) > 1):
        return "unclear"
    return verdict


def _leading_name(statement: str) -> str:
    """Return the word a statement begins with, where it may be a name: no article, no pronoun."""
    first = facts(statement).words[:1]
    return first[0] if first and stem(first[0]) in facts(statement).content else ""


def _clause_of(quotes: Sequence[Quote], number: int) -> tuple[str, float]:
    """Return what one source says of one statement."""
    mine = [quote for quote in quotes if quote.clause == number]
    best = {
        verdict: max((q.confidence for q in mine if q.verdict == verdict), default=0.0)
        for verdict in ("supported", "refuted", "unclear")
    }
    if best["supported"] and best["refuted"]:
        sure = "supported" if best["supported"] >= best["refuted"] else "refuted"
        gap = abs(best["supported"] - best["refuted"])
        return (
            (sure, best[sure] * 0.8)
            if gap > 0.15
            else ("mixed", min(best["supported"], best["refuted"]))
        )
    for verdict in ("supported", "refuted"):
        if best[verdict]:
            return verdict, best[verdict]
    return "unclear", best["unclear"]


def _settled(votes: Sequence[tuple[str, float]]) -> tuple[str, float]:
    """Return the verdict over several votes; independent agreement raises the confidence."""
    sides = {side: [c for v, c in votes if v == side] for side in ("supported", "refuted", "mixed")}
    if sides["mixed"] or (sides["supported"] and sides["refuted"]):
        return "mixed", round(min(max(c for v, c in votes if v != "unclear"), 0.6), 3)
    for side in ("supported", "refuted"):
        if sides[side]:
            doubt = 1.0
            for confidence in sides[side]:
                doubt *= 1.0 - min(confidence, 0.95)
            return side, round(min(1.0 - doubt, 0.97), 3)
    return "unclear", round(min(max((c for _, c in votes), default=0.0), 0.4), 3)


def _whole(table: Sequence[Clause]) -> tuple[str, float]:
    """A claim is supported where every statement is; one refuted statement spoils it."""
    verdicts = {clause.verdict for clause in table}
    if "mixed" in verdicts or {"supported", "refuted"} <= verdicts:
        return "mixed", max(c.confidence for c in table if c.verdict != "unclear")
    if verdicts == {"supported"}:
        return "supported", min(c.confidence for c in table)
    if "refuted" in verdicts:
        return "refuted", max(c.confidence for c in table if c.verdict == "refuted")
    return "unclear", min(c.confidence for c in table)


def _source_verdict(
    source: Source, quotes: Sequence[Quote], count: int, method: str
) -> SourceVerdict:
    table = [Clause("", *_clause_of(quotes, n)) for n in range(count)]
    verdict, confidence = _whole(table)
    telling = [q for q in quotes if q.verdict != "unclear"] or list(quotes[:1])
    telling.sort(key=lambda quote: -quote.confidence)
    return SourceVerdict(
        source.url, source.title, verdict, round(confidence, 3), tuple(telling[:_QUOTES]), method
    )


def _reasons(table: Sequence[Clause], sources: Sequence[SourceVerdict]) -> tuple[str, ...]:
    counts = {
        verdict: sum(source.verdict == verdict for source in sources)
        for verdict in ("supported", "refuted", "mixed", "unclear")
    }
    found = [f"{n} of {len(sources)} sources: {verdict}" for verdict, n in counts.items() if n]
    if len(table) > 1:
        done = sum(clause.verdict == "supported" for clause in table)
        found.append(f"{done} of {len(table)} statements supported")
    signs = sorted(
        {sign for s in sources for q in s.quotes if q.verdict == "refuted" for sign in q.signs}
    )
    if signs:
        found.append(f"differs in: {', '.join(signs)}")
    return tuple(found)
