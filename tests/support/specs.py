"""Small engine files for tests: a good one, and ways to change it."""

from __future__ import annotations

from textwrap import dedent
from typing import TYPE_CHECKING

from framework.spec.compiler import Compiled, Engine, compile_source, compile_text
from framework.spec.source import Source, load_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.spec.problems import Problem

RETIRED = """\
schema: 1
id: retired
name: Retired
kind: web
status: deprecated
replaced_by: bing
request: {url: https://site.example/}
response: {format: html, rows: {each: li}, fields: {title: a, url: "a::attr(href)"}}
"""

GOOD = """\
schema: 1
id: plain
name: Plain
kind: web
inputs:
  region: {map: {en-US: us-en, de-DE: de-de}, default: wt-wt}
  time: {day: d, week: w}
  safe: {off: off, strict: strict}
request:
  url: https://www.example.org/search
  query: {q: "{{ query }}", r: "{{ region }}"}
paging: {by: offset, size: 10, first: 1, max: 5}
verdicts:
  - blocked: {status: 403}
  - empty: {css: .none}
response:
  format: html
  rows: {each: li.hit}
  fields:
    title: h2 a
    url: "h2 a::attr(href)"
"""


def spec_text(**parts: str) -> str:
    """Return the good file with whole top-level keys replaced, added, or removed by an empty text.

    A part is the YAML after its key's colon, on the same line or indented below it.
    """
    blocks = _blocks(GOOD)
    for key, value in parts.items():
        if value:
            text = dedent(value)
            blocks[key] = f"{key}:\n{_indent(text)}" if "\n" in text else f"{key}: {text}\n"
        else:
            blocks.pop(key, None)
    return "".join(blocks.values())


def _indent(text: str) -> str:
    return "".join(f"  {line}\n" for line in text.strip("\n").splitlines())


def _blocks(text: str) -> dict[str, str]:
    blocks: dict[str, str] = {}
    key = ""
    for line in text.splitlines(keepends=True):
        if not line.startswith((" ", "-")):
            key = line.partition(":")[0]
        blocks[key] = blocks.get(key, "") + line
    return blocks


def compiled(text: str, parents: Mapping[str, str] | None = None) -> Compiled:
    """Compile a text named plain.yaml, with parents given as texts."""
    known = parents or {}

    def find(name: str) -> Source | None:
        return load_text(known[name], f"{name}.yaml") if name in known else None

    return compile_source(load_text(text, "plain.yaml"), find)


def engine(text: str = GOOD) -> Engine:
    """Compile a text that is expected to be good."""
    return compile_text(text, "plain.yaml")


def problems(text: str, parents: Mapping[str, str] | None = None) -> tuple[Problem, ...]:
    """Return all problems of a text; each must say how to mend it."""
    found = compiled(text, parents).problems
    assert [str(item) for item in found if not item.hint] == []
    return found


def codes(text: str, parents: Mapping[str, str] | None = None) -> list[tuple[str, str]]:
    """Return code and path of each problem of a text."""
    return [(item.code, item.path) for item in problems(text, parents)]
