"""Which results a caller wants by their host."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.merge.canonical import canonical

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["DomainFilter"]


class DomainFilter:
    """Keeps addresses of the included domains and none of the excluded ones.

    A domain stands for itself and all its sub-domains; `www.` and the scheme are ignored, so an
    address can be given as well. A path after the domain (`site.org/docs`) must match as a whole
    number of path segments. Excluding wins over including; an empty list asks for nothing.
    """

    __slots__ = ("_exclude", "_include")

    def __init__(self, include: Iterable[str] = (), exclude: Iterable[str] = ()) -> None:
        self._include = _entries(include)
        self._exclude = _entries(exclude)

    def __bool__(self) -> bool:
        return bool(self._include or self._exclude)

    def allows(self, url: str) -> bool:
        """Say whether an address, wrapped or not, passes the filter."""
        if not self:
            return True
        host, path = _host_and_path(url)
        if any(_covers(entry, host, path) for entry in self._exclude):
            return False
        return not self._include or any(_covers(entry, host, path) for entry in self._include)


def _entries(domains: Iterable[str]) -> tuple[tuple[str, str], ...]:
    texts = (domain.strip().removeprefix("*.").lstrip(".") for domain in domains)
    return tuple(_host_and_path(text if "//" in text else f"//{text}") for text in texts if text)


def _host_and_path(url: str) -> tuple[str, str]:
    rest = canonical(url).partition("://")[2].partition("#")[0].partition("?")[0]
    host, _, path = rest.partition("/")
    return host, f"/{path}".rstrip("/") + "/"


def _covers(entry: tuple[str, str], host: str, path: str) -> bool:
    domain, prefix = entry
    return (host == domain or host.endswith(f".{domain}")) and path.startswith(prefix)
