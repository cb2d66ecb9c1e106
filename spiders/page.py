"""`scrapy crawl page`: many pages read into items, as Markdown or any other format."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from scrapy import Request, Spider

from framework.errors import InvalidInputError
from framework.reading import read
from framework.reading.projections import project
from spiders.exchange import PAGE_CAP
from spiders.failures import explained, failure_code

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from scrapy.http import Response
    from twisted.python.failure import Failure

__all__ = ["FORMATS", "PageSpider"]

FORMATS = ("markdown", "text", "headings", "links", "raw")
_MODES = ("http", "impersonate", "render")


class PageSpider(Spider):
    """Reads pages; arguments `urls` (a file, one a line), `url`, `format`, `mode`.

    robots.txt is obeyed unless `CONSILIENCE_ROBOTS` says otherwise. A page that fails is an item
    with its `error`; it never stops the others.
    """

    name = "page"
    #: No site is asked harder than by the service's own page fetches.
    custom_settings: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "CONCURRENT_REQUESTS_PER_DOMAIN": 6,
        "DOWNLOAD_DELAY": 0.1,
    }

    def __init__(
        self,
        name: str | None = None,
        *,
        url: str = "",
        urls: str = "",
        format: str = "markdown",  # noqa: A002 - the argument's name on the command line
        mode: str = "http",
    ) -> None:
        super().__init__(name)
        self.format = _one_of("format", format, FORMATS)
        self.mode = _one_of("mode", mode, _MODES)
        self.urls = _listed(url, urls)

    async def start(self) -> AsyncIterator[Request]:
        """Yield a request for each page; raises `InvalidInputError` where there is none."""
        self.check()
        for url in self.urls:
            yield Request(
                url,
                callback=self.parse,
                errback=self.failed,
                cb_kwargs={"asked": url},
                dont_filter=True,
                meta={
                    "fetch": self.mode,
                    "robots": "obey",
                    "refresh": True,
                    "jar": (self.name, None, url),
                    "download_maxsize": PAGE_CAP,
                },
            )

    def check(self) -> None:
        """Raise `InvalidInputError` where there is nothing to read."""
        if not self.urls:
            raise InvalidInputError(
                "there is nothing to read", hint="give -a url=URL or -a urls=FILE"
            )

    def parse(self, response: Response, asked: str) -> Iterator[dict[str, object]]:
        """Yield the page as one item."""
        headers = {k: ", ".join(v) for k, v in _headers(response).items()}
        document = read(response.body, response.url, headers)
        facts = {k: v for k, v in asdict(document.metadata).items() if v is not None}
        yield {
            "url": asked,
            "final_url": response.url,
            "status": response.status,
            **facts,
            "format": self.format,
            "content": project(document, self.format),
            "warnings": list(document.warnings),
            "fingerprint": document.fingerprint,
        }

    def failed(self, failure: Failure) -> Iterator[dict[str, object]]:
        """Yield what went wrong as an item."""
        asked: str = failure.request.cb_kwargs["asked"]  # type: ignore[attr-defined]
        problem = failure.value
        reason = explained(problem) if isinstance(problem, Exception) else problem
        code = failure_code(reason) if isinstance(reason, Exception) else "error"
        yield {"url": asked, "error": code, "message": str(reason)}


def _one_of(name: str, value: str, known: tuple[str, ...]) -> str:
    if value not in known:
        raise InvalidInputError(f"{name} must be one of {', '.join(known)}, not {value!r}")
    return value


def _listed(url: str, urls: str) -> list[str]:
    try:
        lines = Path(urls).read_text(encoding="utf-8").splitlines() if urls else []
    except OSError as error:
        raise InvalidInputError(f"urls: {urls} cannot be read: {error.strerror}") from None
    found = [text.strip() for text in (url, *lines) if text.strip()]
    for text in found:
        if not text.startswith(("http://", "https://")):
            raise InvalidInputError(f"{text!r} is no http or https address")
    return found


def _headers(response: Response) -> dict[str, list[str]]:
    return {
        name.decode("latin-1"): [value.decode("latin-1") for value in values]
        for name, values in response.headers.items()
    }
