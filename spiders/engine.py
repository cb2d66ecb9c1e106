"""Spiders made of engine files: one class per engine, one run per question."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from scrapy import Request, Spider
from scrapy.exceptions import IgnoreRequest

from framework.errors import ConsilienceError, InvalidInputError
from framework.merge.search import foreign
from framework.spec.context import Variables
from framework.spec.environment import disabled, setting_values
from framework.types import Page, Query, SafeSearch, TimeRange, Verdict
from spiders.bootstrap import Sessions
from spiders.exchange import http_response
from spiders.failures import failed_page
from spiders.progress import Progress
from spiders.search import search_engine, transfer

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterator, Mapping

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from twisted.python.failure import Failure

    from framework.spec.compiler import Engine
    from framework.types import Next, Row

__all__ = [
    "SAMPLE",
    "EngineSpider",
    "QuerySpider",
    "checkable",
    "engine_spider",
    "items",
]

Item = dict[str, object]
#: Verdicts without a question to the engine: a later run with the same `JOBDIR` asks it.
_UNASKED = frozenset({Verdict.DISABLED, Verdict.RESTING})
#: Questions of a crawl that are under way at once, where the engine's file says nothing.
_CONCURRENCY = 4
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

    Also `region`, `language`, `time`, `safe` as in a search. Yields an item per row. An engine
    that blocks or fails is a warning in the log and a count in the statistics; with `queries` it
    is an item as well, whose `error` is the verdict, so that no question is lost without a word.
    With a `JOBDIR` questions that an earlier run finished are not asked again.
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
        self.tells_errors = bool(queries)
        self.progress = Progress()
        self._sessions = Sessions()

    @classmethod
    def from_crawler(cls, crawler: Crawler, *args: Any, **kwargs: Any) -> Self:  # noqa: ANN401
        """Build the spider; it goes on where an earlier run with the same `JOBDIR` stopped."""
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.progress = Progress.from_settings(crawler.settings)
        return spider

    async def start(self) -> AsyncIterator[Request]:
        """Yield the first request for each question to each engine that is not done yet.

        Raises `InvalidInputError` where there is no question.
        """
        self.check()
        for query in self.queries:
            for engine in self.engines:
                if self.progress.has(engine.id, query):
                    continue
                page = self.progress.pages(engine.id, query) + 1
                if page <= self.pages:
                    yield self.request(engine, replace(query, page=page))

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
        page = response.meta.get("page") or engine.read(http_response(response), number, query)
        for item in items(page, engine.id, query.text, number):
            yield item
        for told in self._note(engine, query, number, page):
            yield told
        if page.next is not None and page.verdict is Verdict.OK and number < self.pages:
            self.progress.add(engine.id, query, number)
            yield self.request(engine, query, page.next)
        elif number > query.page or page.verdict not in _UNASKED:
            self.progress.add(engine.id, query)

    def failed(self, failure: Failure) -> list[Item]:
        """Note a question that failed; return what the output says about it.

        What a crawl that ends does not ask any more stays to be asked.
        """
        if isinstance(failure.value, IgnoreRequest):
            return []
        known = failure.request.cb_kwargs  # type: ignore[attr-defined]
        return self._note_failure(known["engine"], known["query"], known["number"], failure.value)

    def request(self, engine: Engine, query: Query, after: Next | None = None) -> Request:
        """Return the request that asks an engine for a page; it holds neither address nor key.

        `middlewares.crawl` answers it, by the rules of the service.
        """
        number = after.page if after else query.page
        return Request(
            f"engine://{engine.id}/",
            callback=self.parse,
            errback=self.failed,
            cb_kwargs={"engine": engine, "query": query, "number": number},
            meta=self.asking(engine, query, after),
            dont_filter=True,
        )

    def asking(self, engine: Engine, query: Query, after: Next | None = None) -> dict[str, object]:
        """Return what makes a request ask an engine."""
        return {
            "engine": engine,
            "ask": partial(self.attempt, engine, query, after),
            "is_page": after is not None,
            "retry": False,
        }

    async def attempt(
        self, engine: Engine, query: Query, after: Next | None, keys: Mapping[str, str]
    ) -> Page:
        """Ask an engine once, with these keys (by the names of its pools)."""
        replay = self.settings.get("REPLAY")
        variables = Variables(
            keys=dict.fromkeys(engine.keys, "replay") if replay else keys,
            settings=setting_values(engine.spec, os.environ),
            now=datetime.now(UTC),
        )
        page = await search_engine(
            self.crawler,
            engine,
            query,
            after,
            variables=variables,
            sessions=self._sessions,
            send=partial(transfer, self.crawler),
            timeout=self._limit(engine),
        )
        reason = "" if replay else foreign(query, page, engine.spec.about.official_api)
        return Page(verdict=Verdict.UNRELATED, detail=reason) if reason else page

    def _limit(self, engine: Engine) -> float | None:
        """The crawl's own limit for one question, as far as the engine's file allows it."""
        most = self.settings.getfloat("CONSILIENCE_TIMEOUT")
        return min(most, engine.limits.timeout or most) if most else None

    def _note(self, engine: Engine, query: Query, number: int, page: Page) -> list[Item]:
        self._tally(engine, page.verdict)
        if page.verdict is Verdict.OK:
            return []
        self.logger.warning("%s: %s %s", engine.id, page.verdict, page.detail)
        return self._told(engine, query, number, page)

    def _note_failure(
        self, engine: Engine, query: Query, number: int, error: BaseException | None
    ) -> list[Item]:
        page = failed_page(error) if isinstance(error, ConsilienceError) else _crashed(error)
        self.progress.add(engine.id, query)
        return self._note(engine, query, number, page)

    def _told(self, engine: Engine, query: Query, number: int, page: Page) -> list[Item]:
        """Return what the output of a crawl of many questions says about one that has no rows."""
        if not self.tells_errors:
            return []
        told: Item = {"engine": engine.id, "query": query.text, "page": number}
        wait = {} if page.retry_after is None else {"retry_after": round(page.retry_after, 1)}
        return [{**told, "error": page.verdict.value, "detail": page.detail, **wait}]

    def _tally(self, engine: Engine, verdict: Verdict) -> None:
        self.crawler.stats.inc_value(f"verdict/{engine.id}/{verdict}")


def _crashed(error: BaseException | None) -> Page:
    """Name the failure only: its text may hold a key."""
    return Page(verdict=Verdict.ERROR, detail=f"unexpected {type(error).__name__}")


class EngineSpider(QuerySpider):
    """Base of the spiders made of engine files; `engine` is set on each class."""

    engine: Engine

    def __init__(self, name: str | None = None, **arguments: str) -> None:
        super().__init__(name, **arguments)
        self.engines = (self.engine,)


def engine_spider(engine: Engine) -> type[EngineSpider]:
    """Return the spider class of an engine: its name, and its contract for `scrapy check`."""

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
    # What waits beyond this would be asked before a crawl that is stopped could end.
    Spider.custom_settings = {"CONCURRENT_REQUESTS": engine.limits.concurrency or _CONCURRENCY}
    Spider.parse.__doc__ = _CONTRACT.format(name=engine.name) if checkable(engine) else ""
    return Spider


def checkable(engine: Engine) -> bool:
    """Whether an engine can be asked here: nothing is left to configure."""
    return not disabled(engine.spec, os.environ)
