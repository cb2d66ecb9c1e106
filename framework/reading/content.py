"""Which part of a page is its content: prose, markup and names weighed against each other.

The root is the element that would score best if prose were the wanted text and all text were
found: `prose / (all text + all prose)`, the harmonic mean of precision and recall, times a bonus
for elements that markup names as an article.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from framework.reading import surroundings
from framework.reading.hints import BODY, LEAD
from framework.reading.leftovers import clean
from framework.reading.measure import Measures, measure, without
from framework.reading.surroundings import Flag
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from framework.reading.dom import Dom

__all__ = ["Content", "is_safe", "select", "weigh"]

_NEVER_ROOT = words(
    "p pre blockquote ul ol li tr tbody a figure figcaption h1 h2 h3 h4 h5 h6 dl dt dd details"
) | {""}
_LEVELS = (Flag.NAMED, Flag.MARKUP, Flag.HIDDEN)
_ENOUGH = 250.0
_ARTICLE_ENOUGH = 800.0
_HEADING_MOST = 120
_CONSENT_WEIGHS = 1500.0
_LEADS_MOST, _LEAD_LEVELS = 4, 4
_SENTENCE = 100
_JOINED_LEAST, _JOINED_SHARE = 400.0, 0.75
_LEAD_LEAST, _LEAD_MOST = 40, 1500


class Content:
    """The chosen root, what is left out under it, and the standfirsts that stand before it.

    `drop[i]` is true for a node that is not to be written, with all it holds.
    """

    __slots__ = ("drop", "flagged", "is_listing", "leads", "measures", "root")

    def __init__(self, measures: Measures) -> None:
        self.measures = measures
        self.root = 0
        self.drop = bytearray()
        self.is_listing = False
        self.leads: list[int] = []
        self.flagged: Mapping[int, Flag] = {}

    @property
    def hidden(self) -> list[int]:
        """The elements that the page hides from its readers."""
        return [i for i, flag in self.flagged.items() if flag in (Flag.HIDDEN, Flag.HIDDEN_BY_NAME)]


def weigh(dom: Dom) -> Content:
    """Return the figures of a page whose content is still to be chosen."""
    measures = measure(dom)
    listing = measures.cards > measures.good[0] and measures.good[0] < _ARTICLE_ENOUGH
    found = Content(measure(dom, 1.0) if listing else measures)
    found.is_listing = listing
    return found


def select(dom: Dom, found: Content, host: str = "") -> None:
    """Choose the root of the content and mark what is left out under it.

    `host` is the page's own, by which links within the site are known.
    """
    found.flagged = surroundings.flags(dom, found.measures)
    good = _leave_out(dom, found)
    length = without(dom, found.measures.length, found.drop)
    links = without(dom, found.measures.links, found.drop)
    found.root = _joined(dom, found, _root(dom, found, good, length), good, length)
    if good[found.root] < _ARTICLE_ENOUGH:
        found.root = _widened(dom, found, length, links)
    found.leads = _leads(dom, found)
    clean(dom, found, good, length, links, host)


def is_safe(dom: Dom, found: Content) -> bool:
    """Whether leaving out the pruned elements unread can't have lost the content."""
    return surroundings.is_safe(dom, found.measures)


def _leave_out(dom: Dom, found: Content) -> Sequence[float]:
    """Mark the surroundings, more carefully while hardly any prose is left; return what is left."""

    @cache
    def named() -> list[int]:
        return surroundings.anchors(dom, found.measures, found.flagged)

    good: Sequence[float] = []
    small = found.measures.good[0] < _CONSENT_WEIGHS
    boxes = surroundings.consents(dom, found.measures) if small else []
    for least in _LEVELS:
        found.drop = surroundings.mark(dom, found.measures, found.flagged, named, least)
        for box in boxes:
            found.drop[box] = 1
        good = without(dom, found.measures.good, found.drop)
        if good[0] >= _ENOUGH or good[0] >= 0.5 * found.measures.good[0]:
            break
    return good


def _root(dom: Dom, found: Content, good: Sequence[float], length: Sequence[float]) -> int:
    best, root = -1.0, 0
    whole, end, drop = good[0], dom.end, found.drop
    i, size = 0, len(dom)
    while i < size:
        if drop[i] or good[i] < 0.15 * whole:
            i = end[i]
            continue
        if dom.tag[i] not in _NEVER_ROOT:
            score = good[i] / (length[i] + whole + 1.0) * _bonus(dom, i)
            if i in found.flagged:
                score *= 0.5
            if score > best:
                best, root = score, i
        i += 1
    return root


def _joined(
    dom: Dom, found: Content, root: int, good: Sequence[float], length: Sequence[float]
) -> int:
    """Return the element around a root whose other children are running text as well."""
    up = dom.parent[root]
    while up > 0 and not found.drop[up]:
        more = good[up] - good[root]
        if more:
            if more < max(_JOINED_LEAST, _JOINED_SHARE * (length[up] - length[root])):
                break
            root = up
        up = dom.parent[up]
    return root


def _widened(dom: Dom, found: Content, length: Sequence[float], links: Sequence[float]) -> int:
    """Return the main part that holds a short root, so that what is no prose in it is kept."""
    node = found.root
    while node >= 0:
        if _is_main(dom, node):
            return node if 2 * links[node] <= length[node] else found.root
        node = dom.parent[node]
    up = dom.parent[found.root]
    close = up > 0 and length[up] <= length[found.root] + _HEADING_MOST
    return up if close and links[up] == links[found.root] else found.root


def _is_main(dom: Dom, node: int) -> bool:
    return dom.tag[node] in ("main", "article") or dom.get(node, "role") == "main"


def _bonus(dom: Dom, node: int) -> float:
    """Return how much markup says that an element is the article."""
    attrs = dom.having(node)
    if attrs.get("itemprop") == "articleBody":
        return 1.3
    name = dom.tag[node]
    if name == "article" or dom.names.get(node, 0) & BODY:
        return 1.15
    return 1.05 if name == "main" or attrs.get("role") == "main" else 1.0


def _leads(dom: Dom, found: Content) -> list[int]:
    """Return the standfirsts that stand before the root in the same article, or in the header
    with the title before it."""
    leads: list[int] = []
    node = found.root
    for _ in range(_LEAD_LEVELS):
        up = dom.parent[node]
        if up < 0 or dom.tag[node] == "body":
            break
        is_whole = dom.tag[node] in ("article", "main")
        child = up + 1
        while child < node:
            if _may_lead(dom, found, child, is_whole):
                _collect_leads(dom, found, child, leads)
            child = dom.end[child]
        if is_whole:
            break
        node = up
    return sorted(leads)


def _may_lead(dom: Dom, found: Content, node: int, before_article: bool) -> bool:
    """Whether an element before the root may hold standfirsts: outside of the article only the
    header that bears the title."""
    is_header = dom.tag[node] == "header"
    if before_article:
        return is_header and "h1" in dom.tag[node : dom.end[node]]
    return is_header or not found.drop[node]


def _collect_leads(dom: Dom, found: Content, node: int, leads: list[int]) -> None:
    length, links = found.measures.length, found.measures.links
    in_header = dom.tag[node] == "header"
    i, stop = node, dom.end[node]
    while i < stop and len(leads) < _LEADS_MOST:
        named = dom.names.get(i, 0) & LEAD or dom.get(i, "itemprop") == "description"
        if not _LEAD_LEAST < length[i] < _LEAD_MOST or links[i] >= 0.4 * length[i]:
            i += 1
        elif named or (in_header and not links[i] and _is_sentence(dom, i, length[i])):
            leads.append(i)
            i = dom.end[i]
        else:
            i += 1


def _is_sentence(dom: Dom, node: int, length: float) -> bool:
    """Whether a paragraph has the length and the end of a sentence."""
    return dom.tag[node] == "p" and length >= _SENTENCE and dom.words(node)[-1:] in ".!?…。"
