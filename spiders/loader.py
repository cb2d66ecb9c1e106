"""`SPIDER_LOADER_CLASS`: every engine file is a spider, found by its name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from framework.errors import ConsilienceError
from framework.spec.catalogue import Catalogue
from framework.spec.folders import engine_folders
from spiders.consensus import ConsensusSpider, consensus_spider
from spiders.engine import engine_spider
from spiders.page import PageSpider

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.settings import BaseSettings

__all__ = ["EngineLoader", "engine_folders"]


class EngineLoader:
    """Lists the engines of the catalogue as spiders and builds a spider class when asked for it."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._classes: dict[str, type[Spider]] = {}

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> EngineLoader:
        """Read the engine folders named by the settings or the environment."""
        named = settings.getlist("CONSILIENCE_ENGINES_DIR")
        return cls(Catalogue(engine_folders(named, os.environ)))

    def load(self, spider_name: str) -> type[Spider]:
        """Return the spider class; raises `KeyError` for an unknown name or a broken file.

        The key error's text is the reason: the nearest names, or the file's problems.
        """
        if spider_name not in self._classes:
            self._classes[spider_name] = self._build(spider_name)
        return self._classes[spider_name]

    def _build(self, name: str) -> type[Spider]:
        if name == PageSpider.name:
            return PageSpider
        if name == ConsensusSpider.name:
            return consensus_spider({engine.id: engine for engine in self.catalogue.engines()})
        try:
            return engine_spider(self.catalogue.get(name))
        except ConsilienceError as error:
            raise KeyError(str(error)) from error

    def list(self) -> list[str]:
        """Return the names of all usable spiders."""
        return [*self.catalogue.ids(), ConsensusSpider.name, PageSpider.name]

    def find_by_request(self, request: Request) -> list[str]:  # type: ignore[valid-type]
        """Return the engines whose search lives on the request's host."""
        host = urlsplit(request.url).hostname
        engines = self.catalogue.engines()
        return [one.id for one in engines if urlsplit(one.spec.request.url).hostname == host]
