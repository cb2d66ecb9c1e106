"""Rendered pages: what is shown, what it may cost, and that Chromium has one way out."""

from __future__ import annotations

import asyncio
import shutil
from typing import TYPE_CHECKING

import pytest

from framework.errors import UnavailableError
from framework.types import FetchMode, HttpRequest, HttpResponse
from middlewares.handlers.chromium import launch_options, trusted_keys, user_agent
from spiders.crawler import project_settings
from spiders.hub import Hub
from spiders.replay import ReplayProxy
from tests.middlewares.conftest import LOOPBACK, USERS, trust
from tests.support.site import Reply, Seen, Site, hang

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.site import Routes

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(shutil.which("chromium") is None, reason="Chromium is not installed"),
]

SCRIPT = "<p id=a>before</p><script>document.getElementById('a').textContent = 'shown'</script>"


def html(text: str, status: int = 200, **headers: str) -> Reply:
    kind = {"Content-Type": "text/html; charset=utf-8"}
    return Reply(status, {**kind, **headers}, f"<!doctype html><body>{text}".encode())


async def render(
    hub: Hub, url: str, *, proxy: str | None = None, timeout: float = 30, **meta: object
) -> HttpResponse:
    request = HttpRequest(url=url, headers=(("Accept-Language", "de"),))
    return await hub.fetch(request, mode=FetchMode.RENDER, proxy=proxy, timeout=timeout, meta=meta)


async def code_of(hub: Hub, url: str, **options: object) -> str:
    with pytest.raises(UnavailableError) as caught:
        await render(hub, url, **options)  # type: ignore[arg-type]
    return caught.value.code


async def outcome(hub: Hub, url: str) -> str:
    try:
        return (await render(hub, url, wait="networkidle")).body.decode()
    except UnavailableError as error:
        return error.code


async def test_a_page_is_shown_as_its_scripts_leave_it(hub: Hub) -> None:
    async with Site({"/": html(SCRIPT, 404, **{"X-Colour": "blue"})}) as site:
        answer = await render(hub, site.url("/"))
        seen = site.seen[0].headers
    assert b'<p id="a">shown</p>' in answer.body
    assert (answer.status, answer.header("x-colour")) == (404, "blue")
    assert seen["accept-language"] == "de"
    assert "Headless" not in str(seen)


async def test_redirects_and_cookies(hub: Hub) -> None:
    def shown(seen: Seen) -> Reply:
        return html(f"cookie={seen.headers.get('cookie')}")

    routes: Routes = {
        "/": html("", 302, Location="/b", **{"Set-Cookie": "a=1; Path=/"}),
        "/b": shown,
    }
    async with Site(routes) as site:
        answer = await render(hub, site.url("/"))
        assert b"cookie=a=1" in answer.body
        assert (answer.url, answer.hops) == (site.url("/b"), (site.url("/"),))
        # The next caller starts without them.
        assert b"cookie=None" in (await render(hub, site.url("/b"))).body


async def test_pictures_are_left_out_unless_a_shot_is_wanted(hub: Hub) -> None:
    page = html('<img src="/i.png"><script src="/s.js"></script>')
    async with Site({"/": page}) as site:
        await render(hub, site.url("/"))
        assert sorted(seen.path for seen in site.seen) == ["/", "/s.js"]
        shots: list[bytes] = []
        await render(hub, site.url("/"), screenshot=shots)
        assert "/i.png" in [seen.path for seen in site.seen]
    assert shots[0].startswith(b"\xff\xd8\xff")


async def test_a_quiet_network_can_be_waited_for(hub: Hub) -> None:
    late = (
        "<p id=a>before</p><script>addEventListener('load', () => setTimeout(() => "
        "fetch('/data').then(r => r.text()).then(t => {a.textContent = t}), 200))</script>"
    )
    async with Site({"/": html(late), "/data": Reply(body=b"late")}) as site:
        answer = await render(hub, site.url("/"), wait="networkidle")
    assert b"late</p>" in answer.body


LEAKS = """
<img src="{private}/img"><iframe src="{private}/frame"></iframe>
<link rel="stylesheet" href="{private}/css"><link rel=dns-prefetch href="//rebinding.test">
<script src="{private}/script"></script>
<script>
fetch('{private}/fetch').catch(e => 0); fetch('{mapped}/fetch6').catch(e => 0);
try {{ new WebSocket('{private}/ws'.replace('http', 'ws')) }} catch (e) {{}}
try {{ new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{udp}'}}]}})
       .createDataChannel('x') }} catch (e) {{}}
navigator.sendBeacon('{private}/beacon');
</script>
"""


class Packets(asyncio.DatagramProtocol):
    def __init__(self) -> None:
        self.count = 0

    def datagram_received(self, data: bytes, addr: object) -> None:
        self.count += 1


async def test_nothing_in_a_page_reaches_a_private_server() -> None:
    packets = Packets()
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: packets, local_addr=("127.0.0.1", 0))
    async with Site() as private, Site(address="127.0.0.2") as public:
        where = private.url("").rstrip("/")
        udp = transport.get_extra_info("sockname")[1]
        mapped = f"http://[::ffff:127.0.0.1]:{private.port}"
        public.routes = {
            "/": html(LEAKS.format(private=where, mapped=mapped, udp=udp)),
            "/away": html("", 302, Location=f"{where}/redirect"),
            "/refresh": html(f'<meta http-equiv="refresh" content="0; url={where}/refresh">'),
            "/script": html(f"<script>location.href = '{where}/script'</script>"),
            "/file": html("<script>location.href = 'file:///etc/passwd'</script>kept"),
        }
        shots: list[bytes] = []
        async with Hub({"CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.2/32"]}) as hub:
            answer = await render(hub, public.url("/"), screenshot=shots, wait="networkidle")
            assert answer.status == 200
            assert await code_of(hub, public.url("/away")) == "blocked_address"
            for path in ("/refresh", "/script", "/file"):
                assert "root:" not in await outcome(hub, public.url(path))
            for host in ("127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433"):
                assert await code_of(hub, private.url("/", host)) == "blocked_address"
        assert private.connections == 0
        assert packets.count == 0
    transport.close()


@pytest.fixture
async def around(proxy_settings: dict[str, object]) -> AsyncIterator[tuple[Hub, ReplayProxy]]:
    def recorded(request: HttpRequest) -> HttpResponse:
        kind = (("Content-Type", "text/html"),)
        return HttpResponse(url=request.url, headers=kind, body=SCRIPT.encode())

    async with ReplayProxy(answer=recorded, users=USERS) as proxy:
        trust(proxy, proxy_settings)
        async with Hub(proxy_settings) as hub:
            yield hub, proxy


async def test_pages_come_through_every_kind_of_proxy(
    around: tuple[Hub, ReplayProxy], proxy_settings: dict[str, object]
) -> None:
    hub, proxy = around
    for scheme in ("socks5h", "socks5", "http"):
        for url in ("https://site.example/", "http://site.example/"):
            answer = await render(hub, url, proxy=proxy.url(scheme, "ann"))
            assert b"shown</p>" in answer.body, scheme
    assert {entry.host for entry in proxy.log} == {"site.example"}


async def test_a_page_comes_through_a_proxy_behind_tls(
    proxy_settings: dict[str, object],
) -> None:
    def recorded(request: HttpRequest) -> HttpResponse:
        kind = (("Content-Type", "text/html"),)
        return HttpResponse(url=request.url, headers=kind, body=SCRIPT.encode())

    async with ReplayProxy(answer=recorded, users=USERS, secure=True) as proxy:
        trust(proxy, proxy_settings)
        async with Hub(proxy_settings) as hub:
            answer = await render(hub, "https://site.example/", proxy=proxy.url("https", "ann"))
    assert b"shown</p>" in answer.body
    assert [entry.user for entry in proxy.log] == ["ann"]


async def test_a_proxy_that_fails_is_blamed_and_never_gone_around(
    around: tuple[Hub, ReplayProxy],
) -> None:
    hub, proxy = around
    wrong = proxy.url("socks5h", "ann", "wrong")
    async with Site({"/": html(SCRIPT)}) as site:
        for way in (wrong, "socks5h://127.0.0.1:1", "http://127.0.0.1:1", "ftp://127.0.0.1:1"):
            for url in (site.url("/"), "https://site.example/"):
                assert await code_of(hub, url, proxy=way) == "proxy_unavailable"
        assert site.connections == 0
    assert not proxy.served


async def test_a_certificate_of_a_stranger_is_refused(
    around: tuple[Hub, ReplayProxy],
) -> None:
    hub, _ = around

    def recorded(request: HttpRequest) -> HttpResponse:
        return HttpResponse(url=request.url, body=b"stranger")

    async with ReplayProxy(answer=recorded) as stranger:
        code = await code_of(hub, "https://site.example/", proxy=stranger.url())
    assert code == "download_failed"


def many(count: int) -> str:
    return "".join(f'<script src="/{number}.js"></script>' for number in range(count))


@pytest.mark.parametrize(
    ("budget", "reply"),
    [
        ({"RENDER_MAX_REQUESTS": 5}, html(many(20))),
        ({"RENDER_MAX_NETWORK_BYTES": 50_000}, html("x" * 200_000)),
        (
            {"RENDER_MAX_HTML_BYTES": 50_000},
            html("<script>document.body.append('x'.repeat(200000))</script>"),
        ),
        ({"RENDER_TIMEOUT": 1.0}, html('<script src="/hang"></script>')),
        ({"RENDER_TIMEOUT": 1.0}, html("<script>for (;;) {}</script>")),
    ],
    ids=["requests", "bytes", "html", "time", "busy"],
)
async def test_a_page_over_its_budget(budget: dict[str, object], reply: Reply) -> None:
    async with Site({"/": reply, "/hang": Reply(stream=hang)}) as site:
        async with Hub({**LOOPBACK, **budget}) as hub:
            assert await code_of(hub, site.url("/")) == "render_budget_exceeded"
        await site.until_idle()


async def test_a_caller_that_leaves_ends_the_render(hub: Hub) -> None:
    async with Site({"/": Reply(stream=hang)}) as site:
        assert await code_of(hub, site.url("/"), timeout=3) == "timeout"
        await site.until_idle()
        site.arrived.clear()
        call = asyncio.ensure_future(render(hub, site.url("/")))
        arrived = asyncio.ensure_future(site.arrived.wait())
        await asyncio.wait({arrived, call}, return_when=asyncio.FIRST_COMPLETED)
        assert arrived.done()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await site.until_idle()


async def test_a_caller_that_leaves_while_the_browser_starts_spoils_nothing() -> None:
    before = asyncio.all_tasks()
    async with Site({"/": html(SCRIPT)}) as site:
        async with Hub(LOOPBACK) as hub:
            early = asyncio.ensure_future(render(hub, site.url("/")))
            await asyncio.sleep(0.1)  # its start takes longer
            early.cancel()
            await asyncio.gather(early, return_exceptions=True)
            assert (await render(hub, site.url("/"))).status == 200
        await site.until_idle()
    assert asyncio.all_tasks() == before


async def test_closing_while_the_browser_starts_leaves_nothing() -> None:
    before = asyncio.all_tasks()
    async with Hub(LOOPBACK) as hub:
        early = asyncio.ensure_future(render(hub, "http://127.0.0.1:1/"))
        await asyncio.sleep(0.1)
        early.cancel()
        await asyncio.gather(early, return_exceptions=True)
    assert asyncio.all_tasks() == before


async def test_a_missing_browser_says_so(tmp_path: Path) -> None:
    async with Hub({**LOOPBACK, "CONSILIENCE_CHROME_PATH": str(tmp_path / "none")}) as hub:
        assert await code_of(hub, "http://127.0.0.1:1/") == "browser_unavailable"


async def test_closing_ends_the_browser() -> None:
    before = asyncio.all_tasks()
    async with Site({"/": html(SCRIPT)}) as site:
        async with Hub(LOOPBACK) as hub:
            await render(hub, site.url("/"))
        await site.until_idle()
    assert asyncio.all_tasks() == before


def test_the_browser_is_started_without_a_way_out(tmp_path: Path) -> None:
    options = launch_options(project_settings({"CONSILIENCE_CHROME_PATH": "/opt/chrome"}))
    assert options["executable_path"] == "/opt/chrome"
    assert options["proxy"] == {"server": "socks5://127.0.0.1:9"}
    assert "--disable-quic" in str(options["args"])
    assert trusted_keys(None) == []
    assert "Chrome/150.0.0.0" in user_agent("150.0.7871.100")
