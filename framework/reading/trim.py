"""Takes off what surrounds an article inside its own element: title, byline, closing prompts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading.document import BlockKind

if TYPE_CHECKING:
    from framework.reading.markdown import Piece
    from framework.reading.titles import Titles

__all__ = ["plain", "trim"]

_MARKDOWN_LINK = re.compile(r"!?\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)")
_MARKS = re.compile(r"^\s*(?:#{1,6} |> ?|- |\d+\. )|[*_`~|]|\\(?=\W)", re.M)
_WORD = re.compile(r"[^\W_]+")
_ENDS = re.compile(r"[.!?。！？…:;”\"'’»)\]]\s*$")
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[:.]\d\d\b|\bago\b|min(?:ute)?s? read|\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\d+年|\d+月",
    re.I,
)
_BYLINE = re.compile(
    r"^\W*(?:by|von|par|por|di|written by|posted|published|updated|last updated|first published|author|text|photo|photos|photograph|image|credit|foto|fotos|source|quelle|fuente|"
    r"autor|auteur|автор|作者|aktualisiert|veröffentlicht|publié|publicado|modified|reviewed|edited|share|tweet|print|email|comments?|advertisement|advert|anzeige|werbung|publicidad|publicité)\b",
    re.I,
)
_PROMPT = re.compile(
    r"copyright|©|all rights reserved|alle rechte vorbehalten|todos los derechos|tous droits réservés|follow (?:us|me|him|her|them|@|\w+ on)|subscribe|sign up|newsletter|"
    r"share (?:this|on|via)|click here|read more|read also|read next|see also|also read|related:|more from|more on|recommended|you may also|you might also|"
    r"leave a (?:comment|reply)|join the|download (?:the|our)|have a (?:tip|story)|contact (?:us|the)|email (?:us|the)|send (?:us|your)|"
    r"this (?:article|story|post) (?:was|is|has been|originally|first)|originally (?:published|appeared)|tagged|filed under|posted in|tags?:|categories:|topics:|"
    r"folgen sie|abonnieren|weiterlesen|mehr zum thema|lesen sie auch|auch interessant|suscr[ií]b|s[ií]guenos|lea también|abonnez|lire aussi|à lire|подпис|читайте также|"
    r"support (?:us|our)|donate|become a (?:member|patron|subscriber)|thanks for reading|like us|on (?:facebook|twitter|instagram)|terms of (?:use|service)|privacy policy|cookie",
    re.I,
)
_PROSE = 80


def plain(text: str) -> str:
    """Return a block's text without links, images and marks."""
    return _MARKS.sub("", _MARKDOWN_LINK.sub(lambda m: "" if m[0][0] == "!" else m[1], text)).strip()


def trim(pieces: list[Piece], titles: Titles, links: list[int], length: list[int]) -> list[Piece]:
    """Return the pieces without the title and what stands around it, and without the closing prompts."""
    notes = [piece for piece in pieces if piece.kind is BlockKind.FOOTNOTE]
    kept = _head([piece for piece in pieces if piece.kind is not BlockKind.FOOTNOTE], titles)
    kept = _lead(kept)
    kept = [piece for piece in kept if not _is_pointer(piece, links, length)]
    return _tail(kept, links, length) + notes


_POINTER = re.compile(
    r"^\W*(?:(?:read|see|also|related|more|watch|listen|don'?t miss|must[- ]read|further reading|recommended|trending|click here|check out|"
    r"lesen sie|mehr|siehe auch|auch interessant|weiterlesen|lire aussi|à lire|voir aussi|lea|ver más|lee también|relacionad[oa]s?|leggi anche|leia|veja|читайте|смотрите)\b[^.!?]{0,40}?)(?::|$|\s)",
    re.I,
)


def _is_pointer(piece: Piece, links: list[int], length: list[int]) -> bool:
    """Whether a block in the text only points to another page: `Read more: …`."""
    if piece.kind not in (BlockKind.PARAGRAPH, BlockKind.HEADING) or not links[piece.node]:
        return False
    size = length[piece.node]
    return size < 250 and links[piece.node] > 0.5 * size and bool(_POINTER.match(plain(piece.text)))


def _is_prose(piece: Piece) -> bool:
    if piece.kind in (BlockKind.CODE, BlockKind.MATH, BlockKind.TABLE, BlockKind.QUOTE, BlockKind.CALLOUT):
        return True
    if piece.kind is BlockKind.HEADING or len(piece.text) <= _PROSE:
        return False
    return "](" not in piece.text or len(plain(piece.text)) > _PROSE


def _head(pieces: list[Piece], titles: Titles) -> list[Piece]:
    prose = 0
    for place, piece in enumerate(pieces[:40]):
        if piece.kind is BlockKind.HEADING and piece.level <= 2 and titles.matches(plain(piece.text)):
            before = pieces[:place]
            return [p for p in before if _is_prose(p) or p.kind is BlockKind.IMAGE] + pieces[place + 1 :]
        if _is_prose(piece):
            prose += 1
            if prose > 2:
                break
    return pieces


def _lead(pieces: list[Piece]) -> list[Piece]:
    """Leave out bylines, dates and counters before the first prose."""
    kept: list[Piece] = []
    for place, piece in enumerate(pieces[:30]):
        if _is_prose(piece):
            return kept + pieces[place:]
        text = plain(piece.text)
        words = len(_WORD.findall(text))
        if piece.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM) and (
            (words <= 14 and (_DATE.search(text) or _BYLINE.search(text))) or (words <= 3 and not _ENDS.search(text))
        ):
            continue
        kept.append(piece)
    return kept + pieces[30:] if len(pieces) > 30 else pieces


def _tail(pieces: list[Piece], links: list[int], length: list[int]) -> list[Piece]:
    """Leave out prompts, credits and headings after the last prose."""
    last = len(pieces)
    while last > 1:
        piece = pieces[last - 1]
        text = plain(piece.text)
        words = len(_WORD.findall(text))
        if piece.kind is BlockKind.HEADING or piece.kind is BlockKind.RULE:
            last -= 1
            continue
        if piece.kind not in (BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.QUOTE):
            break
        dense = length[piece.node] > 0 and links[piece.node] > 0.5 * length[piece.node]
        if (words < 60 and _PROMPT.search(text)) or (words < 25 and dense) or (words <= 3 and not _ENDS.search(text)) or (words < 12 and _BYLINE.search(text)):
            last -= 1
            continue
        break
    kept_words = sum(len(p.text) for p in pieces[:last])
    return pieces[:last] if kept_words > 200 else pieces
