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
        if fault.code == "E305" and ("kind",) in self.aside:
            return True
        return any(path[: len(at)] == at for path in self.aside)


def validate(root: Node) -> Validated:
    """Validate a tree; a part with a mistake is set aside and the others are still validated.

    A misspelt key is taken for the one that was probably meant, so that what stands below it is
    validated too and its absence is not another problem.
    """
    result = Validated(None, Places(root))
    for _ in range(_ROUNDS):
        try:
            result.spec = Spec.model_validate(plain(result.places.root))
        except ValidationError as error:
            _set_aside(result, faults_of(error, result.places.root))
        else:
            break
    return result


def _set_aside(result: Validated, faults: list[Fault]) -> None:
    places = result.places
    meant = _meant(faults, places)
    faults = [fault for fault in faults if _missing(fault, places) not in meant.values()]
    result.report(faults)
    paths = [_aside(fault, places) for fault in faults]
    gone = {path: None for path in paths if path not in meant}
    result.places = Places(_pruned(places.root, (), {**gone, **meant}) or places.root)
    result.aside += gone


def _meant(faults: list[Fault], places: Places) -> dict[_Path, _Path | None]:
    """Return the paths of misspelt keys with the paths that were probably meant."""
    meant: dict[_Path, _Path | None] = {}
    for fault in faults:
        at = places.node(fault.at)[1]
        target = (*at[:-1], fault.near)
        if fault.near and places.node(target)[1] != target and target not in meant.values():
            meant[at] = target
    return meant


def _missing(fault: Fault, places: Places) -> _Path:
    """Return the path of the key that a fault misses, or nothing."""
    if fault.code != "E102":
        return ()
    return (*places.node(fault.at)[1], fault.message.split('"')[1])


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
    missing = _missing(fault, places)
    return missing if missing in _STAND_INS else places.node(fault.at)[1]


def _pruned(node: Node, at: _Path, changes: Mapping[_Path, _Path | None]) -> Node | None:
    """Return a tree without the nodes at these paths, or with them at their new paths.

    A missing scalar is replaced by its stand-in.
    """
    if at and changes.get(at, at) is None:
        return Node(_STAND_INS[at], node.mark, node.key) if at in _STAND_INS else None
    if not any(path[: len(at)] == at for path in changes):
        return node
    if isinstance(node.value, dict):
        return Node(_pruned_map(node, node.value, at, changes), node.mark, node.key)
    if isinstance(node.value, list):
        listed = [_pruned(item, (*at, i), changes) for i, item in enumerate(node.value)]
        return Node([item for item in listed if item is not None], node.mark, node.key)
    return node


def _pruned_map(
    node: Node, items: Mapping[str, Node], at: _Path, changes: Mapping[_Path, _Path | None]
) -> dict[str, Node]:
    kept: dict[str, Node] = {}
    for key, item in items.items():
        path = (*at, key)
        below = _pruned(item, path, changes)
        if below is not None:
            kept[str((changes.get(path) or path)[-1])] = below
    for path in changes:
        if path[:-1] == at and path in _STAND_INS and path[-1] not in kept:
            kept[str(path[-1])] = Node(_STAND_INS[path], node.mark)
    return kept
