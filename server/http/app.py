"""The HTTP server: MCP at /mcp, and beside it downloads, health, metrics and plain HTTP search.

Every request passes the gate before any route sees it (host, origin, token, then limits).
"""

from __future__ import annotations

import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from framework.errors import ConsilienceError
from server.health import examine, health_metrics
from server.http import plain
from server.http.counting import Counting
from server.http.limits import BodyLimit, CallerLimit, Ending, Limits
from server.http.mcp import McpEndpoint
from server.http.responses import failed
from server.http.security import CALLER, Gate
from server.metrics import CONTENT_TYPE
from server.status import POLICY, render_status
from server.version import VERSION
from server.web.routes import missing, routes
from server.worker_metrics import WorkerMetrics

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from starlette.requests import Request

    from server.http.security import Access
    from server.surface import Surface

__all__ = ["http_app"]

#: The page has no scripts and fetches nothing; nobody else may frame it.
_PAGE_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
}
_CORS_HEADERS = (
    "Accept",
    "Authorization",
    "Content-Type",
    "Last-Event-ID",
    "MCP-Protocol-Version",
    "Mcp-Method",
    "Mcp-Name",
    "Mcp-Session-Id",
)


def http_app(
    surface: Surface,
    access: Access,
    limits: Limits | None = None,
    *,
    sessions: bool = True,
    counters: Path | None = None,
) -> Starlette:
    """Build the ASGI application around an MCP server.

    Its lifespan opens the application behind the surface. `sessions` False serves handshake-era
    clients without sessions, so that any worker process can answer each of their requests.
    `counters` is the folder where worker processes share what they count.
    """
    limits = limits or Limits()
    endpoint = McpEndpoint(surface, limits, sessions=sessions)
    metrics = surface.application.metrics
    shared = WorkerMetrics(metrics, counters) if counters else None

    @contextlib.asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with shared.publishing() if shared else contextlib.nullcontext(), endpoint.running():
            yield

    served = [
        Route("/mcp", endpoint),
        Route("/healthz", _healthz),
        Route("/metrics", _metrics),
        Route("/status", _status),
        Route("/download/{id}", _download),
        Route("/search", plain.search),
        Route("/read", plain.read),
        Route("/openapi.json", plain.openapi),
        *routes(access),
    ]
    counting = Middleware(Counting, metrics=metrics, paths=[route.path for route in served])
    app = Starlette(
        routes=served,
        middleware=[counting, *_middleware(access, limits)],
        exception_handlers={404: missing, 405: _wrong_method, ConsilienceError: failed},
        lifespan=lifespan,
    )
    app.state.application = surface.application
    app.state.counted = shared or metrics
    return app


def _middleware(access: Access, limits: Limits) -> list[Middleware]:
    cors = Middleware(
        CORSMiddleware,
        allow_origins=sorted(access.origins),
        allow_methods=["GET", "POST", "DELETE"],
        allow_headers=_CORS_HEADERS,
        expose_headers=["Mcp-Session-Id", "Retry-After", "WWW-Authenticate"],
    )
    return [
        Middleware(Ending),
        *([cors] if access.origins else []),
        Middleware(BodyLimit, limits=limits),
        Middleware(Gate, access=access),
        Middleware(CallerLimit, limits=limits),
    ]


async def _healthz(_request: Request) -> Response:
    return JSONResponse({"status": "ok", "version": VERSION}, headers={"Cache-Control": "no-store"})


async def _metrics(request: Request) -> Response:
    state = request.app.state
    text = state.counted.text() + health_metrics(state.application)
    return Response(text, headers={"Content-Type": CONTENT_TYPE})


async def _status(request: Request) -> Response:
    engines = examine(request.app.state.application, offline=False)
    return HTMLResponse(render_status(engines, datetime.now(UTC), home="/"), headers=_PAGE_HEADERS)


async def _download(request: Request) -> Response:
    application = request.app.state.application
    kept = application.reports.get(request.path_params["id"], request.scope.get(CALLER))
    if kept is None:
        return await missing(request, None)
    return Response(
        kept.body,
        media_type=kept.media_type,
        headers={
            "Content-Disposition": f'attachment; filename="{kept.name}"',
            "X-Content-Type-Options": "nosniff",
            "Cache-Control": "private, no-store",
        },
    )


async def _wrong_method(_request: Request, error: Exception) -> Response:
    body = {"error": {"code": "method_not_allowed", "message": "this address has other methods"}}
    return JSONResponse(body, 405, headers=getattr(error, "headers", None))
