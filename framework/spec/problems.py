"""Problems of engine files: where, what and how to mend it, as text, JSON or CI annotations."""

from __future__ import annotations

import difflib
import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Literal

from framework.errors import SpecError

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = [
    "CODES",
    "Fault",
    "File",
    "Mark",
    "Problem",
    "SpecProblemsError",
    "nearest",
    "problem",
    "render_annotations",
    "render_json",
    "render_text",
    "suggest",
]

Severity = Literal["error", "warning"]

#: Every code, with what it stands for; E stops the engine, W does not.
CODES = {
    "E001": "not YAML",
    "E002": "an HTML page instead of YAML",
    "E003": "too large or too deep",
    "E004": "alias or anchor",
    "E005": "tag",
    "E006": "duplicate key",
    "E007": "not exactly one document",
    "E008": "not UTF-8 text",
    "E009": "key that is not text",
    "E101": "unknown key",
    "E102": "missing key",
    "E103": "value not allowed",
    "E104": "not exactly one source",
    "E201": "address not allowed",
    "E202": "unknown variable",
    "E203": "template not allowed",
    "E204": "variable out of reach",
    "E301": "selector",
    "E302": "regular expression",
    "E303": "filter",
    "E304": "source does not fit the format",
    "E305": "field not allowed for this kind",
    "E401": "parent not found or not usable",
    "E402": "chain of parents is too long or a cycle",
    "E501": "verdict can never be trusted",
    "E502": "test missing",
    "W101": "deprecated key",
    "W102": "deprecated engine",
    "W103": "input not declared",
}

#: More names than these are not listed in a hint; so many stand for them.
_MANY, _FEW = 40, 10


@dataclass(frozen=True, slots=True)
class File:
    """A file's name and lines, shared by all marks in it."""

    name: str
    lines: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a file: line and column count from 1, width in characters."""

    file: File
    line: int = 1
    column: int = 1
    width: int = 1

    @property
    def source(self) -> str:
        """The whole line."""
        inside = 0 < self.line <= len(self.file.lines)
        return self.file.lines[self.line - 1] if inside else ""

    def narrowed(self, word: str) -> Mark:
        """Return the mark of that word where it stands on this line, else this mark."""
        at = self.source.find(word, self.column - 1) if word else -1
        return Mark(self.file, self.line, at + 1, len(word)) if at >= 0 else self


@dataclass(frozen=True, slots=True, kw_only=True, order=True)
class Problem:
    """One thing to mend; sorts by place. `source` is the line it stands on."""

    file: str
    line: int
    column: int
    code: str
    path: str
    message: str
    hint: str
    severity: Severity = "error"
    width: int = 1
    source: str = ""

    def __str__(self) -> str:
        where = f"{self.path}: " if self.path else ""
        return f"{self.file}:{self.line}:{self.column}: {where}{self.message}"


@dataclass(frozen=True, slots=True)
class Fault:
    """A problem that knows its path in the file but not yet its place.

    `word` narrows the place to a part of the value's line; `key` puts it at the key; `near` is
    the name that was probably meant, where the problem is an unknown one.
    """

    at: tuple[str | int, ...]
    code: str
    message: str
    hint: str
    word: str = ""
    key: bool = False
    near: str = ""


class SpecProblemsError(SpecError):
    """An engine file cannot be used; raised by the compiler with every problem of the file."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        first = self.problems[0]
        more = len(self.problems) - 1
        hint = first.hint + (f" (and {more} more)" if more else "")
        super().__init__(str(first), hint=hint.strip())


def problem(mark: Mark, code: str, path: str, message: str, hint: str) -> Problem:
    """Make the problem of that code at a mark; the code's letter is its severity."""
    return Problem(
        file=mark.file.name,
        line=mark.line,
        column=mark.column,
        width=max(1, mark.width),
        code=code,
        path=path,
        message=message,
        hint=hint,
        severity="warning" if code.startswith("W") else "error",
        source=mark.source,
    )


def suggest(word: str, names: Iterable[str], label: str = "allowed") -> str:
    """Return a hint that offers the nearest name and lists what is allowed.

    Of very many names only the nearest are offered, or the first ones where none is near.
    """
    known = list(names)
    near = _near(word, known)
    if len(known) > _MANY:
        few = known[:_FEW]
        rest = f"{label}: {', '.join(few)}, … ({len(known)} in all)"
        return f"did you mean {' or '.join(map(_quoted, near))}?" if near else rest
    listed = f"{label}: {', '.join(known)}" if known else f"{label}: nothing"
    return f"did you mean {_quoted(near[0])}? {listed}" if near else listed


def _quoted(name: str) -> str:
    return f'"{name}"'


def _near(word: str, names: Iterable[str]) -> list[str]:
    return difflib.get_close_matches(word.lower(), list(names), n=3, cutoff=0.6)


def nearest(word: str, names: Iterable[str]) -> str:
    """Return the name that was probably meant, or nothing where none is near."""
    return next(iter(_near(word, names)), "")


def render_text(problems: Iterable[Problem]) -> str:
    """Render problems with their line, a caret below it and the hint, sorted by place."""
    return "\n".join(_block(item) for item in sorted(problems))


def _block(item: Problem) -> str:
    severity = "warning " if item.severity == "warning" else ""
    lines = [f"{item} [{severity}{item.code}]"]
    if item.source:
        number = f"{item.line:>6} | "
        lines += [number + item.source, f"{'':>6} | {_caret(item)}"]
    if item.hint:
        lines.append(f"  hint: {item.hint}")
    return "\n".join(lines)


def _caret(item: Problem) -> str:
    before = item.source[: item.column - 1]
    room = max(1, len(item.source) - len(before))
    return "".join("\t" if c == "\t" else " " for c in before) + "^" * min(item.width, room)


def render_json(problems: Iterable[Problem]) -> str:
    """Render problems as a JSON list of objects, sorted by place."""
    return json.dumps([asdict(item) for item in sorted(problems)], ensure_ascii=False, indent=2)


def render_annotations(problems: Iterable[Problem]) -> str:
    """Render problems as the workflow commands that CI services show beside the line."""
    return "\n".join(_annotation(item) for item in sorted(problems))


def _annotation(item: Problem) -> str:
    place = {
        "file": item.file,
        "line": item.line,
        "col": item.column,
        "endColumn": item.column + item.width,
        "title": item.code,
    }
    properties = ",".join(f"{key}={_escape(str(value), True)}" for key, value in place.items())
    text = f"{item.path}: {item.message}" if item.path else item.message
    text += f"\nhint: {item.hint}" if item.hint else ""
    return f"::{item.severity} {properties}::{_escape(text, False)}"


def _escape(text: str, is_property: bool) -> str:
    text = text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return text.replace(":", "%3A").replace(",", "%2C") if is_property else text
