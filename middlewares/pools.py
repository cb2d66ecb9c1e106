"""Proxy pools: members, rotation, health.

Nothing here opens a connection; the rules are told what happened and say which member goes next.
"""

from __future__ import annotations

import hashlib
import math
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote, urlsplit

from framework.errors import InvalidInputError, UnavailableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

__all__ = ["Health", "Member", "MemberReport", "Pool", "ProxyRotation", "parse_proxy", "redacted"]

#: Names are resolved by the proxy, whatever SOCKS5 spelling is used: nothing leaks over DNS.
_SCHEMES = {"socks5": "socks5h", "socks5h": "socks5h", "http": "http", "https": "https"}
_PORTS = {"socks5h": 1080, "http": 8080, "https": 443}


class ProxyRotation(StrEnum):
    """Which healthy member of a pool goes next."""

    ROUND_ROBIN = "round-robin"
    LEAST_USED = "least-used"
    STICKY = "sticky"


@dataclass(frozen=True, slots=True)
class Member:
    """One proxy; `url` holds its password and is never shown, `name` may be."""

    url: str = field(repr=False)
    weight: float = 1.0

    @property
    def name(self) -> str:
        """The proxy's address without user name and password."""
        return redacted(self.url)


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    """How a failing member is benched: `rest` seconds, twice as long each time, to `longest`."""

    rest: float = 5.0
    longest: float = 600.0

    def pause(self, failures: int) -> float:
        """Return the seconds a member rests after so many failures in a row."""
        doublings = min(failures - 1, 32)
        return min(self.rest * 2.0**doublings, self.longest)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberReport:
    """What is known of a member: uses, failures in a row, seconds that it is still benched."""

    name: str
    weight: float
    uses: int
    failures: int
    benched: float
    reason: str = ""


@dataclass(slots=True)
class _State:
    member: Member
    uses: int = 0
    current: float = 0.0
    failures: int = 0
    until: float = 0.0
    reason: str = ""


def redacted(url: str) -> str:
    """Return a proxy's address without user name and password."""
    parts = urlsplit(url)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}"


def parse_proxy(text: str, *, scheme: str = "http", source: str = "the proxy") -> str:
    """Return a proxy's address in one spelling: scheme, credentials, host, port.

    User name and password are percent-decoded and encoded again; `socks5` becomes `socks5h`, so
    that names are resolved by the proxy; `scheme` holds for an address without one. Raises
    InvalidInputError that names `source` and what is wrong, never the password.
    """
    text = text.strip()
    parts = urlsplit(text if "://" in text else f"{scheme}://{text}")
    kind = _SCHEMES.get(parts.scheme.lower())
    if kind is None:
        raise _wrong(source, f"scheme {parts.scheme!r} is not supported")
    try:
        port = parts.port or _PORTS[kind]
    except ValueError:
        raise _wrong(source, "the port is no number from 1 to 65535") from None
    if not parts.hostname or parts.path.strip("/") or parts.query or parts.fragment:
        raise _wrong(source, "the address must be a host and a port")
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{kind}://{_credentials(parts.username, parts.password)}{host}:{port}"


def _credentials(user: str | None, password: str | None) -> str:
    if user is None and password is None:
        return ""
    coded = [quote(unquote(part or ""), safe="") for part in (user, password)]
    return f"{':'.join(coded)}@"


def _wrong(source: str, problem: str) -> InvalidInputError:
    return InvalidInputError(
        f"{source}: {problem}",
        hint="write scheme://user:password@host:port with socks5h, http or https",
    )


class Pool:
    """A named set of proxies; `clock` gives seconds that never go backwards."""

    def __init__(
        self,
        name: str,
        members: Sequence[Member],
        *,
        rotation: ProxyRotation = ProxyRotation.ROUND_ROBIN,
        health: Health | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        if not members:
            raise InvalidInputError(f"proxy pool {name!r} has no members", hint="give at least one")
        self.name = name
        self.rotation = rotation
        self._health = health or Health()
        self._clock = clock
        self._states = {member.url: _State(member) for member in members}

    def __contains__(self, url: str) -> bool:
        return url in self._states

    @property
    def members(self) -> tuple[Member, ...]:
        """The pool's proxies in the order of their file."""
        return tuple(state.member for state in self._states.values())

    def __repr__(self) -> str:
        return f"Pool({self.name!r}, {len(self._states)} members)"

    def pick(self, *, sticky: str | None = None, tried: Iterable[str] = ()) -> Member:
        """Return the member to use next; `tried` are addresses used by this call already.

        With `sticky` (or a sticky pool's empty one) the same text keeps the same member while it is
        healthy, and only its own texts move when a member fails (rendezvous hashing). Members not
        yet tried go first. Raises UnavailableError (`proxy_unavailable`) where none is healthy:
        nothing is ever sent without a proxy.
        """
        now, done = self._clock(), set(tried)
        healthy = [state for state in self._states.values() if state.until <= now]
        if not healthy:
            raise self._unavailable(now)
        fresh = [state for state in healthy if state.member.url not in done] or healthy
        if sticky is not None or self.rotation is ProxyRotation.STICKY:
            chosen = max(fresh, key=lambda state: _affinity(state.member, sticky or ""))
        elif self.rotation is ProxyRotation.LEAST_USED:
            chosen = min(fresh, key=lambda state: state.uses / state.member.weight)
        else:
            chosen = _smooth(fresh)
        chosen.uses += 1
        return chosen.member

    def succeeded(self, url: str) -> None:
        """Note that a member carried a request to its target."""
        if state := self._states.get(url):
            state.failures, state.until, state.reason = 0, 0.0, ""

    def failed(self, url: str, reason: str = "") -> None:
        """Bench a member that could not be used, longer each time in a row."""
        if state := self._states.get(url):
            now = self._clock()
            if state.until > now:
                return  # requests that were under way together count as one failure
            state.failures += 1
            state.until = now + self._health.pause(state.failures)
            state.reason = reason

    def reports(self) -> tuple[MemberReport, ...]:
        """Return what is known of every member, without passwords."""
        now = self._clock()
        return tuple(
            MemberReport(
                name=state.member.name,
                weight=state.member.weight,
                uses=state.uses,
                failures=state.failures,
                benched=max(0.0, state.until - now),
                reason=state.reason,
            )
            for state in self._states.values()
        )

    def _unavailable(self, now: float) -> UnavailableError:
        wait = min(state.until for state in self._states.values()) - now
        reasons = "; ".join(map(_failure, self._states.values()))
        return UnavailableError(
            f"no proxy of pool {self.name!r} can be used ({reasons})",
            code="proxy_unavailable",
            hint=f"the first is tried again in {wait:.0f} s; nothing is sent without a proxy",
            retry_after=wait,
        )


def _failure(state: _State) -> str:
    """Name a member and why it failed; a client's own message may name it already."""
    name = state.member.name
    return f"{name}: {state.reason.removeprefix(f'{name}: ') or 'failed'}"


def _smooth(states: Sequence[_State]) -> _State:
    """Smooth weighted round-robin: in each turn all gain their weight, the highest pays the sum."""
    total = 0.0
    for state in states:
        state.current += state.member.weight
        total += state.member.weight
    chosen = max(states, key=lambda state: state.current)
    chosen.current -= total
    return chosen


def _affinity(member: Member, text: str) -> float:
    """Weighted rendezvous hashing: the member with the highest value gets the text."""
    digest = hashlib.sha256(f"{member.url}\0{text}".encode()).digest()
    share = (int.from_bytes(digest[:8], "big") + 1) / (2**64 + 2)
    return -member.weight / math.log(share)
