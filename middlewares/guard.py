"""What may be connected to: only `http` and `https`, only public addresses in any spelling.

The rules are free functions; the fetch handlers call them at connect time, on every attempt and
every redirect, so a name that changes its address between check and connect gains nothing.
"""

from __future__ import annotations

import ipaddress
import socket
import unicodedata
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, unquote, urlsplit

from scrapy.exceptions import IgnoreRequest

from framework.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from scrapy import Request
    from scrapy.crawler import Crawler

__all__ = [
    "BlockedAddressError",
    "GuardMiddleware",
    "allowed_networks",
    "check_request",
    "check_url",
    "forbidden",
    "is_configured",
    "is_local",
    "literal_address",
    "networks_for",
]

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
Network = ipaddress.IPv4Network | ipaddress.IPv6Network

#: For an endpoint that the operator configured.
EVERYWHERE: tuple[Network, ...] = (
    ipaddress.IPv4Network("0.0.0.0/0"),
    ipaddress.IPv6Network("::/0"),
)
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
#: Ranges that `is_global` lets through or that need their own reason.
_REFUSED_RANGES: tuple[tuple[Network, str], ...] = (
    (ipaddress.IPv6Network("2001::/32"), "a Teredo tunnel address"),
    (ipaddress.IPv6Network("64:ff9b:1::/48"), "a local NAT64 address"),
    (ipaddress.IPv6Network("fec0::/10"), "a site-local address"),
    (ipaddress.IPv4Network("192.88.99.0/24"), "a 6to4 relay address"),
    (ipaddress.IPv4Network("100.64.0.0/10"), "a carrier's private address"),
)
_REFUSED_KINDS: tuple[tuple[Callable[[Address], bool], str], ...] = (
    (lambda address: address.is_unspecified, "the unspecified address"),
    (lambda address: address.is_loopback, "a loopback address"),
    (lambda address: address.is_link_local, "a link-local address"),
    (lambda address: address.is_multicast, "a multicast address"),
    (lambda address: address.is_private, "a private address"),
    (lambda address: address.is_reserved, "a reserved address"),
    (lambda address: not address.is_global, "not a public address"),
)
_LOCAL_SUFFIXES = (".localhost", ".local", ".internal", ".localdomain", ".lan", ".home.arpa")


class BlockedAddressError(IgnoreRequest, OSError):
    """Raised where a request would leave for an address that is not public; never retried.

    It is an `OSError` too, so connection code may raise it from inside a client library.
    """

    code = "blocked_address"


def allowed_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """Return the networks that the operator lets through, from texts in CIDR form.

    Raises `InvalidInputError` with the text that is no network.
    """
    return tuple(_network(text.strip()) for text in texts if text.strip())


def _network(text: str) -> Network:
    try:
        return ipaddress.ip_network(text)
    except ValueError as problem:
        raise InvalidInputError(
            f"CONSILIENCE_ALLOW_NETWORKS: {problem}", hint="give networks such as 10.0.0.0/8"
        ) from None


def forbidden(address: str | Address, allowed: Iterable[Network] = ()) -> str | None:
    """Return why this address must not be connected to, or None where it may be.

    IPv4 addresses inside IPv6 ones (mapped, compatible, NAT64, 6to4) are judged by what they
    stand for; Teredo, multicast and everything that is not globally routed is refused.
    `allowed` networks are exempt, by the address as given or as unwrapped.
    """
    try:
        given = ipaddress.ip_address(address) if isinstance(address, str) else address
    except ValueError:
        return "no IP address"
    networks = tuple(allowed)
    seen = _unwrap(given)
    if any(_inside(one, network) for one in (given, seen) for network in networks):
        return None
    return _reason(given) if seen is given else _wrapped_reason(seen)


def _inside(address: Address, network: Network) -> bool:
    return address.version == network.version and address in network


def _unwrap(address: Address) -> Address:
    if isinstance(address, ipaddress.IPv4Address):
        return address
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _NAT64 or (address in _COMPATIBLE and int(address) > 1):
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return address


def _reason(address: Address) -> str | None:
    ranges = (why for network, why in _REFUSED_RANGES if _inside(address, network))
    kinds = (why for test, why in _REFUSED_KINDS if test(address))
    return next(ranges, None) or next(kinds, None)


def _wrapped_reason(address: Address) -> str | None:
    why = _reason(address)
    return f"{why} ({address}) inside an IPv6 address" if why else None


def literal_address(host: str) -> Address | None:
    """Return the address that a URL's host spells, or None where it is a name.

    Every spelling that some resolver accepts counts: brackets, decimal, octal and hexadecimal
    numbers, short forms (`127.1`), full-width digits, percent escapes, a trailing dot.
    """
    text = _plain_host(host)
    try:
        return ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        pass
    if not text or not all(_is_number(part) for part in text.split(".")):
        return None
    try:
        return ipaddress.IPv4Address(socket.inet_aton(text))
    except (OSError, ValueError):
        return None


def _is_number(text: str) -> bool:
    digits, base = (text[2:], 16) if text[:2].lower() == "0x" else (text, 10)
    try:
        return bool(digits) and int(digits, base) >= 0 and digits.isalnum()
    except ValueError:
        return False


def _plain_host(host: str) -> str:
    text = unicodedata.normalize("NFKC", unquote(host)).replace("\u3002", ".")
    return text.strip().strip("[]").rstrip(".").lower()


def check_url(url: str, allowed: Iterable[Network] = (), *, remote: bool = False) -> None:
    """Raise `BlockedAddressError` where this URL must not be requested at all.

    Refused are other schemes than `http` and `https`, a user name or password in the URL,
    and literal addresses that `forbidden` names. With `remote` (a proxy resolves the name)
    local names are refused as well, since nobody here sees their address.
    """
    parts = _split(url)
    if parts.scheme not in ("http", "https"):
        raise BlockedAddressError(f"{parts.scheme or 'no scheme'}: only http and https are fetched")
    if "@" in parts.netloc:
        raise BlockedAddressError("a user name or password in a URL is refused")
    host = parts.hostname or ""
    why = _refused_host(host, tuple(allowed), remote=remote)
    if why:
        raise BlockedAddressError(f"{host or 'an empty host'} is {why}")


def _split(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as problem:
        raise BlockedAddressError(f"not a URL: {problem}") from None


@lru_cache(maxsize=1024)
def _refused_host(host: str, allowed: tuple[Network, ...], *, remote: bool) -> str | None:
    address = literal_address(host)
    if address is not None:
        return forbidden(address, allowed)
    name = _plain_host(host)
    if not name:
        return "no host"
    if name == "localhost" or name.endswith(".localhost"):
        return forbidden("127.0.0.1", allowed)
    if remote and ("." not in name or name.endswith(_LOCAL_SUFFIXES)):
        return "a local name, which a proxy must not be asked for"
    return None


def is_configured(request: Request) -> bool:
    """Whether the request goes to the very host and port that the operator configured.

    Such an endpoint, a search instance of one's own, passes the guard by being configured. It is
    named in `request.meta["configured"]`; a redirect to anywhere else is guarded like any other.
    """
    named = request.meta.get("configured")
    return bool(named) and urlsplit(request.url).netloc == named


def is_local(url: str) -> bool:
    """Whether a URL's host is a local name or an address that is not public."""
    host = _split(url).hostname or ""
    return _refused_host(host, (), remote=True) is not None


def networks_for(request: Request, allowed: tuple[Network, ...]) -> tuple[Network, ...]:
    """Return the networks that this request may connect to although they are not public."""
    return EVERYWHERE if is_configured(request) else allowed


def check_request(request: Request, allowed: tuple[Network, ...], *, remote: bool = False) -> None:
    """Raise `BlockedAddressError` where `check_url` does, but for a configured endpoint."""
    networks = networks_for(request, allowed)
    check_url(request.url, networks, remote=remote and networks is not EVERYWHERE)


class GuardMiddleware:
    """Refuses a request by its URL before anything else sees it, on every redirect too."""

    def __init__(self, allowed: tuple[Network, ...] = ()) -> None:
        self.allowed = allowed

    @classmethod
    def from_crawler(cls, crawler: Crawler) -> GuardMiddleware:
        """Read the operator's list of networks from the crawler's settings."""
        return cls(allowed_networks(crawler.settings.getlist("CONSILIENCE_ALLOW_NETWORKS")))

    def process_request(self, request: Request) -> None:
        """Raise `BlockedAddressError` for a URL that must not be requested."""
        check_request(request, self.allowed)
