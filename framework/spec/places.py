"""Where a fault stands: its path is walked down the tree as far as there are marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.spec.problems import Fault, Mark, Problem, problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framework.spec.source import Node

__all__ = ["Places", "dotted"]

#: Steps of a model's path that a file writes as the only key of a map.
_THROUGH = frozenset({"when", "argument", "verdict"})

_Path = tuple[str | int, ...]


class Places:
    """Finds the marks of one merged tree."""

    def __init__(self, root: Node) -> None:
        self.root = root

    def node(self, at: _Path) -> tuple[Node, _Path]:
        """Return the deepest node on a path and the part of the path that led to it."""
        node, found = self.root, []
        for part in at:
            child = _child(node, part)
            if child is None:
                continue
            node = child[1]
            found.append(child[0])
        return node, tuple(found)

    def mark(self, fault: Fault) -> Mark:
        """Return a fault's mark: the key's for a key, else the value's, narrowed to the word."""
        node, _ = self.node(fault.at)
        if fault.key and node.key is not None:
            return node.key
        return node.mark.narrowed(fault.word) if fault.word else node.mark

    def problems(self, faults: Iterable[Fault]) -> list[Problem]:
        """Return the faults as problems with their places."""
        return [self._problem(fault) for fault in faults]

    def _problem(self, fault: Fault) -> Problem:
        _, found = self.node(fault.at)
        path = dotted(found)
        return problem(self.mark(fault), fault.code, path, fault.message, fault.hint)


def _child(node: Node, part: str | int) -> tuple[str | int, Node] | None:
    below = node.child(part) if isinstance(part, int) or part not in _THROUGH else None
    if below is not None:
        return part, below
    if part in _THROUGH and isinstance(node.value, dict) and len(node.value) == 1:
        return next(iter(node.value.items()))
    return None


def dotted(path: _Path) -> str:
    """Write a path as people do: `verdicts[0].captcha.css`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text
