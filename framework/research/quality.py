"""How good a source is, and how sure the answer: pure formulas over what was found.

quality = 0.45 · support + 0.25 · directness + 0.15 · recency + 0.15 · independence, halved where
the page tries to instruct its reader.

* support: mean support of the facts by their quotes.
* directness: share of the question's content words in the title, facts and quotes, doubled, at
  most 1; a quote that only reports what others say counts two thirds.
* recency: 1 for a page of this year, falling to 0.3 at ten years; 0.5 where no date is known.
* independence: 1 divided by the number of sources of its voice, and 0.8 of that where all engines
  that found it draw on one index.

confidence of a sentence = (1 - Π over voices (1 - 0.6 · quality)) · (1 - 0.6 · against), where
`against` is the same product over the voices that contradict it. One perfect source gives 0.6, two
0.84, three 0.94. An answer's confidence is the mean over its factual sentences, those without a
source or that its quotes do not bear counted as 0.
"""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING

from framework.merge.relevance import content_words
from framework.research.independence import groups
from framework.research.state import Grounding

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from framework.research.state import Checked, Source, State

__all__ = ["confidence", "directness", "level", "qualities", "quality", "recency", "sure"]

_ONE_SOURCE = 0.6
_AGAINST = 0.6
_FACTUAL = frozenset(Grounding) - {Grounding.PLAIN}
_BORNE = frozenset({Grounding.ENTAILED, Grounding.GROUNDED})
_HEARSAY = re.compile(
    r"\b(?:according to|reportedly|is said to|are said to|rumou?red|allegedly|laut|angeblich|"
    r"selon|d'apr[eè]s|seg[uú]n|secondo|volgens)\b",
    re.IGNORECASE,
)
_DATE = re.compile(r"(\d{4})(?:-(\d{2}))?(?:-(\d{2}))?")
_LEVELS = ((0.75, "high"), (0.5, "medium"), (0.0, "low"))


def quality(
    *, support: float, directness: float, recency: float, independence: float, risk: str = "low"
) -> float:
    """Return a source's quality, 0 to 1, from its parts (each 0 to 1)."""
    total = 0.45 * support + 0.25 * directness + 0.15 * recency + 0.15 * independence
    return round(total * (0.5 if risk == "high" else 1.0), 3)


def recency(published: str | None, today: str) -> float:
    """Return 1 for a page of the last year, falling to 0.3 at ten years, 0.5 for no date."""
    then, now = _day(published), _day(today)
    if then is None or now is None:
        return 0.5
    years = max(0.0, (now - then).days / 365.25 - 1.0)
    return round(max(0.3, 1.0 - 0.7 * years / 9.0), 3)


def _day(text: str | None) -> date | None:
    found = _DATE.match(text or "")
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2] or 7), int(found[3] or 1))
    except ValueError:
        return None


def directness(source: Source, asked: frozenset[str]) -> float:
    """Return how directly a source speaks of what was asked, 0 to 1."""
    if not source.quotes or not asked:
        return 0.0
    texts = [f"{quote.fact} {quote.text}" for quote in source.quotes]
    there = content_words(" ".join((source.title, *texts)))
    hearsay = sum(bool(_HEARSAY.search(quote.text)) for quote in source.quotes)
    share = min(1.0, 2 * len(asked & there) / len(asked))
    return round(share * (1.0 - hearsay / (3 * len(source.quotes))), 3)


def qualities(state: State) -> dict[int, float]:
    """Return the quality of every source that has quotes, by its id."""
    asked = content_words(state.task.objective)
    voice = groups(state.sources)
    cited = state.cited
    sizes = {
        source.id: sum(voice[other.id] == voice[source.id] for other in cited) for source in cited
    }
    return {
        source.id: quality(
            support=sum(quote.support for quote in source.quotes) / len(source.quotes),
            directness=directness(source, asked),
            recency=recency(source.published, state.task.today),
            independence=(1.0 if len(source.indexes) > 1 else 0.8) / sizes[source.id],
            risk=source.risk,
        )
        for source in cited
    }


def sure(support: Iterable[float], against: Iterable[float] = ()) -> float:
    """Return the confidence of one statement from the qualities of the voices for and against it.

    Grows with every voice for it, falls with every voice against it, and is 0 without any for it.
    """
    return _together(support) * (1.0 - _AGAINST * _together(against))


def _together(values: Iterable[float]) -> float:
    doubt = 1.0
    for value in values:
        doubt *= 1.0 - _ONE_SOURCE * min(1.0, max(0.0, value))
    return 1.0 - doubt


def confidence(
    checked: Sequence[Checked], values: Mapping[int, float], voice: Mapping[int, int]
) -> float:
    """Return the confidence of an answer, 0 to 1: the mean over its factual sentences."""
    factual = [sentence for sentence in checked if sentence.grounding in _FACTUAL]
    if not factual:
        return 0.0
    points = [
        sure(_voices(one.sources, values, voice), _voices(one.against, values, voice))
        if one.grounding in _BORNE
        else 0.0
        for one in factual
    ]
    return round(sum(points) / len(points), 3)


def _voices(
    sources: Iterable[int], values: Mapping[int, float], voice: Mapping[int, int]
) -> list[float]:
    best: dict[int, float] = {}
    for source in sources:
        group = voice.get(source, source)
        best[group] = max(best.get(group, 0.0), values.get(source, 0.0))
    return list(best.values())


def level(value: float) -> str:
    """Return `high` (from 0.75), `medium` (from 0.5) or `low`."""
    return next(name for bar, name in _LEVELS if value >= bar)
