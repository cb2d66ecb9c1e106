"""robots.txt over real sockets: obeyed, pointed out, shared, never around the proxy."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from scrapy import Request
from scrapy.http import Response

from framework.errors import UnavailableError
from framework.spec.context import Variables
from framework.types import HttpRequest, Query, Verdict
from middlewares.robots import Robots, RobotsMiddleware, parsed
from spiders.hub import Hub
from spiders.replay import ReplayProxy
from tests.middlewares.conftest import LOOPBACK
from tests.support.engines import PLAIN, engine, rows
from tests.support.site import Reply, Routes, Site, hang

if TYPE_CHECKING:
    from framework.types import FetchMode

#: Seconds after which a question for robots.txt ends by itself.
ROBOTS_TIMEOUT = 10.0
RULES = b"User-agent: *\nDisallow: /private\nUser-agent: Consilience\nDisallow: /ours\n"


def site(robots: Reply | None = None) -> Site:
    page = Reply(body=b"page")
    routes = {"/robots.txt": robots or Reply(body=RULES)}
    return Site({**routes, "/open": page, "/ours": page, "/private": page})


async def fetch(hub: Hub, url: str, policy: str, **meta: object) -> bytes:
    return (await hub.fetch(HttpRequest(url=url), meta={"robots": policy, **meta})).body


async def test_a_disallowed_page_is_refused(hub: Hub) -> None:
    async with site() as server:
        assert await fetch(hub, server.url("/open"), "obey") == b"page"
        assert await fetch(hub, server.url("/private"), "obey") == b"page"
        with pytest.raises(UnavailableError) as caught:
            await fetch(hub, server.url("/ours"), "obey")
        assert caught.value.code == "robots_refused"
        assert not caught.value.retryable
        assert [seen.path for seen in server.seen] == ["/robots.txt", "/open", "/private"]


async def test_a_warning_is_given_and_the_page_too(hub: Hub) -> None:
    warnings: list[str] = []
    async with site() as server:
        assert await fetch(hub, server.url("/ours"), "warn", warnings=warnings) == b"page"
    assert warnings == ["robots.txt of 127.0.0.1 asks not to fetch this page"]


@pytest.mark.parametrize(
    ("wish", "asked", "verdict"),
    [
        ("", ["/ours"], Verdict.OK),
        ("fetch: {robots: warn}\n", ["/robots.txt", "/ours"], Verdict.OK),
        ("fetch: {robots: obey}\n", ["/robots.txt"], Verdict.ERROR),
    ],
    ids=["default", "warn", "obey"],
)
async def test_an_engines_own_pages_count_where_its_file_says_so(
    hub: Hub, wish: str, asked: list[str], verdict: Verdict
) -> None:
    found = Reply(headers={"Content-Type": "text/html"}, body=rows("one").encode())
    async with Site({"/robots.txt": Reply(body=RULES), "/ours": found}) as server:
        text = "settings: {base: {env: BASE_URL}}\n" + PLAIN.replace(
            "https://plain.example/search", '"{{ settings.base }}/ours"'
        )
        variables = Variables(settings={"base": server.url("")})
        page = await hub.search_engine(engine(text + wish), Query(text="x"), variables=variables)
        assert page.verdict is verdict, page.detail
        assert [seen.path for seen in server.seen] == asked


@pytest.mark.parametrize("policy", ["off", ""])
async def test_it_is_not_asked_for_unless_wanted(hub: Hub, policy: str) -> None:
    async with site() as server:
        await fetch(hub, server.url("/ours"), policy)
        assert [seen.path for seen in server.seen] == ["/ours"]


async def test_the_operators_policy_wins() -> None:
    async with site() as server, Hub({**LOOPBACK, "CONSILIENCE_ROBOTS": "obey"}) as hub:
        with pytest.raises(UnavailableError, match="asks not to"):
            await fetch(hub, server.url("/ours"), "warn")


@pytest.mark.parametrize(
    ("status", "allowed"), [(404, True), (403, True), (500, False), (503, False)]
)
async def test_a_missing_file_allows_and_a_broken_one_does_not(
    hub: Hub, status: int, allowed: bool
) -> None:
    async with site(Reply(status)) as server:
        if allowed:
            assert await fetch(hub, server.url("/ours"), "obey") == b"page"
        else:
            with pytest.raises(UnavailableError):
                await fetch(hub, server.url("/open"), "obey", retry=False)


async def test_requests_at_the_same_time_share_one_question(hub: Hub) -> None:
    async with site() as server:
        url = server.url("/open")
        await asyncio.gather(*(fetch(hub, url, "obey") for _ in range(5)))
        assert [seen.path for seen in server.seen].count("/robots.txt") == 1


async def test_a_caller_that_leaves_does_not_spoil_the_question(hub: Hub) -> None:
    go_on = asyncio.Event()

    async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await go_on.wait()
        writer.write(RULES)

    async with site(Reply(stream=slow)) as server:
        calls = [asyncio.ensure_future(fetch(hub, server.url("/ours"), "obey")) for _ in range(2)]
        await server.arrived.wait()
        calls[0].cancel()
        go_on.set()
        left, refused = await asyncio.gather(*calls, return_exceptions=True)
        assert isinstance(left, asyncio.CancelledError)
        assert isinstance(refused, UnavailableError)
        assert refused.code == "robots_refused"
        assert [seen.path for seen in server.seen] == ["/robots.txt"]


async def test_the_last_caller_that_leaves_ends_the_question(mode: FetchMode) -> None:
    replies = iter([Reply(stream=hang), Reply(body=RULES)])
    routes: Routes = {"/robots.txt": lambda seen: next(replies), "/open": Reply(body=b"page")}
    async with Site(routes) as server, Hub(LOOPBACK) as hub:
        request = HttpRequest(url=server.url("/open"))
        calls = [
            asyncio.ensure_future(hub.fetch(request, mode=mode, meta={"robots": "obey"}))
            for _ in range(2)
        ]
        await server.arrived.wait()
        for call in calls:
            call.cancel()
        await asyncio.wait(calls)
        async with asyncio.timeout(ROBOTS_TIMEOUT / 2):
            await server.until_idle()
        assert await fetch(hub, server.url("/open"), "obey") == b"page"
        assert [seen.path for seen in server.seen] == ["/robots.txt", "/robots.txt", "/open"]


async def test_the_question_takes_the_requests_own_way(hub: Hub, mode: FetchMode) -> None:
    async with site() as server:
        address = ("127.0.0.1", server.port)
        async with ReplayProxy(hosts={"site.example": address}) as proxy:
            request = HttpRequest(url="http://site.example/open")
            await hub.fetch(request, mode=mode, proxy=proxy.url(), meta={"robots": "obey"})
            assert {entry.host for entry in proxy.log} == {"site.example"}
        browsers = ["sec-ch-ua" in seen.headers for seen in server.seen]
        assert browsers == [mode == "impersonate"] * 2


async def test_a_crawl_delay_spaces_pages_out() -> None:
    now, slept = [100.0], []

    async def download(request: Request) -> Response:
        return Response(request.url, body=b"User-agent: *\nCrawl-delay: 5\n")

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    robots = RobotsMiddleware(download, clock=lambda: now[0], sleep=sleep)
    for _ in range(3):
        page = Request("https://site.example/a", meta={"robots": "obey"})
        await robots.process_request(page)
    now[0] = 200.0
    await robots.process_request(Request("https://site.example/a", meta={"robots": "obey"}))
    assert slept == [5.0, 10.0]


async def test_a_question_that_fails_is_asked_again() -> None:
    asked: list[str] = []

    async def download(request: Request) -> Response:
        asked.append(request.url)
        raise OSError("down")

    robots = RobotsMiddleware(download)
    for _ in range(2):
        page = Request("https://site.example/a", meta={"robots": "obey"})
        await robots.process_request(page)
    assert asked == ["https://site.example/robots.txt"] * 2


def test_rules() -> None:
    rules = parsed(200, RULES)
    assert rules.allows("https://s.example/open")
    assert not rules.allows("https://s.example/ours/page")
    assert parsed(200, b"User-agent: *\nCrawl-delay: 900\n").delay == 30.0
    assert parsed(200, b"\xff\xfe nonsense").allows("https://s.example/")
    assert Robots(None).delay == 0.0
