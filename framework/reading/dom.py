"""A page's tree as flat lists in document order, so that scoring and writing are single passes.

The lists hold plain strings only: once built, the parser's memory is free to go. Nesting is capped
at `MAX_DEPTH`; deeper elements become siblings at that depth, so no pass needs deep recursion.
"""

from __future__ import annotations

import re
from array import array
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser

from framework.reading.hints import BODY, BOILER, EMBED, HINTS, ID_HINTS, LEAD, Hints
from framework.reading.shallow import shallow
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, MutableSequence, Sequence

    from selectolax.lexbor import LexborNode

__all__ = ["INLINE", "MAX_DEPTH", "TEXT", "Dom", "flatten", "indexes", "parse", "quoted"]

MAX_DEPTH = 120
TEXT = ""

#: Elements whose content is never page text; they are left out with all they hold.
_SKIPPED = words(
    """
    style template head svg canvas object embed applet select datalist textarea link meta
    frameset frame param track -comment -document-type
    """
)

INLINE = words(
    """
    a abbr acronym amp-img b bdi bdo big button cite code data del dfn em font i img ins kbd label
    mark nobr picture q rp rt ruby s samp small source span strike strong sub sup time tt u var wbr
    br math script input audio video semantics annotation annotation-xml mrow mi mn mo mtext ms
    msup msub msubsup mfrac msqrt mroot munder mover munderover mstyle mspace mtable mtr mtd
    mlabeledtr mpadded mphantom menclose mfenced mmultiscripts mprescripts none maction merror
    mjx-container mjx
    """
)
"""Elements that flow in a line of text on any page; `Dom.inline` are those of one page."""
_BLOCKS = words(
    """
    html body address article aside blockquote caption center col colgroup dd details dialog dir
    div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr iframe
    legend li main menu nav noscript ol optgroup option p pre search section slot summary table
    tbody td tfoot th thead tr ul
    """
)
_OF_PHRASES = words("p h1 h2 h3 h4 h5 h6 dt summary figcaption")
#: The names that matter on an element within a line: it is hidden, or a tool of the page.
_TELLING = re.compile("hid|sr-|screen|invisible|none|edit|link|anchor|lead|intro|embed")
_UNPLAIN = re.compile(r"[^\w-]", re.ASCII)
_LABEL_MOST = 2_000
_FLOWING = INLINE | {"-text", "svg"}
_KNOWN = INLINE | _SKIPPED | _BLOCKS | {"-text"}
_PRUNED = words("nav footer noscript menu")
_INSIDE = BODY | LEAD | EMBED
_TITLES_MOST = 20
_NAMED_BY_ID = words("div section ul ol aside header article main table p")
_BOXES = words("div section ul ol aside")
#: Attributes by which markup says what an element is, or that it is hidden.
_STATING = words(
    """
    style hidden aria-hidden role itemprop itemtype data-message-id data-comment-id data-commentid
    data-post-id data-postid
    """
)
_NO_ATTRIBUTES: Mapping[str, str | None] = {}


class Dom:
    """Parallel lists, one entry a node: tag (empty for text), parent, end, text, attributes.

    `end[i]` is the first node after the subtree of `i`; `names[i]` holds the hints of its class and
    id; `inline` names the elements that flow in a line, those of no known kind included; `pruned`
    are the places of elements that were not entered, `unread` these elements and `root` that of the
    parser's tree if there are any: these two alone keep its memory.
    """

    __slots__ = (
        "_nth",
        "_paths",
        "_stating",
        "attrs",
        "compact",
        "deep",
        "end",
        "inline",
        "names",
        "parent",
        "pruned",
        "root",
        "tag",
        "text",
        "unread",
    )

    def __init__(self, *, compact: bool = False) -> None:
        self.compact = compact
        self.tag: list[str] = []
        self.parent: MutableSequence[int] = array("i") if compact else []
        self.end: MutableSequence[int] = array("i") if compact else []
        self.text: list[str] = []
        self.attrs: dict[int, Mapping[str, str | None]] = {}
        self.names: dict[int, int] = {}
        self.deep: set[int] = set()
        self.inline = INLINE
        self.pruned: list[int] = []
        self.unread: list[LexborNode] = []
        self.root: LexborNode | None = None
        self._paths: dict[int, str] = {-1: "html"}
        self._nth: dict[int, int] = {}
        self._stating: dict[int, Mapping[str, str | None]] | None = None

    def __len__(self) -> int:
        return len(self.tag)

    def zeros(self) -> MutableSequence[int]:
        """Return a count for every node, all of them nothing yet."""
        return array("i", bytes(4 * len(self))) if self.compact else [0] * len(self)

    def forget(self) -> None:
        """Let go of the parser's memory."""
        self.unread, self.root = [], None

    def get(self, index: int, name: str) -> str:
        """Return an attribute of a node, or an empty text."""
        attrs = self.attrs.get(index)
        return (attrs.get(name) or "") if attrs is not None else ""

    def having(self, index: int) -> Mapping[str, str | None]:
        """Return the attributes of a node."""
        return self.attrs.get(index, _NO_ATTRIBUTES)

    @property
    def stating(self) -> Mapping[int, Mapping[str, str | None]]:
        """The attributes of the elements that have one of `_STATING`, looked for once."""
        if self._stating is None:
            self._stating = {
                i: attrs for i, attrs in self.attrs.items() if not _STATING.isdisjoint(attrs)
            }
        return self._stating

    def children(self, index: int) -> list[int]:
        """Return the direct children of a node in order."""
        found = []
        child, stop, end = index + 1, self.end[index], self.end
        while child < stop:
            found.append(child)
            child = end[child]
        return found

    def path(self, index: int) -> str:
        """Return the CSS path from the root to an element (of a text: to its element)."""
        while not self.tag[index] or index in self.deep:
            index = self.parent[index]
        chain = []
        while index not in self._paths:
            chain.append(index)
            index = self.parent[index]
        path = self._paths[index]
        for node in reversed(chain):
            name = self.tag[node]
            step = name if name == "body" else f"{quoted(name)}:nth-of-type({self._place(node)})"
            path = self._paths[node] = f"{path} > {step}"
        return path

    def _place(self, node: int) -> int:
        """Return which of its parent's children of the same tag an element is, from 1."""
        if node not in self._nth:
            counts: dict[str, int] = {}
            tag, end, deep, places = self.tag, self.end, self.deep, self._nth
            child, stop = self.parent[node] + 1, end[self.parent[node]]
            while child < stop:
                name = tag[child]
                if name and child not in deep:
                    counts[name] = places[child] = counts.get(name, 0) + 1
                child = end[child]
        return self._nth[node]

    def words(self, index: int) -> str:
        """Return all text under a node with white space folded."""
        return " ".join("".join(self.text[index : self.end[index]]).split())


def parse(text: str, encoded: bytes = b"") -> LexborHTMLParser:
    """Parse a page; what would cost quadratic time is cut off first.

    `encoded` is the text as UTF-8 where that is at hand, which saves encoding it.
    """
    safe = shallow(text)
    source = encoded if encoded and safe is text else safe
    return LexborHTMLParser(source, options=LexborDocumentOptions.WO_EVENTS)


def flatten(
    root: LexborNode, *, titles: Iterable[LexborNode] | None = None, compact: bool = False
) -> Dom:
    """Walk the tree under `root` (its body) once into a `Dom`.

    With `titles`, the page's main headings, elements whose tag or name says that they hold no
    content are not entered unless they hold one of these; `compact` keeps a very large tree in
    less memory.
    """
    dom = Dom(compact=compact)
    _walk(root, dom, None, titles)
    dom.root = root if dom.unread else None
    return dom


def indexes(root: LexborNode, nodes: Sequence[LexborNode]) -> list[int]:
    """Return the places that elements have in the flat tree of `root`, in document order."""
    places: dict[int, int] = {}
    _walk(root, Dom(), places, None)
    return sorted(places[node.mem_id] for node in nodes if node.mem_id in places)


def _is_tex(script: LexborNode) -> bool:
    """Whether a script holds a formula, not a program."""
    return "math" in (script.attributes.get("type") or "")


def _is_read(node: LexborNode, name: str, parent: str) -> bool:
    """Whether an element is the foot of a quote, or shows a picture to readers without scripts."""
    if name == "noscript":
        return node.css_first("img") is not None and not node.text().strip()
    return name == "footer" and parent == "blockquote"


@lru_cache(maxsize=1024)
def quoted(name: str) -> str:
    """Write an element's name as selectors want it: pages have elements like `o:p` and `a<`."""
    return _UNPLAIN.sub(lambda it: f"\\{ord(it[0]):x} " if it[0] < " " else f"\\{it[0]}", name)


def _name(node: LexborNode) -> str:
    """Return the name of a node's kind; the parts of a drawn formula share one."""
    name = node.tag or "-comment"
    return "mjx" if name.startswith("mjx-") and name != "mjx-container" else name


def _telling(label: str) -> int:
    return HINTS[label] if _TELLING.search(label.lower()) else 0


_INLINE_HINTS = Hints(_telling, 4096)


def _flows(node: LexborNode, parent: str, inline: frozenset[str]) -> bool:
    """Whether an element of no known kind stands in a line of text: browsers draw it so."""
    if parent in inline or parent in _OF_PHRASES:
        return True
    beside = (node.prev, node.next)
    return any(near is not None and (near.text_content or "").strip() for near in beside)


def _is_outside(named: int, name: str) -> bool:
    return bool(named & BOILER) and not named & _INSIDE and name in _BOXES


def _around(titles: Iterable[LexborNode]) -> set[int]:
    """Return the elements that hold a main heading, by their memory ids."""
    around: set[int] = set()
    for heading in islice(titles, _TITLES_MOST):
        node: LexborNode | None = heading
        while node is not None and node.mem_id not in around:
            around.add(node.mem_id)
            node = node.parent
    return around


def _walk(  # noqa: C901 - one pass, for speed
    root: LexborNode, dom: Dom, places: dict[int, int] | None, titles: Iterable[LexborNode] | None
) -> None:
    known: dict[int, str] = {}
    tags, parents, ends, texts = dom.tag, dom.parent, dom.end, dom.text
    attributes, names, skipped, inline = dom.attrs, dom.names, _SKIPPED, INLINE
    prune = titles is not None
    around_titles = _around(titles or ())
    above = [-1]
    before, flowing = "", _FLOWING
    path: list[LexborNode] = []
    up = -1
    depth = 0
    node: LexborNode | None = root
    while node is not None:
        kind = node.tag_id
        name = known.get(kind)
        if name is None:
            name = known[kind] = _name(node)
            if name not in _KNOWN and tags and _flows(node, tags[up], inline):
                inline = dom.inline = inline | {name}
                flowing = flowing | {name}
        child = None
        if name == "-text":
            content = node.text_content
            if content and (not content.isspace() or before in flowing or tags[up] in inline):
                tags.append(TEXT)
                parents.append(up)
                texts.append(content)
                ends.append(len(tags))
        elif name not in skipped and (name != "script" or _is_tex(node)):
            attrs = node.attributes
            here = len(tags)
            named = 0
            if attrs:
                attributes[here] = attrs
                label = attrs.get("class")
                if label:
                    label = label[:_LABEL_MOST]
                    named = _INLINE_HINTS[label] if name in inline else HINTS[label]
                if name in _NAMED_BY_ID and (ident := attrs.get("id")):
                    named |= ID_HINTS[ident]
                if named:
                    names[here] = named
            if name == "iframe":
                child = None
            elif prune and (
                (name in _PRUNED and not _is_read(node, name, tags[up]))
                or (named and _is_outside(named, name) and node.mem_id not in around_titles)
            ):
                dom.pruned.append(here)
                dom.unread.append(node)
            else:
                child = node.first_child
            if places is not None:
                places[node.mem_id] = here
            tags.append(name)
            parents.append(up)
            texts.append("")
            ends.append(here + 1)
            if depth > MAX_DEPTH:
                dom.deep.add(here)
            if child is not None:
                if depth < MAX_DEPTH:
                    up = here
                above.append(up)
                path.append(node)
                depth += 1
                node, before = child, ""
                continue
        while (following := node.next) is None and depth:
            node = path.pop()
            closed = above.pop()
            name = tags[closed]
            depth -= 1
            up = above[-1]
            if closed != up:
                ends[closed] = len(tags)
        node, before = following if depth else None, name
