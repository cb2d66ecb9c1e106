"""`scrapy crawl`, telling a mistake in its arguments in one sentence."""

from __future__ import annotations

from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCommand
from scrapy.exceptions import UsageError

from framework.errors import ConsilienceError
from spiders.engine import QuerySpider
from spiders.page import PageSpider

if TYPE_CHECKING:
    import argparse

__all__ = ["Command"]


class Command(ScrapyCommand):
    """Checks the spider's name and arguments before anything is started; exit code 2 if wrong."""

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        """Run the crawl, or raise `UsageError` with the reason why it cannot be run."""
        if len(args) == 1 and self.crawler_process is not None:
            self._check(args[0], opts.spargs)
        super().run(args, opts)

    def _check(self, name: str, arguments: dict[str, str]) -> None:
        assert self.crawler_process is not None  # noqa: S101 - checked by the caller
        try:
            spider = self.crawler_process.spider_loader.load(name)(**arguments)
            if isinstance(spider, QuerySpider | PageSpider):
                spider.check()
        except KeyError as error:
            raise UsageError(str(error.args[0]), print_help=False) from None
        except ConsilienceError as error:
            raise UsageError(str(error), print_help=False) from None
