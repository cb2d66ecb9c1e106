"""What the three fetch modes share: a request's limits and proxy, and the answer it becomes."""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

import certifi
from scrapy.http import Headers, HtmlResponse, Response, TextResponse

from framework.errors import InvalidInputError
from middlewares.handlers.failures import BodyTooLargeError, ProxyUnavailableError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from scrapy import Request
    from scrapy.settings import BaseSettings

__all__ = [
    "BodyBuffer",
    "CaBundle",
    "Proxy",
    "answer",
    "body_cap",
    "connect_limit",
    "proxy_of",
    "tls_context",
]

_CONNECT_SECONDS = 10.0
_CONNECT_SHARE = 0.4
_SCHEMES = {"http": 80, "https": 443, "socks5": 1080, "socks5h": 1080}
#: Headers that no longer hold once a body has been decoded.
_TRANSFER = ("content-encoding", "transfer-encoding", "content-length")


@dataclass(frozen=True, slots=True)
class Proxy:
    """A proxy's address; `str` gives it without the credentials, fit for logs."""

    scheme: str
    host: str
    port: int
    user: str | None = None
    password: str | None = None

    def __str__(self) -> str:
        return f"{self.scheme}://{self.host}:{self.port}"

    def __repr__(self) -> str:
        return f"Proxy({self})"

    @property
    def is_socks(self) -> bool:
        """Whether it speaks SOCKS5; names are then always resolved by the proxy."""
        return self.scheme.startswith("socks5")


def proxy_of(request: Request) -> Proxy | None:
    """Return the proxy that `request.meta["proxy"]` names, or None for a direct request.

    User and password are percent-decoded. Raises `ProxyUnavailableError` for a URL that is no
    proxy: never a reason to go without.
    """
    url = request.meta.get("proxy")
    if not url:
        return None
    try:
        parts = urlsplit(url)
        scheme, host, port = parts.scheme, parts.hostname, parts.port
        default = _SCHEMES[scheme]
    except (ValueError, KeyError):
        raise ProxyUnavailableError("the configured proxy is no proxy URL") from None
    if not host:
        raise ProxyUnavailableError("the configured proxy has no host")
    user = unquote(parts.username) if parts.username is not None else None
    password = unquote(parts.password) if parts.password is not None else None
    return Proxy(scheme, host, port or default, user, password)


def connect_limit(request: Request, proxy: Proxy | None) -> float | None:
    """Return in how many seconds a connection through a proxy must stand; None without one.

    A proxy that accepts and then hangs must leave time for another one.
    """
    if proxy is None:
        return None
    whole = request.meta.get("download_timeout")
    return min(_CONNECT_SECONDS, _CONNECT_SHARE * float(whole)) if whole else _CONNECT_SECONDS


def body_cap(request: Request, settings: BaseSettings) -> int:
    """Return how many decoded bytes this request's answer may have; 0 is no limit."""
    return int(request.meta.get("download_maxsize", settings.getint("DOWNLOAD_MAXSIZE")))


def tls_context(settings: BaseSettings) -> ssl.SSLContext:
    """Return a verifying TLS context that also trusts `CONSILIENCE_CA_FILE`."""
    context = ssl.create_default_context()
    if extra := settings.get("CONSILIENCE_CA_FILE"):
        try:
            context.load_verify_locations(cafile=str(extra))
        except (OSError, ssl.SSLError) as problem:
            raise InvalidInputError(
                f"CONSILIENCE_CA_FILE: {extra} holds no certificates ({problem})",
                hint="give a file in PEM form",
            ) from None
    return context


class CaBundle:
    """A file with the usual certificate authorities and those of `CONSILIENCE_CA_FILE`.

    `path` is None where no further ones are configured; `remove` deletes the file.
    """

    def __init__(self, settings: BaseSettings) -> None:
        self._file: Path | None = None
        if extra := settings.get("CONSILIENCE_CA_FILE"):
            usual = Path(certifi.where()).read_bytes()
            with tempfile.NamedTemporaryFile(suffix=".pem", delete=False) as file:
                file.write(usual + b"\n" + Path(extra).read_bytes())
            self._file = Path(file.name)

    @property
    def path(self) -> str | None:
        """Where the file is."""
        return str(self._file) if self._file else None

    def remove(self) -> None:
        """Delete the file; the settings' own file stays."""
        if self._file is not None:
            self._file.unlink(missing_ok=True)


class BodyBuffer:
    """Collects decoded bytes and raises `BodyTooLargeError` beyond the cap."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._size = 0
        self.overflown = False
        self._chunks: list[bytes] = []

    def fits(self, size: int) -> bool:
        """Whether so many further bytes stay within the cap."""
        return not self._cap or self._size + size <= self._cap

    def add(self, chunk: bytes) -> None:
        """Keep a chunk, or raise where the body outgrows its cap."""
        if not self.fits(len(chunk)):
            raise self.overflow()
        self._size += len(chunk)
        self._chunks.append(chunk)

    def overflow(self) -> BodyTooLargeError:
        """The error that names the cap; the buffer remembers it."""
        self.overflown = True
        return BodyTooLargeError(f"the body is larger than {self._cap} bytes")

    def join(self) -> bytes:
        """The whole body."""
        return b"".join(self._chunks)


def answer(
    request: Request,
    *,
    status: int,
    headers: Iterable[tuple[str, str]],
    body: bytes,
    protocol: str,
    peer: str | None,
    url: str | None = None,
) -> Response:
    """Build Scrapy's response from a decoded body; `peer` is the address connected to."""
    kept = Headers([(k, v) for k, v in headers if k.lower() not in _TRANSFER])
    return _kind(kept.get("Content-Type") or b"")(
        url or request.url,
        status=status,
        headers=kept,
        body=body,
        protocol=protocol,
        ip_address=_address(peer.partition("%")[0]) if peer else None,
    )


def _kind(content_type: bytes) -> type[Response]:
    lowered = content_type.lower()
    if not content_type or b"html" in lowered:
        return HtmlResponse
    texts = (b"text/", b"json", b"xml", b"javascript")
    return TextResponse if any(text in lowered for text in texts) else Response


@lru_cache(maxsize=256)
def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    return ipaddress.ip_address(text)
