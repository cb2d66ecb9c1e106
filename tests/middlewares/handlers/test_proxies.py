"""Each fetch mode through each kind of proxy: what comes out, and that nothing goes around it."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from framework.errors import UnavailableError
from framework.types import FetchMode, HttpRequest, HttpResponse
from spiders.hub import Hub
from spiders.replay import Fault, ReplayProxy
from tests.middlewares.conftest import LOOPBACK, USERS, trust
from tests.support.site import Reply, Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

SCHEMES = ("socks5h", "socks5", "http", "https")
OK = "ok"


def recorded(request: HttpRequest) -> HttpResponse | None:
    return HttpResponse(url=request.url, body=f"{request.method} {request.url}".encode())


@asynccontextmanager
async def around(
    settings: dict[str, object],
    scheme: str,
    *,
    users: dict[str, str] | None = None,
    fault: Fault | None = None,
) -> AsyncIterator[tuple[ReplayProxy, Hub]]:
    secure = scheme == "https"
    async with ReplayProxy(answer=recorded, users=users, secure=secure, fault=fault) as proxy:
        trust(proxy, settings)
        async with Hub(settings) as hub:
            yield proxy, hub


async def outcome(hub: Hub, url: str, mode: FetchMode, proxy: str, timeout: float = 10) -> str:
    try:
        answer = await hub.fetch(HttpRequest(url=url), mode=mode, proxy=proxy, timeout=timeout)
    except UnavailableError as error:
        return error.code
    return OK if answer.body == f"GET {url}".encode() else f"unexpected {answer.body!r}"


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("user", [None, "ann"], ids=["open", "login"])
@pytest.mark.parametrize("url", ["https://site.example/a?q=x", "http://site.example/a?q=x"])
async def test_an_answer_comes_through(
    proxy_settings: dict[str, object], mode: FetchMode, scheme: str, user: str | None, url: str
) -> None:
    users = USERS if user else None
    async with around(proxy_settings, scheme, users=users) as (proxy, hub):
        assert await outcome(hub, url, mode, proxy.url(scheme, user)) == OK
        assert {(entry.host, entry.user) for entry in proxy.log} == {("site.example", user)}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("user", [None, "ann", "bob"], ids=["no login", "wrong", "unknown"])
async def test_a_refused_login_is_the_proxys_fault(
    proxy_settings: dict[str, object], mode: FetchMode, scheme: str, user: str | None
) -> None:
    async with around(proxy_settings, scheme, users=USERS) as (proxy, hub):
        url = proxy.url(scheme, user, "wrong")
        assert await outcome(hub, "https://site.example/", mode, url) == "proxy_unavailable"
        assert not proxy.served


#: What may be told of each fault: where a tunnel breaks, curl cannot always say whose it was.
FAULTS = {
    Fault.REFUSE: {"connection_refused"},
    Fault.CLOSE: {"proxy_unavailable", "download_failed"},
    Fault.GARBAGE: {"proxy_unavailable", "malformed_answer", "download_failed"},
    Fault.HANG: {"proxy_unavailable"},
    Fault.SLOW: {"proxy_unavailable"},
}


@pytest.mark.parametrize("fault", list(Fault))
async def test_a_faulty_proxy(tmp_path: Path, mode: FetchMode, fault: Fault) -> None:
    """One of each kind at once: there is much to wait for."""
    limit = 0.5 if fault in (Fault.HANG, Fault.SLOW) else 10

    async def told(scheme: str) -> str:
        settings = {**LOOPBACK, "CONSILIENCE_CA_FILE": tmp_path / f"{scheme}.pem"}
        async with around(settings, scheme, fault=fault) as (proxy, hub):
            code = await outcome(hub, "https://site.example/", mode, proxy.url(scheme), limit)
            assert not proxy.served
        return code

    codes = await asyncio.gather(*map(told, ("socks5h", "http", "https")))
    assert set(codes) <= FAULTS[fault], codes


@pytest.mark.parametrize("scheme", SCHEMES)
async def test_a_dead_proxy_never_means_direct(hub: Hub, mode: FetchMode, scheme: str) -> None:
    async with Site({"/": Reply()}) as site:
        code = await outcome(hub, site.url("/"), mode, f"{scheme}://127.0.0.1:1")
        assert code == "proxy_unavailable"
        assert site.connections == 0


@pytest.mark.parametrize("url", ["ftp://127.0.0.1:1", "socks5://", "nonsense", "http://h:port"])
async def test_a_broken_proxy_setting_never_means_direct(
    hub: Hub, mode: FetchMode, url: str
) -> None:
    async with Site({"/": Reply()}) as site:
        assert await outcome(hub, site.url("/"), mode, url) == "proxy_unavailable"
        assert site.connections == 0


@pytest.mark.parametrize(
    "variable", ["http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]
)
async def test_the_environments_proxy_is_not_taken(
    hub: Hub, mode: FetchMode, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, "http://127.0.0.1:1")
    async with Site({"/": Reply(body=b"direct")}) as site:
        answer = await hub.fetch(HttpRequest(url=site.url("/")), mode=mode)
    assert answer.body == b"direct"


@pytest.mark.parametrize("host", ["127.0.0.1:1", "localhost", "printer", "db.internal", "10.1.2.3"])
async def test_a_proxy_is_never_asked_for_a_local_address(
    public_hub: Hub, mode: FetchMode, host: str
) -> None:
    async with ReplayProxy() as proxy:
        code = await outcome(public_hub, f"http://{host}/", mode, proxy.url())
        assert code == "blocked_address"
        assert not proxy.log


async def test_an_unreachable_target_is_not_the_proxys_fault(hub: Hub, mode: FetchMode) -> None:
    async with ReplayProxy(hosts={"gone.example": ("127.0.0.1", 1)}) as proxy:
        for scheme in ("socks5h", "http"):
            code = await outcome(hub, "https://gone.example/", mode, proxy.url(scheme))
            assert code == "connection_refused"


async def test_a_certificate_of_a_stranger_is_refused(
    proxy_settings: dict[str, object], mode: FetchMode
) -> None:
    async with (
        around(proxy_settings, "socks5h") as (_, hub),
        ReplayProxy(answer=recorded) as stranger,
    ):
        code = await outcome(hub, "https://site.example/", mode, stranger.url())
        assert code == "download_failed"
        assert not stranger.served
