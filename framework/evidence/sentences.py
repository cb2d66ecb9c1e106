"""Cut text into sentences, and sentences into short windows; offsets are kept."""

from __future__ import annotations

import re

__all__ = ["is_english", "sentences", "windows"]

_END = re.compile(r"(?<=[.!?…])[\"'”’»)\]*_]*\s+(?=\S)|(?<=[。！？｡।؟])\s*(?=\S)|\n+(?=\S)")
_ABBREVIATION = re.compile(
    r"(?:\b(?:mr|mrs|ms|dr|prof|st|jr|sr|vs|etc|e\.g|i\.e|cf|al|no|nos|fig|eq|approx|ca|vol|pp|ed|"
    r"eds|inc|ltd|co|corp|"
    r"dept|est|gen|gov|col|sgt|rev|hon|u\.s|u\.k|z\.b|bzw|usw|nr|bd|jan|feb|mar|apr|jun|jul|aug|"
    r"sep|sept|oct|nov|dec)"
    r"|(?:^|\s)[A-Z]|\b\d{1,2})\.$",
    re.IGNORECASE,
)  # fmt: skip
_ENGLISH = frozenset(
    ["the", "of", "and", "to", "in", "is", "that", "was", "for", "with", "as", "on", "by", "are"]
)
_LATIN = re.compile(r"[^\W\d_]+")


def sentences(text: str) -> tuple[tuple[int, int], ...]:
    """Return the (start, end) of every sentence; together they hold all text but blanks."""
    spans, start = [], 0
    for match in _END.finditer(text):
        if "\n" not in match[0] and _ABBREVIATION.search(
            text[max(0, start, match.start() - 8) : match.start()]
        ):
            continue
        if text[start : match.start()].strip():
            spans.append((start, match.start()))
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
    """Tell whether a text is English, by its most frequent small words."""
    words = _LATIN.findall(text[:20_000].lower())
    return bool(words) and sum(word in _ENGLISH for word in words) >= 0.12 * len(words)
