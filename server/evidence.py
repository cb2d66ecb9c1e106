"""Sources for evidence: several pages at once, under one deadline, and models that fit settings."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError, UnavailableError
from framework.evidence.chunks import Source
from framework.merge.canonical import canonical
from framework.types import Query
from server.pages import PageRequest
from server.requests import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.types import SearchAnswer
    from server.app import Application
    from server.pages import Fetched
    from server.tools.base import Call

__all__ = ["Gathered", "SourceResult", "gather", "search_and_gather"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceResult:
    """One source that was asked for: what was read of it, or why nothing was."""

    url: str
    title: str = ""
    fetched: Fetched | None = None
    error: ConsilienceError | None = None


@dataclass(frozen=True, slots=True)
class Gathered:
    """Sources in the order asked for; `usable` are those that could be read."""

    results: tuple[SourceResult, ...]

    @property
    def usable(self) -> tuple[Source, ...]:
        """The pages that were read, as sources for evidence."""
        return tuple(
            Source(
                one.fetched.response.url,
                one.fetched.document.title or one.title or one.url,
                one.fetched.document,
            )
            for one in self.results
            if one.fetched is not None
        )


async def gather(
    app: Application, urls: Sequence[str], timeout: float, titles: Sequence[str] = ()
) -> Gathered:
    """Read pages at the same time; each failing or late one costs nothing but its own line.

    Raises:
        UnavailableError: not one of them could be read.
    """
    named = dict(zip(urls, titles, strict=False))
    results = await asyncio.gather(*(_one(app, url, timeout, named.get(url, "")) for url in urls))
    if urls and not any(one.fetched for one in results):
        reasons = "; ".join(f"{one.url}: {one.error}" for one in results)
        raise UnavailableError(f"not one source could be read ({reasons})", code="no_source")
    return Gathered(tuple(results))


async def _one(app: Application, url: str, timeout: float, title: str) -> SourceResult:
    try:
        async with asyncio.timeout(timeout):
            fetched = await app.read_page(PageRequest(url=url, timeout=timeout))
    except TimeoutError:
        late = UnavailableError(f"no answer within {timeout:g} s", code="timeout")
        return SourceResult(url=url, title=title, error=late)
    except ConsilienceError as error:
        return SourceResult(url=url, title=title, error=error)
    return SourceResult(url=url, title=title, fetched=fetched)


async def search_and_gather(
    app: Application,
    text: str,
    call: Call,
    *,
    count: int,
    timeout: float,
    engines: tuple[str, ...] | None = None,
) -> tuple[SearchAnswer, Gathered]:
    """Search, then read the first results; of one site at most two are read.

    Raises what a search raises, and UnavailableError where not one result could be read.
    """
    query = Query(text=text, max_results=min(50, count * 3))
    request = SearchRequest(query=query, engines=engines, timeout=min(timeout, 15.0))
    answer = await app.search(request, call.caller)
    chosen = _spread([(row.url, row.title) for row in answer.results], count)
    call.note(1, 2, f"{len(answer.results)} results, reading {len(chosen)}")
    urls, titles = [url for url, _ in chosen], [title for _, title in chosen]
    return answer, await gather(app, urls, timeout, titles)


def _spread(rows: Sequence[tuple[str, str]], count: int) -> list[tuple[str, str]]:
    """The first rows, at most two of a site, then whatever is left."""
    sites: dict[str, int] = {}
    first: list[tuple[str, str]] = []
    later: list[tuple[str, str]] = []
    for row in rows:
        site = canonical(row[0]).partition("/")[0]
        sites[site] = sites.get(site, 0) + 1
        (first if sites[site] <= 2 else later).append(row)
    return (first + later)[:count]
