"""Keys that have a successor: still read for two minor versions, with a warning that names it."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from framework.spec.problems import Fault
from framework.spec.source import Node

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["DEPRECATED", "rename_deprecated"]

_Path = tuple[str, ...]

#: Path of an old key to the name of its successor in the same map. Empty in version 1 of the
#: language; a line is added when a key is renamed and removed two minor versions later.
DEPRECATED: Mapping[_Path, str] = MappingProxyType({})


def rename_deprecated(
    root: Node, table: Mapping[_Path, str] = DEPRECATED
) -> tuple[Node, list[Fault]]:
    """Return the tree with old keys under their new names, and a warning for each of them.

    Where the new key stands there as well, the old one is left, so that it is reported as unknown.
    """
    faults = []
    for path, new in table.items():
        changed = _renamed(root, path, new)
        if changed is not None:
            root = changed
            hint = f'write "{new}" instead'
            at = (*path[:-1], new)
            faults.append(Fault(at, "W101", f'key "{path[-1]}" is deprecated', hint, key=True))
    return root, faults


def _renamed(node: Node, path: _Path, new: str) -> Node | None:
    if not isinstance(node.value, dict) or path[0] not in node.value:
        return None
    items = dict(node.value)
    if len(path) > 1:
        below = _renamed(items[path[0]], path[1:], new)
        if below is None:
            return None
        items[path[0]] = below
    elif new in items:
        return None
    else:
        items = {(new if key == path[0] else key): item for key, item in items.items()}
    return Node(items, node.mark, node.key)
