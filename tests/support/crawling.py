"""Running `scrapy crawl` in this process, with a replay proxy for the world."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from scrapy.crawler import AsyncCrawlerRunner
from scrapy.settings import Settings
from scrapy.utils.reactor import install_reactor

from middlewares.pools import Member, Pool
from middlewares.proxy import DEFAULT, Proxies

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from spiders.replay import ReplayProxy

__all__ = ["Crawls", "crawl"]


async def crawl(
    out: Path, name: str, changes: Mapping[str, object], **arguments: str
) -> list[dict[str, Any]]:
    """Run a crawl to its end and return its items."""
    settings = Settings()
    settings.setmodule("spiders.settings", priority="project")
    feeds = {"FEEDS": {out: {"format": "jsonlines", "overwrite": True}}}
    settings.setdict({**changes, **feeds}, priority="cmdline")
    install_reactor(settings["TWISTED_REACTOR"])
    await AsyncCrawlerRunner(settings).crawl(name, **arguments)
    return _items(out)


def _items(out: Path) -> list[dict[str, Any]]:
    lines = out.read_text(encoding="utf-8").splitlines() if out.exists() else ()
    return [json.loads(line) for line in lines]


@dataclass(frozen=True, slots=True)
class Crawls:
    """Crawls that share a folder, so that one goes on where another stopped.

    Engines stand in `engines.d`, what outlives a crawl in `state`; every request leaves through
    the proxy.
    """

    folder: Path
    proxy: ReplayProxy

    @property
    def settings(self) -> dict[str, object]:
        """What each crawl is told."""
        assert self.proxy.ca is not None
        bundle = self.folder / "ca.pem"
        self.proxy.ca.cert_pem.write_to_path(str(bundle))
        return {
            "CONSILIENCE_ENGINES_DIR": [str(self.folder / "engines.d")],
            "CONSILIENCE_STATE_DIR": str(self.folder / "state"),
            "CONSILIENCE_CA_FILE": bundle,
            "CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.0/8"],
            "CONSILIENCE_PROXY_POLICY": Proxies(
                {DEFAULT: Pool(DEFAULT, [Member(self.proxy.url("socks5h"))])}
            ),
        }

    def ask(self, *queries: str) -> str:
        """Write a file of questions and return its path."""
        path = self.folder / "queries.txt"
        path.write_text("\n".join(queries), encoding="utf-8")
        return str(path)

    async def run(
        self, name: str, changes: Mapping[str, object] | None = None, **arguments: str
    ) -> list[dict[str, Any]]:
        """Run a crawl to its end and return its items."""
        settings = {**self.settings, **(changes or {})}
        return await crawl(self.folder / "out.jsonl", name, settings, **arguments)
