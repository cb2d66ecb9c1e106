"""The forms in which a document is shown, and the part of it that a caller asks for."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError, NotFoundError
from framework.reading.document import Block, BlockKind, Document, DocumentKind

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FORMATS", "lean", "project", "section", "select", "without_links"]

#: Characters from which a page's link addresses are weighed, and the share that is too much.
_LONG = 4_000
_HEAVY = 0.1
_SPACE = re.compile(r"\s+")
#: Code in a line, an image, a link: the first is left as it is.
_CODE_IMAGE_OR_LINK = re.compile(
    r"(`+)(?:(?!\1).)+\1|!\[(?P<alt>(?:[^\[\]\\]|\\.)*)\]\([^()\s]*\)"
    r"|\[(?P<label>(?:[^\[\]\\]|\\.|!?\[[^\[\]]*\](?:\([^()\s]*\))?)*)\]\([^()\s]*\)"
)


def _markdown(document: Document) -> str:
    return document.markdown


def _text(document: Document) -> str:
    return document.text


def _headings(document: Document) -> str:
    return "\n".join(
        f"{'  ' * (heading.level - 1)}- {heading.text} (line {heading.line})"
        for heading in document.headings
    )


def _links(document: Document) -> str:
    return "\n".join(
        f"- [{link.text or link.href}]({link.absolute_url})" for link in document.links
    )


def _raw(document: Document) -> str:
    return document.raw or document.markdown


FORMATS: dict[str, Callable[[Document], str]] = {
    "markdown": _markdown,
    "text": _text,
    "headings": _headings,
    "links": _links,
    "raw": _raw,
}
"""Every form by its name."""


def project(document: Document, name: str) -> str:
    """Return a document in one of `FORMATS`; raises `InvalidInputError` for any other name."""
    if name not in FORMATS:
        raise InvalidInputError(f"unknown format {name!r}", hint=f"use one of {', '.join(FORMATS)}")
    return FORMATS[name](document)


def without_links(document: Document) -> Document:
    """Return a document whose links are their text and whose images are their alternative text.

    On pages full of links this halves the tokens; the addresses stay in `document.links`.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    at = last = 0
    for block in document.blocks:
        gap = document.markdown[last : block.start]
        last = block.end
        shown = document.markdown[block.start : block.end]
        if block.kind is not BlockKind.CODE:
            shown = _CODE_IMAGE_OR_LINK.sub(_unlinked, shown)
        if not shown.strip():
            continue
        gap = gap if parts else ""
        blocks.append(replace(block, start=at + len(gap), end=at + len(gap) + len(shown)))
        parts += (gap, shown)
        at += len(gap) + len(shown)
    return replace(document, markdown="".join(parts), blocks=tuple(blocks), _memo={})


def lean(document: Document) -> Document:
    """Return a document as it is, or without link addresses where it is long and full of them."""
    if len(document.markdown) < _LONG or document.kind is not DocumentKind.HTML:
        return document
    bare = without_links(document)
    heavy = len(bare.markdown) < (1 - _HEAVY) * len(document.markdown)
    return bare if heavy else document


def _unlinked(match: re.Match[str]) -> str:
    if match["label"] is not None:
        return _CODE_IMAGE_OR_LINK.sub(_unlinked, match["label"])
    if match["alt"] is None:
        return match[0]
    return f"[image: {match['alt']}]" if match["alt"] else ""


def section(document: Document, wanted: str) -> Document:
    """Return the part under a heading, the heading included.

    `wanted` is the heading's text, or the path to it with ` > ` or `/` between headings; case and
    spaces don't matter. Raises `NotFoundError` with the headings that exist.
    """
    steps = [_fold(step) for step in re.split(r"\s+>\s+", wanted)]
    for place, block in enumerate(document.blocks):
        if block.kind is BlockKind.HEADING and _matches(document, block, steps, wanted):
            end = place + 1
            while end < len(document.blocks) and not (
                document.blocks[end].kind is BlockKind.HEADING
                and document.blocks[end].level <= block.level
            ):
                end += 1
            return _part(document, document.blocks[place:end])
    known = "; ".join(heading.text for heading in document.headings[:20])
    raise NotFoundError(
        f"no section {wanted!r}",
        hint=f"the page's headings are: {known}" if known else "the page has no headings",
    )


def _fold(text: str) -> str:
    return _SPACE.sub(" ", text).strip().strip("#").strip().casefold()


def _matches(document: Document, block: Block, steps: list[str], wanted: str) -> bool:
    text = _fold(document.block_text(block))
    if text == _fold(wanted):
        return True
    if len(steps) < 2 and "/" in wanted:
        steps = [_fold(step) for step in wanted.split("/")]
    above = [_fold(name) for name in block.section]
    return len(steps) > 1 and text == steps[-1] and above[-(len(steps) - 1) :] == steps[:-1]


def _part(document: Document, blocks: tuple[Block, ...]) -> Document:
    start, end = blocks[0].start, blocks[-1].end
    moved = tuple(
        replace(block, start=block.start - start, end=block.end - start) for block in blocks
    )
    return replace(document, markdown=document.markdown[start:end], blocks=moved, _memo={})


def select(document: Document, selector: str) -> Document:
    """Return what a CSS selector matches, in order, as a document of its own.

    Raises `InvalidInputError` for a selector that doesn't parse or a document that isn't HTML, and
    `NotFoundError` where nothing matches.
    """
    from framework.reading.reader import read_elements

    if document.kind is not DocumentKind.HTML:
        raise InvalidInputError(
            f"a selector needs an HTML page, this is {document.kind}", hint="leave `selector` out"
        )
    return read_elements(document, selector)
