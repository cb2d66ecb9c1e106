"""The filter proxy by itself: what it connects to, what it refuses, what it counts."""

from __future__ import annotations

import asyncio
import ssl
import struct
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest
from scrapy.exceptions import CannotResolveHostError, DownloadConnectionRefusedError

from middlewares.guard import BlockedAddressError, allowed_networks
from middlewares.handlers.common import Proxy
from middlewares.handlers.failures import ProxyUnavailableError
from middlewares.handlers.filter_proxy import FilterProxy
from spiders.replay import Fault, ReplayProxy
from tests.support.site import Reply, Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from middlewares.guard import Network

LOOPBACK = allowed_networks(["127.0.0.0/8"])
REACHED, REFUSED = 0, 2


@asynccontextmanager
async def filtered(
    upstream: Proxy | None = None,
    allowed: tuple[Network, ...] = LOOPBACK,
    max_bytes: int = 1_000_000,
) -> AsyncIterator[FilterProxy]:
    async with FilterProxy(upstream, allowed, ssl.create_default_context(), max_bytes) as way:
        yield way


async def ask(
    way: FilterProxy, host: str, port: int, command: int = 1
) -> tuple[int | None, asyncio.StreamReader, asyncio.StreamWriter]:
    """Greet, ask for a connection, and return the reply's code (None where it hangs up)."""
    reader, writer = await asyncio.open_connection("127.0.0.1", way.port)
    name = host.encode()
    request = b"\x05\x01\x00" + b"\x05" + bytes([command]) + b"\x00\x03"
    writer.write(request + bytes([len(name)]) + name + struct.pack(">H", port))
    await reader.readexactly(2)
    try:
        reply = await reader.readexactly(10)
    except asyncio.IncompleteReadError:
        return None, reader, writer
    return reply[1], reader, writer


async def test_a_public_or_allowed_host_is_reached() -> None:
    async with Site({"/": Reply(body=b"hello")}) as site, filtered() as way:
        code, reader, writer = await ask(way, "127.0.0.1", site.port)
        assert code == REACHED
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"200" in await reader.readuntil(b"\r\n\r\n")
        assert await reader.readexactly(5) == b"hello"
        assert way.received > 5
        writer.close()


@pytest.mark.parametrize(
    ("host", "allowed", "failure"),
    [
        ("127.0.0.1", (), BlockedAddressError),
        ("localhost", (), BlockedAddressError),
        ("::ffff:127.0.0.1", (), BlockedAddressError),
        ("10.0.0.1", LOOPBACK, BlockedAddressError),
        ("127.0.0.1", LOOPBACK, DownloadConnectionRefusedError),
        ("name.invalid", LOOPBACK, CannotResolveHostError),
    ],
    ids=["loopback", "localhost", "mapped", "private", "closed port", "no name"],
)
async def test_what_is_not_reached_is_explained(
    host: str, allowed: tuple[Network, ...], failure: type[Exception]
) -> None:
    async with filtered(allowed=allowed) as way:
        code, _, writer = await ask(way, host, 1)
        assert code == REFUSED
        assert [type(one) for one in way.failures] == [failure]
        writer.close()


async def test_only_connections_are_made() -> None:
    async with filtered() as way:
        code, _, writer = await ask(way, "127.0.0.1", 1, command=3)
        assert code is None
        assert not way.failures
        writer.close()


async def test_too_much_from_the_network_ends_everything() -> None:
    async with Site({"/": Reply(body=bytes(200_000))}) as site, filtered(max_bytes=50_000) as way:
        _, reader, writer = await ask(way, "127.0.0.1", site.port)
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        await asyncio.wait_for(way.exceeded.wait(), 10)
        assert len(await reader.read()) <= 50_000
        await site.until_idle()
        writer.close()


def upstream(proxy: ReplayProxy, scheme: str, password: str = "p") -> Proxy:
    return Proxy(scheme, "127.0.0.1", proxy.port, "ann", password)


@pytest.mark.parametrize("scheme", ["socks5h", "http"])
async def test_names_and_login_go_to_the_upstream_proxy(scheme: str) -> None:
    async with Site({"/": Reply(body=b"hello")}) as site:
        hosts = {"site.example": ("127.0.0.1", site.port)}
        async with (
            ReplayProxy(users={"ann": "p"}, hosts=hosts) as proxy,
            filtered(upstream(proxy, scheme)) as way,
        ):
            code, _, writer = await ask(way, "site.example", 443)
            assert code == REACHED
            entry = proxy.log[0]
            assert (entry.host, entry.port, entry.user) == ("site.example", 443, "ann")
            writer.close()


@pytest.mark.parametrize("scheme", ["socks5h", "http"])
@pytest.mark.parametrize(
    ("password", "fault", "failure"),
    [
        ("wrong", None, ProxyUnavailableError),
        ("p", Fault.REFUSE, DownloadConnectionRefusedError),
        ("p", Fault.CLOSE, ProxyUnavailableError),
        ("p", Fault.GARBAGE, ProxyUnavailableError),
    ],
    ids=["login", "refuse", "close", "garbage"],
)
async def test_what_an_upstream_proxy_does_wrong(
    scheme: str, password: str, fault: Fault | None, failure: type[Exception]
) -> None:
    async with (
        ReplayProxy(users={"ann": "p"}, fault=fault) as proxy,
        filtered(upstream(proxy, scheme, password)) as way,
    ):
        code, _, writer = await ask(way, "site.example", 443)
        assert code == REFUSED
        assert [type(one) for one in way.failures] == [failure]
        assert password not in str(way.failures[0]).split()
        writer.close()


async def test_an_upstream_proxy_is_not_asked_for_local_names() -> None:
    async with ReplayProxy() as proxy, filtered(upstream(proxy, "socks5h"), allowed=()) as way:
        for host in ("127.0.0.1", "printer", "db.internal"):
            code, _, writer = await ask(way, host, 80)
            assert code == REFUSED
            writer.close()
        assert not proxy.log


async def test_a_dead_upstream_proxy() -> None:
    async with filtered(Proxy("socks5h", "127.0.0.1", 1)) as way:
        _, _, writer = await ask(way, "site.example", 443)
        assert [type(one) for one in way.failures] == [ProxyUnavailableError]
        writer.close()
