"""Starting the MCP server from the command line."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from server.config import Settings

__all__ = ["serve_stdio"]


def serve_stdio(
    settings: Settings | None = None,
    tools: Sequence[str] = (),
    first: bytes = b"",
    *,
    replay: bool = False,
) -> None:
    """Serve MCP on this process's pipes; `first` is input that was already read from them."""
    gc.disable()
    from server.app import Application
    from server.stdio import serve
    from server.surface import build

    application = Application.create(settings, replay=replay, watch=True)
    surface = build(application, tools or application.settings.tools)
    gc.collect()
    gc.freeze()
    gc.enable()
    asyncio.run(serve(surface, first))
