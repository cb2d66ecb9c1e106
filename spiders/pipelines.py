"""Item pipelines: rows of several engines become merged results.

They work with any spider whose items carry `engine`, `query`, `rank`, `title`, `url`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.exceptions import DropItem

from framework.merge.canonical import canonical
from framework.merge.consensus import Ballot, merge
from framework.types import Row

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    from scrapy.crawler import Crawler

    from framework.spec.compiler import Engine
    from framework.types import FieldValue, Result

__all__ = ["ConsensusPipeline", "DedupPipeline", "row_of"]

_OWN = ("engine", "query", "page", "rank", "title", "url", "snippet")


def row_of(item: Mapping[str, Any]) -> Row:
    """Return an item as the row that it was made of."""
    fields: dict[str, FieldValue] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in item.items()
        if name not in _OWN
    }
    return Row(
        title=item["title"],
        url=item["url"],
        snippet=item.get("snippet", ""),
        rank=item["rank"],
        fields=fields,
    )


class DedupPipeline:
    """Drops a row whose page the same engine has given before for the same question."""

    def __init__(self) -> None:
        self._seen: set[tuple[str, str, str]] = set()

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        """Return the item, or drop it; what says why there are no rows always passes."""
        if "error" in item:
            return item
        key = (item["engine"], item["query"], canonical(item["url"]))
        if key in self._seen:
            raise DropItem("the engine gave this page before")
        self._seen.add(key)
        return item


class ConsensusPipeline:
    """Holds all rows back and writes the merged results of each question when the crawl ends.

    Merging is the service's own (`framework.merge`). The rows themselves are dropped; each result
    goes out as a scraped item of its own, so every feed sees it.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._rows: dict[str, dict[str, list[Row]]] = {}

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ConsensusPipeline:
        """Build the pipeline of one crawl."""
        return cls(crawler)

    def process_item(self, item: dict[str, Any]) -> dict[str, Any]:
        """Take the row to the ballot of its engine and question; errors pass."""
        if "error" in item:
            return item
        ballots = self._rows.setdefault(item["query"], {})
        ballots.setdefault(item["engine"], []).append(row_of(item))
        raise DropItem("kept for the merged results")

    async def close_spider(self) -> None:
        """Merge what was collected and send it out, question by question."""
        spider = self._crawler.spider
        engines = {engine.id: engine for engine in getattr(spider, "engines", ())}
        for query, rows in self._rows.items():
            for result in merge(_ballots(rows, engines)):
                await self._crawler.signals.send_catch_log_async(
                    signal=signals.item_scraped,
                    item=_item(query, result),
                    response=None,
                    spider=spider,
                )


def _ballots(rows: Mapping[str, list[Row]], engines: Mapping[str, Engine]) -> Iterable[Ballot]:
    order = [*(name for name in engines if name in rows), *(n for n in rows if n not in engines)]
    for name in order:
        engine = engines.get(name)
        given = tuple(sorted(rows[name], key=lambda row: row.rank))
        yield Ballot(
            engine=name,
            rows=given,
            index=engine.index if engine else "",
            weight=engine.weight if engine else 1.0,
        )


def _item(query: str, result: Result) -> dict[str, object]:
    votes = [
        {"engine": v.engine, "rank": v.rank, "index": v.index, "weight": v.weight}
        for v in result.votes
    ]
    return {
        "query": query,
        "rank": result.rank,
        "title": result.title,
        "url": result.url,
        "snippet": result.snippet,
        "score": result.score,
        "votes": votes,
        "indexes": list(result.indexes),
        **{k: list(v) if isinstance(v, tuple) else v for k, v in result.fields.items()},
    }
