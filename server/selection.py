"""Which tools are shown: the operator's choice, on HTTP a connection's own (`/mcp?tools=a,b`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from framework.errors import InvalidInputError
from server import tools

if TYPE_CHECKING:
    from collections.abc import Sequence

    from server.tools.base import Tool

__all__ = ["COMPACT", "Selection"]

#: The name of the one tool of the compact surface, and the word that chooses that surface.
COMPACT = "web"
_COMPACT_WORD = "compact"
_FULL_WORD = "full"


class Selection:
    """The tools that may be called, and those that are shown to who asks for nothing else.

    `chosen` are tool names, or the single word `compact` (one router tool) or `full`; nothing
    means all. Raises InvalidInputError for an unknown name.
    """

    def __init__(self, chosen: Sequence[str] = ()) -> None:
        words = [word for word in chosen if word not in (_COMPACT_WORD, _FULL_WORD)]
        self.offered: tuple[Tool[Any, Any], ...] = tools.select(words)
        self._names = tuple(tool.name for tool in self.offered)
        self._compact = _COMPACT_WORD in chosen

    @property
    def shown(self) -> frozenset[str]:
        """The names that are published where a connection chooses nothing."""
        return frozenset((COMPACT,) if self._compact else self._names)

    def narrowed(self, wanted: str | None) -> frozenset[str]:
        """Return what a connection shows that asks for `wanted` (comma-separated, as `chosen`).

        It can name no tool that the operator left out.

        Raises:
            InvalidInputError: an unknown name, or one that this server doesn't offer.
        """
        names = [name.strip() for name in (wanted or "").split(",") if name.strip()]
        if not names:
            return self.shown
        if _COMPACT_WORD in names:
            return frozenset({COMPACT})
        if _FULL_WORD in names:
            return frozenset(self._names)
        for name in tools.select(names):
            if name.name not in self._names:
                raise InvalidInputError(
                    f"the tool {name.name!r} is not offered here",
                    hint=f"offered: {', '.join(self._names)}",
                )
        return frozenset(names)
