"""Figures of a page's tree, gathered in one pass from its end: text, links, prose per element."""

from __future__ import annotations

import re
from array import array
from typing import TYPE_CHECKING, TypeVar

from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import MutableSequence

    from framework.reading.dom import Dom

_N = TypeVar("_N", int, float)

__all__ = ["HEADINGS", "Measures", "measure", "without"]

HEADINGS = words("h1 h2 h3 h4 h5 h6")
_NO_PROSE = HEADINGS | words("address figcaption label th")
_PROSE = words("p pre blockquote")
_SHORT = 40
_LINE = 100
#: Scripts whose characters are worth about three Latin letters each.
_DENSE = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]"
)
_COMMA = re.compile(r"[,،，、;；]")


class Measures:
    """Per node: length of its text, of its text in links, worth of its prose, whether it holds
    blocks; `cards` is the prose in list items that show a picture or heading."""

    __slots__ = ("cards", "good", "holds", "length", "links")

    def __init__(self, dom: Dom) -> None:
        size = len(dom)
        self.length = dom.zeros()
        self.links = dom.zeros()
        self.good: MutableSequence[float] = (
            array("d", bytes(8 * size)) if dom.compact else [0.0] * size
        )
        self.holds = bytearray(size)
        self.cards = 0.0


def measure(dom: Dom, card_weight: float = 0.0) -> Measures:  # noqa: C901 - one pass, for speed
    """Return the figures of every node; prose in cards counts by `card_weight`."""
    size = len(dom)
    found = Measures(dom)
    length, links, good, holds = found.length, found.links, found.good, found.holds
    run, linked = dom.zeros(), dom.zeros()
    commas, pictured, headed = bytearray(size), bytearray(size), bytearray(size)
    text, inline = dom.text, dom.inline
    nodes = zip(range(size - 1, 0, -1), reversed(dom.tag), reversed(dom.parent), strict=False)
    for i, name, up in nodes:
        if not name:
            content = text[i].strip()
            count = len(content)
            if not count:
                continue
            if content.isascii() or 2 * (len(content.encode("utf-8", "replace")) - count) < count:
                if "," in content:
                    commas[up] = 1
            else:
                count += 2 * len(_DENSE.findall(content))
                if _COMMA.search(content):
                    commas[up] = 1
            length[up] += count
            run[up] += count
            continue
        flows = name in inline
        if holds[i] or not flows:
            holds[up] = 1
        if pictured[i] or name == "img":
            pictured[up] = 1
        own = length[i]
        if not own:
            continue
        length[up] += own
        if name == "a":
            links[i] = linked[i] = own
            good[i] = 0.0
        links[up] += links[i]
        if name == "button":
            continue
        if flows:
            run[up] += run[i]
            linked[up] += linked[i]
            commas[up] |= commas[i]
            good[up] += good[i]
            continue
        if run[i]:
            good[i] += _prose(name, run[i], linked[i], commas[i])
        if name == "li":
            if (pictured[i] or headed[i]) and good[i]:
                found.cards += good[i]
                good[i] *= card_weight
        elif headed[i] or name in HEADINGS:
            headed[up] = 1
        good[up] += good[i]
    return found


def _prose(name: str, count: int, linked: int, commas: int) -> float:
    """Return how much running text a block is worth, in characters: what is linked counts against
    it, short lines and anything but paragraphs count less."""
    value = count - 2.0 * linked
    if value <= 0 or name in _NO_PROSE:
        return 0.0
    if name in _PROSE:
        return value * (0.5 if count < _SHORT else 1.0)
    weight = 0.1 if count < _SHORT else 0.35 if count < _LINE and not commas else 0.8
    return value * weight * (0.6 if name == "li" else 1.0)


def without(dom: Dom, values: MutableSequence[_N], drop: bytearray) -> MutableSequence[_N]:
    """Return figures of subtrees as they are once the dropped ones are gone."""
    left = values[:]
    parent, end = dom.parent, dom.end
    i = drop.find(1)
    while i >= 0:
        lost, up = left[i], parent[i]
        if lost:
            while up >= 0:
                left[up] -= lost
                up = parent[up]
        i = drop.find(1, end[i])
    return left
