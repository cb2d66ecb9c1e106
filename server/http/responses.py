"""How failures look over plain HTTP: the error envelope of the tools, with a fitting status."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from framework.errors import ConsilienceError, InvalidInputError, NotFoundError, UnavailableError
from server.tools.base import failure

if TYPE_CHECKING:
    from starlette.requests import Request

__all__ = ["failed", "not_found", "status_of"]

_STATUS: tuple[tuple[type[ConsilienceError], int], ...] = (
    (InvalidInputError, 400),
    (NotFoundError, 404),
    (UnavailableError, 503),
    (ConsilienceError, 502),
)


def status_of(error: ConsilienceError) -> int:
    """Return the status that an expected failure is answered with."""
    return next(status for kind, status in _STATUS if isinstance(error, kind))


def failed(_request: Request | None, error: Exception) -> JSONResponse:
    """Answer an expected failure."""
    if not isinstance(error, ConsilienceError):
        raise error
    info = failure(error)
    after = info.retry_after
    headers = {"Retry-After": str(max(1, round(after)))} if after is not None else None
    return JSONResponse({"error": info.model_dump(exclude_none=True)}, status_of(error), headers)


def not_found(_request: Request, _error: Exception | None) -> JSONResponse:
    """Answer for an address that is not there, or a document that is no longer."""
    error = {"code": "not_found", "message": "there is nothing here, or it has expired"}
    return JSONResponse({"error": error}, 404)
