"""Which elements surround the content: told by tag, role, style and name, and how surely."""

from __future__ import annotations

import re
from bisect import bisect_right
from enum import IntEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from framework.reading import callouts
from framework.reading.closings import PLEA
from framework.reading.hints import BODY, BOILER, CALLOUT, COMMENT, EMBED, HIDDEN
from framework.reading.measure import HEADINGS
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from selectolax.lexbor import LexborNode

    from framework.reading.dom import Dom
    from framework.reading.measure import Measures

__all__ = ["Flag", "anchors", "consents", "flags", "is_safe", "mark"]


class Flag(IntEnum):
    """Why an element is taken to be no content, the surest last."""

    NAMED = 1
    HIDDEN_BY_NAME = 2
    MARKUP = 3
    HIDDEN = 4


_OUTSIDE = words("nav footer header aside form button dialog menu noscript fieldset input")
_ROLES = words(
    """
    navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar
    tooltip button tablist alert
    """
)
_FRAMES = words("nav footer menu")
_FRAME_ROLES = words("navigation contentinfo search")
_KEPT = words("html body main article pre code math mjx-container mjx")
_ALWAYS_KEPT = words("html body main")
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d])|"
    r"opacity\s*:\s*0(?![.\d])|text-indent\s*:\s*-\d{3,}|"
    r"(?:left|top|right)\s*:\s*-\d{4,}|clip\s*:\s*rect\(\s*[01]"
)
_EDIT_MARK = re.compile(
    r"editsection|edit-section|permalink|headerlink|header-link|anchor-?link|"
    r"(?:skip|jump)-?(?:to|nav|link)",
    re.I,
)
_ENOUGH = 250
_STYLE_MOST = 120
_CONSENT = re.compile(r"cookie|consent|gdpr|(?:^|[\s_-])cmp", re.I)
_CONSENT_MOST, _CONSENT_LEVELS, _TEXT_LEAST, _MORE_LEAST = 3000, 4, 40, 12
_NEAR = 8
_LEAD_LEAST = 60
_PLENTY = 1000


def flags(dom: Dom, measures: Measures) -> dict[int, Flag]:
    """Return the elements that something says are no content."""
    tag, names = dom.tag, dom.names
    found = {
        i: Flag.MARKUP
        for i, name in enumerate(tag)
        if name in _OUTSIDE and not (name == "noscript" and not measures.length[i])
    }
    stating = dom.stating
    for i in sorted(names.keys() | stating.keys()):
        if tag[i] in _KEPT:
            continue
        stated = stating.get(i)
        if stated is not None and _is_hidden(stated):
            if measures.length[i] and not _is_shown(dom, measures, i):
                found[i] = Flag.HIDDEN
        elif stated is not None and stated.get("role") in _ROLES:
            found[i] = Flag.MARKUP
        elif names.get(i, 0) & HIDDEN:
            found[i] = Flag.HIDDEN_BY_NAME
        elif i not in found and _is_named_outside(dom, i):
            found[i] = Flag.NAMED
    folds = [i for i in found if _is_fold(dom, i)]
    for i in [i for i, flag in found.items() if flag is Flag.MARKUP and _is_of_text(dom, i)]:
        del found[i]
    for i in _folded(dom, folds):
        found.pop(i, None)
    return found


def _is_of_text(dom: Dom, node: int) -> bool:
    """Whether an element that its markup takes for surroundings is part of the text: a callout,
    the foot of a quote, a button that is a heading or a word."""
    name = dom.tag[node]
    if name == "footer" and dom.tag[dom.parent[node]] == "blockquote":
        return True
    if name == "button" and (_is_fold(dom, node) or _is_in_sentence(dom, node)):
        return True
    return bool(dom.names.get(node, 0) & CALLOUT and callouts.kind(dom, node))


def _is_fold(dom: Dom, node: int) -> bool:
    """Whether a button is the heading of what it unfolds."""
    return dom.tag[node] == "button" and dom.tag[dom.parent[node]] in HEADINGS


def _folded(dom: Dom, buttons: Sequence[int]) -> list[int]:
    """Return the hidden elements that the buttons in headings unfold."""
    controlled = {dom.get(i, "aria-controls") for i in buttons} - {""}
    if not controlled:
        return []
    return [i for i, attrs in dom.stating.items() if (attrs.get("id") or "") in controlled]


def _is_in_sentence(dom: Dom, node: int) -> bool:
    """Whether a button is a word of a sentence, with text of its paragraph before and behind it."""
    up = dom.parent[node]
    for _ in range(_NEAR):
        if up <= 0 or dom.tag[up] not in dom.inline:
            break
        up = dom.parent[up]
    if up <= 0 or dom.tag[up] != "p":
        return False
    end = dom.end[node]
    before = dom.text[max(up, node - _NEAR) : node]
    behind = dom.text[end : min(dom.end[up], end + _NEAR)]
    return any(map(str.strip, before)) and any(map(str.strip, behind))


def _is_named_outside(dom: Dom, node: int) -> bool:
    value = dom.names.get(node, 0)
    if not value & (BOILER | COMMENT) or value & (BODY | EMBED):
        return False
    return dom.tag[node] not in dom.inline or bool(_EDIT_MARK.search(dom.get(node, "class")))


def _is_hidden(attrs: Mapping[str, str | None]) -> bool:
    if "hidden" in attrs or attrs.get("aria-hidden") == "true":
        return True
    style = attrs.get("style")
    if not style:
        return False
    return _hides(style) if len(style) > _STYLE_MOST else _hides_known(style)


def _hides(style: str) -> bool:
    return bool(_HIDING_STYLE.search(style.lower()))


_hides_known = lru_cache(maxsize=4096)(_hides)


def _is_shown(dom: Dom, measures: Measures, node: int) -> bool:
    """Whether a hidden element is a formula's source, code behind a tab, the folded body of a
    callout, or most of a line that is hidden from screen readers only."""
    if dom.tag[node] in dom.inline and dom.get(node, "aria-hidden") == "true":
        up = dom.parent[node]
        if 2 * measures.length[node] >= measures.length[up]:
            return True
        near = range(up + 1, min(dom.end[up], up + _NEAR))
        if any(dom.names.get(i, 0) & HIDDEN for i in near):
            return True
    inner = dom.tag[node : dom.end[node]]
    if "math" in inner or ("pre" in inner and dom.get(node, "role") == "tabpanel"):
        return True
    return bool(callouts.kind(dom, dom.parent[node]))


def anchors(dom: Dom, measures: Measures, flagged: Mapping[int, Flag]) -> list[int]:
    """Return the elements that markup names as content, with enough text to believe it."""
    length, end = measures.length, dom.end
    named = [i for i, value in dom.names.items() if value & BODY and length[i] >= _ENOUGH]
    named += [
        i for i, name in enumerate(dom.tag) if name in ("article", "main") and length[i] >= _ENOUGH
    ]
    named += [
        i
        for i, attrs in dom.stating.items()
        if attrs.get("itemprop") == "articleBody" and length[i] >= 100
    ]
    starts = _outermost(flagged, end)
    return [i for i in named if 2 * measures.links[i] < length[i] and not _within(i, starts, end)]


def _outermost(flagged: Mapping[int, Flag], end: Sequence[int]) -> list[int]:
    starts: list[int] = []
    for i in sorted(flagged):
        if not starts or i >= end[starts[-1]]:
            starts.append(i)
    return starts


def _within(node: int, starts: Sequence[int], end: Sequence[int]) -> bool:
    place = bisect_right(starts, node) - 1
    return place >= 0 and node < end[starts[place]]


def mark(
    dom: Dom,
    measures: Measures,
    flagged: Mapping[int, Flag],
    named: Callable[[], Sequence[int]],
    least: Flag,
) -> bytearray:
    """Return which nodes are left out, of those flagged at least that surely.

    What holds most of the prose stays, unless content is named elsewhere.
    """
    good, end = measures.good, dom.end
    drop = bytearray(len(dom))
    for i in dom.pruned:
        drop[i] = 1
    by_name = sum(good[i] for i, flag in flagged.items() if flag is Flag.HIDDEN_BY_NAME)
    show_named = by_name > 0.6 * good[0]
    framed = good[0] < _ENOUGH and _has_more(dom, measures, flagged)
    past = 0
    for i in sorted(flagged):
        flag = flagged[i]
        if i < past or drop[i]:
            continue
        if flag < least and flag is not Flag.HIDDEN_BY_NAME and not _is_frame(dom, i, flag):
            continue
        if flag is Flag.HIDDEN_BY_NAME and show_named:
            continue
        if (framed and _is_frame(dom, i, flag)) or _goes(dom, measures, i, flag, named):
            drop[i] = 1
            past = end[i]
    return drop


def _goes(
    dom: Dom, measures: Measures, node: int, flag: Flag, named: Callable[[], Sequence[int]]
) -> bool:
    name = dom.tag[node]
    if name in _ALWAYS_KEPT or (name == "header" and _is_opening(dom, measures, node)):
        return False
    good = measures.good
    if flag is Flag.HIDDEN and good[0] - good[node] >= _ENOUGH:
        return True
    if good[node] <= 0.5 * good[0] or _is_consent(dom, measures, node):
        return True
    end = dom.end
    return any(end[anchor] <= node or anchor >= end[node] for anchor in named())


def _is_consent(dom: Dom, measures: Measures, node: int) -> bool:
    """Whether an element is named as a plea for consent to cookies, with a button to give it."""
    length = measures.length
    if length[node] > _CONSENT_MOST or length[0] - length[node] < _TEXT_LEAST:
        return False
    label = f"{dom.get(node, 'class')} {dom.get(node, 'id')}"
    inner = dom.tag[node : dom.end[node]]
    return bool(_CONSENT.search(label)) and ("button" in inner or "input" in inner)


def consents(dom: Dom, measures: Measures) -> list[int]:
    """Return the boxes that ask for consent to cookies in words; their names tell nothing."""
    found: list[int] = []
    good, past = measures.good, 0
    seen: set[int] = set()
    for button, name in enumerate(dom.tag):
        if name != "button" or button < past:
            continue
        node = dom.parent[button]
        for _ in range(_CONSENT_LEVELS):
            large = measures.length[node] > _CONSENT_MOST
            if node <= 0 or large or node in seen or dom.tag[node] in _KEPT:
                break
            seen.add(node)
            if 0 < good[node] < good[0] - _TEXT_LEAST and PLEA.search(dom.words(node)):
                found.append(node)
                past = dom.end[node]
                break
            node = dom.parent[node]
    return found


def _has_more(dom: Dom, measures: Measures, flagged: Mapping[int, Flag]) -> bool:
    """Whether a page holds any text besides its navigation and its foot."""
    rest, past = measures.length[0], 0
    for i in sorted(flagged):
        if i >= past and _is_frame(dom, i, flagged[i]):
            rest -= measures.length[i]
            past = dom.end[i]
    return rest >= _MORE_LEAST


def _is_frame(dom: Dom, node: int, flag: Flag) -> bool:
    """Whether markup says that an element is the navigation or the foot of the page."""
    if flag is not Flag.MARKUP:
        return False
    return dom.tag[node] in _FRAMES or dom.get(node, "role") in _FRAME_ROLES


def _is_opening(dom: Dom, measures: Measures, node: int) -> bool:
    """Whether a header holds part of the text, not only title, byline and navigation."""
    value = measures.good[node]
    if value > 300 and value > 0.3 * measures.good[0]:
        return True
    inner = dom.tag[node : dom.end[node]]
    if measures.links[node] > 0.3 * measures.length[node]:
        return False
    if "h1" in inner:
        return (
            value >= _LEAD_LEAST and "img" not in inner and _is_title_and_lead(dom, measures, node)
        )
    return value >= 100 or (_is_inside(dom, node) and not HEADINGS.isdisjoint(inner))


def _is_title_and_lead(dom: Dom, measures: Measures, node: int) -> bool:
    """Whether a header of the main part holds its title and running text, and nothing else."""
    titles = sum(measures.length[i] for i in range(node, dom.end[node]) if dom.tag[i] == "h1")
    rest = measures.length[node] - titles
    return measures.good[node] > 0.9 * rest and _is_inside(dom, node)


def _is_inside(dom: Dom, node: int) -> bool:
    """Whether an element stands in the main part of a page or in an article."""
    for _ in range(_NEAR):
        node = dom.parent[node]
        if node < 0:
            return False
        if dom.tag[node] in ("article", "main"):
            return True
    return False


def is_safe(dom: Dom, measures: Measures) -> bool:
    """Whether leaving out the pruned elements unread can't have lost the content."""
    good = measures.good
    if good[0] < _ENOUGH:
        return False
    if any(good[i] >= _ENOUGH for i in _articles(dom)):
        return True
    most = good[0] if good[0] >= _PLENTY else 0.3 * good[0]
    return all(node.tag == "nav" or _is_little(node, most) for node in dom.unread)


def _articles(dom: Dom) -> Iterator[int]:
    """Yield the elements that are named as the body of an article."""
    yield from (i for i, value in dom.names.items() if value & BODY)
    yield from (i for i, attrs in dom.stating.items() if attrs.get("itemprop") == "articleBody")


def _is_little(node: LexborNode, most: float) -> bool:
    """Whether the paragraphs under an element hold no more text than `most`."""
    if len(node.text()) <= most:
        return True
    if node.css_first("main, [itemprop=articleBody]") is not None:
        return False
    return sum(len(paragraph.text()) for paragraph in node.css("p, article, td")[:500]) <= most
