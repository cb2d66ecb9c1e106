"""The route /mcp: the SDK's streamable HTTP transport behind our own gate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.transport_security import TransportSecuritySettings
from starlette.datastructures import QueryParams

from framework.errors import ConsilienceError
from server.http.responses import failed
from server.http.security import CALLER

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from starlette.types import Receive, Scope, Send

    from server.http.limits import Limits
    from server.surface import Surface

__all__ = ["McpEndpoint"]

_IDLE_SECONDS = 1_800.0
_SESSIONS = 1_000


class McpEndpoint:
    """An ASGI application for /mcp; a session serves only the caller that opened it.

    The transport's own checks of hosts and origins are off: the gate makes them for every route.
    """

    def __init__(self, surface: Surface, limits: Limits, *, sessions: bool) -> None:
        surface.streamable_http_app(
            stateless_http=not sessions,
            max_request_body_size=limits.body,
            session_idle_timeout=_IDLE_SECONDS,
            max_sessions=_SESSIONS,
            transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
        )
        self._surface = surface
        self._manager = surface.session_manager

    def running(self) -> AbstractAsyncContextManager[None]:
        """Open the application and serve until the context ends."""
        return self._manager.run()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; a wrong choice of tools is refused before anything else."""
        query = QueryParams(scope.get("query_string", b""))
        try:
            self._surface.selection.narrowed(query.get("tools"))
        except ConsilienceError as error:
            await failed(None, error)(scope, receive, send)
            return
        name = scope.get(CALLER)
        if name:
            token = AccessToken(token="", client_id=name, scopes=[])
            scope = {**scope, "user": AuthenticatedUser(token)}
        await self._manager.handle_request(scope, receive, send)
