"""A contract for `scrapy check`: the sample question, asked of the spider's own engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.contracts import Contract

from spiders.engine import SAMPLE, EngineSpider

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EngineContract"]


class EngineContract(Contract):
    """`@engine` makes the request one that asks the spider's engine the sample question."""

    name = "engine"

    def __init__(self, method: Callable[..., object], *args: str) -> None:
        super().__init__(method, *args)
        spider = getattr(method, "__self__", None)
        self._spider = spider if isinstance(spider, EngineSpider) else None

    def adjust_request_args(self, args: dict[str, Any]) -> dict[str, Any]:
        """Add what makes the request ask the engine, by the same rules as in a crawl."""
        if self._spider is None:
            return args
        engine = self._spider.engine
        return {
            **args,
            "url": f"engine://{engine.id}/",
            "meta": self._spider.asking(engine, SAMPLE),
        }
