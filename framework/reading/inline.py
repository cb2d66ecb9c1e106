"""Running text as Markdown: emphasis, links, code, images, maths, line breaks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading import images, maths
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from framework.reading.dom import Dom
    from framework.reading.links import Resolver

__all__ = ["Inline", "escape", "fold"]

_SPACES = re.compile(" {2,}")
#: Every branch starts with its character: the search can skip to the next of them.
_SPECIAL = re.compile(
    r"[*`]|\\(?=[!-/:-@\[-`{-~])|_(?:(?<![^\W_]_)|(?![^\W_]))|<(?=[a-zA-Z/!?])|\((?<=\]\()|~(?=~)"
)
#: What `_SPECIAL` can only match near: one class is far quicker to look for.
_MAYBE = re.compile(r"[*`\\_<~\]]")
_START = re.compile(r"(#{1,6}(?=\s)|[-+](?=\s)|>|(?:={3,}|-{3,})$)|(\d{1,9})([.)])(?=\s)")
_ROOM = re.compile(r"[ \t]*\n[ \t]*| {2,}")
_MARKS = {
    "b": "**",
    "strong": "**",
    "i": "*",
    "em": "*",
    "cite": "*",
    "dfn": "*",
    "var": "*",
    "del": "~~",
    "s": "~~",
    "strike": "~~",
    "mark": "==",
}
_CODE = words("code kbd samp tt")
_ORDINAL_ENDINGS = words("st nd rd th er ère ème")
_PERMALINK = words("¶ # § 🔗 ⚓ ∞ link permalink anchor")
_SOLE_IMAGE = re.compile(r"!\[[^\]]*\]\(([^()\s]*)\)")
#: References to notes in the brackets of a citation.
_CITED = re.compile(r"\s*\[?((?:\[\^\w+\][,;]?\s*)+?)\]?\s*")
_EDGES = " \n\t\r\f\x01\xa0\u3000\u200b\u00ad\u2060\ufeff"
_BREAK = "\x01"
#: What stays outside of the marks of emphasis.
_AROUND = " \x01\n\t\xa0"


def escape(text: str) -> str:
    """Return text with the characters escaped that Markdown would read as marks."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def _on_one_line(text: str) -> str:
    """Return text with every run of white space as one space."""
    for mark in "\n\t\r\f":
        if mark in text:
            text = text.replace(mark, " ")
    return _SPACES.sub(" ", text) if "  " in text else text


def fold(text: str) -> str:
    """Return inline Markdown with white space folded and hard breaks set."""
    text = _on_one_line(text.strip(_EDGES))
    if _BREAK in text:
        text = re.sub(r" *\x01[ \x01]*", "  \n", text)
    return text


def guard(text: str) -> str:
    """Escape what would turn a paragraph into a heading, list, quote or rule."""
    found = None if text[:1].isalpha() else _START.match(text)
    if not found:
        return text
    return f"\\{text}" if found[1] else f"{found[2]}\\{text[found.end(2) :]}"


class Inline:
    """Writes the inline content of one page; `notes` maps a link's node to its footnote mark."""

    __slots__ = (
        "captions",
        "dom",
        "drop",
        "end",
        "notes",
        "resolve",
        "shown",
        "tag",
        "text",
        "with_links",
    )

    def __init__(
        self,
        dom: Dom,
        drop: bytearray,
        resolve: Resolver,
        notes: dict[int, str],
        *,
        with_links: bool = True,
    ) -> None:
        self.dom, self.drop, self.resolve, self.notes = dom, drop, resolve, notes
        self.tag, self.text, self.end = dom.tag, dom.text, dom.end
        self.with_links = with_links
        self.captions: set[str] = set()
        self.shown: set[str] = set()

    def write(self, first: int, stop: int) -> str:
        """Return the Markdown of the sibling nodes from `first` up to `stop`, unfolded."""
        tag, text, end, drop = self.tag, self.text, self.end, self.drop
        parts: list[str] = []
        node = first
        while node < stop:
            if not drop[node]:
                name = tag[node]
                if not name:
                    content = text[node]
                    if "$" in content or "\\" in content:
                        parts.append(_with_formulas(content))
                    else:
                        parts.append(escape(content) if _MAYBE.search(content) else content)
                elif name == "code" and parts and _is_code(parts[-1]):
                    parts[-1] = _joined(parts[-1], self.element(name, node))
                else:
                    parts.append(self.element(name, node))
            node = end[node]
        return "".join(parts)

    def element(self, name: str, node: int) -> str:
        """Return the Markdown of one inline element."""
        if name == "a":
            return self.link(node)
        if name == "br":
            return _BREAK
        if name in images.TAGS:
            return maths.inline(self.dom, node, name) or self.image(node)
        if name in _CODE:
            return self.code(node)
        mark = self.notes.get(node)
        if mark is not None:
            return mark
        if name in ("video", "audio"):
            return self.media(node)
        tex = maths.inline(self.dom, node, name)
        if tex is not None:
            return tex
        return _enclosed(self.write(node + 1, self.end[node]), name)

    def link(self, node: int) -> str:
        """Return a link; permalinks vanish, empty ones and fragments of scripts leave their
        text."""
        mark = self.notes.get(node)
        if mark is not None:
            return mark
        inner = self.write(node + 1, self.end[node])
        label = inner.strip(_EDGES)
        if not label:
            return " " if inner.isspace() or _BREAK in inner else ""
        attrs = self.dom.having(node)
        href = attrs.get("href") or ""
        if label.lower() in _PERMALINK and href.find("#") >= 0:
            return ""
        target = self.resolve(href) if href and self.with_links else ""
        if not target:
            return inner
        if images.is_image(target):
            self.shown.add(target)
            shown = _SOLE_IMAGE.fullmatch(label)
            if shown and shown[1] != target and _file(shown[1]) == _file(target):
                return f"{label[: shown.start(1)]}{target})"
        if _BREAK in label or "\n" in label:
            label = _on_one_line(label.replace(_BREAK, " "))
        before = " " if inner[0] == " " else ""
        after = " " if inner[-1] == " " else ""
        return f"{before}[{label}]({target}){after}"

    def image(self, node: int) -> str:
        """Return an image with its alternative text and absolute address; of a drawn sign, the
        sign."""
        sign = images.sign(self.dom.having(node))
        if sign:
            return escape(sign)
        source = images.source(self.dom, node)
        if source and images.is_second(self.dom, node):
            return ""
        target = self.resolve(source) if source else ""
        if not target or images.tiny(self.dom.having(node)):
            return ""
        if target in self.shown:
            return ""
        self.shown.add(target)
        alt = images.alternative(self.dom, node, self.captions)
        return f"![{escape(alt).replace('[', chr(92) + '[').replace(']', chr(92) + ']')}]({target})"

    def media(self, node: int) -> str:
        """Return a recording as an image is written: its file, else the picture shown for it."""
        places = [node, *range(node + 1, min(self.end[node], node + 8))]
        sources = (self.dom.get(place, "src") for place in places)
        source = next(filter(None, sources), "") or self.dom.get(node, "poster")
        target = self.resolve(source) if source else ""
        return f"![]({target})" if target else ""

    def code(self, node: int) -> str:
        """Return inline code with as many ticks as its content needs."""
        start, end = node, self.end[node]
        content = " ".join("".join(self.text[start:end]).split())
        if not content:
            return ""
        if any(self.tag[start:end].count(name) for name in ("img", "math")):
            return self.write(node + 1, end)
        ticks = "`"
        while ticks in content:
            ticks += "`"
        pad = " " if content[0] == "`" or content[-1] == "`" else ""
        return f"{ticks}{pad}{content}{pad}{ticks}"


def _enclosed(inner: str, name: str) -> str:
    """Return the text of an element with the marks of its kind."""
    if name == "cite" and (cited := _CITED.fullmatch(inner)):
        return cited[1]
    mark = _MARKS.get(name)
    if mark:
        # Who is quoted stands in a line of its own: `ann wrote:`.
        after = _BREAK if name == "cite" and inner.rstrip()[-1:] == ":" else ""
        return wrap(inner, mark) + after
    if name in ("sup", "sub"):
        stripped = inner.strip()
        is_plain = not stripped or stripped[0] == "[" or stripped in _ORDINAL_ENDINGS
        return inner if is_plain else f"<{name}>{stripped}</{name}>"
    if name == "q":
        return f"“{inner}”"
    if name in ("rp", "rt", "script", "wbr", "source", "input"):
        return f"({inner})" if name == "rt" and inner.strip() else ""
    return inner


def _is_code(text: str) -> bool:
    """Whether a text is code between single ticks, with nothing around it."""
    return text[:1] == "`" and text[-1:] == "`" and text.count("`") == 2


def _joined(before: str, after: str) -> str:
    """Return two texts as one: code right behind code is one piece of it."""
    return before[:-1] + after[1:] if _is_code(after) else before + after


def _file(address: str) -> str:
    """Return the name of the file that an address ends with."""
    return address.partition("?")[0].rpartition("/")[2]


def _with_formulas(text: str) -> str:
    """Return escaped text in which what TeX's delimiters enclose is a formula."""
    found = maths.raw(text)
    if found is None:
        return escape(text)
    return "".join(f"{escape(plain)}{formula}" for plain, formula in found)


def wrap(inner: str, mark: str) -> str:
    """Put emphasis marks around the inked part of a text."""
    body = inner.strip(_AROUND)
    if not body:
        return inner
    if mark in body or (body[0] == "*" and body[-1] == "*" and mark == "**" and body[:3] != "***"):
        if body.startswith(mark) and body.endswith(mark):
            return inner
        if mark in body:
            body = body.replace(mark, "")
    lead = inner[: len(inner) - len(inner.lstrip(_AROUND))]
    tail = inner[len(inner.rstrip(_AROUND)) :]
    return f"{lead}{mark}{body}{mark}{tail}"
