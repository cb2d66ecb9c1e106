"""Which queries a round asks: new ones only, in the language of the objective."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from framework.merge.relevance import content_words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["PER_ROUND", "accepted", "fallback", "is_duplicate", "language_of"]

#: The most queries of one round.
PER_ROUND = 5
_LONGEST = 200
_LIKE = 0.8

_SCRIPTS = (
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("el", re.compile(r"[\u0370-\u03ff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("uk", re.compile(r"[іїєґ]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
)
#: Small words that hardly stand in another language.
_SMALL = {
    "en": "the of and is are was were what which how does did has have with from for in on to by",
    "de": "der die das und ist sind wie was welche mit von fur im den dem ein eine auf nicht hat",
    "fr": "le la les des est sont et comment quel quelle dans pour une du sur avec qui au",
    "es": "el los las es son y como que cual del para una por con en se la su",
    "it": "il lo gli della delle sono e come che quale per una con nel di del",
    "pt": "o os as da do das dos sao e como que qual para uma com em no na",
    "nl": "de het een is zijn en hoe wat welke met van voor op in niet",
    "pl": "jak jest sa co ktory ktore w na z do i dla oraz przez",
    "sv": "och ar hur vad vilka med for av den det ett en som",
}
_SMALL_WORDS = {code: frozenset(words.split()) for code, words in _SMALL.items()}
_WORD = re.compile(r"[^\W\d_]+")


def language_of(text: str) -> str | None:
    """Return the ISO 639-1 code that script and small words tell, or None where they don't."""
    letters = [char for char in text if char.isalpha()]
    for code, script in _SCRIPTS:
        if letters and len(script.findall(text)) * 5 >= len(letters):
            return code
    words = [_plain(word) for word in _WORD.findall(text)]
    counts = {code: sum(word in small for word in words) for code, small in _SMALL_WORDS.items()}
    best, second = sorted(counts.values(), reverse=True)[:2]
    return max(counts, key=counts.__getitem__) if best > second else None


def _plain(word: str) -> str:
    marks = unicodedata.normalize("NFKD", word.casefold())
    return "".join(mark for mark in marks if not unicodedata.combining(mark))


def is_duplicate(query: str, earlier: Iterable[str]) -> bool:
    """Say whether a query asks the same as an earlier one: the same words, or nearly.

    Compared are content words, without order and case (Jaccard's coefficient at least 0.8).
    """
    wanted = content_words(query)
    return any(_like(wanted, content_words(one)) for one in earlier)


def _like(one: frozenset[str], other: frozenset[str]) -> bool:
    both = one | other
    return not both or len(one & other) / len(both) >= _LIKE


def accepted(
    proposed: Sequence[str], earlier: Sequence[str], language: str | None, most: int = PER_ROUND
) -> tuple[str, ...]:
    """Return the proposed queries that are new and in the objective's language, at most `most`.

    A query whose language cannot be told passes. Where all are in another language they pass too:
    the objective may be about something that is written of in that language only.
    """
    clean = [" ".join(query.split())[:_LONGEST].strip() for query in proposed if query.strip()]
    own = [query for query in clean if _fits(query, language)]
    taken: list[str] = []
    for query in own or clean:
        if len(taken) < most and not is_duplicate(query, [*earlier, *taken]):
            taken.append(query)
    return tuple(taken)


def _fits(query: str, language: str | None) -> bool:
    told = language_of(query)
    return language is None or told is None or told == language


def fallback(objective: str, gaps: Sequence[str], earlier: Sequence[str]) -> tuple[str, ...]:
    """Return queries that need no model: the objective, then what is still open."""
    return accepted([objective, *gaps], earlier, None, most=3)
