"""Cut text into sentences, and sentences into short windows; offsets are kept."""

from __future__ import annotations

import re

from framework.evidence.wordlists import words

__all__ = ["is_english", "sentences", "windows"]

_END = re.compile(
    r"(?<=[.!?…])([\"'”’»)\]*_]*)\s+(?=\S)|(?<=[。！？｡।؟])([”’」』）]*)\s*(?=\S)|()\n+(?=\S)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|cf|al|no|nos|fig|eq|approx|ca|vol|pp|ed|"
    r"eds|inc|ltd|co|corp|"
    r"dept|est|gen|gov|col|sgt|rev|hon|u\.s|u\.k|z\.b|bzw|usw|nr|bd|jan|feb|mar|apr|jun|jul|aug|"
    r"sep|sept|oct|nov|dec)"
    r"|(?:^|\s)[A-Z]|\b\d{1,2})\.$",
    re.IGNORECASE,
)  # fmt: skip
#: Small words that English shares with hardly any other language.
_ENGLISH, _FOREIGN = words("only_english"), words("not_english")
_LATIN = re.compile(r"[^\W\d_]+")


def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Return the (start, end) of every sentence; together they hold all text but blanks."""
    spans, start = [], 0
    for match in _END.finditer(text):
        before = text[max(0, start, match.start() - 8) : match.start()]
        if "\n" not in match[0] and _ABBREVIATION.search(before):
            continue
        end = match.end(match.lastindex or 0)
        if text[start:end].strip():
            spans.append((start, end))
        start = match.end()
    if text[start:].strip():
        spans.append((start, len(text)))
    return tuple(spans)


def windows(text: str, most: int = 3) -> tuple[tuple[int, int], ...]:
    """Return the spans of all runs of one to `most` sentences that stand in one line."""
    spans = sentences(text)
    found = []
    for first in range(len(spans)):
        for last in range(first, min(first + most, len(spans))):
            if "\n" in text[spans[first][0] : spans[last][1]]:
                break
            found.append((spans[first][0], spans[last][1]))
    return tuple(found)


def is_english(text: str) -> bool:
    """Tell whether a text is English: in Latin letters, and no other small words prevail."""
    found = _LATIN.findall(text[:20_000].lower())
    foreign_letters = sum(not word.isascii() for word in found)
    own, other = (sum(word in kind for word in found) for kind in (_ENGLISH, _FOREIGN))
    return bool(found) and foreign_letters < 0.1 * len(found) and own >= other
