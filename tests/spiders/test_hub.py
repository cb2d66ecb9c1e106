"""The hub over real sockets: answers, limits, cancellation, and nothing left behind."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING

import pytest

from framework.errors import InvalidInputError, UnavailableError
from framework.types import FetchMode, HttpRequest
from spiders.hub import Hub
from tests.spiders.conftest import LOOPBACK
from tests.support.engines import engine
from tests.support.site import Reply, Seen, Site, hang

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def echo(seen: Seen) -> Reply:
    return Reply(body=f"{seen.method} {seen.target}".encode() + b"\n" + seen.body)


async def test_fetch_returns_status_headers_body_and_address(hub: Hub) -> None:
    async with Site({"/a": Reply(203, {"X-Colour": "blue"}, b"hello")}) as site:
        answer = await hub.fetch(HttpRequest(url=site.url("/a?q=1")))
    assert (answer.status, answer.body, answer.url) == (203, b"hello", site.url("/a?q=1"))
    assert answer.header("x-colour") == "blue"


async def test_a_post_sends_body_headers_and_cookies(hub: Hub) -> None:
    async with Site({"/form": echo}) as site:
        request = HttpRequest(
            url=site.url("/form"),
            method="POST",
            headers=(("Content-Type", "application/x-www-form-urlencoded"), ("X-Token", "t")),
            cookies=(("kl", "us-en"), ("df", "w")),
            body=b"q=x",
        )
        answer = await hub.fetch(request)
        seen = site.seen[0]
    assert answer.body == b"POST /form\nq=x"
    assert seen.headers["cookie"] == "kl=us-en; df=w"
    assert seen.headers["content-type"] == "application/x-www-form-urlencoded"
    assert seen.headers["x-token"] == "t"


async def test_redirects_are_followed_and_recorded(hub: Hub) -> None:
    routes = {
        "/1": Reply(302, {"Location": "/2"}),
        "/2": Reply(301, {"Location": "3"}),
        "/3": Reply(body=b"end"),
    }
    async with Site({**routes}) as site:
        answer = await hub.fetch(HttpRequest(url=site.url("/1")))
    assert answer.url == site.url("/3")
    assert answer.hops == (site.url("/1"), site.url("/2"))


@pytest.mark.parametrize(
    ("status", "method", "body"),
    [(301, "GET", b""), (303, "GET", b""), (307, "POST", b"q=x"), (308, "POST", b"q=x")],
)
async def test_a_redirected_post(hub: Hub, status: int, method: str, body: bytes) -> None:
    async with Site({"/a": Reply(status, {"Location": "/b"}), "/b": Reply()}) as site:
        await hub.fetch(HttpRequest(url=site.url("/a"), method="POST", body=b"q=x"))
        assert (site.seen[1].method, site.seen[1].body) == (method, body)


async def test_another_origin_sees_no_credentials(hub: Hub) -> None:
    async with Site({"/b": Reply()}) as other:
        async with Site({"/a": Reply(302, {"Location": other.url("/b")})}) as site:
            headers = (("X-Subscription-Token", "secret"), ("Accept-Language", "de"))
            await hub.fetch(
                HttpRequest(url=site.url("/a"), headers=headers, cookies=(("s", "secret"),))
            )
        assert "secret" not in str(other.seen[0].headers)
        assert other.seen[0].headers["accept-language"] == "de"


async def test_a_redirect_loop_ends_with_its_code(hub: Hub) -> None:
    async with Site({"/a": Reply(302, {"Location": "/a"})}) as site:
        with pytest.raises(UnavailableError) as caught:
            await hub.fetch(HttpRequest(url=site.url("/a")))
        assert caught.value.code == "too_many_redirects"
        assert len(site.seen) == 11


async def test_a_redirect_that_a_verdict_names_is_not_followed(hub: Hub) -> None:
    async with Site({"/a": Reply(303, {"Location": "/b"}), "/b": Reply()}) as site:
        answer = await hub.fetch(HttpRequest(url=site.url("/a")), judge=engine())
    assert answer.status == 303


async def test_cookies_stay_in_their_jar(hub: Hub) -> None:
    async with Site({"/set": Reply(headers={"Set-Cookie": "a=1; Path=/"}), "/": echo}) as site:
        await hub.fetch(HttpRequest(url=site.url("/set")), jar="one")
        await hub.fetch(HttpRequest(url=site.url("/")), jar="one")
        await hub.fetch(HttpRequest(url=site.url("/")), jar="two")
        await hub.fetch(HttpRequest(url=site.url("/")))
    assert [seen.headers.get("cookie") for seen in site.seen] == [None, "a=1", None, None]


async def test_one_connection_serves_many_requests(hub: Hub) -> None:
    async with Site({"/": echo}) as site:
        for _ in range(5):
            await hub.fetch(HttpRequest(url=site.url("/")))
        assert site.connections == 1


def big(seen: Seen) -> Reply:
    return Reply(body=b"x" * 8_000_000)


def bomb(seen: Seen) -> Reply:
    return Reply(headers={"Content-Encoding": "gzip"}, body=gzip.compress(bytes(1_000_000)))


def endless(seen: Seen) -> Reply:
    async def stream(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while not writer.is_closing():
            writer.write(b"400\r\n" + b"x" * 1024 + b"\r\n")
            await writer.drain()

    return Reply(headers={"Transfer-Encoding": "chunked"}, stream=stream)


@pytest.mark.parametrize("route", [big, bomb, endless], ids=["length", "gzip", "chunked"])
async def test_a_body_over_its_cap_ends_the_transfer(
    hub: Hub, route: Callable[[Seen], Reply]
) -> None:
    async with Site({"/": route}) as site:
        with pytest.raises(UnavailableError) as caught:
            await hub.fetch(HttpRequest(url=site.url("/")), maxsize=10_000)
        assert caught.value.code == "body_too_large"
        assert not caught.value.retryable


async def test_an_endless_body_is_cut_off(hub: Hub) -> None:
    async with Site({"/": endless}) as site:
        with pytest.raises(UnavailableError, match="larger than 10000 bytes"):
            await hub.fetch(HttpRequest(url=site.url("/")), maxsize=10_000)
        await site.until_idle()


async def test_a_compressed_body_arrives_decoded(hub: Hub) -> None:
    reply = Reply(headers={"Content-Encoding": "gzip"}, body=gzip.compress(b"hello"))
    async with Site({"/": reply}) as site:
        answer = await hub.fetch(HttpRequest(url=site.url("/")))
    assert answer.body == b"hello"
    assert answer.header("content-encoding") is None


async def test_the_deadline_ends_the_transfer(hub: Hub) -> None:
    async with Site({"/": Reply(stream=hang)}) as site:
        with pytest.raises(UnavailableError) as caught:
            await hub.fetch(HttpRequest(url=site.url("/")), timeout=0.2)
        assert caught.value.code == "timeout"
        await site.until_idle()


async def test_a_caller_that_leaves_ends_its_transfer(hub: Hub) -> None:
    async with Site({"/": Reply(stream=hang)}) as site:
        call = asyncio.ensure_future(hub.fetch(HttpRequest(url=site.url("/"))))
        await site.arrived.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await site.until_idle()


async def test_a_waiting_request_is_not_sent_once_its_caller_left() -> None:
    async with (
        Site({"/": Reply(stream=hang), "/late": echo}) as site,
        Hub(LOOPBACK, concurrency=1) as hub,
    ):
        first = asyncio.ensure_future(hub.fetch(HttpRequest(url=site.url("/"))))
        await site.arrived.wait()
        late = asyncio.ensure_future(hub.fetch(HttpRequest(url=site.url("/late"))))
        await asyncio.sleep(0)
        for call in (late, first):
            call.cancel()
        await asyncio.gather(first, late, return_exceptions=True)
        await site.until_idle()
    assert [seen.path for seen in site.seen] == ["/"]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1:1/", "connection_refused"),
        ("http://name.invalid/", "host_not_found"),
        ("http://10.0.0.1/", "blocked_address"),
        ("http://user:secret@example.org/", "blocked_address"),
        ("file:///etc/passwd", "blocked_address"),
        ("data:text/plain,x", "blocked_address"),
        ("ftp://example.org/", "blocked_address"),
    ],
)
async def test_failures_carry_their_code(hub: Hub, url: str, code: str) -> None:
    with pytest.raises(UnavailableError) as caught:
        await hub.fetch(HttpRequest(url=url))
    assert caught.value.code == code
    assert "secret" not in str(caught.value)


async def test_an_unknown_browser_is_said_to_be_unknown(hub: Hub) -> None:
    request, wanted = HttpRequest(url="http://127.0.0.1:1/"), {"profile": "netscape"}
    with pytest.raises(UnavailableError, match="choose from chrome") as caught:
        await hub.fetch(request, mode=FetchMode.IMPERSONATE, meta=wanted)
    assert (caught.value.code, caught.value.retryable) == ("not_supported", False)


async def test_a_redirect_to_a_private_address_is_refused(hub: Hub) -> None:
    async with Site({"/": Reply(302, {"Location": "http://169.254.169.254/meta"})}) as site:
        with pytest.raises(UnavailableError) as caught:
            await hub.fetch(HttpRequest(url=site.url("/")))
    assert caught.value.code == "blocked_address"


async def test_closing_leaves_neither_tasks_nor_connections(
    capsys: pytest.CaptureFixture[str],
) -> None:
    before = asyncio.all_tasks()
    async with Site({"/": echo}) as site:
        for _ in range(2):
            async with Hub(LOOPBACK) as hub:
                await hub.fetch(HttpRequest(url=site.url("/")))
            await site.until_idle()
    assert asyncio.all_tasks() == before
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"REPLAY": "/no/such"}, "/no/such holds no recordings"),
        ({"CONSILIENCE_ALLOW_NETWORKS": ["nonsense"]}, "CONSILIENCE_ALLOW_NETWORKS: 'nonsense'"),
        ({"CONSILIENCE_ROBOTS": "maybe"}, "CONSILIENCE_ROBOTS must be one of obey, warn, off"),
    ],
)
async def test_a_wrong_setting_is_told_when_the_hub_opens(
    settings: dict[str, object], message: str
) -> None:
    before = asyncio.all_tasks()
    with pytest.raises(InvalidInputError, match=message):
        async with Hub(settings):
            pass
    assert asyncio.all_tasks() == before


async def test_a_file_without_certificates_is_told(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("no certificate")
    async with Hub({**LOOPBACK, "CONSILIENCE_CA_FILE": tmp_path / "ca.pem"}) as hub:
        with pytest.raises(InvalidInputError, match=r"ca\.pem holds no certificates"):
            await hub.fetch(HttpRequest(url="http://127.0.0.1:1/"))
