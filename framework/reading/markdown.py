"""Writes the chosen part of a page as Markdown blocks that know where they come from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading import callouts, code, embeds, tables
from framework.reading.closings import CAPTION_CREDIT
from framework.reading.document import BlockKind
from framework.reading.hints import BODY, CALLOUT
from framework.reading.images import is_image
from framework.reading.inline import Inline, fold, guard
from framework.reading.measure import HEADINGS
from framework.reading.pieces import Piece, bear_link, checkbox, indent, join, prefixed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from framework.reading.dom import Dom
    from framework.reading.links import Resolver

__all__ = ["Writer"]

_NEST_MOST = 16
_IMAGE_ONLY = re.compile(
    r"(?:!\[[^\]]*\]\([^()\s]*\)\s*|\[!\[[^\]]*\]\([^()\s]*\)\]\([^()\s]*\)\s*)+"
)
_DISPLAY = re.compile("\x02([^\x02]*)\x02")
_NOTES = re.compile(
    r"^#+ (?:foot|end)?-?notes?\b|^#+ (?:fußnoten|anmerkungen|notas?|références|примечания|"
    r"脚注|注释)|^---$",
    re.I,
)
_OWN_LABEL = re.compile(
    r"^\s*\[\d{1,4}\]\s*|^\s*(?:<sup>\s*)?[\[(]?(?:\d{1,4}|[*†‡^])[\])]?[.:]?(?:\s*</sup>)?\\?[.:)]?\s+|"
    r"^[↩^↑]\s*|^\[\]\s*"
)
_HEADING_LEVELS = ("1", "2", "3", "4", "5", "6")
_LABEL_MOST, _LABEL_NEAR = 24, 2
_SECTIONS_LOOKED_AT, _HEAD_NEAR = 3, 8
_OWN_LINK = re.compile(r"\[([^\[\]]*)\]\(([^()\s#]*#([^()\s]*))\)")
_BULLET = re.compile(r"\s*[•·▪●◦‣]\s+")


class Writer:
    """Writes blocks in document order; `drop` marks what is left out, `holds` what holds blocks."""

    def __init__(
        self,
        dom: Dom,
        drop: bytearray,
        holds: bytearray,
        resolve: Resolver,
        *,
        notes: dict[int, str] | None = None,
        definitions: dict[int, str] | None = None,
    ) -> None:
        self.dom, self.drop, self.holds = dom, drop, holds
        self.inline = Inline(dom, drop, resolve, notes or {})
        self.definitions = definitions or {}
        self.quotes: frozenset[int] = frozenset()
        self.pieces: list[Piece] = []
        self.notes: list[Piece] = []
        self.noted: set[int] = set()
        self.depth = 0

    def write(self, node: int) -> list[Piece]:
        """Return the pieces of everything under a node; footnote texts come last."""
        self.block(node)
        if self.definitions:
            self.finish_notes()
        return self.pieces

    def finish_notes(self) -> None:
        """Put the notes behind everything else, those from outside the root included."""
        for holder in self.definitions:
            if holder not in self.noted:
                self.note(holder)
        while (
            self.pieces
            and self.pieces[-1].kind in (BlockKind.HEADING, BlockKind.RULE)
            and _NOTES.search(self.pieces[-1].text)
        ):
            self.pieces.pop()
        self.notes.sort(key=lambda piece: piece.level)
        for piece in self.notes:
            piece.level = 0
        self.pieces.extend(self.notes)

    def add(
        self, kind: BlockKind, text: str, node: int, *, level: int = 0, tight: bool = False
    ) -> None:
        """Append a piece unless it is empty."""
        if text and (piece := Piece(kind, text, node, level=level, tight=tight)).text:
            self.pieces.append(piece)

    def block(self, node: int) -> None:
        """Write one block-level element."""
        if node in self.definitions:
            self.note(node)
            return
        handler = _HANDLERS.get(self.dom.tag[node])
        if node in self.quotes:
            self.quote(node)
        elif handler is not None:
            handler(self, node)
        elif self.dom.get(node, "role") == "heading":
            self.heading(node)
        elif self.dom.names.get(node, 0) & CALLOUT and callouts.kind(self.dom, node):
            self.callout(node)
        else:
            self.container(node)

    def container(self, node: int) -> None:
        """Write an element's children: runs of inline content as paragraphs, blocks as
        themselves."""
        tag, end, drop, holds = self.dom.tag, self.dom.end, self.drop, self.holds
        inline = self.dom.inline
        child, stop = node + 1, end[node]
        if not holds[node] and "code" not in tag[child:stop]:
            self.run(child, stop, node)
            return
        first = child
        while child < stop:
            name = tag[child]
            if (
                not name
                or drop[child]
                or (
                    name in inline
                    and not holds[child]
                    and not (name == "code" and code.is_block(self.dom, child))
                )
            ):
                child = end[child]
                continue
            if first < child:
                self.run(first, child, node)
            self.block(child)
            child = first = end[child]
        if first < stop:
            self.run(first, stop, node)

    def run(self, first: int, stop: int, node: int) -> None:
        """Write a run of inline siblings as a paragraph, an image or formulas between
        paragraphs."""
        text = fold(self.inline.write(first, stop))
        if not text:
            return
        if "\x02" not in text:
            self.paragraph(text, node)
            return
        for place, part in enumerate(_DISPLAY.split(text)):
            if place % 2:
                self.add(BlockKind.MATH, f"$$\n{part.strip()}\n$$", node)
            elif part.strip():
                self.paragraph(part.strip(), node)

    def paragraph(self, text: str, node: int) -> None:
        """Write a paragraph of folded text; the credit at the end of a caption is left out."""
        if "figcaption" in (self.dom.tag[node], self.dom.tag[self.dom.parent[node]]):
            text = CAPTION_CREDIT.sub("", text)
            if not text:
                return
        kind = (
            BlockKind.IMAGE
            if text[0] in "![" and _IMAGE_ONLY.fullmatch(text)
            else BlockKind.PARAGRAPH
        )
        self.add(kind, guard(text), node)

    def heading(self, node: int) -> None:
        """Write a heading; one that holds blocks keeps their text only."""
        text = self.flat(node)
        if text.startswith("**") and text.endswith("**") and text.count("**") == 2:
            text = text[2:-2]
        name = self.dom.tag[node]
        stated = name[1:] if name in HEADINGS else self.dom.get(node, "aria-level").strip()
        level = int(stated) if stated in _HEADING_LEVELS else 2
        text = self.unlinked(text)
        if text:
            if _IMAGE_ONLY.fullmatch(text):
                self.add(BlockKind.IMAGE, text, node)
            else:
                self.add(BlockKind.HEADING, f"{'#' * level} {text}", node, level=level)

    def unlinked(self, text: str) -> str:
        """Return a text without the link to itself that is all of it."""
        own = _OWN_LINK.fullmatch(text)
        return own[1] if own and self.inline.resolve(f"#{own[3]}") == own[2] else text

    def flat(self, node: int) -> str:
        """Return everything under a node as one line of inline Markdown."""
        if self.holds[node]:
            text = " ".join(piece.text for piece in self.nested(node))
        else:
            text = fold(self.inline.write(node + 1, self.dom.end[node]))
        return " ".join(text.replace("\x02", "$").split())

    def nested(self, node: int) -> list[Piece]:
        """Return the pieces under a node without adding them."""
        outer, self.pieces = self.pieces, []
        self.depth += 1
        self.container(node)
        self.depth -= 1
        inner, self.pieces = self.pieces, outer
        return inner

    def write_list(self, node: int) -> None:
        """Write a list, a piece an item; deeper lists are indented inside their item."""
        children = self.dom.children(node)
        if not self.depth and self._is_of_sections(children):
            self.container(node)
            return
        ordered = self.dom.tag[node] == "ol"
        start = self.dom.get(node, "start").strip()
        number = int(start) if start.lstrip("-").isdigit() and len(start) < 10 else 1
        tight = bool(self.depth and self.pieces)
        for child in children:
            name = self.dom.tag[child]
            if self.drop[child]:
                number += name == "li"
                continue
            if name != "li":
                if name:
                    tight = self.stray(child, tight)
                continue
            if child in self.definitions:
                self.note(child)
                continue
            value = self.dom.get(child, "value")
            if ordered and value.isdigit() and len(value) < 10:
                number = int(value)
            if self.item(child, f"{max(number, 0)}. " if ordered else "- ", tight):
                tight = True
            number += 1

    def _is_of_sections(self, children: Sequence[int]) -> bool:
        """Whether every item of a list is a section under a heading of its own."""
        items = [i for i in children if self.dom.tag[i] and not self.drop[i]]
        return bool(items) and all(
            self.dom.tag[i] == "li" and self._heads(i) for i in items[:_SECTIONS_LOOKED_AT]
        )

    def _heads(self, node: int) -> bool:
        """Whether the first text under an element is a heading, with more behind it."""
        tag, text, end = self.dom.tag, self.dom.text, self.dom.end
        for i in range(node + 1, min(end[node], node + _HEAD_NEAR)):
            if tag[i] in HEADINGS:
                return any(map(str.strip, text[end[i] : end[node]]))
            if text[i].strip():
                return False
        return False

    def stray(self, child: int, tight: bool) -> bool:
        """Write what stands in a list without being an item."""
        if self.dom.tag[child] in ("ul", "ol"):
            for piece in self._inside(child):
                piece.text = "  " + indent(piece.text, "  ") if tight else piece.text
                self.pieces.append(piece)
            return tight
        before = len(self.pieces)
        if self.dom.tag[child] in self.dom.inline and not self.holds[child]:
            self.run(child, self.dom.end[child], child)
        else:
            self.block(child)
        return tight and len(self.pieces) == before

    def _inside(self, node: int) -> list[Piece]:
        outer, self.pieces = self.pieces, []
        self.write_list(node)
        inner, self.pieces = self.pieces, outer
        for piece in inner:
            piece.tight = True
        return inner

    def item(self, node: int, marker: str, tight: bool) -> bool:
        """Write one list item; return whether it had content."""
        pieces = self.nested(node)
        if not pieces:
            return False
        text = join(pieces)
        text = _BULLET.sub("", text, count=1) if _BULLET.match(text) else text
        box = checkbox(self.dom, node)
        by = " " * len(marker) if self.depth < _NEST_MOST else ""
        self.pieces.append(
            Piece(BlockKind.ITEM, marker + box + indent(text, by).lstrip(), node, tight=tight)
        )
        return True

    def pre(self, node: int) -> None:
        """Write preformatted text as a fenced block."""
        text = code.source(self.dom, node)
        if text.strip():
            name = code.language(self.dom, node)
            self.add(BlockKind.CODE, code.fence(text, self.label(node, name) or name), node)
        else:
            self.images(node)

    def label(self, node: int, name: str) -> str:
        """Take back a line right over code that only names its language; return that."""
        if not self.pieces or len(self.pieces[-1].text) > _LABEL_MOST:
            return ""
        box, above = node, self.pieces[-1]
        for _ in range(_LABEL_NEAR):
            box = max(self.dom.parent[box], 0)
        found = code.known(above.text) if above.kind is BlockKind.PARAGRAPH else ""
        if not found or above.node <= box or name not in ("", found):
            return ""
        self.pieces.pop()
        return found

    def images(self, node: int) -> None:
        """Write only the images under a node."""
        for child in range(node + 1, self.dom.end[node]):
            if self.dom.tag[child] == "img" and not self.drop[child]:
                self.add(BlockKind.IMAGE, self.inline.image(child), child)

    def table(self, node: int) -> None:
        """Write a data table as GFM; code tables as code, layout tables as their content."""
        dom = self.dom
        if code.is_code_table(dom, node):
            text = code.source(dom, node)
            self.add(
                BlockKind.CODE,
                code.fence(text, code.language(dom, node)) if text.strip() else "",
                node,
            )
            return
        if self.depth >= _NEST_MOST or tables.is_layout(dom, node):
            for row in tables.rows(dom, node):
                if not self.drop[row]:
                    for cell in tables.cells(dom, row):
                        if not self.drop[cell]:
                            self.container(cell)
            return
        for child in dom.children(node):
            if dom.tag[child] == "caption" and not self.drop[child]:
                self.add(BlockKind.PARAGRAPH, guard(self.flat(child)), child)
        lines = tables.write(dom, tables.grid(dom, node, self.drop), self.cell)
        self.add(BlockKind.TABLE, "\n".join(lines), node)

    def cell(self, node: int) -> str:
        """Return a table cell on one line, pipes escaped, blocks divided by `<br>`."""
        if self.holds[node]:
            text = "<br>".join(piece.text for piece in self.nested(node))
        else:
            text = fold(self.inline.write(node + 1, self.dom.end[node]))
        text = text.replace("\x02", "$").strip()
        if "\n" in text:
            text = "<br>".join(line.strip() for line in text.split("\n") if line.strip())
        return text.replace("|", "\\|") if "|" in text else text

    def quote(self, node: int) -> None:
        """Write a block quote with everything in it."""
        found = callouts.kind(self.dom, node)
        if found or self.dom.names.get(node, 0) & BODY:
            (self.callout if found else self.container)(node)
            return
        text = join(self.nested(node))
        if text:
            self.add(BlockKind.QUOTE, prefixed(text) if self.depth < _NEST_MOST else text, node)

    def callout(self, node: int) -> None:
        """Write an admonition as a quote whose first line names its kind and title."""
        name = callouts.kind(self.dom, node)
        title_node = callouts.title(self.dom, node)
        title = ""
        if title_node >= 0:
            title = self.flat(title_node).strip("*# ")
            self.drop[title_node] = 1
        text = join(self.nested(node))
        head = f"> [!{name}] {title}".rstrip()
        if text or title:
            self.add(BlockKind.CALLOUT, f"{head}\n{prefixed(text)}" if text else head, node)

    def block_link(self, node: int) -> None:
        """Write a link around blocks: its heading, else its first line, else its picture, bears
        it."""
        start = len(self.pieces)
        self.container(node)
        href = self.dom.get(node, "href")
        target = self.inline.resolve(href) if href and self.inline.with_links else ""
        if target and not is_image(target):
            bear_link(self.pieces[start:], target)

    def details(self, node: int) -> None:
        """Write a disclosure: its summary in bold, then what it holds."""
        for child in self.dom.children(node):
            if self.dom.tag[child] == "summary" and not self.drop[child]:
                self.summary(child)
                self.drop[child] = 1
        self.container(node)

    def summary(self, node: int) -> None:
        """Write the line of a disclosure: the headings in it, else all of it in bold."""
        if not HEADINGS.isdisjoint(self.dom.tag[node : self.dom.end[node]]):
            headings = [p for p in self.nested(node) if p.kind is BlockKind.HEADING]
            self.pieces.extend(headings)
            return
        text = self.flat(node)
        if text:
            bold = text if text.startswith(("#", "**", "![")) else f"**{text}**"
            self.add(BlockKind.DETAILS, bold, node)

    def definition_list(self, node: int) -> None:
        """Write terms on their own line and each definition after a colon."""
        for child in self.dom.children(node):
            name = self.dom.tag[child]
            if self.drop[child] or not name:
                continue
            if name == "dt":
                self.add(BlockKind.DEFINITION, guard(self.unlinked(self.flat(child))), child)
            elif name == "dd":
                text = join(self.nested(child))
                if text:
                    self.add(BlockKind.DEFINITION, ": " + indent(text, "  "), child, tight=True)
            elif name == "div":
                self.definition_list(child)
            else:
                self.block(child)

    def embed(self, node: int) -> None:
        """Write an embedded video or post as its address; any other frame is left out."""
        target = embeds.address(
            self.inline.resolve(self.dom.get(node, "src") or self.dom.get(node, "data-src"))
        )
        if target:
            self.add(BlockKind.IMAGE, f"![]({target})", node)

    def rule(self, node: int) -> None:
        """Write a thematic break between two blocks."""
        if self.pieces and self.pieces[-1].kind is not BlockKind.RULE:
            self.add(BlockKind.RULE, "---", node)

    def note(self, node: int) -> None:
        """Keep a footnote's text for the end."""
        name = self.definitions[node]
        self.noted.add(node)
        for child in range(node, self.dom.end[node]):
            self.drop[child] = 0
        text = _OWN_LABEL.sub("", join(self.nested(node)), count=1)
        if text:
            self.notes.append(
                Piece(
                    BlockKind.FOOTNOTE, f"[^{name}]: {indent(text, '    ')}", node, level=int(name)
                )
            )


#: Kept here, not in the writer: bound methods in it would be a cycle that holds the whole tree.
_HANDLERS: dict[str, Callable[[Writer, int], None]] = {
    "ul": Writer.write_list,
    "ol": Writer.write_list,
    "menu": Writer.write_list,
    "pre": Writer.pre,
    "table": Writer.table,
    "blockquote": Writer.quote,
    "dl": Writer.definition_list,
    "hr": Writer.rule,
    "code": Writer.pre,
    "iframe": Writer.embed,
    "a": Writer.block_link,
    "details": Writer.details,
    "p": Writer.container,
    "h1": Writer.heading,
    "h2": Writer.heading,
    "h3": Writer.heading,
    "h4": Writer.heading,
    "h5": Writer.heading,
    "h6": Writer.heading,
}
