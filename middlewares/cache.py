"""The page cache: two tiers, conditional requests, and one transfer for equal requests.

Only answers to GET are given to it, and they are kept without cookies and without any header that
could be personal.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from framework.merge.canonical import canonical
from framework.types import FetchMode, HttpResponse
from middlewares.cache_tiers import Cached, DiskTier, MemoryTier
from middlewares.shared_task import SharedTask

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

__all__ = ["Cache", "CacheKey", "CacheStats", "Cached", "Load", "conditions", "is_cacheable"]

#: Headers that are kept; everything else could tell about a person or no longer holds.
_KEPT_HEADERS = frozenset(
    {
        *("content-type", "content-language", "content-disposition", "etag", "last-modified"),
        *("date", "cache-control", "link", "location", "vary", "x-robots-tag"),
    }
)
_CACHED_STATUSES = frozenset({200, 203, 300, 301, 308, 404, 410})
_NOT_MODIFIED = 304
#: How many times its TTL an entry is kept, for a conditional request.
_STALE_SPANS = 24
_SWEEP_EVERY = 64


@dataclass(frozen=True, slots=True)
class CacheKey:
    """Which answers are the same: canonical address, fetch mode and what the answer varies with.

    `vary` are facts such as the language asked for or the reader's wait; their order counts.
    """

    url: str
    mode: FetchMode = FetchMode.HTTP
    vary: tuple[str, ...] = ()

    @property
    def digest(self) -> str:
        """The key's name in the tiers."""
        parts = (canonical(self.url), self.mode.value, *self.vary)
        return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheStats:
    """What the cache holds (bytes on disk are compressed) and did since it was opened."""

    entries: int
    size: int
    memory_entries: int
    memory_size: int
    hits: int
    misses: int
    revalidated: int
    shared: int


class Load(Protocol):
    """Fetches an answer for the cache."""

    async def __call__(
        self, headers: tuple[tuple[str, str], ...]
    ) -> tuple[HttpResponse, int | None]:
        """Fetch with these further request headers; return the cap too, where the body was cut."""


def is_cacheable(response: HttpResponse) -> bool:
    """Say whether an answer may be kept: by its status, and unless it forbids it."""
    control = (response.header("Cache-Control") or "").lower()
    forbidden = "no-store" in control or "private" in control
    varies_with_all = (response.header("Vary") or "").strip() == "*"
    return response.status in _CACHED_STATUSES and not forbidden and not varies_with_all


def conditions(response: HttpResponse) -> tuple[tuple[str, str], ...]:
    """Return the request headers that ask whether an answer still holds, by its validators."""
    pairs = (
        ("If-None-Match", response.header("ETag")),
        ("If-Modified-Since", response.header("Last-Modified")),
    )
    return tuple((name, value) for name, value in pairs if value)


@dataclass(slots=True)
class _Counts:
    hits: int = 0
    misses: int = 0
    revalidated: int = 0
    shared: int = 0


class Cache:
    """Answers that were fetched; `path` None keeps them in memory alone.

    `ttl` (seconds) is how long an answer is used unasked; `memory` and `disk` are limits in bytes;
    `clock` gives Unix seconds. Raises ConsilienceError (`cache_unavailable`) for an unusable file.
    """

    def __init__(
        self,
        path: Path | None = None,
        *,
        ttl: float = 300.0,
        memory: int = 64 * 1024 * 1024,
        disk: int = 512 * 1024 * 1024,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._ttl = ttl
        self._limit = disk
        self._clock = clock
        self._memory = MemoryTier(memory)
        self._disk = DiskTier(path)
        self._flights: dict[tuple[str, int], SharedTask[Cached]] = {}
        self._counts = _Counts()
        self._stored = 0

    def close(self) -> None:
        """Close the SQLite tier."""
        self._disk.close()

    def get(self, key: CacheKey, cap: int) -> Cached | None:
        """Return a fresh answer that serves a caller who wants up to `cap` bytes, or None."""
        entry = self._find(key.digest)
        if entry is None or not entry.serves(cap) or not self._is_fresh(entry):
            return None
        return entry.cut(cap)

    def put(self, key: CacheKey, response: HttpResponse, cut_at: int | None = None) -> None:
        """Keep an answer, if it may be kept; `cut_at` is the cap at which its body was cut."""
        self._store(key.digest, Cached(response=response, stored=self._clock(), cap=cut_at))

    async def fetch(self, key: CacheKey, cap: int, load: Load) -> Cached:
        """Return a cached answer, or that of `load`, which equal concurrent calls share.

        A stale answer with a validator is asked about: `load` gets the conditional headers, and
        a 304 renews it. Raises what `load` raises, to every caller that waited. Cancelling a
        caller ends the transfer only when nobody else waits for it.
        """
        found = self.get(key, cap)
        if found is not None:
            self._counts.hits += 1
            return found
        entry = await self._flight(key.digest, cap, load).result()
        return entry.cut(cap)

    def _flight(self, digest: str, cap: int, load: Load) -> SharedTask[Cached]:
        """The running transfer of this page that fetches at least as much, else a new one."""
        for (name, limit), flight in self._flights.items():
            if name == digest and limit >= cap and not flight.is_done:
                self._counts.shared += 1
                return flight
        self._counts.misses += 1

        def land() -> None:
            if self._flights.get((digest, cap)) is flight:
                del self._flights[digest, cap]

        flight = SharedTask(self._load(digest, cap, load), name="fetch for the cache", left=land)
        self._flights[digest, cap] = flight
        return flight

    async def _load(self, digest: str, cap: int, load: Load) -> Cached:
        stale = self._find(digest)
        known = stale if stale is not None and stale.serves(cap) else None
        response, cut_at = await load(conditions(known.response) if known else ())
        now = self._clock()
        if known is not None and response.status == _NOT_MODIFIED:
            self._counts.revalidated += 1
            entry = replace(known, stored=now)
        else:
            entry = Cached(response=response, stored=now, cap=cut_at)
        self._store(digest, entry)
        return entry

    def _is_fresh(self, entry: Cached) -> bool:
        return self._clock() - entry.stored <= self._ttl

    def _find(self, digest: str) -> Cached | None:
        entry = self._memory.get(digest)
        if entry is None:
            entry = self._disk.get(digest, self._clock())
            if entry is not None:
                self._memory.put(digest, entry)
        return entry

    def _store(self, digest: str, entry: Cached) -> None:
        if not is_cacheable(entry.response):
            return
        known = self._find(digest)
        if known is not None and self._is_fresh(known) and known.holds_more_than(entry):
            return
        kept = replace(entry, response=_plain(entry.response))
        self._memory.put(digest, kept)
        self._disk.put(digest, kept, self._clock())
        self._stored += 1
        if self._stored % _SWEEP_EVERY == 0:
            self.sweep()

    def sweep(self) -> int:
        """Remove what is too old, then the longest unused beyond the limit; return how many."""
        return self._disk.sweep(self._clock() - self._ttl * _STALE_SPANS, self._limit)

    def clear(self) -> int:
        """Remove everything; return how many answers were on disk."""
        self._memory.clear()
        return self._disk.clear()

    def counts(self) -> Mapping[str, int]:
        """Return how often pages were found, fetched, shared or found unchanged since opening."""
        counts = self._counts
        return {
            "hit": counts.hits,
            "miss": counts.misses,
            "shared": counts.shared,
            "revalidated": counts.revalidated,
        }

    def stats(self) -> CacheStats:
        """Return what the cache holds and did since it was opened."""
        counts = self._counts
        return CacheStats(
            entries=len(self._disk),
            size=self._disk.size(),
            memory_entries=len(self._memory),
            memory_size=self._memory.size,
            hits=counts.hits,
            misses=counts.misses,
            revalidated=counts.revalidated,
            shared=counts.shared,
        )


def _plain(response: HttpResponse) -> HttpResponse:
    kept = tuple(pair for pair in response.headers if pair[0].lower() in _KEPT_HEADERS)
    return replace(response, headers=kept)
