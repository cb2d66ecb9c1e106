"""The contract behind `scrapy check`, and what `scrapy crawl` looks at before it starts."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from scrapy.exceptions import UsageError

from framework.spec.catalogue import Catalogue
from spiders.commands.crawl import Command
from spiders.contracts import EngineContract
from spiders.engine import engine_spider
from spiders.loader import EngineLoader
from spiders.page import PageSpider
from tests.support.engines import FORM, PLAIN, TOKEN, engine, write_engine

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("text", [PLAIN, FORM, TOKEN], ids=["plain", "form", "token"])
def test_the_contract_asks_the_spiders_engine(text: str) -> None:
    spider = engine_spider(engine(text))()
    arguments = EngineContract(spider.parse).adjust_request_args({"dont_filter": True})
    assert arguments["url"] == f"engine://{spider.engine.id}/"
    assert arguments["meta"]["engine"] is spider.engine
    assert arguments["dont_filter"]


def test_a_contract_elsewhere_changes_nothing() -> None:
    assert EngineContract(PageSpider().parse).adjust_request_args({"url": "x"}) == {"url": "x"}


@pytest.fixture
def command(tmp_path: Path) -> Command:
    write_engine(tmp_path, PLAIN)
    made = Command()
    loader = EngineLoader(Catalogue(tmp_path))
    made.crawler_process = cast(Any, SimpleNamespace(spider_loader=loader))
    return made


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("plian", {}, 'did you mean "plain"'),
        ("plain", {}, "nothing to search for"),
        ("consensus", {"engines": "plain"}, "nothing to search for"),
        ("page", {}, "nothing to read"),
        ("plain", {"query": "x", "pages": "many"}, "pages must be a number"),
    ],
)
def test_a_mistake_stops_before_the_crawl(
    command: Command, name: str, arguments: dict[str, str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        command.run([name], cast(Any, SimpleNamespace(spargs=arguments)))
