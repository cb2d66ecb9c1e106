"""Which of many expressions a sentence cannot match, told by the words that each of them needs.

Searching every sentence of a page with hundreds of expressions is slow; nearly all sentences lack
the words that nearly all expressions cannot do without. Those are read from the expressions.
"""

from __future__ import annotations

import re
from functools import reduce
from itertools import groupby, product
from operator import add, or_
from re import _parser  # type: ignore[attr-defined]  # what else reads an expression as re does?
from string import ascii_letters, digits
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["ALL", "EDGE", "Sieve", "chosen", "marked", "needs"]

#: Bits that hold nothing back.
ALL = -1
#: Stands in a piece where a word begins or ends, as `\b` in an expression.
EDGE = "\b"
#: Different strings of one part of an expression that are told apart.
_MOST = 256
#: Characters of a class that are told apart.
_SMALL_CLASS = 12
#: Sets of pieces that are looked at of one way through an expression.
_LEVELS = 4
#: Words whose bits are remembered, and how long one of them may be.
_REMEMBERED, _LONG = 30_000, 40

_Pieces = frozenset[str]
#: All strings that a part can match, or None where there are too many, and the sets it needs.
_Part = tuple[_Pieces | None, tuple[_Pieces, ...]]
#: One step of a parsed expression: what it is, and its content.
_Item = tuple[Any, Any]

_NOTHING: _Part = (frozenset({""}), ())
_ANYTHING: _Part = (None, ())

_TOKEN = re.compile(r"\w+|[^\w\s]")


def marked(token: str) -> str:
    """Return a word with its edges; other signs have none."""
    return f"{EDGE}{token}{EDGE}" if _is_word(token[0]) else token


def _is_word(char: str) -> bool:
    return char.isalnum() or char == "_"


def needs(expression: str) -> tuple[tuple[_Pieces, ...], ...]:
    """Return sets of pieces for each alternative of an expression, the rarest set first.

    A text that matches holds one piece of every set of one alternative. A piece stands within what
    `marked` makes of one token: a word, or a single sign that is no part of a word.
    """
    ways = _alternatives([*_parser.parse(expression)])
    return tuple(_sets(_row(way, apart=True)) for way in ways)


_WEAK = frozenset({"AT", "ASSERT", "ASSERT_NOT", "MAX_REPEAT", "MIN_REPEAT"})


def _alternatives(items: list[_Item]) -> list[list[_Item]]:
    """Return the ways through an expression that is one choice of several (`^ab|^cd`)."""
    places = [n for n, (kind, _) in enumerate(items) if kind.name not in _WEAK]
    if len(places) != 1 or items[places[0]][0].name != "BRANCH":
        return [items]
    (place,) = places
    return [[*items[:place], *way, *items[place + 1 :]] for way in items[place][1][1]]


#: Where no word ends: what stands for it in a string, and what says so in an expression.
_NO_WORD = "\a"
_BEGIN: _Item = _parser.parse(r"(?<!\w)")[0]
_AT_EDGE: _Item = _parser.parse(r"\b")[0]


def _row(given: Iterable[_Item], *, apart: bool = False) -> _Part:
    """What parts that follow each other need: strings grow until a part has too many.

    `apart` ends them at every blank: what follows each other word by word is told best so.
    """
    items = _drawn_in([*given])
    strings, found, whole = frozenset({""}), list[_Pieces](), True
    for (own, sets), end in _parts(items):
        if own is not None and len(own) * len(strings) <= _MOST:
            strings = frozenset(map("".join, product(strings, own)))
            if apart and all(string.endswith(" ") for string in strings):
                found += _pieces(strings)
                strings, whole = frozenset({" "}), False
        else:
            found += [*_pieces(strings), *sets]
            strings = own or frozenset({_NO_WORD if _ends_apart(items[:end]) else ""})
            whole = False
    return (strings, ()) if whole else (None, (*found, *_pieces(strings)))


def _drawn_in(items: list[_Item]) -> list[_Item]:
    """Draw the edges beside a choice into each of its ways, where they meet its words."""
    found = items[:]
    for n, (kind, value) in enumerate(items):
        if kind.name == "BRANCH":
            before = [_BEGIN] if _ends_apart(items[:n]) else []
            after = [item for item in items[n + 1 : n + 2] if item == _AT_EDGE]
            found[n] = kind, (value[0], [[*before, *way, *after] for way in value[1]])
    return found


_RUN = re.compile(r"[^ ]* |[^ ]+")
_PLACES = {"AT_BOUNDARY": EDGE, "AT_BEGINNING": _NO_WORD}
_CHARACTERS: dict[str, Callable[[Any], str]] = {
    "LITERAL": chr,
    "AT": lambda place: _PLACES.get(place.name, ""),
}


def _parts(items: list[_Item]) -> Iterator[tuple[_Part, int]]:
    """Yield the parts and where they end, characters that follow each other as one to a blank."""
    numbered = groupby(enumerate(items, 1), key=lambda item: item[1][0].name in _CHARACTERS)
    for known, group in numbered:
        if known:
            text = "".join(_CHARACTERS[kind.name](value) for _, (kind, value) in group)
            yield from (((frozenset({run}), ()), 0) for run in _RUN.findall(text))
        else:
            yield from ((_part(item), end) for end, item in group)


def _part(item: _Item) -> _Part:
    kind, value = item
    match kind.name:
        case "IN":
            return _class(value)
        case "ASSERT" | "ASSERT_NOT":
            return (frozenset({_NO_WORD}), ()) if _is_begin(item) else _NOTHING
        case "SUBPATTERN":
            return _row(value[-1])
        case "BRANCH":
            return _either([_row(way) for way in value[1]])
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _repeated(*value)
    return _ANYTHING


def _is_begin(item: _Item) -> bool:
    return str(item) == str(_BEGIN)


def _class(members: Sequence[_Item]) -> _Part:
    chars: set[str] = set()
    for kind, value in members:
        if kind.name == "LITERAL":
            chars.add(chr(value))
        elif kind.name == "RANGE" and value[1] - value[0] < _SMALL_CLASS:
            chars.update(map(chr, range(value[0], value[1] + 1)))
        elif kind.name == "CATEGORY" and value.name == "CATEGORY_SPACE":
            chars.add(" ")  # every blank parts words
        else:
            return _ANYTHING
    return (frozenset(chars), ()) if len(chars) <= _SMALL_CLASS else _ANYTHING


def _repeated(least: int, most: int, items: Iterable[_Item]) -> _Part:
    part = _row(items)
    if least == most == 1:
        return part
    if least:
        return None, _sets(part)
    return (part[0] | {""}, ()) if most == 1 and part[0] is not None else _ANYTHING


def _either(parts: Sequence[_Part]) -> _Part:
    known = [own for own, _ in parts if own is not None]
    if len(known) == len(parts) and sum(map(len, known)) <= _MOST:
        return reduce(or_, known), ()
    choices = [_sets(part) for part in parts]
    if not all(choices):
        return _ANYTHING
    levels = range(max(map(len, choices)))
    return None, tuple(reduce(or_, (one[min(n, len(one) - 1)] for one in choices)) for n in levels)


def _ends_apart(items: list[_Item]) -> bool:
    """Tell whether a word after these must begin there."""
    if not items:
        return False
    before, (kind, value) = items[:-1], items[-1]
    match kind.name:
        case "LITERAL":
            return not _is_word(chr(value))
        case "IN":
            return all(map(_is_no_word, value))
        case "BRANCH":
            return all(_ends_apart([*way]) for way in value[1])
        case "SUBPATTERN":
            return _ends_apart([*value[-1]])
        case "MAX_REPEAT" | "MIN_REPEAT":
            return _ends_apart([*value[2]]) and (value[0] > 0 or _ends_apart(before))
        case "AT":
            return value.name in _PLACES or _ends_apart(before)
        case "ASSERT" | "ASSERT_NOT":
            return _is_begin(items[-1]) or _ends_apart(before)
    return False


def _is_no_word(member: _Item) -> bool:
    """Tell whether no character of a word is in this part of a class."""
    kind, value = member
    if kind.name == "CATEGORY":
        return value.name in ("CATEGORY_NOT_WORD", "CATEGORY_SPACE")
    return kind.name == "LITERAL" and not _is_word(chr(value))


def _sets(part: _Part) -> tuple[_Pieces, ...]:
    own, sets = part
    found = sets if own is None else _pieces(own)
    return tuple(sorted(set(found), key=_rarity, reverse=True))


def _rarity(pieces: _Pieces) -> float:
    """Guess how few words hold one of the pieces: each character makes a piece rarer."""
    return -sum(4.0 ** -len(piece) for piece in pieces)


#: Edges within a string, whose neighbours are both known.
_INNER = re.compile(r"(?<=\w)(?=[^\w\b])|(?<=[^\w\b])(?=\w)")
_EDGES = re.compile(r"[\b]{2,}")
_PIECE = re.compile(r"[\b]?\w+[\b]?|[^\w\s\b\a]")
_LETTERS = frozenset(ascii_letters + digits)


def _pieces(strings: _Pieces) -> list[_Pieces]:
    """Return sets of pieces that one of the strings has: the longest of each, the second, …"""
    whole = (_EDGES.sub(EDGE, _INNER.sub(EDGE, string)) for string in strings)
    parted = [sorted(_PIECE.findall(string), key=len, reverse=True) for string in whole]
    found = [frozenset(pieces) for pieces in zip(*parted, strict=False)]
    return [pieces for pieces in found if pieces.isdisjoint(_LETTERS)]


class Sieve:
    """Holds back the expressions that the words of a text rule out."""

    def __init__(self, expressions: Sequence[str]) -> None:
        ways = [(n, sets) for n, one in enumerate(expressions) for sets in needs(one)]
        self._owners = [number for number, _ in ways]
        width = len(ways)
        self._shifts = [width, 2 * width]  # 1 with 2 and 3 with 4, then both
        self._all = (1 << width) - 1
        self._given = 0
        pieces: dict[str, int] = {}
        for way, (_, sets) in enumerate(ways):
            for level in range(_LEVELS):
                bit = 1 << (level * width + way)
                if level >= len(sets):
                    self._given |= bit
                    continue
                for piece in sets[level]:
                    pieces[piece] = pieces.get(piece, 0) | bit
        self._words = _Words(pieces)

    def possible(self, text: str) -> int:
        """Return the numbers of the expressions that a text may match, as bits."""
        met = reduce(or_, map(self._words.__getitem__, _TOKEN.findall(text)), self._given)
        for shift in self._shifts:
            met &= met >> shift
        found = 0
        for owner in chosen(self._owners, met & self._all):
            found |= 1 << owner
        return found


_T = TypeVar("_T")


def chosen(items: Sequence[_T], bits: int) -> Iterator[_T]:
    """Yield the items whose bits are set, in their order."""
    bits &= (1 << len(items)) - 1
    while bits:
        lowest = bits & -bits
        yield items[lowest.bit_length() - 1]
        bits ^= lowest


class _Words(dict[str, int]):
    """The bits of all pieces in a word; worked out once for each of the words met last."""

    def __init__(self, pieces: dict[str, int]) -> None:
        super().__init__()
        #: Every beginning of a piece, with its bits where it is a whole one.
        self._beginnings = {piece[:end]: 0 for piece in pieces for end in range(1, len(piece))}
        self._beginnings |= pieces
        inner = [piece for piece in pieces if not piece.startswith(EDGE)]
        self._pairs = {piece[:2] for piece in inner if len(piece) > 1}
        self._signs = {piece for piece in inner if len(piece) == 1}

    def __missing__(self, word: str) -> int:
        text = marked(word)
        bits = self._from(text, 0)
        if not self._pairs.isdisjoint(map(add, text, text[1:])) or not word.isascii():
            for start in self._starts(text):
                bits |= self._from(text, start)
        if len(word) <= _LONG:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[word] = bits
        return bits

    def _starts(self, text: str) -> list[int]:
        """Return where a piece may begin within a word; single letters of ASCII are no pieces."""
        pairs = enumerate(map(add, text, text[1:]))
        return [n for n, pair in pairs if pair in self._pairs or pair[0] in self._signs]

    def _from(self, text: str, start: int) -> int:
        """Return the bits of the pieces that begin at a place."""
        bits, end, size = 0, start + 1, len(text)
        while end <= size and (found := self._beginnings.get(text[start:end])) is not None:
            bits |= found
            end += 1
        return bits
