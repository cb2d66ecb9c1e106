"""What a caller chose, or else the operator: the engines to ask, and whether a model takes part."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framework.spec.catalogue import Catalogue
    from server.config import Settings
    from server.stores import Stores

__all__ = ["Choices"]


class Choices:
    """Reads and keeps callers' choices; what they did not choose comes from the settings."""

    def __init__(self, settings: Settings, catalogue: Catalogue, stores: Stores) -> None:
        self._settings = settings
        self._catalogue = catalogue
        self._stores = stores

    def known(self, engines: tuple[str, ...]) -> tuple[str, ...]:
        """Return the ids without doubles; raises NotFoundError for one that does not exist."""
        for name in engines:
            self._catalogue.entry(name)
        return tuple(dict.fromkeys(engines))

    def engines(self, caller: str) -> tuple[str, ...]:
        """Return the engines that a caller's searches ask, those that still exist."""
        kept = self._stores.preferences.get(caller, "engines")
        chosen = tuple(map(str, kept)) if isinstance(kept, list) else ()
        known = {entry.id for entry in self._catalogue.entries()}
        usable = tuple(name for name in chosen if name in known)
        return usable or self.known(self._settings.default_engines)

    def set_engines(self, caller: str, engines: tuple[str, ...]) -> None:
        """Keep a caller's engines; raises NotFoundError for an unknown one."""
        self._stores.preferences.set(caller, "engines", list(self.known(engines)))

    def sampling(self, caller: str) -> bool:
        """Whether a language model may take part in a caller's calls."""
        kept = self._stores.preferences.get(caller, "sampling")
        return kept if isinstance(kept, bool) else self._settings.sampling

    def set_sampling(self, caller: str, enabled: bool) -> None:
        """Keep a caller's choice."""
        self._stores.preferences.set(caller, "sampling", enabled)
