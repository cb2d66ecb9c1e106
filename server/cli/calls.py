"""Running one tool call from the command line."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from server.tools import select
from server.tools.base import Call, parse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from typing import TypeVar

    from server.app import Application
    from server.tools.base import Output

    T = TypeVar("T")

__all__ = ["call_tool", "run_with"]


def run_with(application: Application, work: Callable[[Application], Awaitable[T]]) -> T:
    """Open an application, do the work, close it; interrupts cancel the work."""

    async def opened() -> T:
        async with application:
            return await work(application)

    return asyncio.run(opened())


def call_tool(
    name: str, arguments: Mapping[str, object], application: Application | None = None
) -> Output:
    """Run one tool with JSON arguments and return its data; raises ConsilienceError."""
    from server.app import Application

    (tool,) = select((name,))
    given = parse(tool, arguments)

    async def work(app: Application) -> Output:
        reply = await tool.run(app, given, Call(caller="cli"))
        data: Output = reply.data
        return data

    return run_with(application or Application.create(), work)
