"""A contract for `scrapy check`: the sample question, asked of the spider's own engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scrapy.contracts import Contract

from spiders.engine import SAMPLE, EngineSpider
from spiders.exchange import engine_meta
from spiders.operator import operator_values

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["EngineContract"]


class EngineContract(Contract):
    """`@engine` fills in the request that the engine file plans for the sample question."""

    name = "engine"

    def __init__(self, method: Callable[..., object], *args: str) -> None:
        super().__init__(method, *args)
        spider = getattr(method, "__self__", None)
        self._engine = spider.engine if isinstance(spider, EngineSpider) else None

    def adjust_request_args(self, args: dict[str, Any]) -> dict[str, Any]:
        """Add address, method, body, headers and meta of the planned request."""
        if self._engine is None:
            return args
        variables = operator_values(self._engine)
        planned = self._engine.plan(SAMPLE, 1, variables)
        return {
            **args,
            "url": planned.url,
            "method": planned.method,
            "body": planned.body,
            "headers": list(planned.headers),
            "cookies": dict(planned.cookies),
            "meta": engine_meta(self._engine, SAMPLE, variables),
        }
