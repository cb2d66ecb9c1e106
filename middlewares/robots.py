"""robots.txt: asked for through the request's own proxy and mode, obeyed or only pointed out."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import OrderedDict
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from protego import Protego
from scrapy import Request
from scrapy.exceptions import IgnoreRequest

from framework.errors import InvalidInputError
from middlewares.proxy import ProxyMiddleware
from middlewares.shared_task import SharedTask

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Hashable

    from scrapy.crawler import Crawler
    from scrapy.http import Response

__all__ = ["AGENT", "Robots", "RobotsMiddleware", "RobotsPolicy", "RobotsRefusedError", "parsed"]

_log = logging.getLogger(__name__)

#: The name that a site's robots.txt may address us by.
AGENT = "consilience"
#: What of a robots.txt is read, in bytes (RFC 9309 asks for at least 500 KiB).
_SIZE = 512 * 1024
_TTL = 3600.0
_KEPT = 1024
#: The longest pause between two pages of a site that is honoured, in seconds.
_LONGEST_DELAY = 30.0
#: What the question for robots.txt takes over from the request that it is asked for.
_SHARED = ("fetch", "proxy", "routed", "tried", "pool", "profile", "judge")
#: Seconds for the question itself; it outlives a caller that leaves while others wait for it.
_TIMEOUT = 10.0


class RobotsPolicy(StrEnum):
    """What a site's wish means: refuse, fetch but say so, do not ask."""

    OBEY = "obey"
    WARN = "warn"
    OFF = "off"


class RobotsRefusedError(IgnoreRequest):
    """Raised where robots.txt asks not to fetch a page; never retried."""

    code = "robots_refused"


@dataclass(frozen=True, slots=True)
class Robots:
    """What a robots.txt says to us; `rules` None means that everything or nothing is allowed."""

    rules: Protego | None
    otherwise: bool = True

    def allows(self, url: str) -> bool:
        """Whether this page may be fetched."""
        return self.otherwise if self.rules is None else bool(self.rules.can_fetch(url, AGENT))

    @property
    def delay(self) -> float:
        """Seconds to leave between two pages, at most 30."""
        wished = self.rules.crawl_delay(AGENT) if self.rules is not None else None
        return min(float(wished or 0.0), _LONGEST_DELAY)


def parsed(status: int, body: bytes) -> Robots:
    """Return what an answer for robots.txt means (RFC 9309, section 2.3.1).

    Found: its rules. Not there (4xx): all is allowed. Broken (5xx): nothing is.
    """
    if status >= 500:
        return Robots(None, otherwise=False)
    if status >= 300:
        return Robots(None)
    return Robots(Protego.parse(body[:_SIZE].decode("utf-8", "replace")))


@dataclass(frozen=True, slots=True, eq=False)
class _Question:
    """What is asked of one site, and until when its answer counts."""

    answer: SharedTask[Robots]
    until: float


def _policy(text: str) -> RobotsPolicy:
    try:
        return RobotsPolicy(text)
    except ValueError:
        known = ", ".join(RobotsPolicy)
        raise InvalidInputError(
            f"CONSILIENCE_ROBOTS must be one of {known}, not {text!r}"
        ) from None


async def _answer(crawler: Crawler, request: Request) -> Response:
    """Return the answer, past the engine's slots: through them no cancellation gets to a socket."""
    downloader = crawler.engine.downloader
    step: Request | Response = request
    while isinstance(step, Request):
        step = await downloader.middleware.download_async(
            downloader.handlers.download_request_async, step
        )
    return step


class RobotsMiddleware:
    """Looks at robots.txt before a page that asks for it by `request.meta["robots"]`.

    The setting `CONSILIENCE_ROBOTS` wins over what the request says. A warning is appended to the
    list `request.meta["warnings"]`, where there is one. Answers are kept for an hour per site and
    proxy; requests at the same time share one question, which ends when the last of them leaves.
    """

    def __init__(
        self,
        download: Callable[[Request], Awaitable[Response]],
        policy: RobotsPolicy | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        route: Callable[[Request], None] = lambda request: None,
    ) -> None:
        self._download = download
        self._route = route
        self._policy = policy
        self._clock = clock
        self._sleep = sleep
        self._known: OrderedDict[Hashable, _Question] = OrderedDict()
        self._turns: OrderedDict[str, float] = OrderedDict()

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> RobotsMiddleware:
        """Read the operator's policy from the settings."""
        named = crawler.settings.get("CONSILIENCE_ROBOTS")
        policy = _policy(str(named)) if named else None

        def route(request: Request) -> None:
            router = crawler.get_downloader_middleware(ProxyMiddleware)
            if router is not None:
                router.process_request(request)

        return cls(lambda request: _answer(crawler, request), policy, route=route)

    async def process_request(self, request: Request) -> None:
        """Wait for the site's turn, warn, or raise `RobotsRefusedError`."""
        wished = request.meta.get("robots")
        policy = (self._policy or RobotsPolicy(wished)) if wished else RobotsPolicy.OFF
        if policy is RobotsPolicy.OFF:
            return
        # The page's proxy is chosen now, so that both questions leave by the same one.
        self._route(request)
        robots = await self._robots(request)
        if not robots.allows(request.url):
            self._object(request, policy)
        elif policy is RobotsPolicy.OBEY and robots.delay:
            await self._wait(urlsplit(request.url).netloc, robots.delay)

    def _object(self, request: Request, policy: RobotsPolicy) -> None:
        text = f"robots.txt of {urlsplit(request.url).hostname} asks not to fetch this page"
        if policy is RobotsPolicy.OBEY:
            raise RobotsRefusedError(text)
        warnings = request.meta.get("warnings")
        if isinstance(warnings, list):
            warnings.append(text)
        else:
            _log.warning("%s", text)

    async def _wait(self, site: str, delay: float) -> None:
        now = self._clock()
        turn = max(self._turns.get(site, now), now)
        self._turns[site] = turn + delay
        self._turns.move_to_end(site)
        while len(self._turns) > _KEPT:
            self._turns.popitem(last=False)
        if turn > now:
            await self._sleep(turn - now)

    async def _robots(self, request: Request) -> Robots:
        parts = urlsplit(request.url)
        key = (parts.scheme, parts.netloc, request.meta.get("proxy"), request.meta.get("pool"))
        question = self._known.get(key)
        if question is None or self._clock() >= question.until:
            question = self._asked(request, key, f"{parts.scheme}://{parts.netloc}")
        try:
            return await question.answer.result()
        except Exception:  # noqa: BLE001 - the page itself will fail alike, and say why
            self._forget(key, question)
            return Robots(None)

    def _asked(self, request: Request, key: Hashable, origin: str) -> _Question:
        def left() -> None:
            if not question.answer.is_done:
                self._forget(key, question)

        work = self._ask(request, origin)
        answer = SharedTask(work, name="ask for robots.txt", left=left)
        question = self._known[key] = _Question(answer, self._clock() + _TTL)
        self._known.move_to_end(key)
        while len(self._known) > _KEPT:
            self._known.popitem(last=False)
        return question

    def _forget(self, key: Hashable, question: _Question) -> None:
        if self._known.get(key) is question:
            del self._known[key]

    async def _ask(self, request: Request, origin: str) -> Robots:
        shared = {name: request.meta[name] for name in _SHARED if name in request.meta}
        limits = {"download_maxsize": 4 * _SIZE, "download_timeout": _TIMEOUT}
        question = Request(f"{origin}/robots.txt", dont_filter=True, meta={**shared, **limits})
        answer = await self._download(question)
        return parsed(answer.status, answer.body)
