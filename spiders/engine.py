"""Spiders made of engine files: one class per engine, one run per question."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrapy import Spider

from framework.errors import InvalidInputError
from framework.spec.environment import disabled
from framework.types import Page, Query, SafeSearch, TimeRange, Verdict
from spiders.asking import Asking, planned
from spiders.bootstrap import Sessions
from spiders.exchange import engine_meta, http_response, scrapy_request
from spiders.failures import explained, failure_code, failure_verdict
from spiders.operator import operator_values

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from scrapy import Request
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from framework.spec.compiler import Engine
    from framework.types import HttpRequest, HttpResponse, Next, Row

__all__ = [
    "SAMPLE",
    "EngineSpider",
    "QuerySpider",
    "checkable",
    "engine_spider",
    "items",
    "slot",
]

Item = dict[str, object]
#: What `scrapy check` asks.
SAMPLE = Query(text="javascript tutorial")

_CONTRACT = """Read one answer of {name}.

        @engine
        @returns items 1
        @scrapes engine query page rank title url
        """


def items(page: Page, engine: str, query: str, number: int) -> Iterator[Item]:
    """Yield a page's rows as flat items: engine, query, page, rank, then the row's own fields."""
    for row in page.rows:
        yield {"engine": engine, "query": query, "page": number, **_flat(row)}


def _flat(row: Row) -> Item:
    own = {"rank": row.rank, "title": row.title, "url": row.url, "snippet": row.snippet}
    return {**own, **{k: list(v) if isinstance(v, tuple) else v for k, v in row.fields.items()}}


def _texts(query: str, queries: str) -> list[str]:
    try:
        listed = Path(queries).read_text(encoding="utf-8").splitlines() if queries else []
    except OSError as error:
        raise InvalidInputError(f"queries: {queries} cannot be read: {error.strerror}") from None
    return [text.strip() for text in (query, *listed) if text.strip()]


def _whole(text: str, name: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 100:
        raise InvalidInputError(f"{name} must be a number from 1 to 100, not {text!r}")
    return int(text)


#: Arguments of a run that narrow every question, and how each is read.
_FACETS: dict[str, Callable[[str], str]] = {
    "region": str,
    "language": str,
    "since": str,
    "time": TimeRange,
    "safe": SafeSearch,
}


def _facets(given: Mapping[str, str]) -> dict[str, str]:
    unknown = sorted(set(given) - set(_FACETS))
    if unknown:
        known = ", ".join(("query", "queries", "pages", *_FACETS))
        raise InvalidInputError(f"unknown argument {unknown[0]!r}", hint=f"known are {known}")
    try:
        return {name: _FACETS[name](text) for name, text in given.items()}
    except ValueError as problem:
        raise InvalidInputError(str(problem)) from None


class QuerySpider(Spider):
    """Asks engines questions; arguments `query`, `queries` (a file, one a line), `pages`.

    Also `region`, `language`, `time`, `safe` as in a search. Yields an item per row; an engine
    that blocks or fails is a warning in the log and a count in the statistics, never an item.
    """

    engines: tuple[Engine, ...] = ()

    def __init__(
        self,
        name: str | None = None,
        *,
        query: str = "",
        queries: str = "",
        pages: str = "1",
        **facets: str,
    ) -> None:
        super().__init__(name)
        narrowed: dict[str, Any] = _facets(facets)
        self.pages = _whole(pages, "pages")
        self.queries = [Query(text=text, **narrowed) for text in _texts(query, queries)]
        self._sessions = Sessions()

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first request for each question to each engine.

        Raises `InvalidInputError` where there is no question.
        """
        self.check()
        for query in self.queries:
            for engine in self.engines:
                request = await self._request(engine, query, None)
                if request is not None:
                    yield request

    def check(self) -> None:
        """Raise `InvalidInputError` where there is nothing to search for."""
        if not self.queries:
            raise InvalidInputError(
                "there is nothing to search for", hint="give -a query=TEXT or -a queries=FILE"
            )

    async def parse(
        self, response: Response, engine: Engine, query: Query, number: int
    ) -> AsyncIterator[Item | Request]:
        """Yield an answer's rows, then the request for the next page where one is wanted."""
        page = engine.read(http_response(response), number, query)
        self._note(engine, page)
        for item in items(page, engine.id, query.text, number):
            yield item
        if page.next is not None and page.verdict is Verdict.OK and number < self.pages:
            request = await self._request(engine, query, page.next)
            if request is not None:
                yield request

    def failed(self, failure: Failure) -> None:
        """Note a request that got no answer."""
        engine: Engine = failure.request.cb_kwargs["engine"]  # type: ignore[attr-defined]
        self._note_failure(engine, failure.value)

    async def _request(self, engine: Engine, query: Query, after: Next | None) -> Request | None:
        asking = Asking(
            engine=engine, query=query, variables=operator_values(engine), sessions=self._sessions
        )
        meta = engine_meta(engine, query, asking.variables)
        try:
            request = await planned(asking, lambda one: self._send(one, meta), after)
        except Exception as error:  # noqa: BLE001 - one engine's failure must not end the crawl
            self._note_failure(engine, error)
            return None
        if isinstance(request, Page):
            self._note(engine, request)
            return None
        number = after.page if after else query.page
        return scrapy_request(request, meta).replace(
            callback=self.parse,
            errback=self.failed,
            cb_kwargs={"engine": engine, "query": query, "number": number},
        )

    async def _send(self, request: HttpRequest, meta: Mapping[str, object]) -> HttpResponse:
        answer = await self.crawler.engine.download_async(scrapy_request(request, meta))
        return http_response(answer)

    def _note(self, engine: Engine, page: Page) -> None:
        self._tally(engine, page.verdict)
        if page.verdict is not Verdict.OK:
            self.logger.warning("%s: %s %s", engine.id, page.verdict, page.detail)

    def _note_failure(self, engine: Engine, error: BaseException | None) -> None:
        problem = explained(error) if isinstance(error, Exception) else error
        code = failure_code(problem) if isinstance(problem, Exception) else "error"
        self._tally(engine, failure_verdict(code))
        self.logger.warning("%s: %s: %s", engine.id, code, problem)

    def _tally(self, engine: Engine, verdict: Verdict) -> None:
        self.crawler.stats.inc_value(f"verdict/{engine.id}/{verdict}")


class EngineSpider(QuerySpider):
    """Base of the spiders made of engine files; `engine` is set on each class."""

    engine: Engine

    def __init__(self, name: str | None = None, **arguments: str) -> None:
        super().__init__(name, **arguments)
        self.engines = (self.engine,)


def engine_spider(engine: Engine) -> type[EngineSpider]:
    """Return the spider class of an engine: its name, its pace, its contract for `scrapy check`."""

    class Spider(EngineSpider):
        name = engine.id

        async def parse(
            self,
            response: Response,
            engine: Engine = engine,
            query: Query = SAMPLE,
            number: int = 1,
        ) -> AsyncIterator[Item | Request]:
            async for one in super().parse(response, engine, query, number):
                yield one

    Spider.engine = engine
    Spider.__name__ = Spider.__qualname__ = f"{engine.id.title().replace('-', '')}Spider"
    Spider.__doc__ = f"Asks {engine.name}."
    Spider.custom_settings = {"DOWNLOAD_SLOTS": {engine.id: slot(engine)}}
    Spider.parse.__doc__ = _CONTRACT.format(name=engine.name) if checkable(engine) else ""
    return Spider


def slot(engine: Engine) -> dict[str, float]:
    """Return how hard a crawl may ask this engine, as an entry of `DOWNLOAD_SLOTS`."""
    count, seconds = engine.limits.rate or (1, 0.0)
    return {
        "concurrency": engine.limits.concurrency or 4,
        "delay": seconds / count,
        "jitter": 0.5,
    }


def checkable(engine: Engine) -> bool:
    """Whether one request shows that an engine works: no session steps, nothing to configure."""
    return not engine.steps and not disabled(engine.spec, os.environ)
