"""Who a call comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from server.http.security import CALLER

if TYPE_CHECKING:
    from mcp.server.context import ServerRequestContext

__all__ = ["caller_of", "token_name"]

#: What counts of a client's name, which it chooses itself and settings are kept under.
_LONGEST = 200


def caller_of(context: ServerRequestContext[Any, Any]) -> str:
    """Return the name of the call's token; without one the client's name, else `default`."""
    named = token_name(context)
    if named:
        return named
    params = context.session.client_params
    client = params.client_info.name[:_LONGEST] if params else ""
    return client or "default"


def token_name(context: ServerRequestContext[Any, Any]) -> str | None:
    """Return the name of the token that an HTTP call bears, or None."""
    scope = getattr(context.request, "scope", None) or {}
    found = scope.get(CALLER)
    return found if isinstance(found, str) else None
