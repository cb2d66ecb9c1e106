"""Engine files as text, in the style of the files that come with the program."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from framework.spec.source import load_text, plain

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["inline", "render"]

_WIDTH = 110
_PLAIN = re.compile(r"[A-Za-z0-9_./][\w ./+()=-]*", re.ASCII)


def render(data: Mapping[str, object], indent: int = 0) -> str:
    """Return a map as YAML: what fits on a line in flow style, the rest indented below its key."""
    lines: list[str] = []
    pad = " " * indent
    for key, value in data.items():
        name = scalar(key)
        short = f"{pad}{name}: {inline(value)}"
        if len(short) <= _WIDTH and not _wants_lines(value, indent):
            lines.append(short)
        elif isinstance(value, dict):
            lines += [f"{pad}{name}:", render(value, indent + 2)]
        elif isinstance(value, list | tuple):
            lines += [f"{pad}{name}:", *(f"{pad}  - {_item(item)}" for item in value)]
        else:
            lines.append(short)
    return "\n".join(lines)


def _item(value: object) -> str:
    """Return an item of a block list; a map of one key needs no braces."""
    if isinstance(value, dict) and len(value) == 1:
        key, only = next(iter(value.items()))
        return f"{scalar(key)}: {inline(only)}"
    return inline(value)


def _wants_lines(value: object, indent: int) -> bool:
    """Whether a value reads better on lines of its own although it would fit on one."""
    if indent == 0 and isinstance(value, list):
        return True
    nested = isinstance(value, dict) and any(isinstance(v, dict | list) for v in value.values())
    return nested and indent <= 2 and len(value) > 1 if isinstance(value, dict) else False


def inline(value: object) -> str:
    """Return a value in flow style on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(k)}: {inline(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(inline(item) for item in value) + "]"
    return scalar(value)


def scalar(value: object) -> str:
    """Return a scalar that reads back as the same value, plain where that is safe."""
    if not isinstance(value, str):
        return json.dumps(value)
    if _PLAIN.fullmatch(value) and value == value.strip() and _same(value):
        return value
    if "\\" in value and "'" not in value and value.isprintable():
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)


def _same(text: str) -> bool:
    root = load_text(f"a: {text}\n", "").root
    return root is not None and plain(root) == {"a": text}
