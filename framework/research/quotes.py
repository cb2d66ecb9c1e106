"""Quotes: found verbatim on a page, whatever their spelling of letters, spaces and punctuation.

Two texts are the same here where their letters and digits are, after compatibility forms and case
are folded: spaces, punctuation and Markdown marks only part words. Everything else must agree, so
an invented or altered word is never found.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote as percent

from framework.reading.unmark import unmark

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from framework.research.state import Excerpt

__all__ = ["Found", "find", "folded", "locate", "text_link"]

#: Parts of our Markdown that show no text: images, link targets, footnote marks, sub and sup tags.
_UNSEEN = re.compile(
    r"!\[(?:[^\[\]\\]|\\.)*\]\([^()\s]*\)|(?<=\])\([^()\s]*\)|\[\^[^\]]+\]|</?su[bp]>"
)
#: What is left of a link that a quote begins or ends in.
_TORN = re.compile(r"\[(?![^\[\]]*\])|(?<!\])\]\([^()\s]*\)")
_APOSTROPHES = frozenset("'’‘ʼ＇`´")
_MINUS = frozenset("-−–")
_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U00020000-\U0003ffff]"
)
_ENDING = frozenset(".!?。！？…")
_WORDS = 12
_EDGE_WORDS = 4
_LONG = 60
_EDGE = 15


@dataclass(frozen=True, slots=True)
class Found:
    """Where a quote stands: offsets into the text it was looked for in, and the words there."""

    start: int
    end: int
    text: str


def folded(text: str) -> str:
    """Return a text as it is compared: words of folded letters and digits, single spaces."""
    return "".join(mark for mark, _ in _fold(text)).strip()


def locate(quote: str, text: str) -> Found | None:
    """Find a quote in Markdown; None where its letters and digits do not stand there in a row.

    It must begin and end at the edge of a word, in scripts that part words by spaces.
    """
    wanted = folded(quote)
    if not wanted:
        return None
    pairs = list(_fold(text))
    places = [place for mark, place in pairs for _ in mark]
    line = "".join(mark for mark, _ in pairs)
    at = line.find(wanted)
    while at >= 0:
        end = at + len(wanted)
        if _is_edge(line, at) and _is_edge(line, end):
            return _found(text, places[at], places[end - 1])
        at = line.find(wanted, at + 1)
    return None


def find(quote: str, excerpts: Sequence[Excerpt]) -> tuple[Excerpt, Found] | None:
    """Find a quote in the passages of a page; the offsets count in the passage."""
    for excerpt in excerpts:
        found = locate(quote, excerpt.text)
        if found is not None:
            return excerpt, found
    return None


def _found(text: str, first: int, last: int) -> Found:
    end = last + 1
    while end < len(text) and unicodedata.combining(text[end]):
        end += 1
    if end < len(text) and text[end] in _ENDING:
        end += 1
    return Found(first, end, " ".join(_TORN.sub("", unmark(text[first:end])).split()))


def _is_edge(line: str, at: int) -> bool:
    if at <= 0 or at >= len(line):
        return True
    before, after = line[at - 1], line[at]
    if " " in (before, after):
        return True
    return bool(_UNSPACED.match(before) or _UNSPACED.match(after))


def _fold(text: str) -> Iterator[tuple[str, int]]:
    """Yield the folded characters of a text, each with its place."""
    space = True
    for start, end in _seen(text):
        for at in range(start, end):
            for mark in _folded_character(text, at, space):
                if mark != " " or not space:
                    yield mark, at
                space = mark == " "


def _seen(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    for unseen in _UNSEEN.finditer(text):
        yield at, unseen.start()
        at = unseen.end()
    yield at, len(text)


def _folded_character(text: str, at: int, after_space: bool) -> str:
    character = text[at]
    if character.isascii() and character.isalnum():
        return character.lower()
    if character in _APOSTROPHES and not after_space and _is_letter(text, at + 1):
        return ""
    if character in _MINUS and after_space and text[at + 1 : at + 2].isdigit():
        return "-"
    if unicodedata.category(character) == "Cf":
        return ""
    plain = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", character).casefold())
    kept = "".join(mark for mark in plain if mark.isalnum() or unicodedata.category(mark)[0] == "M")
    return kept or " "


def _is_letter(text: str, at: int) -> bool:
    return text[at : at + 1].isalpha()


def text_link(url: str, quote: str) -> str:
    """Return an address that scrolls a browser to the quote (`#:~:text=`, WICG text fragments)."""
    words = quote.split()
    if len(words) > _WORDS:
        parts = [" ".join(words[:_EDGE_WORDS]), " ".join(words[-_EDGE_WORDS:])]
    elif len(quote) > _LONG and len(words) < _EDGE_WORDS:
        parts = [quote[:_EDGE], quote[-_EDGE:]]
    else:
        parts = [" ".join(words)]
    fragment = ",".join(percent(part, safe="").replace("-", "%2D") for part in parts)
    mark = "" if "#" in url else "#"
    return f"{url}{mark}:~:text={fragment}"
