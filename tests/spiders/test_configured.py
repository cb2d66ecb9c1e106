"""An instance of the operator's own: reached on the operator's machine, by its engine alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.errors import UnavailableError
from framework.spec.context import Variables
from framework.types import FetchMode, HttpRequest, Query, Verdict
from middlewares.proxy import proxies_from
from spiders.hub import Hub
from tests.support.engines import PLAIN, engine, rows
from tests.support.site import Reply, Site

if TYPE_CHECKING:
    from framework.spec.compiler import Engine

QUERY = Query(text="cats")
HTML = {"Content-Type": "text/html"}


def own(mode: FetchMode) -> Engine:
    return engine(
        PLAIN.replace("https://plain.example/search", '"{{ settings.base }}/search"')
        .replace("request:\n", "settings: {base: {env: OWN_INSTANCE}}\nrequest:\n", 1)
        .replace("limits:", f"fetch: {{mode: {mode}}}\nlimits:")
    )


@pytest.fixture(params=[FetchMode.HTTP, FetchMode.IMPERSONATE])
def mode(request: pytest.FixtureRequest) -> FetchMode:
    return FetchMode(request.param)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_it_is_reached_without_any_allowed_network(mode: FetchMode, host: str) -> None:
    async with Site({"/search": Reply(200, HTML, rows("one").encode())}) as site, Hub() as hub:
        given = Variables(settings={"base": site.url("", host).rstrip("/")})
        page = await hub.search_engine(own(mode), QUERY, variables=given)
        assert page.verdict is Verdict.OK, page.detail


async def test_a_proxy_is_not_asked_for_it(mode: FetchMode) -> None:
    policy = proxies_from({}, proxy="socks5h://127.0.0.1:1")
    async with (
        Site({"/search": Reply(200, HTML, rows("one").encode())}) as site,
        Hub({"CONSILIENCE_PROXY_POLICY": policy}) as hub,
    ):
        given = Variables(settings={"base": site.url("").rstrip("/")})
        page = await hub.search_engine(own(mode), QUERY, variables=given)
        assert page.verdict is Verdict.OK, page.detail
        # Everything else still has to go through the proxy.
        page = await hub.search_engine(engine(), QUERY)
        assert page.verdict is Verdict.PROXY_UNAVAILABLE


async def test_nobody_else_reaches_it(mode: FetchMode) -> None:
    async with Site({"/search": Reply(200, HTML, rows("one").encode())}) as site, Hub() as hub:
        given = Variables(settings={"base": site.url("").rstrip("/")})
        assert (await hub.search_engine(own(mode), QUERY, variables=given)).verdict is Verdict.OK
        with pytest.raises(UnavailableError) as caught:
            await hub.fetch(HttpRequest(url=site.url("/search")), mode=mode)
        assert caught.value.code == "blocked_address"
        assert len(site.seen) == 1


async def test_it_cannot_lead_to_its_neighbours(mode: FetchMode) -> None:
    async with Site({"/": Reply()}) as neighbour, Site() as site, Hub() as hub:
        site.routes["/search"] = Reply(302, {"Location": neighbour.url("/")})
        given = Variables(settings={"base": site.url("").rstrip("/")})
        page = await hub.search_engine(own(mode), QUERY, variables=given)
        assert page.verdict is Verdict.BLOCKED_ADDRESS
        assert neighbour.connections == 0


async def test_it_may_redirect_within_itself(mode: FetchMode) -> None:
    routes = {
        "/search": Reply(302, {"Location": "/search/"}),
        "/search/": Reply(200, HTML, rows("one").encode()),
    }
    async with Site({**routes}) as site, Hub() as hub:
        given = Variables(settings={"base": site.url("").rstrip("/")})
        page = await hub.search_engine(own(mode), QUERY, variables=given)
        assert page.verdict is Verdict.OK, page.detail
