"""Text that is Markdown already, or no markup at all, cut into blocks."""

from __future__ import annotations

import re

from framework.reading.document import Block, BlockKind

__all__ = ["markdown_blocks", "paragraphs"]

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$")
_ITEM = re.compile(r" {0,3}(?:[-*+]|\d{1,9}[.)])[ \t]+\S")
_KINDS = (
    (re.compile(r" {0,3}>"), BlockKind.QUOTE),
    (re.compile(r" {0,3}\|.*\|"), BlockKind.TABLE),
    (re.compile(r" {0,3}(?:-{3,}|\*{3,}|_{3,})\s*$"), BlockKind.RULE),
    (re.compile(r" {0,3}!\[[^\]]*\]\([^)]*\)\s*$"), BlockKind.IMAGE),
    (re.compile(r" {0,3}\[\^[^\]]+\]:"), BlockKind.FOOTNOTE),
    (_ITEM, BlockKind.ITEM),
)


class _Cutter:
    """Collects blocks line by line."""

    def __init__(self, path: str) -> None:
        self.blocks: list[Block] = []
        self.headings: list[tuple[int, str]] = []
        self.path = path
        self.start = -1
        self.kind = BlockKind.PARAGRAPH

    def close(self, end: int) -> None:
        if self.start >= 0 and end > self.start:
            section = tuple(text for _, text in self.headings)
            self.blocks.append(Block(self.kind, self.start, end, section, self.path))
        self.start = -1

    def heading(self, start: int, end: int, level: int, text: str) -> None:
        while self.headings and self.headings[-1][0] >= level:
            self.headings.pop()
        section = tuple(title for _, title in self.headings)
        self.blocks.append(Block(BlockKind.HEADING, start, end, section, self.path, level))
        self.headings.append((level, text))

    def open(self, start: int, kind: BlockKind) -> None:
        self.start, self.kind = start, kind


def _kind(line: str) -> BlockKind:
    return next((kind for pattern, kind in _KINDS if pattern.match(line)), BlockKind.PARAGRAPH)


def markdown_blocks(text: str, path: str = "") -> tuple[Block, ...]:
    """Return the blocks of a Markdown text; every fence is one block, every list item one."""
    cutter = _Cutter(path)
    fence = ""
    at = end = 0
    for line in text.splitlines(keepends=True):
        start, at = at, at + len(line)
        bare = line.rstrip("\r\n")
        if fence:
            end = start + len(bare)
            if bare.strip().startswith(fence) and not bare.strip().strip(fence[0]):
                cutter.close(end)
                fence = ""
            continue
        opened = _FENCE.match(bare)
        heading = None if opened else _HEADING.match(bare)
        if opened or heading or not bare.strip():
            cutter.close(end)
        if opened:
            fence = opened[1]
            cutter.open(start, BlockKind.CODE)
        elif heading:
            cutter.heading(start, start + len(bare), len(heading[1]), heading[2])
        elif bare.strip():
            kind = _kind(bare)
            if cutter.start >= 0 and (
                kind is BlockKind.ITEM
                or (kind is not cutter.kind and kind is not BlockKind.PARAGRAPH)
            ):
                cutter.close(end)
            if cutter.start < 0:
                cutter.open(start, kind)
        end = start + len(bare)
    cutter.close(end)
    return tuple(cutter.blocks)


def paragraphs(text: str) -> tuple[Block, ...]:
    """Return the paragraphs of a plain text: runs of lines between empty ones."""
    cutter = _Cutter("")
    at = end = 0
    for line in text.splitlines(keepends=True):
        if line.strip():
            if cutter.start < 0:
                cutter.open(at, BlockKind.PARAGRAPH)
            end = at + len(line.rstrip())
        else:
            cutter.close(end)
        at += len(line)
    cutter.close(end)
    return tuple(cutter.blocks)
