"""Changes to an engine file's text that leave everything else, comments included, as it is."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["Edit", "Span", "apply_edits", "find_span", "unified"]


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters `start` to `end` of a text become `text`."""

    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Where a value stands in a text; `flow` values are on one line or in brackets."""

    start: int
    end: int
    column: int
    is_scalar: bool
    is_list: bool
    flow: bool


def find_span(text: str, path: Sequence[str]) -> Span | None:
    """Return where the value below these keys stands, or None where it does not."""
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for name in path:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for key, value in node.value if key.value == name), None)
    if node is None or node.start_mark is None or node.end_mark is None:
        return None
    start, end = node.start_mark.index, node.end_mark.index
    flow = isinstance(node, yaml.ScalarNode) or bool(getattr(node, "flow_style", False))
    body = text[start:end]
    return Span(
        start=start,
        end=start + len(body.rstrip()),
        column=node.start_mark.column,
        is_scalar=isinstance(node, yaml.ScalarNode),
        is_list=isinstance(node, yaml.SequenceNode),
        flow=flow,
    )


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits made; they must not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def unified(before: str, after: str, name: str) -> str:
    """Return the change of a file as a patch that `patch -p1` and `git apply` read."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{name}",
        f"b/{name}",
    )
    return "".join(lines)
