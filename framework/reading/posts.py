"""Writes a thread: each post as a quote under its author, as deep as it answers others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading.document import BlockKind
from framework.reading.inline import escape
from framework.reading.measure import HEADINGS
from framework.reading.pieces import Piece, join, prefixed

if TYPE_CHECKING:
    from framework.reading.dom import Dom
    from framework.reading.markdown import Writer
    from framework.reading.measure import Measures
    from framework.reading.postmarks import Post
    from framework.reading.threads import Thread
    from framework.reading.titles import Titles

__all__ = ["before", "write"]

_TEXT_LEAST = 40.0
_TITLE_LEAST, _TITLE_MOST = 8, 300
_WORD = re.compile(r"[^\W\d_]")


def before(thread: Thread, writer: Writer, measures: Measures, titles: Titles) -> list[Piece]:
    """Return what stands before the first post in the same part of the page; if that is no text,
    the link to what the thread is about."""
    if thread.root < 0:
        return _subject(thread, writer, measures, titles)
    node = thread.posts[0].node
    dom = writer.dom
    while node > thread.root:
        up = dom.parent[node]
        for child in dom.children(up):
            if child > node or not _is_text(dom, measures, child):
                writer.drop[child] = 1
        writer.drop[node] = 0
        node = up
    writer.drop[thread.posts[0].node] = 1
    return writer.nested(thread.root)


def _subject(thread: Thread, writer: Writer, measures: Measures, titles: Titles) -> list[Piece]:
    """Return the link before the posts that bears the page's title and leads to another site."""
    dom, host = writer.dom, writer.inline.resolve.host
    for node in range(thread.posts[0].node):
        if dom.tag[node] == "a" and _TITLE_LEAST <= measures.links[node] <= _TITLE_MOST:
            target = writer.inline.resolve(dom.get(node, "href"))
            if "://" in target and host not in target and titles.matches(dom.words(node)):
                return [Piece(BlockKind.PARAGRAPH, f"[{escape(dom.words(node))}]({target})", node)]
    return []


def _is_text(dom: Dom, measures: Measures, node: int) -> bool:
    """Whether an element is a heading or holds more running text than links."""
    if dom.tag[node] in HEADINGS:
        return True
    return measures.good[node] >= max(_TEXT_LEAST, 0.5 * measures.links[node])


def write(thread: Thread, writer: Writer, page: str) -> list[Piece]:
    """Return the posts as pieces; the one that the page is about stands unquoted."""
    pieces: list[Piece] = []
    for post in thread.posts:
        writer.drop[post.node] = 0
        body = _without_remains(writer.nested(post.node))
        writer.drop[post.node] = 1
        if not body:
            continue
        if post is thread.posts[0] and post.link and writer.inline.resolve(post.link) == page:
            pieces.extend(body)
            continue
        text = f"{_line(post, writer)}\n\n{join(body)}"
        for _ in range(post.depth + 1):
            text = prefixed(text)
        pieces.append(Piece(BlockKind.QUOTE, text, post.node))
    return pieces


def _without_remains(pieces: list[Piece]) -> list[Piece]:
    """Return a post's pieces from the first to the last that holds a word or a picture."""
    inked = [
        place
        for place, piece in enumerate(pieces)
        if piece.kind is not BlockKind.RULE and _WORD.search(piece.text)
    ]
    if not inked:
        return [piece for piece in pieces if piece.kind is not BlockKind.RULE]
    last = pieces[inked[-1]]
    if last.kind is BlockKind.PARAGRAPH:
        last.text = last.text.rstrip(" –—·|\n")
    return pieces[inked[0] : inked[-1] + 1]


def _line(post: Post, writer: Writer) -> str:
    """Return the line over a post: its author, day and score."""
    day = escape(post.day)
    target = writer.inline.resolve(post.link) if post.link and day else ""
    parts = [f"**{escape(post.author)}**", f"[{day}]({target})" if target else day, post.score]
    return " · ".join(part for part in parts if part)
