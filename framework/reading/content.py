"""Which part of a page is its content: quality of text, class hints and markup, weighed in passes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading import callouts, tables
from framework.reading.dom import INLINE
from framework.reading.hints import BODY, BOILER, COMMENT, EMBED, GALLERY, HIDDEN, LEAD, WEAK

if TYPE_CHECKING:
    from selectolax.lexbor import LexborNode

    from framework.reading.dom import Dom

_DROP_TAGS = frozenset("nav footer header aside form button dialog menu noscript fieldset input".split())
_DROP_ROLES = frozenset(
    "navigation banner contentinfo complementary search dialog alertdialog menu menubar toolbar tooltip button tablist alert".split()
)
_KEEP_TAGS = frozenset("html body main article pre code math mjx-container mjx".split())
_HEADINGS = frozenset("h1 h2 h3 h4 h5 h6".split())
_HIDING_STYLE = re.compile(
    r"display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|font-size\s*:\s*0(?![.\d])|opacity\s*:\s*0(?![.\d])|"
    r"text-indent\s*:\s*-\d{3,}|(?:left|top|right)\s*:\s*-\d{4,}|clip\s*:\s*rect\(\s*[01]",
    re.I,
)
_EDIT_MARK = re.compile(r"editsection|edit-section|permalink|headerlink|header-link|anchor-?link", re.I)
_CJK = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_COMMAS = re.compile(r"[,،，、;；]")


class Content:
    """The chosen root and what is left out under it.

    `drop[i]` is true for a node that is not to be written, with all it holds.
    """

    __slots__ = ("drop", "good", "hidden", "holds", "is_listing", "leads", "root", "share", "length", "links")

    def __init__(self) -> None:
        self.root = 0
        self.drop = bytearray()
        self.holds = bytearray()
        self.is_listing = False
        self.leads: list[int] = []
        self.hidden: list[int] = []
        self.length: list[int] = []
        self.links: list[int] = []
        self.good: list[float] = []
        self.share = 0.0


def measure(dom: Dom, holds: bytearray, card_weight: float = 0.0) -> tuple[list[int], list[int], list[float], float]:
    """Return per node: text length, length of its text in links, and quality of its prose."""
    size = len(dom)
    tag, text, parent = dom.tag, dom.text, dom.parent
    length, links, run, runlinks, commas = [0] * size, [0] * size, [0] * size, [0] * size, [0] * size
    good = [0.0] * size
    cards = [0.0]
    pictured, headed = bytearray(size), bytearray(size)
    inline = INLINE
    for i in range(size - 1, 0, -1):
        name, up = tag[i], parent[i]
        if not name:
            content = text[i].strip()
            count = len(content)
            if not count:
                continue
            if content.isascii():
                commas[up] += content.count(",")
            else:
                count += 2 * len(_CJK.findall(content))
                commas[up] += len(_COMMAS.findall(content))
            length[up] += count
            run[up] += count
            continue
        if holds[i] or name not in inline:
            holds[up] = 1
        own = length[i]
        if name == "img" or pictured[i]:
            pictured[up] = 1
        if not own:
            continue
        length[up] += own
        if name == "a":
            links[i] = own
            runlinks[i] = own
            good[i] = 0.0
        links[up] += links[i]
        if name in inline:
            run[up] += run[i]
            runlinks[up] += runlinks[i]
            commas[up] += commas[i]
            good[up] += good[i]
            continue
        if run[i]:
            good[i] += prose(name, run[i], runlinks[i], commas[i])
        if name == "li":
            if (pictured[i] or headed[i]) and good[i]:
                cards[0] += good[i]
                good[i] *= card_weight
        elif headed[i] or name in _HEADINGS:
            headed[up] = 1
        good[up] += good[i]
    return length, links, good, cards[0]


def prose(name: str, count: int, linked: int, commas: int) -> float:
    """Return how much running text a block is worth, in characters."""
    value = count - 2.0 * linked
    if value <= 0 or name in ("h1", "h2", "h3", "h4", "h5", "h6", "address", "figcaption", "label", "th", "button"):
        return 0.0
    if name in ("p", "pre", "blockquote"):
        weight = 0.5 if count < 40 else 1.0
    else:
        weight = 0.1 if count < 40 else 0.35 if count < 100 and not commas else 0.8
        if name == "li":
            weight *= 0.6
    return value * weight


def select(dom: Dom, host: str = "") -> Content:
    """Choose the root of the content and mark what is left out under it."""
    found = Content()
    found.holds = bytearray(len(dom))
    found.length, found.links, found.good, cards = measure(dom, found.holds)
    found.is_listing = cards > found.good[0] and found.good[0] < _ENOUGH
    if found.is_listing:
        found.length, found.links, found.good, cards = measure(dom, found.holds, 1.0)
    total = found.good[0]
    marks, flags = _hint(dom, found)
    anchors = _anchors(dom, found, marks, flags)
    for level in (3, 2, 1):
        drop = _mark(dom, found, flags, anchors, level)
        clean = _subtract(dom, found.good, drop)
        if clean[0] >= 250 or clean[0] >= 0.5 * total:
            break
    found.drop = drop
    length = _subtract(dom, found.length, drop)
    links = _subtract(dom, found.links, drop)
    found.root = _root(dom, clean, length, marks, flags, drop)
    found.leads = _leads(dom, found, marks)
    _clean(dom, found, clean, length, links, marks, host)
    return found


def _is_opening(dom: Dom, found: Content, node: int) -> bool:
    """Whether a header holds part of the text, not only title, byline and navigation."""
    value = found.good[node]
    if value > 300 and value > 0.3 * found.good[0]:
        return True
    return value >= 100 and found.links[node] < 0.3 * found.length[node] and "h1" not in dom.tag[node : dom.end[node]]


def is_safe(dom: Dom, found: Content) -> bool:
    """Whether leaving out the pruned elements unread can't have lost the content."""
    good = found.good[0]
    if good < 1000:
        return sum(len(node.text()) for node in dom.pruned.values() if node.tag != "nav") <= 0.5 * good
    return all(_little(node, good) for node in dom.pruned.values())


def _little(node: LexborNode, most: float) -> bool:
    """Whether the paragraphs under an element hold no more text than `most`."""
    if len(node.text()) <= most:
        return True
    if node.css_first("main, [itemprop=articleBody]") is not None:
        return False
    return sum(len(paragraph.text()) for paragraph in node.css("p, article, td")[:500]) <= most


def _root(dom: Dom, clean: list[float], length: list[float], marks: dict[int, int], flags: dict[int, int], drop: bytearray) -> int:
    best, root = -1.0, 0
    whole = clean[0]
    end = dom.end
    i, size = 0, len(dom)
    while i < size:
        value = clean[i]
        if drop[i] or value < 0.15 * whole:
            i = end[i]
            continue
        if dom.tag[i] not in _NEVER_ROOT:
            score = value / (length[i] + whole + 1.0) * _bonus(dom, i, marks)
            if i in flags:
                score *= 0.5
            if score > best:
                best, root = score, i
        i += 1
    return root


_NEVER_ROOT = frozenset("p pre blockquote ul ol li tr tbody a h1 h2 h3 h4 h5 h6 figure figcaption".split()) | {""}


def _bonus(dom: Dom, i: int, marks: dict[int, int]) -> float:
    name = dom.tag[i]
    attrs = dom.attrs.get(i)
    bonus = 1.0
    if attrs:
        if attrs.get("itemprop") == "articleBody":
            bonus = 1.3
        elif marks.get(i, 0) & BODY:
            bonus = 1.15
        elif attrs.get("role") == "main":
            bonus = 1.05
    if name == "article":
        bonus = max(bonus, 1.15)
    elif name == "main":
        bonus = max(bonus, 1.05)
    return bonus


def _subtract(dom: Dom, values: list[float] | list[int], drop: bytearray) -> list[float]:
    clean: list[float] = list(values)
    parent, end = dom.parent, dom.end
    i = drop.find(1)
    while i >= 0:
        lost, up = clean[i], parent[i]
        if lost:
            while up >= 0:
                clean[up] -= lost
                up = parent[up]
        i = drop.find(1, end[i])
    return clean


_SURE, _NAMED, _HIDDEN_MARK, _HIDDEN_NAME = 1, 2, 4, 8
_ENOUGH = 800.0


def _hint(dom: Dom, found: Content) -> tuple[dict[int, int], dict[int, int]]:
    """Return the hints of names per node, and how surely a node is no content."""
    marks: dict[int, int] = {}
    flags: dict[int, int] = {i: _SURE for i, name in enumerate(dom.tag) if name in _DROP_TAGS}
    length, tag, names = found.length, dom.tag, dom.names
    for i, attrs in dom.attrs.items():
        value = names.get(i, 0)
        name = tag[i]
        if value:
            marks[i] = value
        if name in _KEEP_TAGS:
            if value:
                marks[i] = value & BODY
            continue
        style = attrs.get("style")
        if "hidden" in attrs or (attrs.get("aria-hidden") == "true" and name not in INLINE) or (style and _HIDING_STYLE.search(style)):
            if length[i] and "math" not in tag[i : dom.end[i]] and not callouts.kind(dom, dom.parent[i]):
                flags[i] = _HIDDEN_MARK
        elif attrs.get("role") in _DROP_ROLES:
            flags[i] = _SURE
        elif value & HIDDEN:
            flags[i] = _HIDDEN_NAME
        elif value & (BOILER | COMMENT) and not value & (BODY | EMBED) and i not in flags and (name not in INLINE or _EDIT_MARK.search(attrs.get("class") or "")):
            flags[i] = _NAMED
    return marks, flags


def _anchors(dom: Dom, found: Content, marks: dict[int, int], flags: dict[int, int]) -> list[int]:
    """Return the elements that markup names as content, with enough text to believe it."""
    tag, length = dom.tag, found.length
    past = 0
    outside = []
    for i in sorted(flags):
        if i >= past:
            outside.append((i, dom.end[i]))
            past = dom.end[i]
    named = [i for i, value in marks.items() if value & BODY and length[i] >= 250]
    named += [i for i, name in enumerate(tag) if (name == "article" or name == "main") and length[i] >= 250]
    named += [i for i, attrs in dom.attrs.items() if attrs.get("itemprop") == "articleBody" and length[i] >= 100]
    return [i for i in named if 2 * found.links[i] < length[i] and not any(a <= i < b for a, b in outside)]


def _mark(dom: Dom, found: Content, flags: dict[int, int], anchors: list[int], level: int) -> bytearray:
    """Mark what is left out; what holds most of the prose stays unless content is named elsewhere."""
    good, end = found.good, dom.end
    drop = bytearray(len(dom))
    for i in dom.pruned:
        drop[i] = 1
    most = 0.5 * good[0]
    past = 0
    show_named = sum(good[i] for i, flag in flags.items() if flag == _HIDDEN_NAME) > 0.6 * good[0]
    for i in sorted(flags):
        if i < past or drop[i]:
            continue
        flag = flags[i]
        if dom.tag[i] in ("html", "body", "main") or (flag == _NAMED and level < 3) or (flag == _SURE and level < 2):
            continue
        if flag == _HIDDEN_NAME and show_named:
            continue
        value = good[i]
        if dom.tag[i] == "header" and _is_opening(dom, found, i):
            continue
        if flag == _HIDDEN_MARK and good[0] - value >= 250:
            drop[i] = 1
            past = end[i]
            continue
        if value > most and not any(a < i or a >= end[i] for a in anchors if not (a < i < end[a])):
            continue
        drop[i] = 1
        past = end[i]
    return drop


def _leads(dom: Dom, found: Content, marks: dict[int, int]) -> list[int]:
    """Return the standfirst that stands before the root in the same article."""
    tag, end, drop = dom.tag, dom.end, found.drop
    leads: list[int] = []
    node = found.root
    for _ in range(4):
        up = dom.parent[node]
        if up < 0 or tag[node] in ("article", "main", "body"):
            break
        for child in dom.children(up):
            if child >= node:
                break
            opening = tag[child] == "header" or not drop[child]
            if not opening or not tag[child] or found.length[child] < 40:
                continue
            for inner in range(child, end[child]):
                attrs = dom.attrs.get(inner)
                if (marks.get(inner, 0) & LEAD or (attrs and attrs.get("itemprop") == "description")) and 40 < found.length[inner] < 1500 and found.links[inner] < 0.4 * found.length[inner]:
                    if not any(a <= inner < end[a] for a in leads):
                        leads.append(inner)
        node = up
    return sorted(leads)


def _clean(dom: Dom, found: Content, good: list[float], length: list[float], links: list[float], marks: dict[int, int], host: str) -> None:
    """Leave out link lists, teasers and named leftovers under the root."""
    drop, end, tag = found.drop, dom.end, dom.tag
    root = found.root
    if links[root] > 0.4 * length[root]:
        return
    i, stop = root + 1, end[root]
    shown = sum(good[g] for g, value in marks.items() if value & GALLERY and root < g < stop)
    galleries = shown < 0.5 * good[root] or good[root] - shown > _ENOUGH
    while i < stop:
        if drop[i]:
            i = end[i]
            continue
        name = tag[i]
        if not name or not length[i]:
            i += 1
            continue
        if name == "table" and not tables.is_layout(dom, i):
            i = end[i]
            continue
        size = length[i]
        density = links[i] / size
        out = False
        if galleries and marks.get(i, 0) & GALLERY and good[i] < 0.9 * good[dom.parent[i]]:
            out = True
        elif name in ("ul", "ol"):
            out = (density > 0.75 and _headlines(dom, i, drop)) or (not found.is_listing and _cards(dom, i, drop))
        elif name in ("div", "section", "table", "aside", "dl"):
            out = density > 0.6 and good[i] < 60 and size < 0.3 * length[root]
            if not out and marks.get(i, 0) & WEAK and not marks[i] & BODY and good[i] < 0.2 * good[root]:
                out = density > 0.3 or (good[i] < 40 and size < 250)
        elif name == "p":
            out = (density > 0.9 and size > 25 and _internal(dom, i, host)) or (marks.get(i, 0) & WEAK and size < 100)
        if out:
            drop[i] = 1
            if density > 0.5:
                _drop_lead(dom, i, drop)
            i = end[i]
            continue
        i += 1


def _headlines(dom: Dom, node: int, drop: bytearray) -> bool:
    items = [item for item in dom.children(node) if dom.tag[item] == "li" and not drop[item]]
    if not items:
        return False
    lengths = [len(dom.words(item)) for item in items]
    return sum(lengths) / len(lengths) > 30


def _cards(dom: Dom, node: int, drop: bytearray) -> bool:
    """Whether a list shows pages or pictures, an image with a heading or link each."""
    items = [item for item in dom.children(node) if dom.tag[item] == "li" and not drop[item]]
    if len(items) < 3:
        return False
    cards = 0
    for item in items:
        tags = set(dom.tag[item : dom.end[item]])
        cards += "img" in tags and ("a" in tags or bool(tags & _HEADINGS))
    return cards > 0.6 * len(items)


def _internal(dom: Dom, node: int, host: str) -> bool:
    """Whether the first link under a node stays on the site."""
    for child in range(node, dom.end[node]):
        if dom.tag[child] == "a":
            href = dom.get(child, "href")
            return "://" not in href[:10] or (bool(host) and host in href[:100])
    return False


def _drop_lead(dom: Dom, node: int, drop: bytearray) -> None:
    """Leave out the heading that only introduced what has been left out."""
    up = dom.parent[node]
    before = -1
    for child in dom.children(up):
        if child >= node:
            break
        if (dom.tag[child] or dom.text[child].strip()) and not drop[child]:
            before = child
    if before >= 0 and dom.tag[before] in ("h2", "h3", "h4", "h5", "h6") :
        drop[before] = 1
