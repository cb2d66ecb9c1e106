"""What may be connected to: addresses in every notation, names, schemes; and at connect time."""

from __future__ import annotations

import ipaddress
import socket
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import InvalidInputError, UnavailableError
from framework.types import FetchMode, HttpRequest
from middlewares.guard import (
    BlockedAddressError,
    allowed_networks,
    check_url,
    forbidden,
    literal_address,
)
from spiders.hub import Hub
from tests.support.site import Reply, Site

if TYPE_CHECKING:
    from collections.abc import Iterator

LOOPBACK = allowed_networks(["127.0.0.0/8"])


@pytest.mark.parametrize(
    "address",
    [
        "8.8.8.8",
        "93.184.216.34",
        "2606:2800:220:1::1",
        "::ffff:8.8.8.8",
        "64:ff9b::808:808",
        "2002:808:808::1",
    ],
)
def test_public_addresses_pass(address: str) -> None:
    assert forbidden(address) is None


@pytest.mark.parametrize(
    ("address", "why"),
    [
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("0.0.0.0", "unspecified"),
        ("0.1.2.3", "private"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("192.168.1.1", "private"),
        ("169.254.169.254", "link-local"),
        ("100.64.0.1", "carrier"),
        ("192.0.2.1", "private"),
        ("198.18.0.1", "private"),
        ("192.88.99.1", "6to4 relay"),
        ("224.0.0.1", "multicast"),
        ("255.255.255.255", "private"),
        ("240.0.0.1", "private"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("fe80::1", "link-local"),
        ("fc00::1", "private"),
        ("fd12:3456::1", "private"),
        ("fec0::1", "site-local"),
        ("ff02::1", "multicast"),
        ("2001:db8::1", "private"),
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:169.254.169.254", "link-local"),
        ("::127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "loopback"),
        ("64:ff9b::a00:1", "private"),
        ("64:ff9b:1::1", "NAT64"),
        ("2002:7f00:1::1", "loopback"),
        ("2002:c0a8:101::", "private"),
        ("2001:0:4136:e378:8000:63bf:3fff:fdd2", "Teredo"),
        ("nonsense", "no IP address"),
    ],
)
def test_other_addresses_do_not(address: str, why: str) -> None:
    assert why in str(forbidden(address))


@pytest.mark.parametrize("address", ["127.0.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"])
def test_an_allowed_network_lets_them_through_in_any_form(address: str) -> None:
    assert forbidden(address, LOOPBACK) is None
    assert forbidden("10.0.0.1", LOOPBACK) is not None


@given(st.ip_addresses(v=4))
def test_wrapping_never_changes_the_judgement(address: ipaddress.IPv4Address) -> None:
    plain = forbidden(address) is None
    number = int(address)
    mapped = ipaddress.IPv6Address((0xFFFF << 32) | number)
    nat64 = ipaddress.IPv6Address((0x64FF9B << 96) | number)
    sixtofour = ipaddress.IPv6Address((0x2002 << 112) | (number << 80))
    assert [forbidden(one) is None for one in (mapped, nat64, sixtofour)] == [plain] * 3


#: Every way to write 127.0.0.1 that some parser or resolver takes.
SPELLINGS = (
    "127.0.0.1",
    "127.1",
    "127.0.1",
    "2130706433",
    "0x7f000001",
    "0x7f.0.0.1",
    "0X7F.1",
    "0177.0.0.1",
    "017700000001",
    "127.0.0.1.",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[0:0:0:0:0:ffff:7f00:1]",
    "１２７.０.０.１",
    "127。0。0。1",
    "①②⑦.⓪.⓪.①",
    "%31%32%37.0.0.1",
    "localhost",
    "LOCALHOST",
    "localhost.",
    "api.localhost",
)


@pytest.mark.parametrize("host", [*SPELLINGS, "0", "0.0.0.0", "[::]", "[::1]", "[fe80::1%25eth0]"])
def test_every_spelling_of_a_local_address_is_refused(host: str) -> None:
    with pytest.raises(BlockedAddressError):
        check_url(f"http://{host}/")


@pytest.mark.parametrize(
    "host", ["example.org", "1.example", "0x.example.org", "dead.beef", "127.0.0.1.nip.example"]
)
def test_names_are_no_literals(host: str) -> None:
    assert literal_address(host) is None
    check_url(f"https://{host}/")


@pytest.mark.parametrize(
    "url",
    [
        "file:///etc/passwd",
        "ftp://example.org/",
        "data:text/html,x",
        "gopher://example.org/",
        "javascript:alert(1)",
        "//example.org/",
        "http://user@example.org/",
        "http://user:pass@example.org/",
        "http://@example.org/",
        "http:///path",
        "http://[::1/",
        "",
    ],
)
def test_other_urls_are_refused(url: str) -> None:
    with pytest.raises(BlockedAddressError):
        check_url(url)


@pytest.mark.parametrize(
    "host", ["printer", "db.internal", "nas.local", "router.lan", "x.home.arpa"]
)
def test_local_names_are_refused_where_a_proxy_resolves(host: str) -> None:
    check_url(f"http://{host}/")
    with pytest.raises(BlockedAddressError, match="local name"):
        check_url(f"http://{host}/", remote=True)


def test_a_wrong_network_is_named() -> None:
    with pytest.raises(InvalidInputError, match="not-a-network"):
        allowed_networks(["not-a-network"])


@pytest.fixture
def resolver(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Python's resolver, made to know names under `.test`; yields what was asked."""
    asked: list[str] = []
    real = socket.getaddrinfo

    def getaddrinfo(host: object, *args: object, **kwargs: object) -> object:
        name = host.decode() if isinstance(host, bytes) else str(host)
        asked.append(name)
        target = "127.0.0.1" if name.endswith(".test") else host
        return real(target, *args, **kwargs)  # type: ignore[arg-type]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    return iter([asked])


async def code_of(hub: Hub, url: str, mode: FetchMode) -> str:
    with pytest.raises(UnavailableError) as caught:
        await hub.fetch(HttpRequest(url=url), mode=mode, timeout=10)
    assert caught.value.message
    return caught.value.code


@pytest.mark.parametrize("host", SPELLINGS)
async def test_a_private_server_is_never_hit(public_hub: Hub, mode: FetchMode, host: str) -> None:
    async with Site({"/": Reply()}) as site:
        assert await code_of(public_hub, site.url("/", host), mode) == "blocked_address"
        assert site.connections == 0


async def test_a_name_that_resolves_to_a_private_address(
    public_hub: Hub, resolver: Iterator[list[str]]
) -> None:
    asked = next(resolver)
    async with Site({"/": Reply()}) as site:
        url = site.url("/", "rebinding.test")
        assert await code_of(public_hub, url, FetchMode.HTTP) == "blocked_address"
        assert site.connections == 0
        assert "rebinding.test" in asked


@pytest.mark.parametrize(
    "headers",
    [
        {"Location": "http://127.0.0.1:{port}/secret"},
        {"Location": "http://[::ffff:127.0.0.1]:{port}/secret"},
        {"Location": "http://2130706433:{port}/secret"},
        {"Location": "file:///etc/passwd"},
        {"Location": "data:text/html,x"},
        {"Location": "ftp://127.0.0.1:{port}/secret"},
        {"Location": "http://u:p@127.0.0.2:{port}/secret"},
    ],
)
async def test_a_redirect_to_a_private_address(mode: FetchMode, headers: dict[str, str]) -> None:
    async with Site({"/secret": Reply()}) as private, Site(address="127.0.0.2") as public:
        where = headers["Location"].format(port=private.port)
        public.routes["/"] = Reply(302, {"Location": where})
        async with Hub({"CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.2/32"]}) as hub:
            assert await code_of(hub, public.url("/"), mode) == "blocked_address"
        assert private.connections == 0
        assert len(public.seen) == 1


async def test_an_html_refresh_to_a_private_address(mode: FetchMode) -> None:
    async with Site({"/secret": Reply()}) as private, Site(address="127.0.0.2") as public:
        body = f'<meta http-equiv="refresh" content="0; url={private.url("/secret")}">'
        public.routes["/"] = Reply(200, {"Content-Type": "text/html"}, body.encode())
        async with Hub({"CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.2/32"]}) as hub:
            request = HttpRequest(url=public.url("/"))
            with pytest.raises(UnavailableError) as caught:
                await hub.fetch(request, mode=mode, meta={"refresh": True})
            assert caught.value.code == "blocked_address"
            assert (await hub.fetch(request, mode=mode)).status == 200
        assert private.connections == 0
