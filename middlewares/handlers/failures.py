"""How a fetch fails: Scrapy's own exceptions, with the stable code that users see."""

from __future__ import annotations

from scrapy.exceptions import (
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadFailedError,
)

__all__ = [
    "BodyTooLargeError",
    "BrowserUnavailableError",
    "MalformedAnswerError",
    "ProxyUnavailableError",
    "RenderBudgetError",
    "RenderFailedError",
]


class BodyTooLargeError(DownloadCancelledError):
    """Raised when a body outgrows its cap, counted after decompression; not retried."""

    code = "body_too_large"


class ProxyUnavailableError(DownloadConnectionRefusedError):
    """Raised when the proxy itself cannot be used: dead, refusing the login, talking nonsense.

    A retry goes through another member of the pool; nothing is ever sent without the proxy.
    """

    code = "proxy_unavailable"


class MalformedAnswerError(DownloadFailedError):
    """Raised when what came back is no HTTP answer, or one with oversized headers."""

    code = "malformed_answer"


class BrowserUnavailableError(DownloadCancelledError):
    """Raised when Chromium is not installed or does not start; not retried."""

    code = "browser_unavailable"


class RenderFailedError(DownloadFailedError):
    """Raised when the browser could not show the page."""

    code = "render_failed"


class RenderBudgetError(DownloadCancelledError):
    """Raised when a page needs more requests, bytes or time than a render may take; not retried."""

    code = "render_budget_exceeded"
