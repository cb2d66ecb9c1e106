"""Counting HTTP requests: which address, which status, how long until the answer began."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from server.metrics import Metrics

__all__ = ["Counting", "label"]

#: Stands for every address that there is not.
OTHER = "other"


class Counting:
    """ASGI middleware that counts each request once its answer begins, refused ones too.

    `paths` are the routes as they are declared: no label comes from a client.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, paths: Collection[str]) -> None:
        self._app = app
        self._metrics = metrics
        self._paths = frozenset(paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun = time.monotonic()
        route = label(scope["path"], self._paths)

        async def counted(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._metrics.request(route, message["status"], time.monotonic() - begun)
            await send(message)

        await self._app(scope, receive, counted)


def label(path: str, paths: Collection[str]) -> str:
    """Return the route that a path belongs to; its last part may stand for any."""
    if path in paths:
        return path
    parent = path.rpartition("/")[0]
    return next((one for one in paths if one.rpartition("/{")[:2] == (parent, "/{")), OTHER)
