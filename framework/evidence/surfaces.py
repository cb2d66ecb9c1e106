"""Every place of a page where text can stand, and whether a reader would see it there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, cast

from lxml import etree

from framework.evidence.stylesheet import (
    PLAIN,
    Element,
    HidingSheet,
    Style,
    declarations,
    laid,
    merge,
    read_sheets,
)
from framework.evidence.wordlists import words
from framework.reading.dom import quoted
from framework.spec.hostile import is_hostile

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Surface", "surfaces"]

_MARKUP = re.compile(
    r"<(?:!doctype|!--|/?(?:html|head|body|p|div|span|a|h[1-6]|ul|ol|li|table|td|script|style|meta|"
    r"br|img|template|svg|section|article|main|iframe|title|input|button|details|noscript|b|i|em|"
    r"strong|font|header|footer|nav|form|select|option|textarea|label|object|audio|video|pre|"
    r"code)\b)",
    re.IGNORECASE,
)
_BLOCKS = words("blocks")
_CODE = frozenset({"code", "kbd", "samp", "tt", "var"})
#: Elements that part what stands before them from what follows.
_PARTING = _BLOCKS | {"script", "style"}
_MARKED = _CODE | {"q"}
#: Elements whose text is no part of what a reader sees.
_UNSEEN = {
    "template": "template", "noscript": "noscript", "datalist": "datalist", "noembed": "noembed",
    "noframes": "noframes", "object": "fallback", "audio": "fallback", "video": "fallback",
    "canvas": "fallback", "iframe": "iframe", "desc": "svg", "metadata": "svg",
}  # fmt: skip
#: Attributes that carry text; anything else is read when it is long and has blanks in it.
_TEXT_ATTRIBUTES = words("text_attributes")
_SKIPPED_ATTRIBUTES = re.compile(
    r"^(?:class|id|style|href|src|(?:image)?srcset|(?:image)?sizes|d|points|viewbox|transform|on\w+|rel|type|name|"
    r"integrity|action|target|media|http-equiv|property|data-src\w*|xmlns.*|jsname|jsaction)$"
)
#: The commonest of these, told without a search.
_SILENT = frozenset(
    {"class", "id", "style", "href", "src", "srcset", "rel", "type", "name", "target"}
)
#: Characters of one surface that are looked at; a page beyond that is read in several surfaces.
_MAX_TEXT = 200_000


class Surface(NamedTuple):
    """A run of text with where it stands.

    `place` is visible, hidden, comment, metadata, attribute or script; `reason` says what hides
    it; `code` is True inside code; `path` is a CSS path of the element ('' for plain text);
    `aimed` is True where the markup itself says that the text is for machines that read.
    """

    text: str
    place: str = "visible"
    reason: str = ""
    code: bool = False
    at: _Open | None = None
    aimed: bool = False

    @property
    def path(self) -> str:
        """The CSS path, put together where it is asked for: few texts ever say anything."""
        return _path(self.at)


def surfaces(body: str) -> Iterator[Surface]:
    """Yield the texts of a page or of a plain document, in order; linear in its length.

    Markup built to exhaust a parser is read as plain text, tags and all.
    """
    if not _MARKUP.search(body) or is_hostile(body.encode("utf-8", "replace")):
        yield from _plain(body)
        return
    root = _parse(body)
    if root is not None:
        yield from _Walk(root).run()


def _plain(body: str) -> Iterator[Surface]:
    for number, part in enumerate(re.split(r"^[ \t]*(?:```|~~~)[ \t]*", body, flags=re.MULTILINE)):
        label, newline, _ = part.partition("\n")
        fenced = bool(number % 2)
        yield Surface(
            f"```{part}" if fenced and newline and label.strip() else part,
            code=fenced and not _role(label),
        )


def _role(label: str) -> bool:
    return label.strip().lower() in {"system", "assistant", "user", "instructions", "prompt"}


def _parse(body: str) -> etree._Element | None:
    parser = etree.HTMLParser(encoding="utf-8", huge_tree=True, recover=True, remove_pis=True)
    clean = body.replace("\x00", "").encode("utf-8", "replace")
    try:
        root: etree._Element | None = etree.fromstring(clean, parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    return root


class _Kind:
    """What elements with the same tag, names and attributes have in common.

    `style` is what rules say of it wherever it stands, None where that depends on what it lies in;
    `dull` tells whether nothing but its style may part it from what it lies in.
    """

    __slots__ = ("aimed", "dull", "element", "named", "rules", "style", "tag")

    def __init__(self, tag: str, given: dict[str, str], sheet: HidingSheet) -> None:
        self.tag = tag
        self.named = " ".join(given.get(name) or "" for name in _NAMES).lower()
        self.aimed = tag not in _WHOLE and bool(_FOR_MACHINES.search(self.named))
        attributes = frozenset(map(str.lower, given))
        special = tag in _SPECIAL or not _SPECIAL_ATTRIBUTES.isdisjoint(attributes)
        self.dull = not special and not self.aimed
        classes = frozenset((given.get("class") or "").split())
        self.element = Element(tag, given.get("id") or "", classes, attributes)
        self.rules = sheet.matching(self.element)
        self.style = None if any(rule.outer for rule in self.rules) else laid(self.rules, ())


class _Look(NamedTuple):
    """How the text of an element stands on the page; texts that stand alike are one surface."""

    place: str = "visible"
    reason: str = ""
    code: bool = False
    aimed: bool = False


@dataclass(slots=True)
class _Open:
    """An element whose end has not come yet."""

    kind: _Kind
    parent: _Open | None
    number: int
    style: Style
    look: _Look
    children: dict[str, int]
    """How many elements of each tag it holds so far."""


class _Walk:
    """One pass over the tree with a stack of computed states."""

    def __init__(self, root: etree._Element) -> None:
        self.root = root
        self.sheet = read_sheets([node.text or "" for node in root.iter("style")])
        self.kinds: dict[tuple[str | None, ...], _Kind] = {}
        self.inline: dict[str, Style] = {}
        self.top: _Open | None = None
        self.found: list[Surface] = []
        self.buffer: list[str] = []
        self.look = _Look()
        self.begun: _Open | None = None

    def run(self) -> Iterator[Surface]:
        for event, node in etree.iterwalk(self.root, events=("start", "end", "comment")):
            if event == "start":
                self._start(node)
            elif event == "end":
                self._end(node)
            else:
                self._comment(node)
            if self.found:
                yield from self.found
                self.found.clear()
        self._flush()
        yield from self.found

    def _comment(self, node: etree._Element) -> None:
        text = re.sub(r"^\s*\[if[^\]]*\]>|<!\[endif\]\s*$", "", node.text or "")
        for part in surfaces(text) if _MARKUP.search(text) else [Surface(text)]:
            self.found.append(Surface(part.text, "comment", "comment", at=self.top))
        if tail := node.tail:
            self._text(tail)

    def _start(self, node: etree._Element) -> None:
        attributes = cast("list[tuple[str, str]]", node.items())
        self.top = top = self._enter(node, attributes)
        tag = top.kind.tag
        if tag in _PARTING:
            self._flush()
        if attributes:
            self._attributes(attributes, top)
        if tag in _MARKED:
            self._mark(tag)
        text = node.text
        if tag == "script":
            self.found += _script(node, top)
        elif tag == "style":
            self.found += [Surface(c, "comment", "style", at=top) for c in _css_texts(text)]
        elif text and tag == "iframe":
            self.found += [Surface(s.text, "hidden", "iframe", at=top) for s in surfaces(text)]
        elif text:
            self._text(text)

    def _end(self, node: etree._Element) -> None:
        top = self.top
        if top is None:
            return
        tag = top.kind.tag
        if tag in _MARKED:
            self._mark(tag)
        if tag in _BLOCKS:
            self._flush()
        self.top = top.parent
        if tail := node.tail:
            self._text(tail)

    def _mark(self, tag: str) -> None:
        """Keep inline code and quotations recognisable as such in the running text."""
        if tag == "q":
            self._text('"')
        elif self.top is not None and not self.top.look.code:
            self._text("`")

    def _text(self, text: str) -> None:
        top = self.top
        if top is None:
            return
        if self.buffer and (top.look != self.look or len(self.buffer[-1]) > _MAX_TEXT):
            self._flush()
        if not self.buffer:
            self.look, self.begun = top.look, top
        self.buffer.append(text)

    def _flush(self) -> None:
        if not self.buffer:
            return
        text = "".join(self.buffer)
        self.buffer.clear()
        if text and not text.isspace():
            place, reason, code, aimed = self.look
            self.found.append(Surface(text, place, reason, code, self.begun, aimed))

    def _enter(self, node: etree._Element, attributes: list[tuple[str, str]]) -> _Open:
        tag = str(node.tag).lower()
        given = dict(attributes)
        key = (tag, *map(given.get, _NAMES), *given) if given else (tag,)
        kind = self.kinds.get(key)
        if kind is None:
            kind = self.kinds[key] = _Kind(tag, given, self.sheet)
        parent = self.top
        number = 1
        if parent is not None:
            number = parent.children[tag] = parent.children.get(tag, 0) + 1
        style = laid(kind.rules, _ancestors(parent)) if kind.style is None else kind.style
        if "style" in given:
            style = merge(style, self._inline(given["style"]))
        if kind.dull and style is PLAIN and parent is not None:
            return _Open(kind, parent, number, parent.style, parent.look, {})
        look = _look(kind, given, style, parent)
        return _Open(kind, parent, number, _inherit(style, parent), look, {})

    def _inline(self, written: str) -> Style:
        if written not in self.inline:
            self.inline[written] = declarations(written)
        return self.inline[written]

    def _attributes(self, attributes: list[tuple[str, str]], top: _Open) -> None:
        for name, text in attributes:
            key = name.lower()
            if key in _SILENT:
                continue
            if key == "srcdoc":
                self.found += [
                    Surface(s.text, "hidden", "srcdoc", s.code, top) for s in surfaces(text)
                ]
            elif _speaks(key, text):
                tag = top.kind.tag
                place = "metadata" if tag in ("meta", "link", "html") else "attribute"
                aimed = bool(_FOR_MACHINES.search(f"{key} {top.kind.named}".lower()))
                self.found.append(Surface(text, place, key, at=top, aimed=aimed))


def _path(state: _Open | None) -> str:
    steps = []
    while state is not None:
        tag = state.kind.tag
        plain = state.parent is None or tag in ("head", "body")
        steps.append(tag if plain else f"{quoted(tag)}:nth-of-type({state.number})")
        state = state.parent
    return " > ".join(reversed(steps))


#: As many elements around another one are looked at for what a rule says of it.
_DEPTH = 40


def _ancestors(state: _Open | None) -> list[Element]:
    """Return the elements around, the outermost of them first."""
    found: list[Element] = []
    while state is not None and len(found) < _DEPTH:
        found.append(state.kind.element)
        state = state.parent
    return found[::-1]


#: Names that markup gives to what is meant for a model: data-ai-prompt, llm-instructions, for-bots.
_FOR_MACHINES = re.compile(
    r"\b(?:ais?|llms?|gpt|agents?|bots?|assistants?|models?)[-_ ](?:only|instructions?|prompts?|"
    r"notes?|readers?|directives?|hints?|messages?|context|rules|guidance|policy)\b"
    r"|\bfor[-_ ](?:ais?|llms?|agents?|bots|models|assistants)\b"
)


_WHOLE = frozenset({"html", "body"})
_NAMES = ("id", "class", "name", "property")


_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")


def _speaks(name: str, text: str) -> bool:
    if name in _TEXT_ATTRIBUTES:
        return len(text) >= 8
    if " " not in text:
        coded = 24 <= len(text) <= 8_000 and _ENCODED.fullmatch(text)
        return bool(coded) and not _SKIPPED_ATTRIBUTES.match(name)
    return len(text) >= 20 and text.count(" ") >= 3 and not _SKIPPED_ATTRIBUTES.match(name)


def _inherit(style: Style, parent: _Open | None) -> Style:
    if parent is None:
        return style
    above = parent.style
    if style.colour is None and style.background is None:
        return above
    return Style("", style.colour or above.colour, style.background or above.background)


def _look(kind: _Kind, given: dict[str, str], style: Style, parent: _Open | None) -> _Look:
    place, reason = _place(kind, given, style, parent)
    code, aimed = kind.tag == "pre", kind.aimed
    if parent is None:
        return _Look(place, reason, code, aimed)
    above = parent.look
    look = (place, reason, code or above.code, aimed or above.aimed)
    return above if look == above else _Look(*look)


def _place(
    kind: _Kind, given: dict[str, str], style: Style, parent: _Open | None
) -> tuple[str, str]:
    if parent is not None and parent.look.place in ("hidden", "metadata"):
        return parent.look.place, parent.look.reason
    tag = kind.tag
    if tag in ("title", "head", "meta") and (parent is None or parent.kind.tag in ("head", "html")):
        return "metadata", tag
    reason = _hidden_reason(kind, given, style, parent)
    return ("hidden", reason) if reason else ("visible", "")


#: Tags and attributes that may say by themselves where text stands.
_SPECIAL = frozenset({*_UNSEEN, "details", "dialog", "text", "pre", "title", "head", "meta"})
_SPECIAL_ATTRIBUTES = frozenset({"hidden", "aria-hidden"})


def _hidden_reason(kind: _Kind, given: dict[str, str], style: Style, parent: _Open | None) -> str:
    tag = kind.tag
    if tag in _UNSEEN:
        return _UNSEEN[tag]
    if style.reason:
        return style.reason
    attributes = kind.element.attributes
    if "hidden" in attributes:
        return "hidden attribute"
    if given.get("aria-hidden", "").lower() == "true":
        return "aria-hidden"
    if tag in ("details", "dialog") and "open" not in attributes:
        return tag
    if tag == "text" and _outside(given):
        return "off-screen"
    return "same colour" if _same_colour(style, parent) else ""


def _outside(given: dict[str, str]) -> bool:
    return any(given.get(name, "").lstrip().startswith("-") for name in ("x", "y"))


def _same_colour(style: Style, parent: _Open | None) -> bool:
    """Tell whether text set in a colour of its own stands on nearly that colour."""
    if style.colour is None:
        return False
    inherited = parent.style.background if parent is not None else None
    background = style.background or inherited or (255, 255, 255)
    return max(abs(a - b) for a, b in zip(style.colour, background, strict=True)) <= 10


_SCRIPT_TEXT = re.compile(r"/(?:(?<![^\s;{}]/)/[^\n]{0,2000}|\*.{0,4000}?\*/)", re.DOTALL)


def _script(node: etree._Element, state: _Open) -> Iterator[Surface]:
    """Yield what a script element says to a reader of the source: data blocks and comments."""
    text = node.text or ""
    kind = (node.get("type") or "").lower()
    if "json" in kind:
        for found in re.finditer(r'"((?:[^"\\]|\\.){20,2000})"', text):
            for part in surfaces(_unescaped(found[0])):
                yield Surface(part.text, "script", kind, at=state)
    elif kind and "javascript" not in kind and kind != "module":
        yield Surface(text, "hidden", f"script {kind}", at=state)
    else:
        for found in _SCRIPT_TEXT.finditer(text):
            yield Surface(found[0].strip("/* \n"), "comment", "script", at=state)


def _unescaped(quoted: str) -> str:
    try:
        return str(json.loads(quoted, strict=False))
    except ValueError:
        return quoted


def _css_texts(css: str | None) -> Iterator[str]:
    for found in re.finditer(
        r"/\*(.*?)\*/|content\s*:\s*(\"[^\"]*\"|'[^']*')", css or "", re.DOTALL
    ):
        yield (found[1] or found[2] or "").strip("\"'")
