"""What one page says for a task: ranked passages with their places, within a token budget."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError
from framework.evidence import capsule as capsules
from framework.evidence.chunks import Source, cut_all
from framework.evidence.lexical import WordIndex
from framework.evidence.packing import pack
from framework.evidence.rerank import answers_from, ratings
from framework.reading import tokens
from framework.research.quotes import text_link

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from framework.evidence.capsule import Capsule, Confidence
    from framework.evidence.chunks import Chunk
    from framework.evidence.lexical import Lexical
    from framework.evidence.models import ModelStore
    from framework.evidence.packing import Packed
    from framework.reading.document import Document

__all__ = ["Context", "Evidence", "Ranked", "Ranking", "TokenUse", "build", "evidence", "rank"]

#: Passages that the cross-encoder looks at.
CANDIDATES = 12
#: Passages below this score are noise, whatever the caller allows.
LEAST_SCORE = 0.05
#: Weight of the cross-encoder's probability against the words' score.
_RERANK_WEIGHT = 0.75


@dataclass(frozen=True, slots=True)
class Ranking:
    """How passages were ranked: the methods that ran, how many there were, how many were kept."""

    methods: tuple[str, ...]
    total: int
    selected: int


@dataclass(frozen=True, slots=True)
class TokenUse:
    """Tokens (o200k) of the page's content, of what is returned, and the difference."""

    raw: int
    returned: int
    saved: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage as it is handed on; offsets count in the document's Markdown."""

    id: str
    score: float
    score_breakdown: Mapping[str, float]
    text: str
    section_path: tuple[str, ...]
    char_start: int
    char_end: int
    dom_path: str
    text_fragment_url: str
    matched_terms: tuple[str, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Context:
    """The answer of `build`; field names are those of the tool web_context."""

    task: str
    capsule: Capsule
    evidence_chunks: tuple[Evidence, ...]
    retrieval_confidence: Confidence
    ranking: Ranking
    tokens: TokenUse


@dataclass(frozen=True, slots=True)
class Ranked:
    """Passages of all sources, best first, with everything that ranked them."""

    chunks: tuple[Chunk, ...]
    order: tuple[int, ...]
    score: tuple[float, ...]
    words: tuple[Lexical, ...]
    answers: Mapping[int, float]
    index: WordIndex
    methods: tuple[str, ...]

    def best(self) -> tuple[float | None, float]:
        """Return the best probability of the cross-encoder, and the coverage of the best three."""
        probability = max(self.answers.values()) if self.answers else None
        return probability, max((self.words[i].coverage for i in self.order[:3]), default=0.0)


def rank(
    sources: Sequence[Source], query: str, *, rerank: bool = True, store: ModelStore | None = None
) -> Ranked:
    """Rank the passages of all sources together: by words, the best again with a cross-encoder.

    Scores are from 0 to 1 and compare across sources. Raises InvalidInputError for an empty query.
    """
    if not query.strip():
        raise InvalidInputError("the task is empty", hint="say what the passages are wanted for")
    chunks = cut_all(sources)
    index = WordIndex(chunks, [source.title for source in sources])
    return rank_chunks(chunks, index, query, rerank=rerank, store=store)


def rank_chunks(
    chunks: Sequence[Chunk],
    index: WordIndex,
    query: str,
    *,
    rerank: bool = True,
    store: ModelStore | None = None,
) -> Ranked:
    """Rank passages that are indexed already; see `rank`."""
    words = tuple(index.scores(query))
    first = sorted(
        (i for i in range(len(chunks)) if words[i].words + words[i].letters > 0),
        key=lambda i: -words[i].score,
    )
    answers = _answers(query, chunks, first[:CANDIDATES], store) if rerank else {}
    score = tuple(_score(word, answers.get(i), bool(answers)) for i, word in enumerate(words))
    order = tuple(sorted(first, key=lambda i: -score[i]))
    methods = ("bm25", "letter-bm25", "cross-encoder") if answers else ("bm25", "letter-bm25")
    return Ranked(tuple(chunks), order, score, words, answers, index, methods)


def _answers(
    query: str, chunks: Sequence[Chunk], places: Sequence[int], store: ModelStore | None
) -> dict[int, float]:
    texts = [" — ".join([*chunks[i].section[-1:], chunks[i].plain]) for i in places]
    rated = ratings(query, texts, store) or []
    return {i: p for i, p in zip(places, rated, strict=False) if p is not None}


def _score(word: Lexical, answer: float | None, reranked: bool) -> float:
    lexical = word.coverage * 0.6 + word.score * 0.4
    if answer is not None:
        return round(_RERANK_WEIGHT * answer + (1 - _RERANK_WEIGHT) * lexical, 4)
    return round(lexical * (1 - _RERANK_WEIGHT if reranked else 1.0), 4)


def evidence(ranked: Ranked, item: Packed, query: str, url: str) -> Evidence:
    """Return a packed passage with its scores and its address on the page."""
    place = next(i for i, chunk in enumerate(ranked.chunks) if chunk.id == item.chunk.id)
    word = ranked.words[place]
    parts = {"words": word.words, "letters": word.letters, "coverage": round(word.coverage, 3)}
    if place in ranked.answers:
        parts["cross_encoder"] = round(ranked.answers[place], 3)
    return Evidence(
        id=item.chunk.id,
        score=item.score,
        score_breakdown=parts,
        text=item.chunk.text,
        section_path=item.chunk.section,
        char_start=item.chunk.start,
        char_end=item.chunk.end,
        dom_path=item.chunk.dom_path,
        text_fragment_url=text_link(url, item.chunk.plain),
        matched_terms=ranked.index.matched(query, place),
        tokens=item.tokens,
    )


def build(
    document: Document,
    task: str,
    *,
    max_tokens: int = 1_800,
    min_score: float = 0.0,
    rerank: bool = True,
    store: ModelStore | None = None,
) -> Context:
    """Return the passages of a page that serve a task, best first, never above `max_tokens`.

    Without a usable model the words alone rank, and `ranking.methods` says so. A page that says
    nothing on the task gives no passages and a low confidence. CPU-bound: about the model's time.
    """
    source = Source(document.url, document.title or "", document)
    ranked = rank([source], task, rerank=rerank, store=store)
    wanted = (
        (ranked.chunks[i], ranked.score[i]) for i in ranked.order if ranked.score[i] >= min_score
    )
    packed = pack(wanted, task, max_tokens)
    returned = sum(item.tokens for item in packed)
    raw = tokens.count(document.markdown)
    probability, coverage = ranked.best()
    return Context(
        task=task,
        capsule=capsules.capsule(packed, task),
        evidence_chunks=tuple(evidence(ranked, item, task, document.url) for item in packed),
        retrieval_confidence=capsules.confidence(
            probability,
            coverage,
            returned,
            terms_asked=len(ranked.index.weights(task)),
            threshold=answers_from(store) if probability is not None else 0.5,
        ),
        ranking=Ranking(ranked.methods, len(ranked.chunks), len(packed)),
        tokens=TokenUse(raw, returned, max(0, raw - returned)),
    )
