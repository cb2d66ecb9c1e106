"""Waiting for something to become true, bounded and without sleeping for luck."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["eventually"]


async def eventually(condition: Callable[[], bool], limit: float = 20) -> None:
    """Return as soon as the condition holds; raises TimeoutError after `limit` seconds."""
    async with asyncio.timeout(limit):
        while not condition():  # noqa: ASYNC110 - the condition has no event to wait for
            await asyncio.sleep(0.02)
