"""The relevance guard: some engines, when they block, serve strangers' cached results instead.

Those rows look like any others, but share nothing with the query. The guard only says so where
not one row shares anything; a single shared word is enough to trust the page.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import unquote

from framework.merge.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from framework.types import Row

__all__ = ["content_words", "unrelated"]

_OPERATOR = re.compile(r"(?:(?<=\s)|^)(?:-\S+|[a-z]+:\S+)", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+")

#: Scripts that write words without blanks, or glue particles to them: compared by pairs.
_UNSPACED = (
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7af"  # Hangul
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
)
_UNSPACED_RUN = re.compile(f"[{_UNSPACED}]+")

#: From this length on a word also counts inside another one (compounds, host names).
_WITHIN = 4
#: From this length on a misspelt word counts by its letter pairs; the engine corrected it.
_FUZZY = 5
_FUZZY_LIKENESS = 0.7


def unrelated(query: str, rows: Sequence[Row]) -> bool:
    """Say whether not one row shares a content word with the query.

    Looked at are title, snippet and address, without case and accents. Words also count inside
    others from four letters on, without their last two letters (inflection), and by likeness
    (Dice's coefficient of letter pairs, at least 0.7) where the query is misspelt; scripts without
    blanks are compared by character pairs. False where the query has no content word or no row
    came: then nothing can be said.
    """
    wanted = content_words(query)
    if not wanted or not rows:
        return False
    if any(_mentions(_folded(_text(row)), wanted) for row in rows):
        return False
    return not _resembles(wanted, [_folded(_text(row)) for row in rows])


@lru_cache(maxsize=256)
def content_words(text: str) -> frozenset[str]:
    """Return the words that carry a query's subject; pairs for scripts without blanks."""
    folded = _folded(_OPERATOR.sub(" ", text))
    pairs = {pair for run in _UNSPACED_RUN.findall(folded) for pair in _pairs(run)}
    spaced = _WORD.findall(_UNSPACED_RUN.sub(" ", folded))
    return frozenset(pairs.union(word for word in spaced if word not in _STOP_WORDS))


def _text(row: Row) -> str:
    return f"{row.title} {row.snippet} {unquote(row.url)}"


def _folded(text: str) -> str:
    """Lower case, compatibility forms and accents folded; Hangul and kana stay composed."""
    if text.isascii():
        return text.lower()
    plain = "".join(
        mark for mark in unicodedata.normalize("NFKD", text) if not "\u0300" <= mark <= "\u036f"
    )
    return unicodedata.normalize("NFC", plain).casefold()


_STOP_WORDS = frozenset(map(_folded, STOP_WORDS))


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)] or [run]


def _mentions(text: str, wanted: Iterable[str]) -> bool:
    if any(_is_within(word, text) for word in wanted):
        return True
    tokens = frozenset(_WORD.findall(text))
    return any(word in tokens for word in wanted)


def _is_within(word: str, text: str) -> bool:
    if _UNSPACED_RUN.match(word):
        return word in text
    return len(word) >= _WITHIN and word[: max(_WITHIN, len(word) - 2)] in text


def _resembles(wanted: Iterable[str], texts: Iterable[str]) -> bool:
    tokens = {token for text in texts for token in _WORD.findall(text) if len(token) >= _FUZZY}
    long_words = [word for word in wanted if len(word) >= _FUZZY]
    return any(_likeness(word, token) >= _FUZZY_LIKENESS for word in long_words for token in tokens)


def _likeness(one: str, other: str) -> float:
    """Dice's coefficient of the sets of letter pairs."""
    left, right = set(_pairs(one)), set(_pairs(other))
    return 2 * len(left & right) / (len(left) + len(right))
