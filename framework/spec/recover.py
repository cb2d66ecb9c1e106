"""All problems of a file at once: what is wrong is set aside, and the rest is checked again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import ValidationError

from framework.spec.model import Spec
from framework.spec.places import Places
from framework.spec.source import Node, plain
from framework.spec.validation import faults_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.spec.problems import Fault, Problem

__all__ = ["Validated", "validate"]

_ROUNDS = 6
_Path = tuple[str | int, ...]

#: What stands in for a missing scalar, so that the rest of the file can still be checked.
_STAND_INS: Mapping[_Path, str | int] = {
    ("schema",): 1,
    ("id",): "unnamed",
    ("name",): "unnamed",
    ("kind",): "web",
    ("request", "url"): "https://unnamed.example.org/",
}
#: Variables that an entry of the file declares: what uses them follows from its being set aside.
_DECLARED_BY: Mapping[str, tuple[str, ...]] = {
    "paging": ("offset", "size"),
    "domains": ("include_domains",),
    "exclude_domains": ("exclude_domains",),
}


@dataclass(slots=True)
class Validated:
    """The models of a file, as far as they can be built, and the problems on the way there.

    `places` knows the tree that is left; `aside` the paths of what was set aside.
    """

    spec: Spec | None
    places: Places
    problems: list[Problem] = field(default_factory=list)
    aside: list[_Path] = field(default_factory=list)

    def report(self, faults: list[Fault]) -> None:
        """Add faults as problems, leaving out those that only follow from earlier ones."""
        for fault in faults:
            if not self._follows(fault):
                self.problems.extend(self.places.problems([fault]))

    def _follows(self, fault: Fault) -> bool:
        _, at = self.places.node(fault.at)
        if fault.code in ("E202", "E204", "W103"):
            return any(_declares(path, fault) for path in self.aside)
        return any(path[: len(at)] == at for path in self.aside)


def validate(root: Node) -> Validated:
    """Validate a tree; a part with a mistake is set aside and the others are still validated."""
    result = Validated(None, Places(root))
    for _ in range(_ROUNDS):
        tree = result.places.root
        try:
            result.spec = Spec.model_validate(plain(tree))
        except ValidationError as error:
            faults = faults_of(error, tree)
            result.report(faults)
            paths = [_aside(fault, result.places) for fault in faults]
            result.places = Places(_without(tree, paths))
            result.aside += paths
        else:
            break
    return result


def _declares(path: _Path, fault: Fault) -> bool:
    root = str(path[0])
    if root in ("keys", "settings", "session"):
        return f'"{root}.' in fault.message
    if root == "paging":
        return fault.word in _DECLARED_BY[root] or '"session.' in fault.message
    if root != "inputs":
        return False
    name = str(path[1]) if len(path) > 1 else ""
    return not name or fault.word in _DECLARED_BY.get(name, (name,))


def _aside(fault: Fault, places: Places) -> _Path:
    stand_in = (*fault.at, fault.message.split('"')[1]) if fault.code == "E102" else ()
    return stand_in if stand_in in _STAND_INS else places.node(fault.at)[1]


def _without(node: Node, paths: list[_Path]) -> Node:
    """Return a tree without the nodes at these paths, or with stand-ins in their place."""
    return _pruned(node, (), set(paths)) or Node({}, node.mark)


def _pruned(node: Node, at: _Path, paths: set[_Path]) -> Node | None:
    if at in paths and at:
        return Node(_STAND_INS[at], node.mark, node.key) if at in _STAND_INS else None
    if not any(path[: len(at)] == at for path in paths):
        return node
    if isinstance(node.value, dict):
        items = {key: _pruned(item, (*at, key), paths) for key, item in node.value.items()}
        kept = {key: item for key, item in items.items() if item is not None}
        missing = (path for path in paths if path[:-1] == at and path in _STAND_INS)
        kept |= {str(p[-1]): Node(_STAND_INS[p], node.mark) for p in missing if p[-1] not in kept}
        return Node(kept, node.mark, node.key)
    if isinstance(node.value, list):
        listed = [_pruned(item, (*at, i), paths) for i, item in enumerate(node.value)]
        return Node([item for item in listed if item is not None], node.mark, node.key)
    return node
