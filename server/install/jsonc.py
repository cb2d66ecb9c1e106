"""Editing JSON with comments in place: everything that is not changed keeps its very bytes.

Editors' settings files carry comments and trailing commas, and are laid out by their owners, so a
file is never parsed and written anew: one member of one object is inserted, replaced or removed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Member", "Node", "parse", "remove", "set_member"]

_SPACE = re.compile(r"(?:\s+|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_SCALAR = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null')
_DEEPEST = 100


@dataclass(slots=True)
class Node:
    """A value in a text: where it starts and ends, and the members of an object."""

    start: int
    end: int = 0
    members: list[Member] | None = None
    value: object = None


@dataclass(slots=True)
class Member:
    """One member of an object: its name, where the name starts, and its value."""

    name: str
    start: int
    node: Node = field(repr=False)


class _Reader:
    """A recursive reader of JSON with comments and trailing commas."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 1 if text.startswith("\ufeff") else 0

    def whole(self) -> Node:
        node = self._value(0)
        self._space()
        if self.at != len(self.text):
            raise self._wrong("something follows the value")
        return node

    def _space(self) -> None:
        found = _SPACE.match(self.text, self.at)
        self.at = found.end() if found else self.at

    def _peek(self) -> str:
        self._space()
        return self.text[self.at : self.at + 1]

    def _value(self, depth: int) -> Node:
        if depth > _DEEPEST:
            raise self._wrong("nested too deeply")
        first = self._peek()
        if first == "{":
            return self._object(depth)
        if first == "[":
            return self._array(depth)
        node = Node(self.at)
        node.value = self._scalar()
        node.end = self.at
        return node

    def _scalar(self) -> object:
        found = _SCALAR.match(self.text, self.at)
        if found is None:
            raise self._wrong("no value")
        self.at = found.end()
        try:
            value: object = json.loads(found[0])
        except ValueError:
            raise self._wrong("no value") from None
        return value

    def _object(self, depth: int) -> Node:
        node = Node(self.at, members=[], value={})
        members = node.members if node.members is not None else []
        self.at += 1
        while self._peek() != "}":
            start = self.at
            name = self._scalar()
            if not isinstance(name, str):
                raise self._wrong("a member's name must be text")
            if self._peek() != ":":
                raise self._wrong("a colon is missing")
            self.at += 1
            members.append(Member(name, start, self._value(depth + 1)))
            self._comma("}")
        self.at += 1
        node.end = self.at
        node.value = {member.name: member.node.value for member in members}
        return node

    def _array(self, depth: int) -> Node:
        node = Node(self.at)
        values: list[object] = []
        self.at += 1
        while self._peek() != "]":
            values.append(self._value(depth + 1).value)
            self._comma("]")
        self.at += 1
        node.end, node.value = self.at, values
        return node

    def _comma(self, closing: str) -> None:
        following = self._peek()
        if following == ",":
            self.at += 1
        elif following != closing:
            raise self._wrong(f"a comma or {closing} is missing")

    def _wrong(self, problem: str) -> InvalidInputError:
        line = self.text.count("\n", 0, self.at) + 1
        return InvalidInputError(f"line {line}: {problem}")


def parse(text: str) -> Node:
    """Read a text; raises InvalidInputError with the line of what is wrong."""
    return _Reader(text).whole()


def _object_at(text: str, path: Sequence[str]) -> tuple[Node, Sequence[str]]:
    """Return the deepest object on a path, and what of the path is missing."""
    node = parse(text)
    for depth, name in enumerate(path):
        if node.members is None:
            raise InvalidInputError(f"{'.'.join(path[:depth]) or 'the file'} is no object")
        found = next((member for member in node.members if member.name == name), None)
        if found is None:
            return node, path[depth:]
        node = found.node
    if node.members is None:
        raise InvalidInputError(f"{'.'.join(path)} is no object")
    return node, ()


def set_member(text: str, path: Sequence[str], name: str, value: object) -> str:
    """Return the text with `name` set to a value in the object at `path`, made where missing."""
    node, missing = _object_at(text, path)
    members = node.members or []
    if not missing:
        found = next((member for member in members if member.name == name), None)
        if found is not None:
            shown = _dump(value, _indent_at(text, found.start), _unit(text))
            return text[: found.node.start] + shown + text[found.node.end :]
        missing_name, missing_value = name, value
    else:
        missing_name = missing[0]
        missing_value = {name: value}
        for part in reversed(missing[1:]):
            missing_value = {part: missing_value}
    return _insert(text, node, missing_name, missing_value)


def _insert(text: str, node: Node, name: str, value: object) -> str:
    unit = _unit(text)
    outer = _indent_at(text, node.start)
    indent = _indent_at(text, node.members[0].start) if node.members else outer + unit
    member = f"{json.dumps(name)}: {_dump(value, indent, unit)}"
    if not node.members:
        return f"{text[: node.start]}{{\n{indent}{member}\n{outer}}}{text[node.end :]}"
    end = node.members[-1].node.end
    tail = _tail(text, end, node.end)
    comma = "" if tail else ","
    at = tail or end
    return f"{text[:at]}{comma}\n{indent}{member}{',' if tail else ''}{text[at:]}"


def _tail(text: str, start: int, end: int) -> int:
    """Return where a trailing comma after the last member ends, 0 if there is none."""
    found = _SPACE.match(text, start)
    at = found.end() if found else start
    return at + 1 if at < end and text[at] == "," else 0


def remove(text: str, path: Sequence[str], name: str) -> str:
    """Return the text without `name` in the object at `path`; unchanged where it is not there."""
    node, missing = _object_at(text, path)
    members = node.members or []
    at = next((i for i, member in enumerate(members) if member.name == name), None)
    if missing or at is None:
        return text
    member = members[at]
    if at + 1 < len(members):
        return text[: member.start] + text[members[at + 1].start :]
    end = _tail(text, member.node.end, node.end) or member.node.end
    start = members[at - 1].node.end if at else node.start + 1
    kept = "" if at else re.sub(r"\s+$", "", text[start : member.start])
    if at and text[start : member.start].replace(",", "", 1).strip():
        kept = text[start : member.start].replace(",", "", 1).rstrip()
    return text[:start] + kept + text[end:]


def _indent_at(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _unit(text: str) -> str:
    found = re.search(r"\n([ \t]+)", text)
    if found is None:
        return "  "
    return "\t" if found[1].startswith("\t") else found[1]


def _dump(value: object, indent: str, unit: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return ("\n" + indent).join(lines)
