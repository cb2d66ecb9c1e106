"""Changes to an engine file's text that leave everything else, comments included, as it is."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

import yaml

from framework.authoring.yamltext import inline
from framework.spec.source import load_text, plain

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["Edit", "apply_edits", "has_path", "set_value", "unified"]


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """Characters `start` to `end` of a text become `text`."""

    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """Return the text with all edits made; they must not overlap."""
    for edit in sorted(edits, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.end :]
    return text


def has_path(text: str, path: Sequence[str]) -> bool:
    """Whether a value stands below these keys in a file's own text."""
    return _find(yaml.compose(text, Loader=yaml.SafeLoader), path) is not None


def set_value(text: str, path: Sequence[str], new: object) -> str:
    """Return the text with the value below these keys replaced, or added to the map above it.

    What the old and the new value have in common stays as it is written. Raises KeyError where
    not even the map above stands in the text.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    node = _find(root, path)
    if node is not None:
        return apply_edits(text, _changes(text, node, new))
    above = _find(root, path[:-1])
    if not isinstance(above, yaml.MappingNode) or not above.value:
        raise KeyError(".".join(path))
    return apply_edits(text, [_added(text, above, path[-1], new)])


def _find(node: yaml.Node | None, path: Sequence[str]) -> yaml.Node | None:
    for name in path:
        if not isinstance(node, yaml.MappingNode):
            return None
        node = next((value for key, value in node.value if key.value == name), None)
    return node


def _added(text: str, above: yaml.MappingNode, name: str, new: object) -> Edit:
    last = above.value[-1][1]
    end = _end(text, last)
    if above.flow_style:
        return Edit(end, end, f", {name}: {inline(new)}")
    pad = " " * above.value[0][0].start_mark.column
    return Edit(end, end, f"\n{pad}{name}: {inline(new)}")


def _slice(text: str, node: yaml.Node) -> str:
    return text[node.start_mark.index : _end(text, node)]


def _end(text: str, node: yaml.Node) -> int:
    """Return where a node's own text ends: a block ends before the space and remarks after it."""
    start, end = node.start_mark.index, node.end_mark.index
    if isinstance(node, yaml.ScalarNode):
        return start + len(text[start:end].rstrip())
    if not isinstance(node, yaml.CollectionNode) or node.flow_style:
        return int(end)
    last = node.value[-1] if node.value else None
    inner = last[1] if isinstance(last, tuple) else last
    return int(end) if inner is None else _end(text, inner)


def _value(text: str, node: yaml.Node) -> object:
    """Return what a node's text says, by the language's own reading of YAML."""
    pad = " " * node.start_mark.column
    root = load_text(f"v:\n{pad} {_shifted(_slice(text, node))}\n", "").root
    data = plain(root) if root is not None else None
    return data.get("v") if isinstance(data, dict) else None


def _shifted(text: str) -> str:
    """Return a block with every further line one column to the right."""
    return text.replace("\n", "\n ")


def _changes(text: str, node: yaml.Node, new: object) -> Iterator[Edit]:
    old = _value(text, node)
    if old == new:
        return
    if isinstance(node, yaml.MappingNode) and isinstance(new, dict):
        names = {key.value: value for key, value in node.value}
        if list(names) == list(new):
            for name, value in new.items():
                yield from _changes(text, names[name], value)
            return
    if isinstance(new, list):
        yield _list_edit(text, node, old, new)
        return
    yield Edit(node.start_mark.index, _end(text, node), inline(new))


def _list_edit(text: str, node: yaml.Node, old: object, new: list[object]) -> Edit:
    """Return the edit that makes a list, the items that stay being taken over as written."""
    written: list[tuple[object, str, bool]] = []
    block = isinstance(node, yaml.SequenceNode) and not node.flow_style
    if isinstance(node, yaml.SequenceNode):
        for item in node.value:
            flat = block or "\n" not in _slice(text, item)
            written.append((_value(text, item), _slice(text, item), flat))
    elif isinstance(node, yaml.ScalarNode) or getattr(node, "flow_style", False):
        written.append((old, _slice(text, node), True))
    if len(written) == len(new) and isinstance(node, yaml.SequenceNode):
        parts = [
            apply_edits(_slice(text, item), _moved(_changes(text, item, value), item))
            for item, value in zip(node.value, new, strict=True)
        ]
    else:
        parts = [_written(value, written) for value in new]
    start, end = node.start_mark.index, _end(text, node)
    if block:
        pad = " " * node.start_mark.column
        return Edit(start, end, f"\n{pad}".join(f"- {part}" for part in parts))
    return Edit(start, end, "[" + ", ".join(parts) + "]")


def _moved(edits: Iterable[Edit], node: yaml.Node) -> Iterator[Edit]:
    start = node.start_mark.index
    for edit in edits:
        yield Edit(edit.start - start, edit.end - start, edit.text)


def _written(value: object, known: Sequence[tuple[object, str, bool]]) -> str:
    return next((part for item, part, flat in known if flat and item == value), inline(value))


def unified(before: str, after: str, name: str) -> str:
    """Return the change of a file as a patch that `patch -p1` and `git apply` read."""
    lines = difflib.unified_diff(
        before.splitlines(keepends=True),
        after.splitlines(keepends=True),
        f"a/{name}",
        f"b/{name}",
    )
    return "".join(lines)
