"""What the page cache and the proxies count, read from them when somebody asks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from prometheus_client.core import Metric

    from middlewares.pools import Pool
    from server.stores import Stores

__all__ = ["PartMetrics"]


class PartMetrics(Collector):
    """Collects from a cache, if it is open, and from pools; names of pools are the only labels."""

    def __init__(self, stores: Stores, pools: Mapping[str, Pool]) -> None:
        self._stores = stores
        self._pools = pools

    def collect(self) -> Iterator[Metric]:
        """Yield the families."""
        yield self._cache()
        yield from self._proxies()

    def _cache(self) -> Metric:
        family = CounterMetricFamily(
            "consilience_page_cache",
            "Pages asked of the cache: hit, miss, or shared with a fetch under way; revalidated "
            "are the misses that the site answered with 'not modified'.",
            labels=["outcome"],
        )
        for outcome, count in self._stores.cache_counts().items():
            family.add_metric([outcome], count)
        return family

    def _proxies(self) -> Iterator[Metric]:
        uses = CounterMetricFamily(
            "consilience_proxy_uses", "Requests sent through a pool's proxies.", labels=["pool"]
        )
        benched = GaugeMetricFamily(
            "consilience_proxies_benched",
            "Proxies of a pool that are not used for now, having failed.",
            labels=["pool"],
        )
        for name, pool in self._pools.items():
            reports = pool.reports()
            uses.add_metric([name], sum(report.uses for report in reports))
            benched.add_metric([name], sum(report.benched > 0 for report in reports))
        yield uses
        yield benched
