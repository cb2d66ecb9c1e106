"""Engine files as trees of marked nodes: YAML 1.2 core, nothing clever, every place known."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from framework.spec.problems import File, Mark, Problem, problem

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MAX_BYTES", "MAX_DEPTH", "Node", "Source", "load_file", "load_text", "plain", "shown"]

MAX_BYTES = 64 * 1024
MAX_DEPTH = 32

#: The parser in C where PyYAML was built with it: the same events, eight times faster.
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTHS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_INT = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEX = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_MARKUP = re.compile(
    r"\s*(?:<!doctype|<html|<head|<body|<\?xml|<!--|<script|<title)", re.IGNORECASE
)

#: Plain words for what the parser says, with the remedy; the first match holds.
_SYNTAX = (
    ("mapping values are not allowed", "a colon is not expected here",
     'quote a value that holds ": ", and check the indentation'),
    ("could not find expected ':'", "a key needs a colon and a space after it",
     'write "key: value"'),
    ("did not find expected <document start>", "this does not belong to the map above",
     "every key of a map starts in the same column"),
    ("did not find expected key", "a key is expected here",
     "every key of a map starts in the same column; inside quotes, double the quote"),
    ("did not find expected ',' or", "a comma or a closing bracket is missing",
     "close every [ and {, and quote values that hold , or brackets"),
    ("did not find expected '-' indicator", "an item of the list starts with a hyphen",
     'write "- value", all in the same column'),
    ("block sequence entries are not allowed", "a list item is not expected here",
     "put the list on its own lines, indented below its key"),
    ("unexpected end of stream", "a quote is not closed",
     "end the value with the quote that it starts with"),
    ("cannot start any token", "this character cannot start a value", "quote the value"),
    ("unknown escape character", "this backslash is no escape",
     "use single quotes for regular expressions"),
    ("control characters are not allowed", "a control character is not allowed",
     "delete it; an editor that shows invisible characters finds it"),
)  # fmt: skip


@dataclass(slots=True)
class Node:
    """A value with its place: a scalar, a map of nodes or a list of nodes.

    `key` is the place of the key that names this node, where a map holds it.
    """

    value: str | int | float | bool | dict[str, Node] | list[Node] | None
    mark: Mark
    key: Mark | None = None

    def child(self, name: str | int) -> Node | None:
        """Return the node below that key or index, or None."""
        if isinstance(self.value, dict):
            return self.value.get(str(name))
        if isinstance(self.value, list) and isinstance(name, int) and name < len(self.value):
            return self.value[name]
        return None


@dataclass(slots=True)
class Source:
    """A file that was read: its tree (None where it cannot be used) and its problems."""

    file: File
    root: Node | None = None
    problems: list[Problem] = field(default_factory=list)


def plain(node: Node) -> object:
    """Return a node's value without marks; a null in a map means that the key is absent."""
    if isinstance(node.value, dict):
        items = ((key, plain(item)) for key, item in node.value.items())
        return {key: value for key, value in items if value is not None}
    if isinstance(node.value, list):
        return [plain(item) for item in node.value]
    return node.value


def shown(path: Path) -> str:
    """Return a path as problems name it: from the working folder where it lies below it."""
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def load_file(path: Path) -> Source:
    """Read and parse a file; an unreadable one has that as its problem."""
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except OSError as error:
        hint = "check that it is there and may be read"
        return _failed(File(shown(path)), "E001", f"cannot be read: {error.strerror}", hint)
    return load_text(data, shown(path))


def load_text(text: str | bytes, path: str) -> Source:
    """Parse one document; every alias, anchor, tag and duplicate key is a problem of its own."""
    data = text.encode() if isinstance(text, str) else text
    if len(data) > MAX_BYTES:
        hint = "one file is one engine; the largest that ships is a tenth of that"
        return _failed(File(path), "E003", "is larger than 64 KiB", hint)
    try:
        decoded = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        hint = "save it as UTF-8"
        return _failed(File(path), "E008", "is not UTF-8 text", hint, line)
    file = File(path, tuple(decoded.splitlines()))
    if _MARKUP.match(decoded):
        hint = "it was probably saved from a browser: download the raw file instead"
        return _failed(file, "E002", "is a web page, not YAML", hint)
    return _parse(decoded, file)


def _failed(file: File, code: str, message: str, hint: str, line: int = 1) -> Source:
    return Source(file, None, [problem(Mark(file, line), code, "", f"the file {message}", hint)])


def _parse(text: str, file: File) -> Source:
    builder = _Builder(file)
    try:
        builder.run(yaml.parse(text, Loader=_LOADER))
    except yaml.MarkedYAMLError as error:
        builder.problems.append(_syntax(error, file))
    except yaml.YAMLError as error:
        builder.problems.append(problem(Mark(file), "E001", "", *_plain_words(str(error))))
    except _TooDeepError as error:
        message, hint = f"deeper than {MAX_DEPTH} levels", "an engine needs no more than a dozen"
        builder.problems.append(problem(error.mark, "E003", "", message, hint))
    usable = builder.root if not builder.problems else None
    return Source(file, usable, builder.problems)


def _syntax(error: yaml.MarkedYAMLError, file: File) -> Problem:
    place = error.problem_mark or error.context_mark
    mark = Mark(file, place.line + 1, place.column + 1) if place else Mark(file)
    mark = replace(mark, line=min(mark.line, max(1, len(file.lines))))
    before = mark.source[: len(mark.source) - len(mark.source.lstrip())]
    if "\t" in before:
        at = replace(mark, column=before.index("\t") + 1)
        return problem(at, "E001", "", "a tab indents this line", "YAML is indented with spaces")
    message, hint = _plain_words(str(error.problem))
    return problem(mark, "E001", "", message, hint)


def _plain_words(said: str) -> tuple[str, str]:
    for part, message, hint in _SYNTAX:
        if part in said:
            return message, hint
    return f"not YAML: {said}", "put quotes around text that holds : # [ ] { } or starts with @ ` %"


class _TooDeepError(Exception):
    def __init__(self, mark: Mark) -> None:
        super().__init__()
        self.mark = mark


class _Builder:
    """Builds the tree from parser events, so that nothing is expanded before it is refused."""

    def __init__(self, file: File) -> None:
        self.file = file
        self.problems: list[Problem] = []
        self.root: Node | None = None

    def run(self, events: Iterator[yaml.Event]) -> None:
        documents = 0
        for event in events:
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                node = self._node(next(events), events, 0)
                if documents == 1:
                    self.root = node
                else:
                    hint = "one file is one engine: remove the --- and what follows"
                    self._report(node.mark, "E007", "a second document is not allowed", hint)
                    return
        self._check_root()

    def _check_root(self) -> None:
        if self.root is None or self.root.value is None:
            hint = "start with schema: 1, or let `consilience engines new` propose a file"
            self._report(Mark(self.file), "E007", "the file is empty", hint)
        elif not isinstance(self.root.value, dict):
            self._report(
                self.root.mark, "E103", "the file must be a map of keys", "start with schema: 1"
            )

    def _report(self, mark: Mark, code: str, message: str, hint: str) -> None:
        self.problems.append(problem(mark, code, "", message, hint))

    def _mark(self, event: yaml.Event) -> Mark:
        start, end = event.start_mark, event.end_mark
        if start is None or end is None:
            return Mark(self.file)
        one_line = start.line == end.line and isinstance(event, yaml.ScalarEvent)
        width = end.column - start.column if one_line else 1
        return Mark(self.file, start.line + 1, start.column + 1, max(1, width))

    def _node(self, event: yaml.Event, events: Iterator[yaml.Event], depth: int) -> Node:
        mark = self._mark(event)
        if depth > MAX_DEPTH:
            raise _TooDeepError(mark)
        self._refuse(event, mark)
        if isinstance(event, yaml.MappingStartEvent):
            return Node(self._map(events, depth), mark)
        if isinstance(event, yaml.SequenceStartEvent):
            return Node(self._list(events, depth), mark)
        return Node(_scalar(event) if isinstance(event, yaml.ScalarEvent) else None, mark)

    def _refuse(self, event: yaml.Event, mark: Mark) -> None:
        if isinstance(event, yaml.AliasEvent):
            hint = "write the value out, or share it with extends"
            self._report(mark, "E004", f'alias "*{event.anchor}" is not allowed', hint)
            return
        anchor, tag = getattr(event, "anchor", None), getattr(event, "tag", None)
        if anchor:
            self._report(mark, "E004", f'anchor "&{anchor}" is not allowed', "remove it")
        if tag:
            self._report(mark, "E005", f'tag "{tag}" is not allowed', "remove it")

    def _list(self, events: Iterator[yaml.Event], depth: int) -> list[Node]:
        items = []
        for event in events:
            if isinstance(event, yaml.SequenceEndEvent):
                break
            items.append(self._node(event, events, depth + 1))
        return items

    def _map(self, events: Iterator[yaml.Event], depth: int) -> dict[str, Node]:
        items: dict[str, Node] = {}
        for event in events:
            if isinstance(event, yaml.MappingEndEvent):
                break
            key = self._key(event, events, depth)
            node = self._node(next(events), events, depth + 1)
            if key is None:
                continue
            name, mark = key
            if name in items:
                first = items[name].key or items[name].mark
                self._report(
                    mark, "E006", f'key "{name}" stands here twice', f"first on line {first.line}"
                )
            node.key = mark
            items[name] = node
        return items

    def _key(
        self, event: yaml.Event, events: Iterator[yaml.Event], depth: int
    ) -> tuple[str, Mark] | None:
        mark = self._mark(event)
        if isinstance(event, yaml.ScalarEvent):
            self._refuse(event, mark)
            return event.value, mark
        self._node(event, events, depth + 1)
        if not isinstance(event, yaml.AliasEvent):
            self._report(mark, "E009", "a key must be text", 'quote a value that starts with "{{"')
        return None


def _scalar(event: yaml.ScalarEvent) -> str | int | float | bool | None:
    """Resolve a scalar by the core schema of YAML 1.2: `off`, `no` and dates stay text."""
    text = event.value
    if event.style is not None and event.style != "":
        return str(text)
    if text in _NULLS:
        return None
    if text in _TRUTHS:
        return _TRUTHS[text]
    return _number(text)


def _number(text: str) -> str | int | float:
    if _INT.fullmatch(text):
        return int(text) if len(text) <= 19 else text
    if _OCTAL.fullmatch(text):
        return int(text[2:], 8)
    if _HEX.fullmatch(text):
        return int(text[2:], 16)
    return float(text) if _FLOAT.fullmatch(text) else text
