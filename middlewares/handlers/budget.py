"""What a rendered page may cost, and the watch that is kept over it."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from playwright.async_api import Error as PlaywrightError

if TYPE_CHECKING:
    from playwright.async_api import Page, Route
    from scrapy import Request
    from scrapy.settings import BaseSettings

__all__ = ["RenderBudget", "Watch"]

#: Parts of a page that its text does not need.
UNWANTED = frozenset({"image", "media", "font"})
#: Seconds to wait for a quiet network once the page is loaded.
_QUIET_WAIT = 5.0
_SHOT_QUALITY = 70
#: Asks the page itself, so that a giant one never has to be carried over.
_SIZE = "document.documentElement ? document.documentElement.outerHTML.length : 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderBudget:
    """Limits of one render: seconds, requests, bytes from the network, bytes of HTML."""

    seconds: float
    requests: int
    network_bytes: int
    html_bytes: int

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> RenderBudget:
        """Read the operator's limits; a caller has no say in them."""
        return cls(
            seconds=settings.getfloat("RENDER_TIMEOUT"),
            requests=settings.getint("RENDER_MAX_REQUESTS"),
            network_bytes=settings.getint("RENDER_MAX_NETWORK_BYTES"),
            html_bytes=settings.getint("RENDER_MAX_HTML_BYTES"),
        )


class Watch:
    """Counts what one page asks for, leaves out what is unwanted, and says when it is too much.

    `breach` is set with the limit that was passed. `shots` gets a JPEG of the page where the
    caller wants one; pictures are then loaded.
    """

    def __init__(
        self, budget: RenderBudget, *, quiet: bool = False, shots: list[bytes] | None = None
    ) -> None:
        self.breach = ""
        self.breached = asyncio.Event()
        self._budget = budget
        self._quiet = quiet
        self._shots = shots
        self._requests = 0

    def over(self, limit: str) -> None:
        """Note that a limit was passed."""
        self.breach = self.breach or limit
        self.breached.set()

    async def attach(self, page: Page, _request: Request) -> None:
        """Look at every request of the page before it leaves."""
        await page.route("**/*", self._look)

    async def _look(self, route: Route) -> None:
        self._requests += 1
        if self._requests > self._budget.requests:
            self.over(f"{self._budget.requests} requests")
        unwanted = self._shots is None and route.request.resource_type in UNWANTED
        with contextlib.suppress(PlaywrightError):
            if self.breach or unwanted:
                await route.abort()
            else:
                await route.fallback()

    async def settle(self, page: Page) -> None:
        """Wait as asked, measure the page, take its picture."""
        if self._quiet:
            with contextlib.suppress(PlaywrightError):
                await page.wait_for_load_state("networkidle", timeout=_QUIET_WAIT * 1000)
        if await page.evaluate(_SIZE) > self._budget.html_bytes:
            self.over(f"{self._budget.html_bytes} bytes of HTML")
            await asyncio.Event().wait()
        if self._shots is not None:
            self._shots.append(await page.screenshot(type="jpeg", quality=_SHOT_QUALITY))
