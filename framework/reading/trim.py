"""Takes off what surrounds an article inside its own element: title, byline, closing prompts."""

from __future__ import annotations

import re
from itertools import accumulate
from typing import TYPE_CHECKING

from framework.reading.closings import (
    BYLINE,
    COMMENTS,
    COOKIES,
    CREDIT,
    DATED,
    ENDING,
    FURNITURE,
    LINKED_BYLINE,
    NOTICE,
    NOTICE_WORDS,
    PLEA,
    POINTER,
    PRICE,
    PROMPT,
    SOURCES,
)
from framework.reading.document import BlockKind

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.reading.pieces import Piece
    from framework.reading.titles import Titles

__all__ = ["plain", "trim"]

_MARKDOWN_LINK = re.compile(r"!?\[((?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)")
_FIRST_MARK = re.compile(r"\s*(?:#{1,6} |> ?|- |\d+\. )")
_QUOTE_MARK = re.compile(r"^> ?", re.M)
_ESCAPE = re.compile(r"\\(?=\W)")
_MARK = re.compile(r"[*_`~|]")
_WORD = re.compile(r"[^\W_]+")
_ENDS = re.compile(r"[.!?。！？…:;”\"'’»)\]]\s*$")
_DATE = re.compile(
    r"\b(?:19|20)\d\d\b|\b\d{1,2}[:.]\d\d\b|\bago\b|min(?:ute)?s? read|"
    r"\b\d{1,2}[./]\d{1,2}[./]\d{2,4}\b|\d+年|\d+月",
    re.I,
)
_TARGET = re.compile(r"\]\([^()\s]*\)")
_OF_TEXTS = frozenset(
    {BlockKind.CODE, BlockKind.MATH, BlockKind.TABLE, BlockKind.QUOTE, BlockKind.CALLOUT}
)
_LEFT_OUT = (BlockKind.PARAGRAPH, BlockKind.HEADING, BlockKind.QUOTE)
_ENDINGS = frozenset({BlockKind.HEADING, BlockKind.PARAGRAPH, BlockKind.ITEM})
_PROSE = 80
_BODY_LEAST, _COMMENTED_LEAST = 0.7, 0.25
_PICTURES = 2
_NOTICES, _COOKIES_MOST = 3, 600
_ALT = re.compile(r"!\[([^\[\]]+)\]\(")
_NOTICE_MOST, _LINE_MOST = 450, 100
_BEFORE_LIST = 3
_BYLINE_MOST = 120
_BEFORE = frozenset({BlockKind.PARAGRAPH, BlockKind.IMAGE, BlockKind.TABLE})


def plain(text: str) -> str:
    """Return a block's text without links, images and marks."""
    if "](" in text:
        text = _MARKDOWN_LINK.sub(_label, text)
    if start := _FIRST_MARK.match(text):
        text = text[start.end() :]
        if "\n" in text:
            text = _QUOTE_MARK.sub("", text)
    if "\\" in text:
        text = _ESCAPE.sub("", text)
    return _MARK.sub("", text).strip()


def _label(match: re.Match[str]) -> str:
    return "" if match[0][0] == "!" else match[1]


def _shown(piece: Piece) -> str:
    """Return a piece's text without marks, taken off once."""
    if piece.shown is None:
        piece.shown = plain(piece.text)
    return piece.shown


def trim(
    pieces: list[Piece], titles: Titles, links: Sequence[int], length: Sequence[int]
) -> list[Piece]:
    """Return the pieces without the title and what stands around it, and without the closing
    prompts."""
    notes = [piece for piece in pieces if piece.kind is BlockKind.FOOTNOTE]
    kept = _head([piece for piece in pieces if piece.kind is not BlockKind.FOOTNOTE], titles)
    kept = _uncaptioned(_lead(kept))
    kept = [
        piece
        for piece in kept
        if piece.kind not in _LEFT_OUT
        or not (
            (links[piece.node] and _leads_away(piece, links, length))
            or (len(piece.text) <= _NOTICE_MOST and (_is_credit(piece) or _is_notice(piece)))
        )
    ]
    return _tail(_unannounced(kept), links, length) + notes


def _leads_away(piece: Piece, links: Sequence[int], length: Sequence[int]) -> bool:
    """Whether a line only points to another page, or names an author with a link to other works."""
    is_short = length[piece.node] < _BYLINE_MOST
    if is_short and LINKED_BYLINE.match(piece.text.lower()):
        return True
    return _is_pointer(piece, links, length)


def _is_pointer(piece: Piece, links: Sequence[int], length: Sequence[int]) -> bool:
    """Whether a block in the text only points to another page: `Read more: …`."""
    size = length[piece.node]
    if size >= 250:
        return False
    found = POINTER.match(_shown(piece).lower())
    return found is not None and links[piece.node] >= min(size / 2, size - found.end())


def _is_credit(piece: Piece) -> bool:
    """Whether a short block only is a tool of the page, an advertisement or a picture's credit."""
    text = piece.text
    if piece.kind is not BlockKind.PARAGRAPH or len(text) > (200 if "](" in text else 90):
        return False
    text = (_shown(piece) if "](" in text else text).lower()
    if FURNITURE.fullmatch(text) or DATED.fullmatch(text):
        return True
    return len(text) < 80 and bool(CREDIT.match(text))


def _is_notice(piece: Piece) -> bool:
    """Whether a block tells that the site is paid for links, or stands in the place of another
    site's content until its reader agrees."""
    text = piece.text.lower()
    for word in NOTICE_WORDS:
        if word in text:
            return bool(NOTICE.search(_shown(piece).lower()))
    return False


def _unannounced(pieces: list[Piece]) -> list[Piece]:
    """Cut at the line after which nothing of the article follows, if most of the text stands
    before it, and leave out such lines within the text; one word alone may head a section."""
    endings = [place for place, piece in enumerate(pieces) if _is_ending(piece)]
    if not endings:
        return pieces
    before = [0, *accumulate(len(piece.text) if _is_prose(piece) else 0 for piece in pieces)]
    stop = next(
        (place for place in endings if before[place] > _before_least(pieces[place]) * before[-1]),
        len(pieces),
    )
    gone = {place for place in endings if " " in _shown(pieces[place])}
    return [piece for place, piece in enumerate(pieces[:stop]) if place not in gone]


def _before_least(piece: Piece) -> float:
    """Return the share of the text that must stand before a line for it to end the text."""
    is_certain = piece.kind is BlockKind.HEADING and COMMENTS.fullmatch(_shown(piece).lower())
    return _COMMENTED_LEAST if is_certain else _BODY_LEAST


def _is_ending(piece: Piece) -> bool:
    """Whether a heading or short line says that something else follows."""
    text = piece.text
    if len(text) > 400 or piece.kind not in _ENDINGS:
        return False
    if "](" in text:
        if piece.kind is not BlockKind.HEADING:
            return False
        text = _shown(piece)
    return len(text) <= _LINE_MOST and bool(ENDING.match(text.lower()))


def _is_prose(piece: Piece) -> bool:
    """Whether a piece is running text, or a block that only texts have."""
    if piece.is_prose is None:
        piece.is_prose = piece.kind in _OF_TEXTS or (
            piece.kind is not BlockKind.HEADING and _inked(piece) > _PROSE
        )
    return piece.is_prose


def _inked(piece: Piece) -> int:
    """Return about how long a text is without its links' targets and its images."""
    text = piece.text
    if len(text) <= _PROSE or "](" not in text:
        return len(text)
    if "![" in text:
        return len(_shown(piece))
    return len(text) - sum(map(len, _TARGET.findall(text)))


def _head(pieces: list[Piece], titles: Titles) -> list[Piece]:
    prose = 0
    for place, piece in enumerate(pieces[:40]):
        if piece.kind is BlockKind.HEADING and piece.level <= 2 and titles.matches(_shown(piece)):
            before = pieces[:place]
            return [p for p in before if _is_prose(p) or p.kind is BlockKind.IMAGE] + pieces[
                place + 1 :
            ]
        if _is_prose(piece):
            prose += 1
            if prose > 2:
                break
    return pieces


def _lead(pieces: list[Piece]) -> list[Piece]:
    """Leave out bylines, dates and counters before the first prose."""
    kept: list[Piece] = []
    for place, piece in enumerate(pieces[:30]):
        if place < _NOTICES and _is_cookie_notice(piece):
            continue
        if piece.kind is BlockKind.RULE and not kept:
            continue
        if _is_prose(piece):
            return kept + pieces[place:]
        text = _shown(piece)
        words = len(_WORD.findall(text))
        is_line = piece.kind in (BlockKind.PARAGRAPH, BlockKind.ITEM) and not PRICE.search(text)
        if is_line and (
            (words <= 14 and (_DATE.search(text) or BYLINE.match(text.lower())))
            or (words <= 3 and not _ENDS.search(text) and _is_alone(pieces, place))
        ):
            continue
        kept.append(piece)
    return kept + pieces[30:] if len(pieces) > 30 else pieces


def _is_cookie_notice(piece: Piece) -> bool:
    """Whether a paragraph tells that the site uses cookies."""
    text = piece.text
    return (
        piece.kind is BlockKind.PARAGRAPH
        and len(text) < _COOKIES_MOST
        and _tells_of_cookies(text, PLEA)
    )


def _tells_of_cookies(text: str, how: re.Pattern[str]) -> bool:
    return "cookie" in text.lower() and bool(how.search(text))


def _uncaptioned(pieces: list[Piece]) -> list[Piece]:
    """Take off the text of an image where the caption under it says the same, and captions that
    stood under an image before."""
    kept: list[Piece] = []
    captions: set[str] = set()
    image: Piece | None = None
    for piece in pieces:
        under, image = image, piece if piece.kind is BlockKind.IMAGE else None
        if under is not None and piece.kind is BlockKind.PARAGRAPH:
            if piece.text in captions:
                continue
            captions.add(piece.text)
            alt = _ALT.search(under.text)
            if alt is not None and piece.text.casefold().startswith(alt[1].casefold()):
                under.text = under.text.replace(alt[0], "![](", 1)
        kept.append(piece)
    return kept


def _is_alone(pieces: list[Piece], place: int) -> bool:
    """Whether a block is a paragraph, or a link that is the only item of a list."""
    if pieces[place].kind is BlockKind.PARAGRAPH:
        return True
    if "](" not in pieces[place].text:
        return False
    around = pieces[max(0, place - 1) : place + 2]
    return sum(piece.kind is BlockKind.ITEM for piece in around) == 1


def _tail(pieces: list[Piece], links: Sequence[int], length: Sequence[int]) -> list[Piece]:
    """Leave out prompts, credits and headings after the last prose."""
    last, least = len(pieces), _end_of_sources(pieces)
    while last > max(1, least):
        place = last - 1
        while place > max(0, last - 1 - _PICTURES) and pieces[place].kind is BlockKind.IMAGE:
            place -= 1
        if not _is_closing(pieces[place], links, length):
            break
        last = place
    kept = pieces[:last]
    return kept if last < len(pieces) and sum(len(p.text) for p in kept) > 200 else pieces


def _end_of_sources(pieces: list[Piece]) -> int:
    """Return the place after the list that names the sources, or 0 where there is none."""
    for place in range(len(pieces) - 1, -1, -1):
        piece = pieces[place]
        if piece.kind is BlockKind.HEADING and SOURCES.fullmatch(_shown(piece).lower()):
            return _end_of_list(pieces, place + 1)
    return 0


def _end_of_list(pieces: list[Piece], start: int) -> int:
    """Return the place after the list that starts within the next blocks, or 0."""
    end = start
    while end < min(len(pieces), start + _BEFORE_LIST) and pieces[end].kind in _BEFORE:
        end += 1
    first = end
    while end < len(pieces) and pieces[end].kind is BlockKind.ITEM:
        end += 1
    return end if end > first else 0


def _is_closing(piece: Piece, links: Sequence[int], length: Sequence[int]) -> bool:
    """Whether a block at the end is no part of the text: a prompt, a credit, a lone heading."""
    if piece.kind in (BlockKind.HEADING, BlockKind.RULE):
        return True
    if piece.kind not in (BlockKind.PARAGRAPH, BlockKind.ITEM, BlockKind.QUOTE):
        return False
    text = _shown(piece)
    words = len(_WORD.findall(text))
    dense = length[piece.node] > 0 and links[piece.node] > 0.5 * length[piece.node]
    return bool(
        (words < 45 and PROMPT.search(text.lower()))
        or (words < 20 and "©" in text)
        or (words < 120 and _tells_of_cookies(text, COOKIES))
        or (words < 25 and dense)
        or (words <= 3 and piece.kind is BlockKind.PARAGRAPH and not _ENDS.search(text))
        or (words < 12 and BYLINE.match(text.lower()))
    )
