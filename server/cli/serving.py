"""Starting the MCP server from the command line."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from server.config import Settings
    from server.instant import Front

__all__ = ["serve_http", "serve_stdio"]


def serve_stdio(
    settings: Settings | None,
    tools: Sequence[str],
    front: Front,
    *,
    replay: bool = False,
) -> None:
    """Serve MCP on this process's pipes, after what `front` answers while this loads."""
    gc.disable()
    from server.app import Application
    from server.selection import Selection
    from server.stdio import serve
    from server.surface import build

    application = Application.create(settings, replay=replay, watch=True)
    surface = build(application, Selection(tools or application.settings.tools))
    gc.collect()
    gc.freeze()
    gc.enable()
    asyncio.run(serve(surface, front.finish()))


def serve_http(
    overrides: Mapping[str, object],
    tools: Sequence[str] = (),
    *,
    workers: int = 1,
    replay: bool = False,
) -> None:
    """Serve MCP and plain HTTP until the process is told to end."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, _leave)
    from server.http.serving import Plan, run

    given = {name: value for name, value in overrides.items() if value is not None}
    run(Plan(overrides=given, tools=tuple(tools), workers=workers, replay=replay))


def _leave(_number: int, _frame: object) -> None:
    """End at once: nothing is open before the server's own handlers take over."""
    os._exit(0)
