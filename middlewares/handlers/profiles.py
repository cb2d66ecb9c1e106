"""The browsers that mode `impersonate` can be: whose handshake, and what its headers say."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from scrapy.exceptions import NotSupported

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PROFILES", "Profile", "profile_named"]


@dataclass(frozen=True, slots=True)
class Profile:
    """A browser: the handshake of `target`, and the headers in which it differs from it."""

    target: str
    headers: tuple[tuple[str, str], ...] = ()


#: Edge is Chromium: the same handshake, another name in two headers.
_EDGE = (
    ("sec-ch-ua", '"Chromium";v="152", "Not?A_Brand";v="24", "Microsoft Edge";v="152"'),
    ("sec-ch-ua-platform", '"Windows"'),
    (
        "User-Agent",
        (
            "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
            "Chrome/152.0.0.0 Safari/537.36 Edg/152.0.0.0"
        ),
    ),
)

#: Profiles by the name used in settings; current versions of curl_cffi's own.
PROFILES: Mapping[str, Profile] = MappingProxyType(
    {
        "chrome": Profile("chrome152"),
        "firefox": Profile("firefox155"),
        "safari": Profile("safari270"),
        "edge": Profile("chrome152", _EDGE),
    }
)


def profile_named(name: str) -> Profile:
    """Return a profile; raises `NotSupported` for an unknown name."""
    try:
        return PROFILES[name]
    except KeyError:
        raise NotSupported(f"no browser {name!r}; choose from {', '.join(PROFILES)}") from None
