"""What reading a page gives: Markdown whose every block knows its place on the page."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from framework.reading.unmark import unmark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = [
    "Block",
    "BlockKind",
    "Document",
    "DocumentKind",
    "Heading",
    "Json",
    "Link",
    "Metadata",
    "StructuredData",
]

Json = str | int | float | bool | None | list["Json"] | dict[str, "Json"]
_T = TypeVar("_T")


class BlockKind(StrEnum):
    """What a block of a document is."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    ITEM = "item"
    TABLE = "table"
    CODE = "code"
    QUOTE = "quote"
    IMAGE = "image"
    MATH = "math"
    RULE = "rule"
    DEFINITION = "definition"
    FOOTNOTE = "footnote"
    CALLOUT = "callout"
    DETAILS = "details"


class DocumentKind(StrEnum):
    """What the bytes of a page turned out to be, whatever their declared type."""

    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"
    JSON = "json"
    XML = "xml"
    FEED = "feed"
    PDF = "pdf"
    IMAGE = "image"
    OFFICE = "office"
    BINARY = "binary"


def fingerprint(url: str, body: bytes) -> str:
    """Return a name for a body at an address, 32 hex digits."""
    digest = hashlib.blake2b(url.encode("utf-8", "replace") + b"\n", digest_size=16)
    digest.update(body)
    return digest.hexdigest()


@dataclass(frozen=True, slots=True)
class Block:
    """One block of a document.

    `document.markdown[start:end]` is the block; `section` holds the headings above it, outermost
    first; `dom_path` is a CSS path to the element whose text it is (of a PDF: `page=N`; empty where
    there is no tree); `level` is 1 to 6 for headings, else 0.
    """

    kind: BlockKind
    start: int
    end: int
    section: tuple[str, ...] = ()
    dom_path: str = ""
    level: int = 0


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with its line, counted from 1, in the document's Markdown."""

    level: int
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the whole page: its text, the address as written and absolute, the heading
    above."""

    text: str
    href: str
    absolute_url: str
    section: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Metadata:
    """Facts about a page; None where it doesn't say. Dates are ISO 8601 as far as they could be
    read."""

    title: str | None = None
    description: str | None = None
    author: str | None = None
    site: str | None = None
    language: str | None = None
    published: str | None = None
    modified: str | None = None
    favicon: str | None = None
    image: str | None = None
    canonical_url: str | None = None
    word_count: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StructuredData:
    """What a page says to machines: JSON-LD items, items marked with microdata or RDFa Lite,
    OpenGraph properties."""

    json_ld: tuple[dict[str, Json], ...] = ()
    microdata: tuple[dict[str, Json], ...] = ()
    opengraph: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A page as an agent reads it.

    `raw` is the decoded source (empty for binary formats); `hidden` holds texts that the page hides
    from its readers; `needs_render` says why the page may need a browser, or is None; `digest` is
    that of the body where `raw` can't give one.
    """

    url: str
    kind: DocumentKind
    markdown: str
    blocks: tuple[Block, ...] = ()
    metadata: Metadata = field(default_factory=Metadata)
    charset: str = "utf-8"
    raw: str = ""
    hidden: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    needs_render: str | None = None
    digest: str = ""
    _memo: dict[str, object] = field(default_factory=dict, repr=False, compare=False)

    @property
    def title(self) -> str | None:
        """The page's title."""
        return self.metadata.title

    @property
    def fingerprint(self) -> str:
        """A name for what was read, 32 hex digits: the same for the same address and content."""
        return self._once(
            "fingerprint",
            lambda: self.digest or fingerprint(self.url, self.raw.encode("utf-8", "replace")),
        )

    @property
    def text(self) -> str:
        """The content without Markdown marks and addresses."""
        return self._once(
            "text",
            lambda: "\n\n".join(text for block in self.blocks if (text := self.block_text(block))),
        )

    @property
    def headings(self) -> tuple[Heading, ...]:
        """The headings of the content in order."""
        return self._once("headings", self._headings)

    @property
    def links(self) -> tuple[Link, ...]:
        """Every link of the whole page, navigation included, in document order."""
        from framework.reading.outlinks import outlinks

        return self._once("links", lambda: outlinks(self))

    @property
    def structured(self) -> StructuredData:
        """JSON-LD (repaired), microdata and OpenGraph of the page."""
        from framework.reading.structured import structured_data

        return self._once("structured", lambda: structured_data(self))

    def block_text(self, block: Block) -> str:
        """Return a block as plain text: no marks, link targets or images."""
        source = self.markdown[block.start : block.end]
        return (
            source.partition("\n")[2].rpartition("\n")[0]
            if block.kind is BlockKind.CODE
            else unmark(source)
        )

    def _headings(self) -> tuple[Heading, ...]:
        found = []
        line, at = 1, 0
        for block in self.blocks:
            if block.kind is BlockKind.HEADING:
                line += self.markdown.count("\n", at, block.start)
                at = block.start
                found.append(Heading(block.level, self.block_text(block), line))
        return tuple(found)

    def _once(self, name: str, make: Callable[[], _T]) -> _T:
        if name not in self._memo:
            self._memo[name] = make()
        return self._memo[name]  # type: ignore[return-value]
