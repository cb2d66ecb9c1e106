"""Every place of a page where text can stand, and whether a reader would see it there."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from lxml import etree

from framework.evidence.stylesheet import (
    Element,
    HidingSheet,
    Style,
    declarations,
    merge,
    read_sheets,
)
from framework.evidence.wordlists import words
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
#: Characters of one surface that are looked at; a page beyond that is read in several surfaces.
_MAX_TEXT = 200_000


@dataclass(frozen=True, slots=True)
class Surface:
    """A run of text with where it stands.

    `place` is visible, hidden, comment, metadata, attribute or script; `reason` says what hides
    it; `code` is True inside code; `path` is a CSS path of the element ('' for plain text);
    `aimed` is True where the markup itself says that the text is for machines that read.
    """

    text: str
    place: str = "visible"
    reason: str = ""
    code: bool = False
    path: str = ""
    aimed: bool = False


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


@dataclass(slots=True)
class _State:
    element: Element
    style: Style
    place: str
    reason: str
    code: bool
    path: str
    aimed: bool = False
    children: dict[str, int] = field(default_factory=dict)


class _Walk:
    """One pass over the tree with a stack of computed states."""

    def __init__(self, root: etree._Element) -> None:
        self.root = root
        self.sheet: HidingSheet = read_sheets([node.text or "" for node in root.iter("style")])
        self.stack: list[_State] = []
        self.buffer: list[str] = []
        self.key = ("visible", "", False, False)
        self.path = ""

    def run(self) -> Iterator[Surface]:
        events = etree.iterwalk(self.root, events=("start", "end", "comment"))
        for event, node in events:
            if event == "comment":
                yield from self._comment(node)
            elif event == "start":
                yield from self._start(node)
            else:
                yield from self._end(node)
        yield from self._flush()

    def _comment(self, node: etree._Element) -> Iterator[Surface]:
        text = re.sub(r"^\s*\[if[^\]]*\]>|<!\[endif\]\s*$", "", node.text or "")
        for part in surfaces(text) if _MARKUP.search(text) else [Surface(text)]:
            yield Surface(part.text, "comment", "comment", path=self._path())
        yield from self._text(node.tail)

    def _path(self) -> str:
        return self.stack[-1].path if self.stack else ""

    def _start(self, node: etree._Element) -> Iterator[Surface]:
        state = self._enter(node)
        tag = state.element.tag
        if tag in _BLOCKS or tag in ("script", "style"):
            yield from self._flush()
        self.stack.append(state)
        yield from self._attributes(node, state)
        if tag == "script":
            yield from _script(node, state)
        elif tag == "style":
            yield from (
                Surface(c, "comment", "style", path=state.path) for c in _css_texts(node.text)
            )
        elif tag == "iframe" and node.text:
            yield from (
                Surface(s.text, "hidden", "iframe", path=state.path) for s in surfaces(node.text)
            )
        else:
            yield from self._mark(tag, " `")
            yield from self._text(node.text)

    def _end(self, node: etree._Element) -> Iterator[Surface]:
        tag = self.stack[-1].element.tag
        yield from self._mark(tag, "` ")
        if tag in _BLOCKS:
            yield from self._flush()
        self.stack.pop()
        yield from self._text(node.tail)

    def _mark(self, tag: str, mark: str) -> Iterator[Surface]:
        """Keep inline code and quotations recognisable as such in the running text."""
        if tag in _CODE and self.stack and not self.stack[-1].code:
            yield from self._text(mark.strip())
        elif tag == "q":
            yield from self._text('"')

    def _text(self, text: str | None) -> Iterator[Surface]:
        if not text or not self.stack:
            return
        state = self.stack[-1]
        key = (state.place, state.reason, state.code, state.aimed)
        if key != self.key or sum(map(len, self.buffer[-1:])) > _MAX_TEXT:
            yield from self._flush()
            self.key = key
        if not self.buffer:
            self.path = state.path
        self.buffer.append(text)

    def _flush(self) -> Iterator[Surface]:
        text = "".join(self.buffer)
        self.buffer.clear()
        if text.strip():
            place, reason, code, aimed = self.key
            yield Surface(text, place, reason, code, self.path, aimed)

    def _enter(self, node: etree._Element) -> _State:
        tag = str(node.tag).lower()
        parent = self.stack[-1] if self.stack else None
        element = Element(
            tag,
            node.get("id") or "",
            frozenset((node.get("class") or "").split()),
            frozenset(str(name).lower() for name in node.attrib),
        )
        own = self.sheet.style(element, [s.element for s in self.stack[-40:]])
        style = merge(own, declarations(node.get("style") or "")) if node.get("style") else own
        place, reason = _place(node, element, style, parent)
        return _State(
            element=element,
            style=_inherit(style, parent),
            place=place,
            reason=reason,
            code=tag == "pre" or (parent is not None and parent.code),
            path=_step(tag, parent),
            aimed=(parent is not None and parent.aimed)
            or (tag not in ("html", "body") and bool(_FOR_MACHINES.search(_named(node).lower()))),
        )

    def _attributes(self, node: etree._Element, state: _State) -> Iterator[Surface]:
        for name, value in node.attrib.items():
            key, text = str(name).lower(), str(value)
            if key == "srcdoc":
                yield from (
                    Surface(s.text, "hidden", "srcdoc", s.code, state.path) for s in surfaces(text)
                )
            elif _speaks(key, text):
                place = "metadata" if state.element.tag in ("meta", "link", "html") else "attribute"
                aimed = bool(_FOR_MACHINES.search(f"{key} {_named(node)}".lower()))
                yield Surface(text, place, key, path=state.path, aimed=aimed)


#: Names that markup gives to what is meant for a model: data-ai-prompt, llm-instructions, for-bots.
_FOR_MACHINES = re.compile(
    r"\b(?:ais?|llms?|gpt|agents?|bots?|assistants?|models?)[-_ ](?:only|instructions?|prompts?|"
    r"notes?|readers?|directives?|hints?|messages?|context|rules|guidance|policy)\b"
    r"|\bfor[-_ ](?:ais?|llms?|agents?|bots|models|assistants)\b"
)


def _named(node: etree._Element) -> str:
    return " ".join(node.get(name) or "" for name in ("id", "class", "name", "property"))


_ENCODED = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")


def _speaks(name: str, text: str) -> bool:
    if name in _TEXT_ATTRIBUTES:
        return len(text) >= 8
    if " " not in text and not _SKIPPED_ATTRIBUTES.match(name):
        return len(text) <= 8_000 and bool(_ENCODED.fullmatch(text))
    return len(text) >= 20 and text.count(" ") >= 3 and not _SKIPPED_ATTRIBUTES.match(name)


def _step(tag: str, parent: _State | None) -> str:
    if parent is None:
        return tag
    number = parent.children[tag] = parent.children.get(tag, 0) + 1
    return (
        f"{parent.path} > {tag}"
        if tag in ("head", "body")
        else f"{parent.path} > {tag}:nth-of-type({number})"
    )


def _inherit(style: Style, parent: _State | None) -> Style:
    if parent is None:
        return style
    return Style(
        "", style.colour or parent.style.colour, style.background or parent.style.background
    )


def _place(
    node: etree._Element, element: Element, style: Style, parent: _State | None
) -> tuple[str, str]:
    if parent is not None and parent.place in ("hidden", "metadata"):
        return parent.place, parent.reason
    if element.tag in ("title", "head", "meta") and (
        parent is None or parent.element.tag in ("head", "html")
    ):
        return "metadata", element.tag
    reason = _hidden_reason(node, element, style, parent)
    return ("hidden", reason) if reason else ("visible", "")


def _hidden_reason(
    node: etree._Element, element: Element, style: Style, parent: _State | None
) -> str:
    if element.tag in _UNSEEN:
        return _UNSEEN[element.tag]
    if style.reason:
        return style.reason
    if "hidden" in element.attributes:
        return "hidden attribute"
    if (node.get("aria-hidden") or "").lower() == "true":
        return "aria-hidden"
    if element.tag in ("details", "dialog") and "open" not in element.attributes:
        return element.tag
    if element.tag == "text" and _outside(node):
        return "off-screen"
    return "same colour" if _same_colour(style, parent) else ""


def _outside(node: etree._Element) -> bool:
    return any((node.get(name) or "").lstrip().startswith("-") for name in ("x", "y"))


def _same_colour(style: Style, parent: _State | None) -> bool:
    """Tell whether text set in a colour of its own stands on nearly that colour."""
    if style.colour is None:
        return False
    inherited = parent.style.background if parent is not None else None
    background = style.background or inherited or (255, 255, 255)
    return max(abs(a - b) for a, b in zip(style.colour, background, strict=True)) <= 10


_SCRIPT_TEXT = re.compile(
    r"(?:^|(?<=[\s;{}]))//[^\n]{0,2000}|/\*.{0,4000}?\*/", re.DOTALL | re.MULTILINE
)


def _script(node: etree._Element, state: _State) -> Iterator[Surface]:
    """Yield what a script element says to a reader of the source: data blocks and comments."""
    text = node.text or ""
    kind = (node.get("type") or "").lower()
    if "json" in kind:
        for found in re.finditer(r'"((?:[^"\\]|\\.){20,2000})"', text):
            for part in surfaces(_unescaped(found[0])):
                yield Surface(part.text, "script", kind, path=state.path)
    elif kind and "javascript" not in kind and kind != "module":
        yield Surface(text, "hidden", f"script {kind}", path=state.path)
    else:
        for found in _SCRIPT_TEXT.finditer(text):
            yield Surface(found[0].strip("/* \n"), "comment", "script", path=state.path)


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
