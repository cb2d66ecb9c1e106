"""An answer in Markdown taken apart into sentences with their citations, and put together again."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.reading.unmark import unmark

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

__all__ = ["Piece", "cited", "claim_of", "is_factual", "joined", "normalised", "pieces", "without"]

_CITATION = re.compile(r"\[\^?(\d{1,4}(?:\s*[,;–—-]\s*\^?\d{1,4})*)\](?!\()")
_RANGE = re.compile(r"(\d+)\s*(?:([–—-])\s*(\d+))?")
_MARKER = re.compile(r"^(?:\s*>)*\s*(?:[-*+]\s+|\d{1,3}[.)]\s+)?")
_END = re.compile(
    r"(?:[.!?…]+[\"'”’»)\]*_]*(?:\s*\[\^?\d[\d\s,;–—^-]*\](?!\())*(?=\s|$)"
    r"|[。！？｡]+[”’」』)]*(?:\s*\[\^?\d[\d\s,;–—^-]*\](?!\())*)\s*"
)
_SHORT = re.compile(
    r"(?:\b(?:[A-Za-z]|[Dd]r|[Mm]rs?|[Mm]s|[Pp]rof|[Ss]t|[Nn]o|[Nn]r|vs|etc|e\.g|i\.e|z\.B|ca|approx|"
    r"[Ff]ig|[Jj]r|[Ss]r|[Ii]nc|[Cc]o|[Ll]td|[Cc]f|al|bzw|usw|[Bb]d|[Ss]eq|[Vv]ol|pp?)|\b\d{1,2})\.$"
)
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_LONGEST_RANGE = 30
_SUBJECT = re.compile(r"\d|(?<!^)(?<![.!?]\s)\b[A-ZÀ-ÖØ-ÞА-Я][\w'’-]+")
_FEW_WORDS = 5
_UNSPACED = re.compile("[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]")


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of an answer; all joined are the answer. `is_sentence` False: marks and space."""

    text: str
    is_sentence: bool


def pieces(answer: str) -> tuple[Piece, ...]:
    """Take an answer apart; headings, code, rules and table frames are no sentences."""
    found: list[Piece] = []
    fenced = False
    for line in answer.splitlines(keepends=True):
        fence = bool(_FENCE.match(line))
        if fence or fenced or _is_frame(line):
            found.append(Piece(line, is_sentence=False))
            fenced ^= fence
        else:
            found.extend(_line(line))
    return tuple(found)


def _is_frame(line: str) -> bool:
    text = line.strip()
    return not text or text.startswith("#") or not any(char.isalnum() for char in text)


def _line(line: str) -> Iterator[Piece]:
    head = _MARKER.match(line)
    start = head.end() if head else 0
    if start:
        yield Piece(line[:start], is_sentence=False)
    for end in _ends(line, start):
        body = line[start:end].rstrip()
        if body:
            yield Piece(body, is_sentence=True)
        if start + len(body) < end:
            yield Piece(line[start + len(body) : end], is_sentence=False)
        start = end


def _ends(line: str, start: int) -> Iterator[int]:
    if not line.lstrip().startswith("|"):
        for end in _END.finditer(line, start):
            if end.end() < len(line) and not _SHORT.search(line, start, end.start() + 1):
                yield end.end()
    yield len(line)


def cited(sentence: str) -> tuple[int, ...]:
    """Return the ids that a sentence cites, in order: [1], [1, 2], [1-3] and [^1] are read."""
    found: dict[int, None] = {}
    for citation in _CITATION.finditer(sentence):
        for part in _RANGE.finditer(citation[1].replace("^", "")):
            first, last = int(part[1]), int(part[3] or part[1])
            if first <= last <= first + _LONGEST_RANGE:
                found.update(dict.fromkeys(range(first, last + 1)))
    return tuple(found)


def normalised(sentence: str, known: Collection[int]) -> str:
    """Rewrite a sentence's citations as [1][3], without the ids that are not known."""

    def rewrite(citation: re.Match[str]) -> str:
        return "".join(f"[{number}]" for number in cited(citation[0]) if number in known)

    return re.sub(r"\s+(?=[.!?。](?:\s|$))", "", _CITATION.sub(rewrite, sentence)).rstrip()


def without(sentence: str, dropped: Collection[int]) -> str:
    """Return a sentence without its citations of some ids."""
    return normalised(sentence, [one for one in cited(sentence) if one not in dropped])


def claim_of(sentence: str) -> str:
    """Return what a sentence says: no citations and no Markdown marks."""
    return " ".join(unmark(_CITATION.sub("", sentence)).replace(" .", ".").split())


def is_factual(claim: str) -> bool:
    """Say whether a sentence states what needs a source: it has a number, a name, or enough words.

    Questions, and lines that only lead to what follows (they end with a colon), do not.
    """
    text = claim.strip()
    if not text or text.endswith((":", "?", "：", "？")):
        return False
    words = len(text.split()) + len(_UNSPACED.findall(text)) // 2
    return words >= _FEW_WORDS or (words > 1 and bool(_SUBJECT.search(text)))


def joined(parts: Sequence[str]) -> str:
    """Put texts of pieces together again, without the empty lines that removed sentences leave."""
    return re.sub(r"\n{3,}", "\n\n", "".join(parts)).strip()
