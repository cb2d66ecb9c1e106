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

    from framework.types import Page

__all__ = ["DiscreetFormatter"]


class DiscreetFormatter(LogFormatter):
    """Logs requests by their host alone: an address carries the query, and sometimes a key."""

    def crawled(self, request: Request, response: Response, spider: Spider) -> LogFormatterResult:
        """Say which host or engine answered, and how."""
        page: Page | None = request.meta.get("page")
        status = response.status if page is None else page.verdict
        return {
            "level": logging.DEBUG,
            "msg": "%(host)s answered %(status)s",
            "args": {"host": urlsplit(request.url).hostname, "status": status},
        }

    def scraped(
        self, item: object, response: Response | Failure | None, spider: Spider
    ) -> LogFormatterResult:
        """Say which engine or page an item came from."""
        source = getattr(response, "url", None)
        return {
            "level": logging.DEBUG,
            "msg": "%(host)s gave %(item)s",
            "args": {"host": urlsplit(source).hostname if source else spider.name, "item": item},
        }

    def spider_error(
        self, failure: Failure, request: Request, response: Response | Failure, spider: Spider
    ) -> LogFormatterResult:
        """Say whose answer the spider could not work on."""
        return {
            "level": logging.ERROR,
            "msg": "%(spider)s failed on an answer of %(host)s",
            "args": {"spider": spider.name, "host": urlsplit(request.url).hostname},
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
