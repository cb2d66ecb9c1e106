"""A healing as changes of files: of the engine's own, or of the parent's that says the thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.authoring.edits import has_path, set_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from framework.authoring.heal import Change

__all__ = ["patched"]


def patched(texts: Mapping[str, str], changes: Sequence[Change]) -> dict[str, str]:
    """Return the files that change, with their new texts.

    `texts` are an engine's file and its parents' by name, its own first. A change is made in the
    nearest file that says the thing; what no file says is added to the nearest that can hold it.
    """
    now = dict(texts)
    for change in changes:
        if change.new is None:
            continue
        name = _place(now, change.path)
        now[name] = set_value(now[name], change.path, change.new)
    return {name: text for name, text in now.items() if text != texts[name]}


def _place(texts: Mapping[str, str], path: tuple[str, ...]) -> str:
    for part in (path, path[:-1]):
        for name, text in texts.items():
            if has_path(text, part):
                return name
    return next(iter(texts))
