"""What Scrapy may write into the log: hosts and outcomes, never the query inside an address."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy.logformatter import LogFormatter, LogFormatterResult

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http import Response
    from twisted.python.failure import Failure

__all__ = ["DiscreetFormatter"]


class DiscreetFormatter(LogFormatter):
    """Logs a finished request by its host and status alone."""

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult:
        """Say which host answered, and how."""
        return {
            "level": logging.DEBUG,
            "msg": "%(host)s answered %(status)s",
            "args": {"host": urlsplit(request.url).hostname, "status": response.status},
        }

    def download_error(
        self, failure: Failure, request: Request, spider: Spider, errmsg: str | None = None
    ) -> LogFormatterResult:
        """Say which host failed, and why."""
        return {
            "level": logging.WARNING,
            "msg": "%(host)s failed: %(reason)s",
            "args": {
                "host": urlsplit(request.url).hostname,
                "reason": errmsg or failure.getErrorMessage(),
            },
        }
