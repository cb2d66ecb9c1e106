"""The guard inside libcurl: which sockets it may open, and which connections it may use again.

curl_cffi's public `setopt` refuses these two callbacks, so they are set through its C binding;
`tests/middlewares/handlers/test_browser.py` fails where a new version no longer allows it.
"""

from __future__ import annotations

import socket
import sys
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from curl_cffi import CurlOpt
from curl_cffi._wrapper import ffi, lib  # type: ignore[import-not-found]
from curl_cffi.requests import AsyncSession

from middlewares.guard import forbidden

if TYPE_CHECKING:
    from collections.abc import Iterator

    from curl_cffi import Curl

    from middlewares.guard import Network

__all__ = ["GuardedSession", "refusals"]

_REFUSE_SOCKET = -1
_REFUSE_REQUEST = 1
_INTS = 4
_refused: ContextVar[list[str] | None] = ContextVar("refused", default=None)


def refusals() -> list[str]:
    """Return a fresh list that collects why this task's next request is refused, if it is."""
    collected: list[str] = []
    _refused.set(collected)
    return collected


class GuardedSession(AsyncSession[Any]):
    """A curl session that connects directly, but only to addresses that may be connected to.

    Checked is every socket before it is opened, and every request before it is sent, on a reused
    connection too.
    """

    def __init__(self, allowed: tuple[Network, ...], **options: Any) -> None:  # noqa: ANN401
        super().__init__(**options)
        self._allowed = allowed

    async def pop_curl(self) -> Curl:
        """Lend a handle whose refusals go to the calling task's list."""
        curl = await super().pop_curl()
        guard: _Guard | None = getattr(curl, "_guard", None)
        if guard is None:
            # libcurl keeps bare pointers: the handle must keep the callbacks alive.
            guard = curl._guard = _Guard()  # type: ignore[attr-defined]
        guard.allowed, guard.collected = self._allowed, _refused.get()
        lib._curl_easy_setopt(curl._curl, CurlOpt.OPENSOCKETFUNCTION, guard.open_socket)
        lib._curl_easy_setopt(curl._curl, CurlOpt.PREREQFUNCTION, guard.before_request)
        return curl


class _Guard:
    """The two callbacks of a handle; a handle serves one request at a time."""

    __slots__ = ("allowed", "before_request", "collected", "open_socket")

    def __init__(self) -> None:
        self.allowed: tuple[Network, ...] = ()
        self.collected: list[str] | None = None
        self.open_socket = ffi.callback(
            "int(void*, int, void*)", self._open_socket, error=_REFUSE_SOCKET
        )
        self.before_request = ffi.callback(
            "int(void*, char*, char*, int, int)", self._before_request, error=_REFUSE_REQUEST
        )

    def _refuses(self, address: str) -> bool:
        why = forbidden(address, self.allowed)
        if why and self.collected is not None:
            self.collected.append(f"{address} is {why}")
        return why is not None

    def _open_socket(self, _client: object, _purpose: int, sockaddr: object) -> int:
        family, kind, protocol, address = _sockaddr(sockaddr)
        if self._refuses(address):
            return _REFUSE_SOCKET
        return socket.socket(family, kind, protocol).detach()

    def _before_request(self, _client: object, peer: object, *_: object) -> int:
        return _REFUSE_REQUEST if self._refuses(ffi.string(peer).decode()) else 0


def _sockaddr(pointer: object) -> tuple[int, int, int, str]:
    """Read libcurl's `struct curl_sockaddr`: four integers, then the socket address itself."""
    head = ffi.buffer(pointer, 4 * _INTS)[:]
    family, kind, protocol, length = _integers(head)
    raw = ffi.buffer(pointer, 4 * _INTS + length)[4 * _INTS :]
    inside = raw[4:8] if family == socket.AF_INET else raw[8:24]
    return family, kind, protocol, socket.inet_ntop(family, inside)


def _integers(raw: bytes) -> Iterator[int]:
    return (
        int.from_bytes(raw[start : start + _INTS], sys.byteorder)
        for start in range(0, len(raw), _INTS)
    )
