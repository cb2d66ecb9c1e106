"""Remote readers: what they are asked, which key is used, when `auto` turns to them."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
import trustme

from framework.errors import ConsilienceError, InvalidInputError
from framework.types import HttpRequest, HttpResponse
from middlewares.state import StateDatabase
from server.app import Application
from server.config import Environment
from server.pages import PageRequest
from server.readers import Ask, RemoteReaders
from spiders.replay import ReplayProxy
from tests.support.site import Reply, Site, hang

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PAGE = "https://tides.example/today"
TEXT = "# Tides today\n\nHigh water is at noon, and the pilots of Westport wait for it.\n"
HTML = (
    "<article><h1>Tides here</h1><p>The local page tells of the tides in the harbour, of banks and"
    " of pilots, at such length that it is taken for content.</p></article>"
)


def extract(text: str = TEXT) -> HttpResponse:
    body = json.dumps({"results": [{"url": PAGE, "raw_content": text}]}).encode()
    return HttpResponse(url="https://api.tavily.com/extract", body=body)


def authorization(request: HttpRequest) -> str | None:
    return {name.lower(): value for name, value in request.headers}.get("authorization")


def status(code: int) -> HttpResponse:
    return HttpResponse(url=PAGE, status=code, body=b"<title>no</title>")


@dataclass(slots=True)
class Web:
    """What each host answers, and a key of which a reader says that it is used up."""

    page: HttpResponse = field(default_factory=lambda: status(403))
    tavily: HttpResponse = field(default_factory=extract)
    used_up: str = ""

    def __call__(self, request: HttpRequest) -> HttpResponse | None:
        if request.url.startswith("https://api.tavily.com/"):
            key = (authorization(request) or "").removeprefix("Bearer ")
            return status(432) if key == self.used_up else self.tavily
        if request.url.startswith("https://r.jina.ai/"):
            return HttpResponse(url=request.url, body=TEXT.encode())
        return self.page


@pytest.fixture
def web() -> Web:
    return Web()


@pytest.fixture
async def proxy(web: Web) -> AsyncIterator[ReplayProxy]:
    async with ReplayProxy(answer=web) as proxy:
        yield proxy


def application(proxy: ReplayProxy, folder: Path, **more: str) -> Application:
    assert proxy.ca is not None
    proxy.ca.cert_pem.write_to_path(str(folder / "ca.pem"))
    values = {
        "CONSILIENCE_PROXY": proxy.url("socks5h"),
        "CONSILIENCE_CA_FILE": str(folder / "ca.pem"),
        "CONSILIENCE_STATE_DIR": str(folder / "state"),
        "CONSILIENCE_ROBOTS": "off",
        **more,
    }
    return Application.create(environment=Environment(values))


def asked(proxy: ReplayProxy, host: str) -> list[HttpRequest]:
    return [request for request in proxy.served if f"//{host}/" in request.url]


async def test_tavily_is_asked_for_the_page_and_the_passages(
    proxy: ReplayProxy, tmp_path: Path
) -> None:
    async with application(proxy, tmp_path, TAVILY_API_KEY="tv-1") as app:
        found = await app.read_page(PageRequest(url=PAGE), "tavily", "high water", 3)
    (request,) = asked(proxy, "api.tavily.com")
    body = json.loads(request.body)
    assert (body["urls"], body["query"], body["chunks_per_source"]) == ([PAGE], "high water", 3)
    assert "High water is at noon" in found.document.text
    assert (found.source, found.response.url) == ("tavily", PAGE)
    assert not asked(proxy, "tides.example")


@pytest.mark.parametrize("keys", [{}, {"JINA_API_KEY": "j-1"}])
async def test_jina_reads_with_and_without_a_key(
    proxy: ReplayProxy, tmp_path: Path, keys: dict[str, str]
) -> None:
    async with application(proxy, tmp_path, **keys) as app:
        found = await app.read_page(PageRequest(url=PAGE), "jina", None, 5)
    (request,) = asked(proxy, "r.jina.ai")
    assert request.url == f"https://r.jina.ai/{PAGE}"
    assert authorization(request) == ("Bearer j-1" if keys else None)
    assert found.document.metadata.title == "Tides today"


async def test_a_key_that_is_used_up_gives_way_to_the_next(
    web: Web, proxy: ReplayProxy, tmp_path: Path
) -> None:
    web.used_up = "tv-1"
    async with application(proxy, tmp_path, TAVILY_API_KEYS="tv-1, tv-2") as app:
        for _ in range(2):
            await app.read_page(PageRequest(url=PAGE), "tavily", None, 5)
    keys = [authorization(request) for request in asked(proxy, "api.tavily.com")]
    assert keys == ["Bearer tv-1", "Bearer tv-2", "Bearer tv-2"]


async def test_auto_asks_a_reader_only_where_the_page_cannot_be_read(
    web: Web, proxy: ReplayProxy, tmp_path: Path
) -> None:
    async with application(proxy, tmp_path, TAVILY_API_KEY="tv-1") as app:
        blocked = await app.read_page(PageRequest(url=PAGE), "auto", None, 5)
        headers = (("Content-Type", "text/html; charset=utf-8"),)
        web.page = HttpResponse(url=PAGE, headers=headers, body=HTML.encode())
        request = PageRequest(url="https://tides.example/open", render="never")
        free = await app.read_page(request, "auto", None, 5)
    assert (blocked.source, free.source) == ("tavily", "local")
    assert len(asked(proxy, "api.tavily.com")) == 1


@pytest.mark.parametrize(("reader", "keys"), [("auto", {}), ("local", {"TAVILY_API_KEY": "tv-1"})])
async def test_nobody_is_asked_without_a_key_or_consent(
    proxy: ReplayProxy, tmp_path: Path, reader: str, keys: dict[str, str]
) -> None:
    async with application(proxy, tmp_path, **keys) as app:
        with pytest.raises(ConsilienceError) as caught:
            await app.read_page(PageRequest(url=PAGE), reader, None, 5)
    assert caught.value.code == "http_status"
    assert not asked(proxy, "api.tavily.com")


async def test_a_reader_that_needs_a_key_names_its_variables(
    proxy: ReplayProxy, tmp_path: Path
) -> None:
    async with application(proxy, tmp_path) as app:
        with pytest.raises(InvalidInputError, match="the reader tavily needs a key") as caught:
            await app.read_page(PageRequest(url=PAGE), "tavily", None, 5)
    assert "TAVILY_API_KEYS or TAVILY_API_KEY" in caught.value.hint


@pytest.mark.parametrize(
    "answer",
    [status(500), HttpResponse(url=PAGE, body=b"no json"), HttpResponse(url=PAGE, body=b"{}")],
    ids=["an error", "no JSON", "no text"],
)
async def test_an_answer_without_a_text_is_the_readers_failure(
    web: Web, proxy: ReplayProxy, tmp_path: Path, answer: HttpResponse
) -> None:
    web.tavily = answer
    async with application(proxy, tmp_path, TAVILY_API_KEY="tv-secret-1") as app:
        with pytest.raises(ConsilienceError) as caught:
            await app.read_page(PageRequest(url=PAGE), "tavily", None, 5)
    assert caught.value.code == "reader_failed"
    assert "tv-secret-1" not in str(caught.value)


async def test_the_time_limit_holds_for_the_page_and_the_reader_together(tmp_path: Path) -> None:
    async with Site({"/today": Reply(stream=hang)}) as site:
        silent = ("127.0.0.1", site.port)
        hosts = {"tides.example": silent, "api.tavily.com": silent}
        async with (
            ReplayProxy(hosts=hosts, ca=trustme.CA()) as proxy,
            application(proxy, tmp_path, TAVILY_API_KEY="tv-1") as app,
        ):
            request = PageRequest(url="http://tides.example/today", render="never", timeout=1.0)
            with pytest.raises(ConsilienceError, match="within") as caught:
                await app.read_page(request, "auto", None, 5)
    found = re.search(r"within ([\d.]+) s", str(caught.value))
    assert caught.value.code == "timeout"
    assert found is not None
    assert float(found[1]) < 0.5
    assert [connection.host for connection in proxy.log] == ["tides.example", "api.tavily.com"]


async def test_the_time_limit_holds_for_all_keys_together() -> None:
    limits: list[float] = []

    async def refuse(_: HttpRequest, timeout: float) -> HttpResponse:
        limits.append(timeout)
        await asyncio.sleep(0.01)
        return status(401)

    keys = {"TAVILY_API_KEYS": "tv-1,tv-2,tv-3"}
    readers = RemoteReaders(refuse, keys, StateDatabase())
    with pytest.raises(ConsilienceError, match="the reader tavily answered status 401"):
        await readers.read("tavily", Ask(PAGE), 5.0)
    assert len(limits) == 3
    assert limits == sorted(limits, reverse=True)
    assert limits[0] - limits[-1] >= 0.02
