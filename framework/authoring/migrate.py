"""From one version of the language to the next: edits of a file's text that keep its comments."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from framework.authoring.edits import Edit, apply_edits
from framework.spec.deprecations import DEPRECATED
from framework.spec.source import load_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from framework.spec.problems import Mark
    from framework.spec.source import Node

__all__ = ["CURRENT", "MIGRATIONS", "Migration", "migrate"]

#: The version of the language that this program writes.
CURRENT = 1

_Path = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Migration:
    """What changes from version `since` to the next one.

    `renamed` maps the path of a key to its new name; a part of a path may be `*`, for any key or
    item. `values` maps a path to new spellings of its value.
    """

    since: int
    renamed: Mapping[_Path, str] = field(default_factory=dict)
    values: Mapping[_Path, Mapping[str, str]] = field(default_factory=dict)


#: One entry for each version that has a successor; version 1 is the first.
MIGRATIONS: Mapping[int, Migration] = MappingProxyType({})


def migrate(
    text: str,
    migrations: Mapping[int, Migration] = MIGRATIONS,
    current: int = CURRENT,
    deprecated: Mapping[_Path, str] = DEPRECATED,
) -> str:
    """Return a file's text in the current version, comments and layout kept.

    Deprecated keys get their new names too. A text that is current, newer, or no engine file at
    all is returned as it is.
    """
    version = _version(text)
    if version is None:
        return text
    while version < current and version in migrations:
        text = _step(text, migrations[version])
        version += 1
    return _renamed(text, Migration(since=current, renamed=deprecated))


def _version(text: str) -> int | None:
    root = load_text(text, "").root
    node = root.child("schema") if root is not None else None
    return node.value if node is not None and isinstance(node.value, int) else None


def _step(text: str, migration: Migration) -> str:
    return _numbered(_renamed(text, migration), migration.since + 1)


def _renamed(text: str, migration: Migration) -> str:
    root = load_text(text, "").root
    if root is None:
        return text
    starts = _line_starts(text)
    edits: list[Edit] = []
    for path, new in migration.renamed.items():
        edits += [_edit(starts, node.key, new) for node in _at(root, path) if node.key]
    for path, spelling in migration.values.items():
        for node in _at(root, path):
            known = spelling.get(str(node.value))
            if known is not None:
                edits.append(_edit(starts, node.mark, known))
    return apply_edits(text, edits)


def _numbered(text: str, version: int) -> str:
    root = load_text(text, "").root
    node = root.child("schema") if root is not None else None
    if node is None:
        return text
    return apply_edits(text, [_edit(_line_starts(text), node.mark, str(version))])


def _at(node: Node, path: _Path) -> Iterator[Node]:
    """Yield the nodes at a path."""
    if not path:
        yield node
        return
    for name, child in _children(node):
        if path[0] in ("*", name):
            yield from _at(child, path[1:])


def _children(node: Node) -> Iterator[tuple[str, Node]]:
    if isinstance(node.value, dict):
        yield from node.value.items()
    elif isinstance(node.value, list):
        yield from ((str(index), item) for index, item in enumerate(node.value))


def _line_starts(text: str) -> Sequence[int]:
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    return starts


def _edit(starts: Sequence[int], mark: Mark, new: str) -> Edit:
    start = starts[mark.line - 1] + mark.column - 1
    return Edit(start, start + mark.width, new)
