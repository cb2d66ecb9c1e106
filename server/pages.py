"""Fetching pages for readers: cache, pace, rendering where needed, and the Document of each."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field, replace
from http import HTTPStatus
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from framework.errors import ConsilienceError, InvalidInputError, UnavailableError
from framework.evidence.injection import scan
from framework.reading import DocumentKind, read
from framework.reading.challenge import challenge
from framework.types import FetchMode, HttpRequest
from middlewares.cache import CacheKey

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from framework.evidence.injection import Safety
    from framework.reading import Document
    from framework.types import HttpResponse
    from middlewares.cache import Cache
    from middlewares.policy import EnginePolicy
    from spiders.hub import Hub

__all__ = ["PAGE_CAP", "Fetched", "PageRequest", "Pages", "Render", "Wait", "checked_url"]

Render = Literal["never", "auto", "always"]
Wait = Literal["load", "networkidle"]

#: The most bytes of a page, after decompression.
PAGE_CAP = 8 * 1024 * 1024
#: Larger bodies are read in a thread, so that other calls go on meanwhile.
_SMALL_BODY = 64 * 1024
#: Failures of a shared transfer that say how much time another caller had.
_OTHERS_LIMIT = frozenset({"timeout", "rate_limited"})
_ACCEPT = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, */*;q=0.5"


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest:
    """One page to fetch: `timeout` in seconds, `cap` in bytes, `render` when to use a browser."""

    url: str
    render: Render = "auto"
    wait: Wait = "load"
    screenshot: bool = False
    timeout: float = 20.0
    cap: int = PAGE_CAP
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A page that was fetched and read; `source` says where it came from."""

    document: Document
    response: HttpResponse
    source: str = "local"
    rendered: bool = False
    warnings: tuple[str, ...] = ()
    screenshot: bytes | None = None
    memo: dict[str, Safety] = field(default_factory=dict, repr=False)

    @property
    def content_type(self) -> str:
        """The declared type without its parameters."""
        return (self.response.header("Content-Type") or "").partition(";")[0].strip().lower()

    @property
    def safety(self) -> Safety:
        """What the scan for instructions aimed at the reading model found; scanned at first use."""
        if "safety" not in self.memo:
            is_html = self.document.kind is DocumentKind.HTML
            self.memo["safety"] = scan(self.response.body if is_html else self.document.markdown)
        return self.memo["safety"]


class Pages:
    """Fetches and reads pages through a hub."""

    def __init__(
        self, hub: Callable[[], Awaitable[Hub]], cache: Cache, policy: EnginePolicy
    ) -> None:
        self._hub = hub
        self._cache = cache
        self._policy = policy

    async def fetch(self, request: PageRequest) -> Fetched:
        """Fetch and read one page.

        With `render` auto a page that needs a browser is rendered, and where that fails the plain
        one is returned with a warning; `always` is strict. The time limit holds for both together.

        Raises:
            InvalidInputError: the address is no http(s) address.
            ConsilienceError: it could not be fetched, is blocked or is an error of the site.
        """
        request = replace(request, url=checked_url(request.url))
        end = asyncio.get_running_loop().time() + request.timeout
        always = request.render == "always" or request.screenshot
        found = await (self._rendered(request) if always else self._plain(request))
        if request.render == "auto" and not always and found.document.needs_render:
            left = end - asyncio.get_running_loop().time()
            found = await self._better(replace(request, timeout=left), found)
        _refuse(found)
        return found

    async def answer(self, request: PageRequest) -> HttpResponse:
        """Fetch an address and return the answer unread, whatever its type.

        Raises:
            InvalidInputError: the address is no http(s) address.
            ConsilienceError: it could not be fetched, or is an error of the site.
        """
        request = replace(request, url=checked_url(request.url))
        response, _ = await self._load(request, FetchMode.HTTP, {})
        _refuse_status(response)
        return response

    async def _better(self, request: PageRequest, plain: Fetched) -> Fetched:
        try:
            return await self._rendered(request)
        except ConsilienceError as error:
            remark = f"not rendered although {plain.document.needs_render}: {error.message}"
            return replace(plain, warnings=(*plain.warnings, remark))

    async def _plain(self, request: PageRequest) -> Fetched:
        warnings: list[str] = []
        response, fresh = await self._load(request, FetchMode.HTTP, {"warnings": warnings})
        document = await _document(response)
        source = "local" if fresh else "cache"
        return Fetched(
            document=document,
            response=response,
            source=source,
            warnings=(*warnings, *document.warnings),
        )

    async def _rendered(self, request: PageRequest) -> Fetched:
        warnings: list[str] = []
        shots: list[bytes] = []
        facts: dict[str, object] = {"wait": request.wait, "warnings": warnings}
        if request.screenshot:
            facts["screenshot"] = shots
        response, _ = await self._load(request, FetchMode.RENDER, facts)
        document = await _document(response)
        return Fetched(
            document=document,
            response=response,
            rendered=True,
            warnings=(*warnings, *document.warnings),
            screenshot=shots[0] if shots else None,
        )

    async def _load(
        self, request: PageRequest, mode: FetchMode, facts: dict[str, object]
    ) -> tuple[HttpResponse, bool]:
        """Return the answer, and whether it was fetched just now.

        A transfer is shared with callers that want the same, but each keeps its own time limit:
        where the one who began it had less time, the others begin anew.
        """
        end = asyncio.get_running_loop().time() + request.timeout
        fresh = False

        async def load(headers: tuple[tuple[str, str], ...]) -> tuple[HttpResponse, int | None]:
            nonlocal fresh
            fresh = True
            left = end - asyncio.get_running_loop().time()
            return await self._transfer(request, mode, facts, headers, left), None

        personal = any(name.lower() != "accept" for name, _ in request.headers)
        if request.screenshot or personal:
            return (await load(()))[0], True
        sent = tuple(value for _, value in request.headers)
        vary = (str(request.wait), *sent) if mode is FetchMode.RENDER else sent
        key = CacheKey(request.url, mode, vary)
        try:
            async with asyncio.timeout_at(end):
                while True:
                    try:
                        return (await self._cache.fetch(key, request.cap, load)).response, fresh
                    except UnavailableError as error:
                        if fresh or error.code not in _OTHERS_LIMIT:
                            raise
        except TimeoutError:
            raise UnavailableError(
                f"no complete answer within {request.timeout:g} s", code="timeout"
            ) from None

    async def _transfer(
        self,
        request: PageRequest,
        mode: FetchMode,
        facts: dict[str, object],
        conditions: tuple[tuple[str, str], ...],
        timeout: float,
    ) -> HttpResponse:
        hub = await self._hub()
        sent = HttpRequest(url=request.url, headers=(*_accepting(request.headers), *conditions))
        meta = {"refresh": True, "robots": "warn", **facts}
        async with self._policy.page_turn(request.url, deadline=timeout) as waited:
            left = timeout - waited
            return await hub.fetch(sent, mode=mode, timeout=left, maxsize=request.cap, meta=meta)


def _accepting(headers: tuple[tuple[str, str], ...]) -> tuple[tuple[str, str], ...]:
    if any(name.lower() == "accept" for name, _ in headers):
        return headers
    return (("Accept", _ACCEPT), *headers)


def checked_url(url: str) -> str:
    """Return an address that may be fetched, without blanks around it.

    Raises:
        InvalidInputError: no http(s) address, no host, or a user name in it.
    """
    text = url.strip()
    with contextlib.suppress(ValueError):
        parts = urlsplit(text)
        if parts.scheme in {"http", "https"} and parts.hostname and "@" not in parts.netloc:
            return text
        if not parts.scheme and "." in text.partition("/")[0]:
            raise InvalidInputError(f"{text[:200]!r} has no scheme", hint=f"try https://{text}")
    raise InvalidInputError(
        f"{text[:200]!r} is no address of a page",
        hint="give an http or https address without a user name",
    )


async def _document(response: HttpResponse) -> Document:
    headers = {name.lower(): value for name, value in response.headers}
    if len(response.body) <= _SMALL_BODY:
        return read(response.body, response.url, headers)
    return await asyncio.to_thread(read, response.body, response.url, headers)


def _refuse(found: Fetched) -> None:
    """Raise where the answer is not the page: a block, or an error of the site."""
    response = found.response
    reason = challenge(response, len(found.document.markdown))
    if reason:
        raise UnavailableError(
            f"{response.url} is blocked: {reason}",
            code="blocked",
            hint="another proxy, render=always or a remote reader may pass",
        )
    _refuse_status(response)


def _refuse_status(response: HttpResponse) -> None:
    if response.status >= 400:
        retryable = response.status in {408, 425, 429} or response.status >= 500
        raise ConsilienceError(
            f"{response.url} answered status {response.status}{_phrase(response.status)}",
            code="http_status",
            retryable=retryable,
        )


def _phrase(status: int) -> str:
    with contextlib.suppress(ValueError):
        return f" ({HTTPStatus(status).phrase})"
    return ""
