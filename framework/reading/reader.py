"""From bytes to a document: the one entry that every caller uses."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from selectolax.lexbor import SelectolaxError

from framework.errors import InvalidInputError, NotFoundError
from framework.reading import (
    charset,
    classify,
    content,
    dom,
    feeds,
    jsontext,
    pdf,
    pictures,
    plaintext,
    posts,
    structured,
    threads,
    trim,
)
from framework.reading.document import (
    Block,
    BlockKind,
    Document,
    DocumentKind,
    Metadata,
    fingerprint,
)
from framework.reading.footnotes import footnotes
from framework.reading.headtags import head_tags
from framework.reading.inline import escape
from framework.reading.links import Resolver
from framework.reading.markdown import Writer
from framework.reading.measure import measure
from framework.reading.memory import give_back, uncollected
from framework.reading.metadata import metadata, raw_titles, states_article
from framework.reading.sniff import sniff
from framework.reading.titles import Titles
from framework.reading.unmark import unmark

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from selectolax.lexbor import LexborHTMLParser

    from framework.reading.content import Content
    from framework.reading.document import Json
    from framework.reading.dom import Dom
    from framework.reading.pieces import Piece

__all__ = ["read", "read_elements", "to_markdown"]

_CJK = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff]"
)
_HIDDEN_MOST = 200
_BOM = b"\xef\xbb\xbf"
_SHORT, _LITTLE = 250, 1_000
_LED_MOST = 4
_LARGE = 2_000_000


def read(body: bytes, url: str, headers: Mapping[str, str] | None = None) -> Document:
    """Return the document that a body is; never raises, whatever the bytes.

    What can't be read has an empty Markdown and a warning that says why. Header names are
    compared without regard to case; only Content-Type matters.
    """
    content_type = next(
        (value for name, value in (headers or {}).items() if name.lower() == "content-type"), ""
    )
    kind = sniff(body, content_type, url)
    with uncollected():
        return _READERS[kind](body, url, content_type)


def to_markdown(body: bytes, url: str) -> str:
    """Return the content of a page as Markdown; the same as `read(body, url).markdown`."""
    return read(body, url).markdown


def _words(text: str) -> int:
    """Count words: what spaces divide, and every character of scripts written without spaces."""
    # A large page line by line: the list of all words would be the largest thing in memory.
    parts = text.split("\n") if len(text) > _LARGE else (text,)
    count = sum(map(len, map(str.split, parts)))
    if text.isascii():
        return count
    wide = len(text.encode("utf-8", "replace")) - len(text)
    return count if wide * 20 < len(text) else count + len(_CJK.findall(text))


def _html(body: bytes, url: str, content_type: str) -> Document:
    raw, name = charset.decode(body, content_type)
    is_large = len(raw) > _LARGE
    tree = dom.parse(raw, body if name == "utf-8" and not body.startswith(_BOM) else b"")
    # The tree is walked while it is still in the processor's cache: what follows can wait.
    flat = _flattened(tree, is_large)
    tags = head_tags(tree)
    items = structured.json_ld(tree.css(structured.LD_SCRIPTS))
    resolve = Resolver(url, tags.base)
    facts = metadata(tree, url, tags, items, resolve)
    # Only what the flat tree left out, if anything, needs it from here on.
    del tree
    if is_large:
        give_back()
    if not len(flat):
        return Document(
            url=url,
            kind=DocumentKind.HTML,
            markdown="",
            metadata=facts,
            charset=name,
            raw=raw,
            warnings=("the page is empty",),
        )
    flat, found = _choose(flat, Resolver(url).host.removeprefix("www."), is_large)
    pieces = _pieces(
        flat,
        found,
        resolve,
        Titles(*raw_titles(tags, items)),
        is_article=states_article(tags, items),
    )
    markdown, blocks = _assemble(pieces, flat)
    if len(markdown) < _LITTLE:
        markdown, blocks = _stated(items, markdown, blocks)
    return Document(
        url=url,
        kind=DocumentKind.HTML,
        markdown=markdown,
        blocks=blocks,
        metadata=replace(facts, word_count=_words(markdown)),
        charset=name,
        raw=raw,
        hidden=_hidden(flat, found),
        needs_render=classify.needs_render(raw, len(markdown), found.measures.length[0]),
    )


def _flattened(tree: LexborHTMLParser, compact: bool) -> Dom:
    """Return the body of a tree; its surroundings are left out unread as far as they are named."""
    root = tree.body if tree.body is not None else tree.root
    if root is None:
        return dom.Dom()
    title = tree.css_first("h1")
    return dom.flatten(root, titles=() if title is None else (title,), compact=compact)


def _choose(flat: Dom, host: str, compact: bool) -> tuple[Dom, Content]:
    """Return a flat tree with its content chosen; surroundings are read only where they may be
    it."""
    found = content.weigh(flat)
    if flat.root is not None and not content.is_safe(flat, found):
        flat = dom.flatten(flat.root, compact=compact)
        found = content.weigh(flat)
    flat.forget()
    if compact:
        give_back()
    content.select(flat, found, host)
    return flat, found


def _pieces(
    flat: Dom, found: Content, resolve: Resolver, titles: Titles, *, is_article: bool = False
) -> list[Piece]:
    thread = threads.find(flat, found, resolve.host, is_article=is_article)
    if thread is not None:
        writer = Writer(flat, thread.drop, found.measures.holds, resolve)
        writer.quotes = thread.quotes
        pieces = _trimmed(posts.before(thread, writer, found.measures, titles), titles, found)
        written = posts.write(thread, writer, resolve.page)
        if len(written) > 1:
            return pieces + written
    marks, definitions = footnotes(flat, found)
    writer = Writer(
        flat, found.drop, found.measures.holds, resolve, notes=marks, definitions=definitions
    )
    for lead in found.leads:
        writer.block(lead)
    leads = len(writer.pieces)
    pieces = writer.write(found.root)
    if leads:
        pieces = _led(pieces[:leads], pieces[leads:])
    if not pieces:
        writer.add(BlockKind.PARAGRAPH, escape(flat.words(found.root)), found.root)
        pieces = writer.pieces
    return _trimmed(pieces, titles, found)


def _led(leads: list[Piece], pieces: list[Piece]) -> list[Piece]:
    """Join standfirsts and the text that they lead to, which may begin by saying the same."""
    told = {piece.text for piece in pieces[:_LED_MOST]}
    return [lead for lead in leads if lead.text not in told] + pieces


def _trimmed(pieces: list[Piece], titles: Titles, found: Content) -> list[Piece]:
    return trim.trim(pieces, titles, found.measures.links, found.measures.length)


def _assemble(pieces: Sequence[Piece], flat: Dom) -> tuple[str, tuple[Block, ...]]:
    """Join pieces and give each its offsets, section and path."""
    parts: list[str] = []
    blocks: list[Block] = []
    stack: list[tuple[int, str]] = []
    section: tuple[str, ...] = ()
    at = 0
    for piece in pieces:
        if parts:
            gap = "\n" if piece.tight else "\n\n"
            parts.append(gap)
            at += len(gap)
        end = at + len(piece.text)
        if piece.kind is BlockKind.HEADING:
            while stack and stack[-1][0] >= piece.level:
                stack.pop()
            section = tuple(text for _, text in stack)
        blocks.append(Block(piece.kind, at, end, section, flat.path(piece.node), piece.level))
        if piece.kind is BlockKind.HEADING:
            stack.append((piece.level, unmark(piece.text)))
            section = tuple(text for _, text in stack)
        parts.append(piece.text)
        at = end
    return "".join(parts), tuple(blocks)


def _stated(
    items: list[dict[str, Json]], markdown: str, blocks: tuple[Block, ...]
) -> tuple[str, tuple[Block, ...]]:
    """Return the body that the JSON-LD states where the page itself shows next to nothing."""
    body = structured.find(items, "articleBody") or structured.find(items, "text")
    times = 2 if len(markdown) < _SHORT else 4
    if len(body) < max(_SHORT, times * len(markdown)):
        return markdown, blocks
    if "<p" in body or "<br" in body:
        inner = _html(body.encode(), "", "text/html; charset=utf-8")
        return inner.markdown, tuple(
            Block(b.kind, b.start, b.end, b.section, "", b.level) for b in inner.blocks
        )
    text = "\n\n".join(line.strip() for line in body.splitlines() if line.strip())
    return text, plaintext.paragraphs(text)


def _hidden(flat: Dom, found: Content) -> tuple[str, ...]:
    return tuple(text for node in found.hidden[:_HIDDEN_MOST] if (text := flat.words(node)[:5000]))


def _of_text(
    kind: DocumentKind, cut: Callable[[str], tuple[Block, ...]]
) -> Callable[[bytes, str, str], Document]:
    def reader(body: bytes, url: str, content_type: str) -> Document:
        raw, name = charset.decode(body, content_type)
        text = raw.replace("\r\n", "\n").replace("\r", "\n")
        blocks = cut(text)
        first = next((block for block in blocks if block.kind is BlockKind.HEADING), None)
        title = unmark(text[first.start : first.end]) if first is not None else None
        return Document(
            url=url,
            kind=kind,
            markdown=text,
            blocks=blocks,
            charset=name,
            raw=raw,
            metadata=Metadata(title=title, word_count=_words(text)),
        )

    return reader


def _of_pieces(
    kind: DocumentKind, write: Callable[[str, str], tuple[str, Metadata]]
) -> Callable[[bytes, str, str], Document]:
    def reader(body: bytes, url: str, content_type: str) -> Document:
        raw, name = charset.decode(body, content_type)
        text, facts = write(raw, url)
        return Document(
            url=url,
            kind=kind,
            markdown=text,
            blocks=plaintext.markdown_blocks(text),
            charset=name,
            raw=raw,
            metadata=replace(facts, word_count=_words(text)),
        )

    return reader


def _pdf(body: bytes, url: str, content_type: str) -> Document:
    found = pdf.extract(body)
    parts: list[str] = []
    blocks: list[Block] = []
    at = 0
    for number, page in enumerate(found.pages, 1):
        if page:
            if parts:
                parts.append("\n\n")
                at += 2
            blocks.extend(
                Block(b.kind, b.start + at, b.end + at, b.section, b.dom_path, b.level)
                for b in plaintext.markdown_blocks(page, f"page={number}")
            )
            parts.append(page)
            at += len(page)
    text = "".join(parts)
    return Document(
        url=url,
        kind=DocumentKind.PDF,
        markdown=text,
        blocks=tuple(blocks),
        digest=fingerprint(url, body),
        warnings=found.warnings,
        metadata=Metadata(
            title=found.title,
            author=found.author,
            published=found.published,
            word_count=_words(text),
        ),
    )


def _image(body: bytes, url: str, content_type: str) -> Document:
    text = pictures.describe(body, url)
    return Document(
        url=url,
        kind=DocumentKind.IMAGE,
        markdown=text,
        blocks=plaintext.markdown_blocks(text),
        digest=fingerprint(url, body),
        warnings=("this is an image; text in it is not recognised",),
        metadata=Metadata(image=url),
    )


def _refused(kind: DocumentKind, reason: str) -> Callable[[bytes, str, str], Document]:
    def reader(body: bytes, url: str, content_type: str) -> Document:
        return Document(
            url=url, kind=kind, markdown="", digest=fingerprint(url, body), warnings=(reason,)
        )

    return reader


_READERS: dict[DocumentKind, Callable[[bytes, str, str], Document]] = {
    DocumentKind.HTML: _html,
    DocumentKind.MARKDOWN: _of_text(DocumentKind.MARKDOWN, plaintext.markdown_blocks),
    DocumentKind.TEXT: _of_text(DocumentKind.TEXT, plaintext.paragraphs),
    DocumentKind.JSON: _of_pieces(DocumentKind.JSON, jsontext.write),
    DocumentKind.XML: _of_pieces(DocumentKind.XML, feeds.write_xml),
    DocumentKind.FEED: _of_pieces(DocumentKind.FEED, feeds.write),
    DocumentKind.PDF: _pdf,
    DocumentKind.IMAGE: _image,
    DocumentKind.OFFICE: _refused(
        DocumentKind.OFFICE,
        "office files are not read; ask for the HTML or PDF version of this document",
    ),
    DocumentKind.BINARY: _refused(
        DocumentKind.BINARY, "this is a binary file, not a page; nothing in it can be read as text"
    ),
}


def read_elements(document: Document, selector: str) -> Document:
    """Return the elements of an HTML document that a selector matches, written whole."""
    tree = dom.parse(document.raw)
    try:
        nodes = tree.css(selector)
    except SelectolaxError as error:
        raise InvalidInputError(
            f"the selector {selector!r} does not parse",
            hint="use a CSS selector such as `main article`",
        ) from error
    if not nodes:
        raise NotFoundError(
            f"nothing matches the selector {selector!r}",
            hint="read the page without `selector` to see what it holds",
        )
    base = tree.css_first("base[href]")
    resolve = Resolver(
        document.url, (base.attributes.get("href") or "") if base is not None else ""
    )
    pieces: list[Piece] = []
    root = tree.body if tree.body is not None else tree.root
    flat = dom.flatten(root) if root is not None else dom.Dom()
    wanted = dom.indexes(root, nodes) if root is not None else []
    holds = measure(flat).holds
    past = 0
    for index in wanted:
        if index >= past:
            writer = Writer(flat, bytearray(len(flat)), holds, resolve)
            if flat.tag[index] in flat.inline and not holds[index]:
                writer.run(index, flat.end[index], index)
                pieces.extend(writer.pieces)
            else:
                pieces.extend(writer.write(index))
            past = flat.end[index]
    markdown, blocks = _assemble(pieces, flat)
    return replace(document, markdown=markdown, blocks=blocks, _memo={})
