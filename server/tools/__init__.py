"""The contract's tools, one file each, and how some of them are chosen."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from framework.errors import InvalidInputError
from server.tools import (
    engines,
    fetch_json,
    links,
    sampling,
    search_deep,
    web_context,
    web_extract,
    web_fetch,
    web_research,
    web_search,
    web_verify,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from server.tools.base import Tool

__all__ = ["ALL", "select"]

#: Every tool, in the order in which it is published.
ALL: tuple[Tool[Any, Any], ...] = (
    web_search.TOOL,
    web_fetch.TOOL,
    links.TOOL,
    fetch_json.TOOL,
    search_deep.TOOL,
    web_context.TOOL,
    web_research.TOOL,
    web_verify.TOOL,
    web_extract.TOOL,
    engines.GET,
    engines.SET,
    sampling.GET,
    sampling.SET,
)


def select(names: Sequence[str]) -> tuple[Tool[Any, Any], ...]:
    """Return the named tools in publishing order, all of them for no names.

    Raises:
        InvalidInputError: for a name that is no tool, with the nearest one.
    """
    known = [tool.name for tool in ALL]
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"tools: {', '.join(known)}"
            raise InvalidInputError(f"--tools: unknown tool {name!r}", hint=hint)
    return tuple(tool for tool in ALL if not names or tool.name in names)
