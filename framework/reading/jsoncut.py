"""Cutting JSON to a size without breaking it: whole elements go, the last ones first."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framework.reading.document import Json

__all__ = ["cut", "size"]


def size(value: Json) -> int:
    """Return the bytes that a value takes as compact UTF-8 JSON."""
    return len(_text(value).encode())


def _text(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def cut(value: Json, most: int) -> tuple[Json, bool]:
    """Return a value that takes at most `most` bytes, and whether something was left out.

    Lists lose whole elements from their end, objects lose members from theirs; a member that is
    itself a list or an object is cut in the same way; a value that is a text loses characters from
    its end. Numbers and other atoms are never cut. The cost is linear in the value.
    """
    if size(value) <= most:
        return value, False
    if isinstance(value, str):
        return _cut_text(value, most), True
    if isinstance(value, list):
        return _cut_list(value, most), True
    if isinstance(value, dict):
        return _cut_object(value, most), True
    return value, False


def _cut_text(value: str, most: int) -> str:
    room = max(0, most - 2)
    kept = value.encode()[:room].decode("utf-8", "ignore")
    while kept and size(kept) > most:
        kept = kept[: len(kept) * most // (size(kept) + 1)]
    return kept


def _cut_list(value: list[Json], most: int) -> list[Json]:
    kept: list[Json] = []
    room = most - 2
    for item in value:
        need = size(item) + (1 if kept else 0)
        if need > room:
            break
        kept.append(item)
        room -= need
    return kept


def _cut_object(value: dict[str, Json], most: int) -> dict[str, Json]:
    kept: dict[str, Json] = {}
    room = most - 2
    for name, item in value.items():
        frame = size(name) + 1 + (1 if kept else 0)
        need = frame + size(item)
        if need > room:
            part = _part(item, room - frame)
            return kept if part is None else {**kept, name: part}
        kept[name] = item
        room -= need
    return kept


def _part(item: Json, room: int) -> Json:
    """A piece of a member that is a container, or None where none is worth it."""
    if room < 16 or not isinstance(item, (list, dict)):
        return None
    part, _ = cut(item, room)
    return part or None
