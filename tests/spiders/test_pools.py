"""An engine behind a pool of proxies: what was taken through one is never used through another."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from framework.errors import UnavailableError
from framework.types import HttpRequest, HttpResponse, Query, Verdict
from middlewares.pools import Member, Pool, ProxyRotation
from middlewares.proxy import DEFAULT, Proxies
from spiders.hub import Hub
from spiders.replay import Fault, ReplayProxy
from tests.spiders.conftest import LOOPBACK
from tests.support.engines import PLAIN, TOKEN, engine, rows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

_HTML = ("Content-Type", "text/html; charset=utf-8")


def page(text: str, *headers: tuple[str, str]) -> HttpResponse:
    return HttpResponse(url="", headers=(_HTML, *headers), body=text.encode())


@contextlib.asynccontextmanager
async def behind(
    folder: Path, *answers: Callable[[HttpRequest], HttpResponse]
) -> AsyncIterator[tuple[Hub, list[ReplayProxy]]]:
    """A hub with a round-robin pool of one proxy per answer."""
    async with contextlib.AsyncExitStack() as stack:
        proxies = [
            await stack.enter_async_context(ReplayProxy(answer=answer)) for answer in answers
        ]
        bundle = folder / "ca.pem"
        for proxy in proxies:
            assert proxy.ca is not None
            proxy.ca.cert_pem.write_to_path(str(bundle), append=True)
        members = [Member(proxy.url("socks5h")) for proxy in proxies]
        pool = Pool(DEFAULT, members, rotation=ProxyRotation.ROUND_ROBIN)
        settings = {
            **LOOPBACK,
            "CONSILIENCE_CA_FILE": bundle,
            "CONSILIENCE_PROXY_POLICY": Proxies({DEFAULT: pool}),
        }
        yield await stack.enter_async_context(Hub(settings)), proxies


def guarded(key: str) -> Callable[[HttpRequest], HttpResponse]:
    """A site that hands out a key of its own through each proxy, and wants it back there."""

    def answer(request: HttpRequest) -> HttpResponse:
        if request.url.endswith("app.js"):
            return HttpResponse(url="", body=f'var KEY = "{key}";'.encode())
        return page(rows("one") if f"k={key}" in request.url else "<div id=captcha>")

    return answer


def counted() -> Callable[[HttpRequest], HttpResponse]:
    """A site that gives a cookie where none is sent, and rows always."""

    def answer(request: HttpRequest) -> HttpResponse:
        names = {name.lower() for name, _ in request.headers}
        given = () if "cookie" in names else (("Set-Cookie", "seen=1"),)
        return page(rows("one", "two"), *given)

    return answer


def cookies(proxies: list[ReplayProxy]) -> list[str]:
    requests = [request for proxy in proxies for request in proxy.served]
    found = [{n.lower(): v for n, v in request.headers} for request in requests]
    return [headers.get("cookie", "") for headers in found]


async def test_a_sessions_value_is_used_through_the_proxy_it_came_by(tmp_path: Path) -> None:
    async with behind(tmp_path, guarded("one"), guarded("two")) as (hub, proxies):
        found = [
            await hub.search_engine(engine(TOKEN), Query(text=text))
            for text in ("a", "b", "c", "d")
        ]
    assert [one.verdict for one in found] == [Verdict.OK] * 4
    steps = [sum(r.url.endswith("app.js") for r in proxy.served) for proxy in proxies]
    assert steps == [1, 1]


async def test_where_a_proxy_dies_the_session_is_made_anew_through_another(
    tmp_path: Path,
) -> None:
    async with behind(tmp_path, guarded("one"), guarded("two")) as (hub, proxies):
        first = await hub.search_engine(engine(TOKEN), Query(text="a"))
        await proxies[0].__aexit__(None, None, None)
        then = [await hub.search_engine(engine(TOKEN), Query(text=text)) for text in ("b", "c")]
    assert [one.verdict for one in (first, *then)] == [Verdict.OK] * 3
    assert not [request for request in proxies[1].served if "k=one" in request.url]


async def test_a_transient_failure_keeps_to_the_sessions_proxy(tmp_path: Path) -> None:
    def shaky(key: str) -> Callable[[HttpRequest], HttpResponse]:
        good, failed = guarded(key), [False]

        def answer(request: HttpRequest) -> HttpResponse:
            if "search" in request.url and not failed[0]:
                failed[0] = True
                return HttpResponse(url="", status=503)
            return good(request)

        return answer

    async with behind(tmp_path, shaky("one"), shaky("two")) as (hub, proxies):
        found = [await hub.search_engine(engine(TOKEN), Query(text=text)) for text in ("a", "b")]
    assert [one.verdict for one in found] == [Verdict.OK] * 2
    assert [len(proxy.served) for proxy in proxies] == [3, 3]


async def test_the_next_page_goes_by_the_same_proxy_with_its_cookies(tmp_path: Path) -> None:
    sticky = engine(PLAIN + "fetch: {sticky: query}\n")
    async with behind(tmp_path, counted(), counted()) as (hub, proxies):
        first = await hub.search_engine(sticky, Query(text="a"))
        await hub.search_engine(sticky, Query(text="a"), first.next)
    assert sorted(len(proxy.served) for proxy in proxies) == [0, 2]
    assert cookies(proxies) == ["", "seen=1"]


async def test_questions_share_no_cookies_unless_the_file_says_so(tmp_path: Path) -> None:
    questions = [Query(text="a"), Query(text="b"), replace(Query(text="b"), page=2)]
    for sticky, expected in {"query": ["", "", "seen=1"], "engine": ["", *["seen=1"] * 2]}.items():
        shared = engine(PLAIN + f"fetch: {{sticky: {sticky}}}\n")
        async with behind(tmp_path, counted(), counted()) as (hub, proxies):
            for question in questions:
                await hub.search_engine(shared, question)
        assert sorted(cookies(proxies)) == sorted(expected)


async def test_a_pool_without_a_living_member_lets_no_step_out(tmp_path: Path) -> None:
    async with behind(tmp_path, guarded("one")) as (hub, proxies):
        await proxies[0].__aexit__(None, None, None)
        found = [await hub.search_engine(engine(TOKEN), Query(text="a")) for _ in range(2)]
    assert [one.verdict for one in found] == [Verdict.PROXY_UNAVAILABLE] * 2


async def test_robots_txt_is_asked_for_through_the_pages_own_proxy(tmp_path: Path) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        return HttpResponse(url="", status=404 if request.url.endswith("robots.txt") else 200)

    async with behind(tmp_path, answer, answer) as (hub, proxies):
        for number in range(4):
            request = HttpRequest(url=f"https://site.example/{number}")
            await hub.fetch(request, meta={"robots": "obey"})
    asked = [[request.url.rpartition("/")[2] for request in proxy.served] for proxy in proxies]
    assert asked == [["robots.txt", "0", "2"], ["robots.txt", "1", "3"]]


async def test_a_dead_proxy_costs_no_page_its_robots_txt(tmp_path: Path) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        if request.url.endswith("robots.txt"):
            return HttpResponse(url="", body=b"User-agent: *\nDisallow: /private")
        return HttpResponse(url="", body=b"page")

    async with behind(tmp_path, answer, answer) as (hub, proxies):
        proxies[0].fault = Fault.CLOSE
        with pytest.raises(UnavailableError) as caught:
            await hub.fetch(
                HttpRequest(url="https://site.example/private"), meta={"robots": "obey"}
            )
        assert caught.value.code == "robots_refused"
        found = await hub.fetch(
            HttpRequest(url="https://site.example/open"), meta={"robots": "obey"}
        )
    assert found.body == b"page"
