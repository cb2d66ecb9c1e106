"""`scrapy crawl` with the options of every command that fetches; mistakes told in one sentence."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as ScrapyCommand
from scrapy.exceptions import NotConfigured, UsageError
from scrapy.utils.misc import build_from_crawler, load_object

from framework.errors import ConsilienceError, InvalidInputError
from spiders.engine import QuerySpider
from spiders.page import PageSpider
from spiders.recordings import recorded_in

if TYPE_CHECKING:
    import argparse

    from scrapy.settings import BaseSettings

__all__ = ["Command"]


class Command(ScrapyCommand):
    """Checks names, arguments and settings before anything is started; exit code 2 if wrong."""

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        """Add the options of every command that fetches to Scrapy's own."""
        super().add_options(parser)
        group = parser.add_argument_group(title="Fetching")
        group.add_argument("--proxy", metavar="URL", help="proxy that everything leaves by")
        group.add_argument(
            "--timeout", metavar="S", help="seconds for one question, or one try of a page"
        )
        group.add_argument("--debug", action="store_true", help="log in detail")
        group.add_argument("--debug-file", metavar="FILE", help="log in detail to a file")

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        """Turn the options into settings, which win over everything."""
        super().process_options(args, opts)
        assert self.settings is not None  # noqa: S101 - set by Scrapy
        _apply(self.settings, opts)

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
            self._check_settings(name)
        except KeyError as error:
            raise UsageError(str(error.args[0]), print_help=False) from None
        except ConsilienceError as error:
            raise UsageError(str(error), print_help=False) from None

    def _check_settings(self, name: str) -> None:
        """Let each middleware read its settings once, in a crawler that is never started."""
        assert self.crawler_process is not None  # noqa: S101 - checked by the caller
        crawler = self.crawler_process.create_crawler(name)
        _check_paths(crawler.settings)
        for path in crawler.settings.getdict("DOWNLOADER_MIDDLEWARES"):
            try:
                build_from_crawler(load_object(path), crawler)
            except NotConfigured:
                continue


def _apply(settings: BaseSettings, opts: argparse.Namespace) -> None:
    given: dict[str, object] = {}
    if opts.proxy:
        given["CONSILIENCE_PROXY"] = opts.proxy
    if opts.timeout:
        seconds = _seconds(opts.timeout)
        given |= {"CONSILIENCE_TIMEOUT": seconds, "DOWNLOAD_TIMEOUT": seconds}
    if opts.debug or opts.debug_file:
        given["LOG_LEVEL"] = "DEBUG"
    if opts.debug_file:
        given["LOG_FILE"] = opts.debug_file
    settings.setdict(given, priority="cmdline")


def _check_paths(settings: BaseSettings) -> None:
    """Raise `InvalidInputError` for a setting that names what is not there."""
    if settings.get("REPLAY"):
        recorded_in(Path(settings["REPLAY"]))
    bundle = settings.get("CONSILIENCE_CA_FILE")
    if bundle and not Path(bundle).is_file():
        raise InvalidInputError(f"CONSILIENCE_CA_FILE: there is no file {bundle}")
    try:
        if settings.get("JOBDIR"):
            Path(settings["JOBDIR"]).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = error.strerror or error
        raise InvalidInputError(f"JOBDIR: {settings['JOBDIR']}: {reason}") from error


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not 1 <= seconds <= 600:
        raise UsageError(
            f"--timeout must be a number of seconds from 1 to 600, not {text!r}", print_help=False
        )
    return seconds
