"""Remote readers: services that fetch a page elsewhere and send back its Markdown.

Each is one entry of `READERS`: how its request looks and where its answer holds the text. The
engine language is for lists of results, and its fields are capped in length, so that a reader,
whose answer is one long text, is described here instead.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError, InvalidInputError, UnavailableError
from framework.reading import read
from framework.types import HttpRequest, HttpResponse, Page, Verdict
from middlewares.keys import KeyPool, with_keys
from server.pages import Fetched

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from middlewares.state import StateDatabase

    Send = Callable[[HttpRequest, float], Awaitable[HttpResponse]]

__all__ = ["READERS", "Ask", "Reader", "RemoteReaders"]

_REFUSALS: Mapping[int, Verdict] = {
    401: Verdict.UNAUTHORISED,
    403: Verdict.UNAUTHORISED,
    402: Verdict.QUOTA,
    432: Verdict.QUOTA,
    433: Verdict.QUOTA,
    429: Verdict.RATE_LIMITED,
}


@dataclass(frozen=True, slots=True)
class Ask:
    """What a reader is asked: the page, and where it can, only the passages about a query."""

    url: str
    query: str | None = None
    chunks: int = 5


@dataclass(frozen=True, slots=True)
class Reader:
    """A service: the variables of its keys, its request, and the text in its answer."""

    name: str
    env: tuple[str, ...]
    request: Callable[[Ask, str], HttpRequest]
    text: Callable[[HttpResponse], str]
    needs_key: bool = True


def _jina_request(ask: Ask, key: str) -> HttpRequest:
    headers = [("Accept", "text/markdown"), ("X-Return-Format", "markdown")]
    if key:
        headers.append(("Authorization", f"Bearer {key}"))
    return HttpRequest(url=f"https://r.jina.ai/{ask.url}", headers=tuple(headers))


def _jina_text(response: HttpResponse) -> str:
    return response.body.decode("utf-8", "replace")


def _tavily_request(ask: Ask, key: str) -> HttpRequest:
    body: dict[str, object] = {"urls": [ask.url], "format": "markdown"}
    if ask.query:
        body |= {"query": ask.query, "chunks_per_source": min(ask.chunks, 5)}
    return HttpRequest(
        url="https://api.tavily.com/extract",
        method="POST",
        headers=(("Content-Type", "application/json"), ("Authorization", f"Bearer {key}")),
        body=json.dumps(body).encode(),
    )


def _tavily_text(response: HttpResponse) -> str:
    try:
        data = json.loads(response.body)
        return str(data["results"][0]["raw_content"])
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise UnavailableError("tavily could not read the page", code="reader_failed") from error


#: The readers in the order in which `auto` tries them.
READERS: Mapping[str, Reader] = {
    reader.name: reader
    for reader in (
        Reader("tavily", ("TAVILY_API_KEYS", "TAVILY_API_KEY"), _tavily_request, _tavily_text),
        Reader(
            "jina", ("JINA_API_KEYS", "JINA_API_KEY"), _jina_request, _jina_text, needs_key=False
        ),
    )
}


@dataclass(slots=True)
class RemoteReaders:
    """Asks remote readers, going on to the next key where one is refused."""

    send: Send
    environ: Mapping[str, str] = field(repr=False)
    state: StateDatabase
    _pools: dict[str, KeyPool] = field(default_factory=dict, init=False)

    def configured(self) -> tuple[str, ...]:
        """Return the names of the readers that have a key."""
        return tuple(name for name, reader in READERS.items() if self._keys(reader))

    async def read(self, name: str, ask: Ask, timeout: float) -> Fetched:
        """Read a page with one reader; `timeout` (seconds) holds for all its keys together.

        Raises:
            InvalidInputError: the reader needs a key and has none.
            ConsilienceError: it did not answer with the page's text.
        """
        reader = READERS[name]
        if reader.needs_key and not self._keys(reader):
            raise InvalidInputError(
                f"the reader {name} needs a key", hint=f"set {' or '.join(reader.env)}"
            )
        responses: list[HttpResponse] = []
        clock = asyncio.get_running_loop().time
        end = clock() + timeout

        async def attempt(keys: Mapping[str, str]) -> Page:
            left = max(0.0, end - clock())
            response = await self.send(reader.request(ask, keys.get(name, "")), left)
            responses.append(response)
            verdict = _REFUSALS.get(response.status, Verdict.OK)
            return Page(verdict=verdict if response.status >= 400 else Verdict.OK)

        page = await with_keys({name: self._pool(reader)}, attempt)
        if page.verdict is not Verdict.OK or not responses or responses[-1].status >= 400:
            status = responses[-1].status if responses else 0
            raise ConsilienceError(
                f"the reader {name} answered status {status}: {page.detail or page.verdict}",
                code="reader_failed",
                retryable=True,
                retry_after=page.retry_after,
            )
        return _fetched(reader, ask, responses[-1])

    def _keys(self, reader: Reader) -> tuple[str, ...]:
        listed = (key.strip() for env in reader.env for key in self.environ.get(env, "").split(","))
        return tuple(dict.fromkeys(key for key in listed if key))

    def _pool(self, reader: Reader) -> KeyPool:
        if reader.name not in self._pools:
            pool = KeyPool(" ".join(reader.env), self._keys(reader), self.state)
            self._pools[reader.name] = pool
        return self._pools[reader.name]


def _fetched(reader: Reader, ask: Ask, response: HttpResponse) -> Fetched:
    text = reader.text(response).encode()
    headers = (("Content-Type", "text/markdown; charset=utf-8"),)
    shown = HttpResponse(url=ask.url, status=200, headers=headers, body=text)
    document = read(text, ask.url, {"content-type": "text/markdown; charset=utf-8"})
    return Fetched(document=document, response=shown, source=reader.name)
