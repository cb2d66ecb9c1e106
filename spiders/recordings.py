"""Recorded answers in place of the network: `REPLAY=DIR` in any crawl, `--replay` in a search."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from scrapy import signals
from scrapy.exceptions import NotConfigured

from framework.errors import InvalidInputError
from framework.spec.fixtures import fixture_folders, load_fixture
from spiders.replay import ReplayProxy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler
    from scrapy.settings import BaseSettings

    from framework.spec.fixtures import Fixture
    from framework.types import HttpRequest, HttpResponse

__all__ = ["Recordings", "ReplayAddon", "ReplayMiddleware", "recorded_in"]

#: Cases that are answers to an ordinary question, as against blocks and empty pages.
_ORDINARY = ("ok", "plain", "session")


@dataclass(frozen=True, slots=True)
class _Address:
    """What of a URL decides which recording fits."""

    host: str
    path: tuple[str, ...]
    params: frozenset[tuple[str, str]]
    names: frozenset[str]

    @classmethod
    def of(cls, url: str) -> _Address:
        parts = urlsplit(url)
        pairs = parse_qsl(parts.query, keep_blank_values=True)
        path = tuple(one for one in parts.path.split("/") if one)
        names = frozenset(name for name, _ in pairs)
        return cls((parts.hostname or "").lower(), path, frozenset(pairs), names)


class Recordings:
    """Answers a request with the recording that fits best; callable as a replay proxy's `answer`.

    Only recordings of the request's host count, or those with its path where an operator's own
    host was asked that nobody recorded. Among them ordinary answers come before blocks
    and empty pages, then the longest common path, then the most equal query parameters, so the
    query itself need not be the recorded one. With `exact` a recording of the very same URL
    comes first, whatever it holds.
    """

    def __init__(self, recorded: Iterable[Fixture], *, exact: bool = False) -> None:
        self._exact = exact
        self._by_host: dict[str, list[tuple[_Address, Fixture]]] = {}
        self._by_path: dict[tuple[str, ...], list[tuple[_Address, Fixture]]] = {}
        for one in recorded:
            address = _Address.of(one.response.url)
            self._by_host.setdefault(address.host, []).append((address, one))
            self._by_path.setdefault(address.path, []).append((address, one))

    def __call__(self, request: HttpRequest) -> HttpResponse | None:
        """Return the fitting recording, or None where neither host nor path was recorded."""
        asked = _Address.of(request.url)
        found = self._by_host.get(asked.host) or self._by_path.get(asked.path)
        if not found:
            return None
        return max(found, key=lambda entry: self._fit(asked, *entry))[1].response

    def _fit(self, asked: _Address, address: _Address, one: Fixture) -> tuple[int, ...]:
        return (
            int(self._exact and address == asked),
            int(one.case.startswith(_ORDINARY)),
            _common(asked.path, address.path),
            -abs(len(asked.path) - len(address.path)),
            len(asked.params & address.params),
            len(asked.names & address.names),
            -len(one.case),
        )


def _common(left: tuple[str, ...], right: tuple[str, ...]) -> int:
    length = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        length += 1
    return length


class ReplayAddon:
    """Puts a replay proxy before every request of a crawl where the setting `REPLAY` is a folder.

    The folder holds `<engine>/<case>/` as `fixtures/` does. The proxy's own certificate
    authority is trusted for this crawl alone; nothing reaches the network.
    """

    def __init__(self, crawler: Crawler) -> None:
        self._crawler = crawler
        self._ca_file: Path | None = None
        self.proxy = ReplayProxy(answer=lambda request: None, remember=100)

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ReplayAddon:
        """Build the add-on; raises `NotConfigured` where no recordings are named."""
        if not crawler.settings.get("REPLAY"):
            raise NotConfigured
        return cls(crawler)

    def update_settings(self, settings: BaseSettings) -> None:
        """Load the recordings and make the crawl trust the proxy."""
        folder = Path(settings["REPLAY"])
        self.proxy.answer = Recordings(recorded_in(folder), exact=True)
        with tempfile.NamedTemporaryFile(suffix=".pem", delete=False) as file:
            self._ca_file = Path(file.name)
        if self.proxy.ca is not None:
            self.proxy.ca.cert_pem.write_to_path(str(self._ca_file))
        settings.set("CONSILIENCE_CA_FILE", str(self._ca_file), priority="cmdline")
        settings["DOWNLOADER_MIDDLEWARES"]["spiders.recordings.ReplayMiddleware"] = 40
        self._crawler.signals.connect(self._open, signals.spider_opened)
        self._crawler.signals.connect(self._close, signals.engine_stopped)

    async def _open(self) -> None:
        await self.proxy.__aenter__()

    async def _close(self) -> None:
        await self.proxy.__aexit__(None, None, None)
        if self._ca_file is not None:
            self._ca_file.unlink(missing_ok=True)


class ReplayMiddleware:
    """Sends every request through the crawl's replay proxy, whatever proxy it named.

    Requests with meta `replay` False (to the operator's own model) are left alone.
    """

    def __init__(self, proxy: ReplayProxy) -> None:
        self._proxy = proxy

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> ReplayMiddleware:
        """Find the add-on's proxy; raises `NotConfigured` where there is none."""
        addon = crawler.get_addon(ReplayAddon)
        if addon is None:
            raise NotConfigured
        return cls(addon.proxy)

    def process_request(self, request: Request) -> None:
        """Name the replay proxy as the request's proxy."""
        if request.meta.get("replay", True):
            request.meta["proxy"] = self._proxy.url("socks5h")


def recorded_in(folder: Path) -> list[Fixture]:
    """Return every recording below a folder laid out as `<engine>/<case>/`.

    Raises `InvalidInputError` where there is none.
    """
    engines = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    found = [load_fixture(case) for name in engines for case in fixture_folders(folder, name)]
    if not found:
        raise InvalidInputError(
            f"{folder} holds no recordings", hint="expected are folders ENGINE/CASE/response.html"
        )
    return found
