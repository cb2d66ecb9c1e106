"""The whole chain of a hub: retries, proxy pools and their health, on real connections."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

import pytest

from framework.errors import UnavailableError
from framework.types import FetchMode, HttpRequest
from middlewares.pools import Member, Pool, ProxyRotation
from middlewares.proxy import DEFAULT, Proxies
from spiders.hub import Hub
from spiders.replay import Fault, ReplayProxy
from tests.support.site import Reply, Seen, Site

if TYPE_CHECKING:
    from collections.abc import Callable

LOOPBACK = {"CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.0/8"]}


def failing_first(times: int, status: int = 503, **headers: str) -> Callable[[Seen], Reply]:
    left = iter(range(times))

    def answer(seen: Seen) -> Reply:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return Reply(status, named) if next(left, None) is not None else Reply(body=b"at last")

    return answer


def pool(*urls: str) -> Pool:
    return Pool(DEFAULT, [Member(url) for url in urls], rotation=ProxyRotation.ROUND_ROBIN)


def through(main: Pool) -> Hub:
    return Hub({**LOOPBACK, "CONSILIENCE_PROXY_POLICY": Proxies({DEFAULT: main})})


@pytest.fixture
async def dead() -> str:
    """A proxy's address at which nobody listens."""
    server = await asyncio.start_server(lambda reader, writer: writer.close(), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    server.close()
    await server.wait_closed()
    return f"socks5h://127.0.0.1:{port}"


@pytest.mark.parametrize(("times", "status", "asked"), [(0, 200, 1), (2, 200, 3), (3, 503, 3)])
async def test_a_failing_server_is_asked_three_times(
    hub: Hub, times: int, status: int, asked: int
) -> None:
    async with Site({"/": failing_first(times)}) as site:
        answer = await hub.fetch(HttpRequest(url=site.url()))
        assert (answer.status, len(site.seen)) == (status, asked)


async def test_a_long_retry_after_is_not_waited_for(hub: Hub) -> None:
    async with Site({"/": failing_first(1, Retry_After="600")}) as site:
        answer = await hub.fetch(HttpRequest(url=site.url()), timeout=5)
        assert (answer.status, len(site.seen)) == (503, 1)


async def test_a_post_is_not_repeated(hub: Hub) -> None:
    async with Site({"/": failing_first(1)}) as site:
        request = HttpRequest(url=site.url(), method="POST", body=b"x")
        assert (await hub.fetch(request)).status == 503
        assert len(site.seen) == 1


async def test_a_post_that_may_be_sent_again_is_repeated(hub: Hub) -> None:
    async with Site({"/": failing_first(1)}) as site:
        request = HttpRequest(url=site.url(), method="POST", body=b"x", repeatable=True)
        assert (await hub.fetch(request)).body == b"at last"
        assert [seen.body for seen in site.seen] == [b"x", b"x"]


async def test_a_dead_proxy_is_replaced_and_benched(dead: str) -> None:
    async with Site({"/": Reply(body=b"hello")}) as site:
        proxy = ReplayProxy(hosts={"site.example": ("127.0.0.1", site.port)})
        async with proxy:
            main = pool(dead, proxy.url())
            async with through(main) as hub:
                for _ in range(4):
                    answer = await hub.fetch(HttpRequest(url="http://site.example/"))
                    assert answer.body == b"hello"
        assert {connection.host for connection in proxy.log} == {"site.example"}
        benched = [report.failures for report in main.reports()]
        assert benched == [1, 0]


@pytest.mark.parametrize("mode", [FetchMode.HTTP, FetchMode.IMPERSONATE])
async def test_a_named_member_answers_for_itself_alone(dead: str, mode: FetchMode) -> None:
    async with Site({"/": Reply(body=b"hello")}) as site:
        proxy = ReplayProxy(hosts={"site.example": ("127.0.0.1", site.port)})
        async with proxy, through(pool(dead, proxy.url())) as hub:
            with pytest.raises(UnavailableError) as caught:
                await hub.fetch(HttpRequest(url="http://site.example/"), mode=mode, proxy=dead)
            assert caught.value.code == "proxy_unavailable"
            assert proxy.log == []


async def test_without_a_living_proxy_nothing_leaves(dead: str) -> None:
    async with Site({"/": Reply(body=b"hello")}) as site, through(pool(dead)) as hub:
        for _ in range(2):
            with pytest.raises(UnavailableError) as caught:
                await hub.fetch(HttpRequest(url=site.url()), timeout=5)
            assert caught.value.code == "proxy_unavailable"
        assert site.connections == 0


async def test_a_pool_that_does_not_exist_lets_nothing_out() -> None:
    hub = Hub({**LOOPBACK, "CONSILIENCE_PROXY_POLICY": Proxies()})
    async with Site({"/": Reply(body=b"hello")}) as site, hub:
        with pytest.raises(UnavailableError) as caught:
            await hub.fetch(HttpRequest(url=site.url()), meta={"pool": "tor"})
        assert caught.value.code == "proxy_unavailable"
        assert site.connections == 0


@pytest.mark.untraced
@pytest.mark.parametrize("fault", [Fault.CLOSE, Fault.GARBAGE])
async def test_two_hundred_searches_while_three_in_ten_proxies_die(fault: Fault) -> None:
    reply = Reply(headers={"Connection": "close"}, body=b"hello")  # each search dials anew
    async with contextlib.AsyncExitStack() as stack:
        site = await stack.enter_async_context(Site({"/": reply}))
        hosts = {"site.example": ("127.0.0.1", site.port)}
        proxies = [await stack.enter_async_context(ReplayProxy(hosts=hosts)) for _ in range(10)]
        async with through(pool(*(proxy.url() for proxy in proxies))) as hub:
            request = HttpRequest(url="http://site.example/")
            calls = [asyncio.create_task(hub.fetch(request, timeout=60)) for _ in range(200)]
            await site.arrived.wait()
            for proxy in proxies[:3]:
                proxy.fault = fault
            answers = await asyncio.gather(*calls)
        assert [answer.body for answer in answers] == [b"hello"] * 200
        assert any(connection.outcome == fault for connection in proxies[0].log)
        assert all(connection.host == "site.example" for p in proxies for connection in p.log)
        await site.until_idle()


@pytest.mark.parametrize("mode", [FetchMode.HTTP, FetchMode.IMPERSONATE])
async def test_a_proxy_that_hangs_leaves_time_for_another(mode: FetchMode) -> None:
    async with contextlib.AsyncExitStack() as stack:
        site = await stack.enter_async_context(Site({"/": Reply(body=b"hello")}))
        hanging = await stack.enter_async_context(ReplayProxy(fault=Fault.HANG))
        working = await stack.enter_async_context(
            ReplayProxy(hosts={"site.example": ("127.0.0.1", site.port)})
        )
        main = pool(hanging.url(), working.url())
        async with through(main) as hub:
            request = HttpRequest(url="http://site.example/")
            answers = await asyncio.gather(
                *(hub.fetch(request, mode=mode, timeout=5) for _ in range(4))
            )
    assert [answer.body for answer in answers] == [b"hello"] * 4
    assert [report.failures for report in main.reports()] == [1, 0]
