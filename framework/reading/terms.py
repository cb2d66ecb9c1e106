"""Words of any script as search terms: folded, cut to a stem length, pairs where no spaces are
written."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

__all__ = ["grams", "terms"]

_PAIRED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(
    f"[{_PAIRED}]+|"
    f"[^\\W_{_PAIRED}]+(?:[\u0300-\u036f\u0610-\u061a\u064b-\u065f\u0900-\u0dff]+[^\\W_{_PAIRED}]*)*"
)
_GRAM = 4
#: Letters of a word that count; longer ones are no words, and would fill the tables of known words.
_LONGEST = 64
_IS_PAIRED = re.compile(f"[{_PAIRED}]")
_ARABIC = re.compile("[\u0600-\u06ff]")
_INDIC = re.compile("[\u0900-\u0dff]")
_CYRILLIC = re.compile("[\u0400-\u052f]")
_ARABIC_SAME = str.maketrans(
    {"أ": "ا", "إ": "ا", "آ": "ا", "ٱ": "ا", "ى": "ي", "ئ": "ي", "ؤ": "و", "ة": "ه", "ـ": None}
)
_ARABIC_MARKS = re.compile("[\u0610-\u061a\u064b-\u065f\u0670]")
_ARABIC_HEAD = re.compile("^(?:[وف]?(?:ال|بال|كال|لل)|[وف](?=....)|[بلك](?=....))")
_ARABIC_TAIL = re.compile("(?:هما|كما|تها|ات|ون|ين|ان|ها|هم|هن|نا|يه|ه|ي|ا)$")


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] if len(run) > 1 else [run]


@lru_cache(maxsize=65536)
def _word(run: str) -> tuple[str, ...]:
    if _ARABIC.search(run):
        return _arabic(run)
    if _INDIC.search(run):
        return (run, run[:5]) if len(run) > 5 else (run,)
    word = "".join(
        c for c in unicodedata.normalize("NFKD", run.casefold()) if not unicodedata.combining(c)
    )
    return (word[: 5 if _CYRILLIC.search(word) else 6],)


def _arabic(run: str) -> tuple[str, ...]:
    word = _ARABIC_MARKS.sub("", run).translate(_ARABIC_SAME)
    stem = _ARABIC_HEAD.sub("", word)
    if len(stem) < 3:
        stem = word
    short = _ARABIC_TAIL.sub("", stem)
    stem = short if len(short) >= 3 else stem
    return (stem,)


def terms(text: str) -> list[str]:
    """Return the search terms of a text, in order."""
    found: list[str] = []
    for run in _RUN.findall(text):
        found.extend(_pairs(run) if _IS_PAIRED.match(run) else _word(run[:_LONGEST]))
    return found


@lru_cache(maxsize=65536)
def _grams(run: str) -> tuple[str, ...]:
    word = f" {_ARABIC_MARKS.sub('', run).translate(_ARABIC_SAME)} "
    return tuple(word[i : i + _GRAM] for i in range(max(1, len(word) - _GRAM + 1)))


def grams(text: str) -> list[str]:
    """Return the letter sequences of a text's words: they find what inflection hides."""
    found: list[str] = []
    for run in _RUN.findall(text.casefold()):
        found.extend(_pairs(run) if _IS_PAIRED.match(run) else _grams(run[:_LONGEST]))
    return found
