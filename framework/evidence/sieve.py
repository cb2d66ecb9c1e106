"""Which of many expressions a text can match at all, told by RE2 in two passes.

Searching every sentence of a page with hundreds of expressions is slow, and nearly every sentence
lacks the words that nearly every expression needs. RE2's filter reads these words from the
expressions and looks for all of them at once; the few whose words are too short for it are searched
for together.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, TypeVar

import re2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["ALL", "Sieve", "chosen", "loosened", "set_of"]

#: Bits that hold nothing back.
ALL = -1

_T = TypeVar("_T")
_MEMORY = 64 << 20
#: What an expression is made of, as far as it matters here: an escape, a class of characters, the
#: start of a look around, anything else.
_PART = re.compile(r"\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<look>\(\?<?[=!])|.", re.DOTALL)
_CODE_POINT = re.compile(r"\\u([0-9a-fA-F]{4})")


class Sieve:
    """Holds back the expressions that a text cannot match; never one that it matches."""

    def __init__(self, expressions: Iterable[str]) -> None:
        options = re2.Options()
        options.log_errors = False
        options.max_mem = _MEMORY
        loose = [loosened(expression) for expression in expressions]
        self._filter = re2.Filter()
        for expression in loose:
            self._filter.Add(expression, options)
        self._filter.Compile()
        self._short = self._filter.Match("", potential=True) or []
        self._short_bits = _bits(self._short)
        self._set = set_of((loose[number] for number in self._short), options)

    def possible(self, text: str) -> int:
        """Return the numbers of the expressions that a text may match, as bits."""
        found = _bits(self._filter.Match(text, potential=True) or ())
        # Of other texts RE2 takes more or fewer characters for letters and blanks than re does.
        if self._short and text.isascii() and text.isprintable():
            found &= ~self._short_bits
            found |= _bits(self._short[place] for place in self._set.Match(text) or ())
        return found


def set_of(expressions: Iterable[str], options: re2.Options | None = None) -> re2.Set:
    """Return what tells in one pass which of some RE2 expressions a text matches."""
    found = re2.Set.SearchSet(options)
    for expression in expressions:
        found.Add(expression)
    found.Compile()
    return found


def _bits(numbers: Iterable[int]) -> int:
    found = 0
    for number in numbers:
        found |= 1 << number
    return found


def chosen(items: Sequence[_T], bits: int) -> Iterator[_T]:
    """Yield the items whose bits are set, in their order."""
    bits &= (1 << len(items)) - 1
    while bits:
        lowest = bits & -bits
        yield items[lowest.bit_length() - 1]
        bits ^= lowest


def loosened(expression: str) -> str:
    """Return an expression that RE2 knows and that matches wherever this one does.

    Looks around are left out: they only narrow what matches.
    """
    kept: list[str] = []
    depth = 0
    for part in _PART.finditer(expression):
        text = part[0]
        if depth:
            depth += (text[0] == "(") - (text == ")")
        elif part["look"]:
            depth = 1
        else:
            kept.append(text)
    return _CODE_POINT.sub(r"\\x{\1}", "".join(kept))
