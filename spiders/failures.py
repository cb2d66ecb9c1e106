"""From a failed download to the error that a user meets, and to an engine's verdict."""

from __future__ import annotations

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
    DownloadTimeoutError,
    NotSupported,
    ResponseDataLossError,
)

from framework.errors import ConsilienceError, UnavailableError
from framework.types import Page, Verdict

__all__ = ["explained", "failed_page", "failure_code", "failure_verdict"]

#: Scrapy's exceptions without a code of their own, the more special ones first.
_CODES: tuple[tuple[type[Exception], str], ...] = (
    (DownloadTimeoutError, "timeout"),
    (CannotResolveHostError, "host_not_found"),
    (DownloadConnectionRefusedError, "connection_refused"),
    (ResponseDataLossError, "incomplete_answer"),
    (DownloadCancelledError, "cancelled"),
    (DownloadFailedError, "download_failed"),
    (NotSupported, "not_supported"),
)
#: Failures that the same call meets again, whenever it is made.
_FINAL = {
    "blocked_address",
    "body_too_large",
    "not_supported",
    "robots_refused",
    "too_many_redirects",
}
_HINTS = {
    "timeout": "allow more time or try again later",
    "host_not_found": "check the spelling of the address",
    "connection_refused": "check the address or try again later",
    "proxy_unavailable": "check the proxy with `consilience proxies --check`; nothing was sent "
    "without it",
    "blocked_address": "only public http and https addresses are fetched; an intranet can be "
    "allowed with CONSILIENCE_ALLOW_NETWORKS",
    "body_too_large": "ask for a smaller document or raise the limit",
    "too_many_redirects": "the site leads in a circle; try another address",
    "robots_refused": "the site's robots.txt asks not to fetch this; see CONSILIENCE_ROBOTS",
    "browser_unavailable": "install Chromium or set CONSILIENCE_CHROME_PATH",
}
_VERDICTS = {
    "timeout": Verdict.TIMEOUT,
    "proxy_unavailable": Verdict.PROXY_UNAVAILABLE,
    "blocked_address": Verdict.BLOCKED_ADDRESS,
}


def failure_code(error: Exception) -> str:
    """Return the stable code of a failed download: its own `code`, else that of its kind."""
    own = getattr(error, "code", None)
    if isinstance(own, str):
        return own
    return next((code for kind, code in _CODES if isinstance(error, kind)), "error")


def failure_verdict(code: str) -> Verdict:
    """Return the verdict on an engine whose request failed with this code."""
    return _VERDICTS.get(code, Verdict.ERROR)


def explained(error: Exception) -> ConsilienceError:
    """Return the user's error for a failed download; one of ours is returned unchanged."""
    if isinstance(error, ConsilienceError):
        return error
    code = failure_code(error)
    return UnavailableError(
        str(error) or type(error).__name__,
        code=code,
        hint=_HINTS.get(code, ""),
        retryable=code not in _FINAL,
    )


def failed_page(error: ConsilienceError) -> Page:
    """Return what an engine's page says where its request failed."""
    known = {verdict.value for verdict in Verdict}
    verdict = Verdict(error.code) if error.code in known else failure_verdict(error.code)
    return Page(verdict=verdict, detail=str(error), retry_after=error.retry_after)
