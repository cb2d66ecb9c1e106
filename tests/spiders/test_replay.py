"""The replay proxy: three protocols on one port, logins, names as sent, faults, recordings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framework.errors import UnavailableError
from framework.spec.fixtures import Fixture, Meta
from framework.types import HttpRequest, HttpResponse
from spiders.hub import Hub
from spiders.recordings import Recordings
from spiders.replay import Fault, ReplayProxy
from tests.spiders.conftest import LOOPBACK
from tests.support.site import Reply, Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SCHEMES = ("socks5h", "socks5", "http", "https")
USERS = {"ann": "p@ss:w/rd %"}


def recorded(request: HttpRequest) -> HttpResponse | None:
    if "search.example" not in request.url:
        return None
    return HttpResponse(url=request.url, body=f"{request.method} {request.url}".encode())


@pytest.fixture
async def proxy(request: pytest.FixtureRequest) -> AsyncIterator[ReplayProxy]:
    secure = "scheme" in request.fixturenames and request.getfixturevalue("scheme") == "https"
    async with ReplayProxy(answer=recorded, users=USERS, secure=secure) as opened:
        yield opened


@pytest.fixture
async def trusting(proxy: ReplayProxy, tmp_path: Path) -> AsyncIterator[Hub]:
    """A hub that trusts the proxy's certificates."""
    assert proxy.ca is not None
    proxy.ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    async with Hub({**LOOPBACK, "CONSILIENCE_CA_FILE": tmp_path / "ca.pem"}) as hub:
        yield hub


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("target", ["https", "http"])
async def test_a_recording_travels_the_whole_way(
    proxy: ReplayProxy, trusting: Hub, scheme: str, target: str
) -> None:
    url = f"{target}://search.example/find?q=x"
    answer = await trusting.fetch(HttpRequest(url=url), proxy=proxy.url(scheme, "ann"))
    assert answer.body == f"GET {url}".encode()
    assert [(entry.host, entry.user) for entry in proxy.log] == [("search.example", "ann")]


async def test_one_tunnel_serves_many_requests(proxy: ReplayProxy, trusting: Hub) -> None:
    for number in range(3):
        request = HttpRequest(url=f"https://search.example/{number}", method="POST", body=b"q=1")
        await trusting.fetch(request, proxy=proxy.url("socks5h", "ann"))
    assert len(proxy.log) == 1
    assert [request.body for request in proxy.served] == [b"q=1"] * 3


async def test_what_was_never_recorded_is_not_found(proxy: ReplayProxy, trusting: Hub) -> None:
    url = "https://elsewhere.example/"
    answer = await trusting.fetch(HttpRequest(url=url), proxy=proxy.url("http", "ann"))
    assert (answer.status, answer.body) == (404, b"not recorded")


@pytest.mark.parametrize("fault", list(Fault))
async def test_a_fault_strikes_once_the_target_is_known(hub: Hub, fault: Fault) -> None:
    async with ReplayProxy(fault=fault) as proxy:
        request, once = HttpRequest(url="https://site.example/"), {"retry": False}
        with pytest.raises(UnavailableError):
            await hub.fetch(request, proxy=proxy.url(), timeout=2, meta=once)
    assert proxy.log[0].host == "site.example"


async def test_names_go_to_the_proxy_and_the_host_map_decides(hub: Hub) -> None:
    async with Site({"/a": Reply(body=b"here")}) as site:
        address = ("127.0.0.1", site.port)
        async with ReplayProxy(hosts={"site.example": address}) as proxy:
            for scheme in ("socks5", "http"):
                answer = await hub.fetch(
                    HttpRequest(url="http://site.example/a"), proxy=proxy.url(scheme)
                )
                assert answer.body == b"here"
            assert [entry.host for entry in proxy.log] == ["site.example", "site.example"]


def tape(case: str, url: str) -> Fixture:
    return Fixture(
        engine="a",
        case=case,
        path=Path(case),
        response=HttpResponse(url=url, body=case.encode()),
        meta=Meta(source="documentation"),
    )


TAPES = [
    tape("captcha", "https://a.example/search?q=cats"),
    tape("ok", "https://a.example/search?q=dogs"),
    tape("ok-page-2", "https://a.example/search?q=dogs&first=11"),
    tape("session-token", "https://a.example/js/app.js"),
    tape("blocked", "https://b.example/only"),
    tape("ok-api", "https://a.example/api/v1/find?q=dogs"),
]


@pytest.mark.parametrize(
    ("url", "case"),
    [
        ("https://a.example/search?q=birds", "ok"),
        ("https://a.example/search?q=birds&first=11", "ok-page-2"),
        ("https://a.example/search?q=cats", "ok"),
        ("https://a.example/js/app.js?v=3", "session-token"),
        ("https://a.example/api/v1/find?q=birds", "ok-api"),
        ("https://b.example/search?q=x", "blocked"),
        ("https://own.host.example/api/v1/find?q=x", "ok-api"),
        ("https://c.example/nowhere?q=x", None),
    ],
)
def test_the_fitting_recording_is_found(url: str, case: str | None) -> None:
    found = Recordings(TAPES)(HttpRequest(url=url))
    assert (found.body.decode() if found else None) == case


def test_an_exact_recording_may_be_asked_for() -> None:
    found = Recordings(TAPES, exact=True)(HttpRequest(url="https://a.example/search?q=cats"))
    assert found is not None
    assert found.body == b"captcha"
