"""The counters of several worker processes as one: each leaves its own in a shared folder.

A worker writes its counters every few seconds where they changed, never for a request. Whoever is
asked adds them up. Counts of a worker that died stay in the sum, since a counter that falls would
read as a restart; what it had under way does not.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from typing import TYPE_CHECKING, Any

from prometheus_client import generate_latest
from prometheus_client.core import Metric

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
    from pathlib import Path

    from server.metrics import Metrics

__all__ = ["WorkerMetrics"]

#: How old another worker's counters may be, in seconds.
_INTERVAL = 2.0

_Family = dict[str, Any]
_Key = tuple[str, tuple[tuple[str, str], ...]]


class WorkerMetrics:
    """One worker's counters, and the sum of all that share the folder; `worker` is its process."""

    def __init__(self, metrics: Metrics, folder: Path, worker: int | None = None) -> None:
        self._metrics = metrics
        self._folder = folder
        self._worker = worker or os.getpid()
        self._written = ""

    @contextlib.asynccontextmanager
    async def publishing(self) -> AsyncIterator[None]:
        """Write the counters from time to time while the context is open, and at its end."""
        task = asyncio.create_task(self._publish_often(), name="publish counters")
        try:
            yield
        finally:
            task.cancel()
            await asyncio.wait([task])
            self.publish()

    async def _publish_often(self) -> None:
        while True:
            self.publish()
            await asyncio.sleep(_INTERVAL)

    def publish(self) -> None:
        """Write the counters if they changed; where they cannot be written the sum lacks them."""
        text = json.dumps(self._own())
        if text == self._written:
            return
        own = self._folder / f"{self._worker}.json"
        fresh = own.with_suffix(".new")
        with contextlib.suppress(OSError):
            fresh.write_text(text)
            fresh.replace(own)
            self._written = text

    def text(self) -> str:
        """Return the sum over all workers as Prometheus text."""
        others = _read(self._folder, besides=self._worker)
        return generate_latest(_Sum(((True, self._own()), *others))).decode()

    def _own(self) -> list[_Family]:
        return list(map(_dumped, self._metrics.registry.collect()))


def _dumped(metric: Metric) -> _Family:
    samples = [[sample.name, sample.labels, sample.value] for sample in metric.samples]
    return {
        "name": metric.name,
        "help": metric.documentation,
        "type": metric.type,
        "samples": samples,
    }


def _read(folder: Path, besides: int) -> Iterator[tuple[bool, list[_Family]]]:
    """Yield whether each other worker lives, and its families of counters."""
    for path in sorted(folder.glob("*.json")):
        with contextlib.suppress(OSError, ValueError):
            number = int(path.stem)
            if number != besides:
                yield _lives(number), json.loads(path.read_text())


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True


class _Sum:
    """What `generate_latest` takes for a registry."""

    def __init__(self, workers: tuple[tuple[bool, list[_Family]], ...]) -> None:
        self._workers = workers

    def collect(self) -> Iterable[Metric]:
        found: dict[str, Metric] = {}
        sums: dict[str, dict[_Key, float]] = {}
        for lives, families in self._workers:
            for family in families:
                name = family["name"]
                found.setdefault(name, Metric(name, family["help"], family["type"]))
                if lives or family["type"] != "gauge":
                    _add(sums.setdefault(name, {}), family["samples"])
        for name, metric in found.items():
            for (sample, labels), value in sums.get(name, {}).items():
                metric.add_sample(sample, dict(labels), value)
        living = Metric("consilience_workers", "Worker processes that live.", "gauge")
        living.add_sample("consilience_workers", {}, sum(lives for lives, _ in self._workers))
        return [*found.values(), living]


def _add(sums: dict[_Key, float], samples: Iterable[tuple[str, Mapping[str, str], float]]) -> None:
    for name, labels, value in samples:
        key = (name, tuple(labels.items()))
        if name.endswith("_created"):
            sums[key] = min(value, sums.get(key, value))
        else:
            sums[key] = sums.get(key, 0.0) + value
