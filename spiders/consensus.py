"""`scrapy crawl consensus`: several engines asked, their rows merged by the item pipelines."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from framework.errors import InvalidInputError
from spiders.engine import QuerySpider

if TYPE_CHECKING:
    from typing import Any

    from framework.spec.compiler import Engine

__all__ = ["DEFAULT_ENGINES", "ConsensusSpider", "consensus_spider"]

DEFAULT_ENGINES = "bing,duckduckgo,brave"


class ConsensusSpider(QuerySpider):
    """Asks the engines named in the argument `engines` (ids with commas) and merges what they say.

    The other arguments are those of every engine's spider.
    """

    name = "consensus"
    known: ClassVar[dict[str, Engine]] = {}
    custom_settings: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "ITEM_PIPELINES": {
            "spiders.pipelines.DedupPipeline": 100,
            "spiders.pipelines.ConsensusPipeline": 900,
        },
    }

    def __init__(
        self, name: str | None = None, *, engines: str = DEFAULT_ENGINES, **arguments: str
    ) -> None:
        super().__init__(name, **arguments)
        ids = [text.strip() for text in engines.split(",") if text.strip()]
        unknown = [one for one in ids if one not in self.known]
        if unknown or not ids:
            raise InvalidInputError(
                f"no engine {unknown[0]!r}" if unknown else "no engine is named",
                hint="`scrapy list` shows the engines",
            )
        self.engines = tuple(self.known[one] for one in ids)


def consensus_spider(engines: dict[str, Engine]) -> type[ConsensusSpider]:
    """Return the spider class over these engines."""
    return type("ConsensusSpider", (ConsensusSpider,), {"known": engines})
