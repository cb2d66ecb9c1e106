"""`extends`: a child's tree laid over its parent's, every node still knowing its own file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from framework.spec.elements import CONDITIONS, SELECTORS, SOURCES
from framework.spec.problems import Problem, problem
from framework.spec.source import Node, Source

if TYPE_CHECKING:
    from collections.abc import Set

__all__ = ["MAX_PARENTS", "NOT_INHERITED", "Inherited", "Parents", "merge", "resolve"]

#: Finds a parent's file by its id; None where there is no such file.
Parents = Callable[[str], Source | None]

#: How many files may stand above one in a chain.
MAX_PARENTS = 3

#: Keys that describe one file and never its children.
NOT_INHERITED = frozenset({"id", "status", "tests", "extends", "replaced_by"})

#: Keys of which a map has exactly one: a child that names another replaces the whole map.
_EXCLUSIVE: tuple[Set[str], ...] = (
    frozenset(SOURCES),
    frozenset(CONDITIONS),
    frozenset(SELECTORS),
)
#: Where such maps stand: (parent key, depth below it).
_SINGLE = frozenset({"fields", "extras", "take"})
_ONE = frozenset({"each", "keep", "drop", "next", "token"})


@dataclass(slots=True)
class Inherited:
    """A merged tree, the ids of the parents from the nearest to the root, and problems."""

    root: Node | None
    parents: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)


def resolve(source: Source, parents: Parents) -> Inherited:
    """Merge a file with its parents; a null deletes, lists are replaced, maps are merged.

    A missing or broken parent, a cycle and a chain of more than three parents are problems
    at the `extends` that leads there.
    """
    if source.root is None:
        return Inherited(None, (), list(source.problems))
    chain, problems = _chain(source.root, parents)
    merged = chain[-1][1]
    for _, node in reversed(chain[:-1]):
        merged = merge(_heritage(merged), node)
    names = tuple(name for name, _ in chain[1:])
    return Inherited(merged, names, list(source.problems) + problems)


def _chain(root: Node, parents: Parents) -> tuple[list[tuple[str, Node]], list[Problem]]:
    own = root.child("id")
    chain = [(str(own.value) if own else "", root)]
    while (link := chain[-1][1].child("extends")) is not None and link.value is not None:
        name = str(link.value)
        fault = _fault(name, [seen for seen, _ in chain])
        if fault is None:
            parent = parents(name)
            if parent is not None and parent.root is not None:
                chain.append((name, parent.root))
                continue
            fault = ("E401", _missing(name, parent), "the parent stands in a file of that name")
        code, message, hint = fault
        return chain, [problem(link.mark, code, "extends", message, hint)]
    return chain, []


def _fault(name: str, seen: list[str]) -> tuple[str, str, str] | None:
    if name in seen:
        cycle = " → ".join([*seen[seen.index(name) :], name])
        return "E402", f"extends itself: {cycle}", "remove one of these links"
    if len(seen) > MAX_PARENTS:
        return "E402", f"has more than {MAX_PARENTS} parents above it", "extend a nearer parent"
    return None


def _missing(name: str, parent: Source | None) -> str:
    return f'parent "{name}" has problems of its own' if parent else f'parent "{name}" is not there'


def _heritage(node: Node) -> Node:
    if not isinstance(node.value, dict):
        return node
    kept = {key: item for key, item in node.value.items() if key not in NOT_INHERITED}
    return Node(kept, node.mark, node.key)


def merge(parent: Node, child: Node, at: tuple[str, ...] = ()) -> Node:
    """Lay a child's node over its parent's; `at` is the path of both."""
    if not (isinstance(parent.value, dict) and isinstance(child.value, dict)):
        return child
    if _replaces(parent.value, child.value, at):
        return child
    merged = dict(parent.value)
    for key, item in child.value.items():
        below = merged.pop(key, None) if item.value is None else merged.get(key)
        if item.value is not None:
            merged[key] = item if below is None else merge(below, item, (*at, key))
    return Node(merged, child.mark, child.key)


def _replaces(parent: dict[str, Node], child: dict[str, Node], at: tuple[str, ...]) -> bool:
    if at == ("paging",):
        return "by" in child and _text(child.get("by")) != _text(parent.get("by"))
    single = (len(at) > 1 and at[-2] in _SINGLE) or (bool(at) and at[-1] in _ONE)
    return single and any(child.keys() & keys for keys in _EXCLUSIVE)


def _text(node: Node | None) -> object:
    return node.value if node else None
