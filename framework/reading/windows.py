"""A part of a text within limits of lines, bytes, characters and tokens, and how to go on after it.

Cuts fall between lines; never inside a code fence, a table row or a character. Joined in order, the
windows of a text are the text. Only a fence, row or line that is by itself larger than a whole
window is cut inside: a fence between its lines, a row or line between characters, and
`next_offset` says how far into `next_start_line` to go on.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError
from framework.reading import tokens as counting

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Limits", "Window", "window"]

_COUNTED_MOST = 200_000
#: A fence may open in a quote, a list item, a definition or a footnote.
_FENCE = re.compile(r"(?:[ >]|[-*+:] |\d{1,9}[.)] |\[\^[^\[\]]{1,40}\]: )*(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """The most that a window may hold; None is no limit. Raises `InvalidInputError` below 1."""

    lines: int | None = None
    bytes: int | None = None
    chars: int | None = None
    tokens: int | None = None

    def __post_init__(self) -> None:
        for name in ("lines", "bytes", "chars", "tokens"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InvalidInputError(f"max_{name} is {value}", hint="it must be at least 1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """A part of a text.

    Lines count from 1. `next_start_line` is None at the end; `next_offset` is above 0 only where
    that line was begun already. `truncated_by` names the limit that ended the window: lines, bytes,
    chars or tokens. Totals are of the whole text, the other figures of the window; of texts over
    200,000 characters the total of tokens is an estimate.
    """

    text: str
    start_line: int
    end_line: int
    next_start_line: int | None
    next_offset: int
    truncated: bool
    truncated_by: str | None
    lines: int
    bytes: int
    chars: int
    tokens: int
    total_lines: int
    total_bytes: int
    total_chars: int
    total_tokens: int


def window(
    text: str,
    limits: Limits | None = None,
    *,
    start_line: int = 1,
    start_offset: int = 0,
    encoding: str = "o200k_base",
    total_tokens: int | None = None,
) -> Window:
    """Return the part of a text that starts at a line and keeps to all limits.

    `total_tokens` saves counting the whole text again for later windows. Raises
    `InvalidInputError` for a start beyond the text.
    """
    lines = text.split("\n")
    if not 1 <= start_line <= len(lines):
        raise InvalidInputError(
            f"start_line is {start_line}", hint=f"the text has {len(lines)} lines, counted from 1"
        )
    starts = _starts(lines)
    at = starts[start_line - 1] + max(0, start_offset)
    if at > len(text):
        raise InvalidInputError(
            f"start_offset is {start_offset}",
            hint=f"line {start_line} has {len(lines[start_line - 1])} characters",
        )
    end, reason = _end(text, lines, starts, at, start_line - 1, limits or Limits(), encoding)
    return _describe(text, starts, at, end, reason, start_line, encoding, total_tokens)


def _starts(lines: Sequence[str]) -> list[int]:
    starts, at = [], 0
    for line in lines:
        starts.append(at)
        at += len(line) + 1
    return starts


def _end(
    text: str,
    lines: Sequence[str],
    starts: Sequence[int],
    at: int,
    first: int,
    limits: Limits,
    encoding: str,
) -> tuple[int, str | None]:
    """Return where the window ends and the limit that ended it."""
    reach, reason = len(text), None
    for name, bound in _bounds(text, starts, at, first, limits, encoding):
        if bound < reach:
            reach, reason = bound, name
    if reason is None:
        return reach, None
    return _safe(lines, starts, at, first, reach), reason


def _bounds(
    text: str, starts: Sequence[int], at: int, first: int, limits: Limits, encoding: str
) -> list[tuple[str, int]]:
    """Return how far each limit alone reaches."""
    bounds = []
    if limits.lines is not None and first + limits.lines < len(starts):
        bounds.append(("lines", starts[first + limits.lines]))
    if limits.chars is not None:
        bounds.append(("chars", at + limits.chars))
    if limits.bytes is not None:
        bounds.append(("bytes", at + _within_bytes(text, at, limits.bytes)))
    if limits.tokens is not None:
        nearest = min([end for _, end in bounds], default=len(text))
        rest = text[at : min(nearest, at + limits.tokens * 24)]
        if counting.count(rest, encoding) > limits.tokens or at + len(rest) < nearest:
            bounds.append(("tokens", at + max(1, counting.prefix(rest, limits.tokens, encoding))))
    return bounds


def _within_bytes(text: str, at: int, most: int) -> int:
    head = text[at : at + most].encode("utf-8", "surrogatepass")[:most]
    length = len(head.decode("utf-8", "ignore"))
    return max(1, length)


def _safe(lines: Sequence[str], starts: Sequence[int], at: int, first: int, reach: int) -> int:
    """Return the last place up to `reach` between two lines that are not in one fence.

    If a fence alone is larger than the window, a place between its lines; if a line is, `reach`.
    """
    fence = ""
    outside = inside = at
    for number in range(first, len(lines)):
        end = starts[number] + len(lines[number]) + 1
        marks = _FENCE.match(lines[number])
        if marks and not fence:
            fence = marks[1]
        elif marks and lines[number].strip(" >") == marks[1] and marks[1].startswith(fence):
            fence = ""
        if end > reach:
            break
        inside = end
        if not fence:
            outside = end
    return outside if outside > at else inside if inside > at else reach


def _total(text: str, part: str, used: int, encoding: str) -> int:
    if len(part) == len(text):
        return used
    if len(text) > _COUNTED_MOST:
        return used + counting.estimate(text) - counting.estimate(part)
    return counting.count(text, encoding)


def _describe(
    text: str,
    starts: Sequence[int],
    at: int,
    end: int,
    reason: str | None,
    start_line: int,
    encoding: str,
    total_tokens: int | None,
) -> Window:
    part = text[at:end]
    done = end >= len(text)
    shown = part.removesuffix("\n").count("\n") + 1 if part else 0
    whole_line = part.endswith("\n")
    following = start_line + part.count("\n")
    used = counting.count(part, encoding)
    total = total_tokens if total_tokens is not None else _total(text, part, used, encoding)
    return Window(
        text=part,
        start_line=start_line,
        end_line=start_line + max(0, shown - 1),
        next_start_line=None if done else following,
        next_offset=0 if done or whole_line else end - starts[following - 1],
        truncated=not done,
        truncated_by=None if done else reason,
        lines=shown,
        bytes=len(part.encode("utf-8", "surrogatepass")),
        chars=len(part),
        tokens=used,
        total_lines=len(starts),
        total_bytes=len(text.encode("utf-8", "surrogatepass")),
        total_chars=len(text),
        total_tokens=total,
    )
