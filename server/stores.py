"""What an application keeps on disk, each part opened at its first use and closed with the rest."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from middlewares.cache import Cache
from middlewares.policy import EnginePolicy
from middlewares.state import STATE_FILE, StateDatabase
from server.downloads import Downloads
from server.preferences import Preferences
from server.rounds import Rounds
from server.wiring import state_dir

if TYPE_CHECKING:
    from collections.abc import Mapping

    from server.config import Settings

__all__ = ["Stores"]

_PAGE_SECONDS = 3600.0


class Stores:
    """State, settings of callers, reports and pages; in memory for recordings without a folder.

    After `close` they open again when they are used.
    """

    def __init__(self, settings: Settings, values: Mapping[str, str], *, live: bool) -> None:
        self._settings = settings
        self._values = values
        self._live = live

    @cached_property
    def policy(self) -> EnginePolicy:
        """The rests, pace and keys of engines, over the state database."""
        kept = self._live or self._settings.state_dir is not None
        path = state_dir(self._settings) / STATE_FILE if kept else None
        return EnginePolicy.create(
            StateDatabase(path),
            self._values,
            search_gap=self._settings.search_gap,
            page_gap=self._settings.page_gap,
            enabled=self._live,
        )

    @cached_property
    def preferences(self) -> Preferences:
        """What callers chose."""
        return Preferences(self.policy.state)

    @cached_property
    def rounds(self) -> Rounds:
        """What calls keep between their rounds."""
        return Rounds(self.policy.state)

    @cached_property
    def reports(self) -> Downloads:
        """Reports that can be fetched for a while."""
        return Downloads(self.policy.state, self._settings.deep_retention_minutes * 60)

    @cached_property
    def pages(self) -> Downloads:
        """Fetched pages as Markdown, by fingerprint."""
        return Downloads(self.policy.state, _PAGE_SECONDS, shelf="page")

    @cached_property
    def page_cache(self) -> Cache:
        """The cache of pages."""
        folder = self._settings.cache_dir or state_dir(self._settings)
        path = folder / "pages.db" if self._live else None
        return Cache(path, ttl=self._settings.cache_ttl)

    def cache_counts(self) -> Mapping[str, int]:
        """Return what the cache of pages counted, nothing while it is not open."""
        return self.page_cache.counts() if "page_cache" in self.__dict__ else {}

    def close(self) -> None:
        """Close what was opened."""
        opened = self.__dict__
        if "page_cache" in opened:
            self.page_cache.close()
        if "policy" in opened:
            self.policy.state.close()
        for name in _PARTS:
            opened.pop(name, None)


_PARTS = tuple(name for name, part in vars(Stores).items() if isinstance(part, cached_property))
