"""Citations: which quotes of a model's answer are true, and what they bear."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from framework.evidence.injection import mark
from framework.reading.unmark import unmark
from framework.research.facts import grounding
from framework.research.prompts import MOST_QUOTES
from framework.research.quotes import find, folded, text_link
from framework.research.state import Quote, Retry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.research.facts import Judge
    from framework.research.prompts import QuotesReply
    from framework.research.quotes import Found
    from framework.research.state import Excerpt, Source

__all__ = ["dropped", "failed_quotes", "taken"]

_LEAST = 12
_LEAST_UNSPACED = 6
_MOST = 600
_AROUND = 250


def taken(source: Source, reply: QuotesReply, judge: Judge, round_: int) -> Source:
    """Return the source with the quotes of a reply that stand on its page, each once.

    A quote must be found verbatim in the passages that were shown, be of useful length, and give
    no orders to its reader. `support` is what the judge says of its fact, at least the share of
    the fact's words that stand in it; where the quote speaks against the fact, it is its own fact.
    """
    kept = list(source.quotes)
    known = {folded(quote.text) for quote in kept}
    for one in reply.quotes:
        found = find(one.quote, source.excerpts)
        if found is None or not _is_usable(found[1].text) or len(kept) >= 2 * MOST_QUOTES:
            continue
        if folded(found[1].text) not in known:
            known.add(folded(found[1].text))
            kept.append(_quote(source, *found, one.fact, judge, round_))
    return replace(source, quotes=tuple(kept))


def _is_usable(text: str) -> bool:
    plain = folded(text)
    least = _LEAST if " " in plain else _LEAST_UNSPACED
    return least <= len(plain) <= _MOST and mark(text) == text


def _quote(
    source: Source, excerpt: Excerpt, found: Found, fact: str, judge: Judge, round_: int
) -> Quote:
    text = found.text
    claim = " ".join(fact.split())[:400] or text
    judged = judge([(text, claim)])[0]
    support = max(judged.entailment, grounding(text, claim))
    if judged.verdict == "refuted" or (judged.signs and judged.entailment < judged.contradiction):
        claim, support = text, 1.0
    return Quote(
        text=text,
        start=excerpt.start + found.start,
        end=excerpt.start + found.end,
        fact=claim,
        link=text_link(source.url, text),
        context=_context(excerpt.text, found),
        support=round(min(1.0, support), 3),
        round=round_,
    )


def _context(text: str, found: Found) -> str:
    start, end = max(0, found.start - _AROUND), found.end + _AROUND
    return " ".join(unmark(text[start:end]).split())


def failed_quotes(source: Source, reply: QuotesReply) -> tuple[Retry, ...]:
    """Return the quotes of a reply that do not stand on the page, to be asked for once more."""
    return tuple(
        Retry(source.id, " ".join(one.quote.split())[:_MOST], one.fact[:400], source.excerpts)
        for one in reply.quotes
        if find(one.quote, source.excerpts) is None
    )


def dropped(retries: Sequence[Retry], reply: QuotesReply | None, source: Source) -> int:
    """Return how many quotes are lost: asked for twice, and not on the page."""
    again = () if reply is None else reply.quotes
    regained = sum(find(one.quote, source.excerpts) is not None for one in again)
    return max(0, len(retries) - regained)
