"""The places of a page where values stand under a name: items, metadata, tables, labelled text."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.reading.document import BlockKind

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from framework.reading.document import Block, Document, Json

__all__ = ["Place", "Table", "items", "labelled", "tables"]

_LABEL = re.compile(r"^\W*([^\W_][^:：|\n]{0,48}?)\s*\**\s*[:：]\**\s*(\S[^\n]*)$")
_SENTENCE_LABEL = re.compile(
    r"\b(?:the |its |their )?([^\W\d_][\w ]{2,30}?) "
    r"(?:is|are|was|were|costs?|amounts? to|of)(?: about| around| just| only)? "
    r"((?:[€$£¥]\s?)?(?:\d[\d.,'’\u00a0\u202f]*\d|\d)[^.;!?\n]{0,40})"
)
_RULE = re.compile(r"^\s*\|?\s*:?-{2,}")
#: Depth to which nested items are read.
_DEEP = 4


def _fold(name: str) -> str:
    return re.sub(r"[^\w]|_", "", name.rsplit("/", 1)[-1]).lower()


@dataclass(frozen=True, slots=True)
class Place:
    """A value under a folded label; `context` is the text of what it belongs to."""

    label: str
    value: Json
    quote: str
    source: str
    context: str = ""

    def inner(self) -> tuple[Place, ...]:
        """Return the places inside a structured value."""
        if not isinstance(self.value, dict):
            return ()
        return tuple(_within(self.value, self.source, self.context, 0))


def _within(item: dict[str, Json], source: str, context: str, depth: int) -> Iterator[Place]:
    """Yield the properties of an item, its own before those of the items inside."""
    inner: list[dict[str, Json]] = []
    for name, value in item.items():
        if name.startswith("@") and name not in ("@id",):
            continue
        quote = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        yield Place(_fold(name), value, f"{name}: {quote}", source, context)
        inner += [v for v in (value if isinstance(value, list) else [value]) if isinstance(v, dict)]
    if depth < _DEEP:
        for part in inner[:20]:
            yield from _within(part, source, context, depth + 1)


def items(document: Document) -> tuple[Place, ...]:
    """Return what the page says to machines: JSON-LD, then microdata, then its metadata."""
    data = document.structured
    found: list[Place] = []
    for source, many in (("json_ld", data.json_ld), ("microdata", data.microdata)):
        for item in sorted(_graph(many), key=_plainness):
            context = json.dumps(item, ensure_ascii=False)[:2_000]
            found += _within(item, source, context, 0)
    return (*found, *_metadata(document))


def _graph(many: Sequence[dict[str, Json]]) -> Iterator[dict[str, Json]]:
    for item in many:
        graph = item.get("@graph")
        if isinstance(graph, list):
            yield from (part for part in graph if isinstance(part, dict))
        else:
            properties = item.get("properties")
            yield properties if isinstance(properties, dict) else item


_FRAME = ("BreadcrumbList", "WebSite", "Organization", "WebPage", "ImageObject", "SearchAction")


def _plainness(item: dict[str, Json]) -> int:
    """Put what a page is about before what frames it (site, organisation, trail)."""
    kind = item.get("@type") or item.get("type")
    return int(any(name in str(kind) for name in _FRAME))


def _metadata(document: Document) -> Iterator[Place]:
    meta = document.metadata
    for name, value in (
        ("title", meta.title),
        ("description", meta.description),
        ("author", meta.author),
        ("site", meta.site),
        ("language", meta.language),
        ("datepublished", meta.published),
        ("datemodified", meta.modified),
        ("image", meta.image),
        ("canonical", meta.canonical_url),
    ):
        if value:
            yield Place(name, value, value, "metadata", document.title or "")


@dataclass(frozen=True, slots=True)
class Table:
    """A table with a head: folded names of its columns, and its rows as text."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def column(self, names: Sequence[str]) -> int | None:
        """Return the column that one of the names belongs to, the first names first, or None."""
        for name in names:
            for n, label in enumerate(self.head):
                if label == name or (len(name) > 3 and label.startswith(name)):
                    return n
        return None


def _cells(line: str) -> tuple[str, ...]:
    bare = line.strip().removeprefix("|").removesuffix("|")
    return tuple(
        re.sub(r"\[([^\]]*)\]\([^)]*\)|[*`]", r"\1", cell).replace("\\|", "|").strip()
        for cell in re.split(r"(?<!\\)\|", bare)
    )


def _table(document: Document, block: Block) -> Table | None:
    lines = [x for x in document.markdown[block.start : block.end].splitlines() if x.strip()]
    if len(lines) < 3 or not _RULE.match(lines[1]):
        return None
    return Table(tuple(map(_fold, _cells(lines[0]))), tuple(map(_cells, lines[2:])))


def tables(document: Document) -> tuple[Table, ...]:
    """Return the tables of the content."""
    found = (_table(document, b) for b in document.blocks if b.kind is BlockKind.TABLE)
    return tuple(table for table in found if table is not None)


def labelled(document: Document) -> tuple[Place, ...]:
    """Return what stands beside a label: rows, definitions, `Label: value`, sentences, lists."""
    found: list[Place] = []
    term = ""
    for block in document.blocks:
        if block.kind is BlockKind.TABLE:
            found += _of_table(document, block)
        elif block.kind is BlockKind.DEFINITION:
            places, term = _of_definition(document, block, term)
            found += places
        elif block.kind not in (BlockKind.CODE, BlockKind.RULE):
            found += _of_text(document.block_text(block), block.section)
    return (*found, *_sections(document))


def _of_table(document: Document, block: Block) -> Iterator[Place]:
    lines = [x for x in document.markdown[block.start : block.end].splitlines() if x.strip()]
    rows = [_cells(line) for line in lines if not _RULE.match(line)]
    context = " ".join(block.section)
    for row in rows:
        cells = [cell for cell in row if cell]
        if len(cells) == 2:
            yield Place(_fold(cells[0]), cells[1], " | ".join(row), "table", context)
    if len(rows) == 2 and len(rows[0]) > 2:
        for name, value in zip(rows[0], rows[1], strict=False):
            yield Place(_fold(name), value, f"{name}: {value}", "table", context)


def _of_definition(document: Document, block: Block, term: str) -> tuple[list[Place], str]:
    """Return the definitions of a block, and the term that the next block may define."""
    found: list[Place] = []
    lines = [
        x.strip() for x in document.markdown[block.start : block.end].splitlines() if x.strip()
    ]
    for line in lines:
        bare = re.sub(r"[*_]{1,2}", "", line)
        if bare.startswith(":"):
            value = bare.lstrip(": ").strip()
            quote = f"{term}: {value}"
            found.append(Place(_fold(term), value, quote, "text", " ".join(block.section)))
        else:
            found += _of_text(bare, block.section)
            term = bare
    return found, term


def _of_text(text: str, section: Sequence[str]) -> Iterator[Place]:
    context = " ".join(section)
    for line in text.splitlines():
        if found := _LABEL.match(line):
            yield Place(_fold(found[1]), found[2].strip(), line.strip(), "text", context)
    for found in _SENTENCE_LABEL.finditer(text):
        words = found[1].split(" of ")[0].split()
        for start in range(len(words)):
            label = _fold(" ".join(words[start:]))
            yield Place(label, found[2].strip(), found[0], "text", context)


def _sections(document: Document) -> Iterator[Place]:
    """A heading is the label of the list right under it."""
    for n, block in enumerate(document.blocks):
        if block.kind is not BlockKind.HEADING:
            continue
        listed = []
        for item in document.blocks[n + 1 :]:
            if item.kind is not BlockKind.ITEM:
                break
            listed.append(document.block_text(item).strip())
        if listed:
            label = document.block_text(block)
            values: list[Json] = [*listed]
            yield Place(_fold(label), values, f"{label}: {'; '.join(listed)}", "text", label)
