"""The browsers that mode `impersonate` can be: whose handshake, and what its headers say."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, get_args

from curl_cffi.requests.impersonate import BrowserTypeLiteral
from scrapy.exceptions import NotSupported

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["PROFILES", "Profile", "profile_named"]


@dataclass(frozen=True, slots=True)
class Profile:
    """A browser: the handshake of `target`, and the headers in which a first visit differs.

    A header whose value is None is not sent. `order` pins where each header stands; empty leaves
    that to the target.
    """

    target: str
    headers: tuple[tuple[str, str | None], ...] = ()
    order: tuple[str, ...] = ()


#: Where Chromium puts each header of a page visit, on HTTP/2.
_CHROMIUM_ORDER = (
    "Content-Length",
    "Cache-Control",
    "sec-ch-ua",
    "sec-ch-ua-mobile",
    "sec-ch-ua-platform",
    "Origin",
    "Content-Type",
    "Upgrade-Insecure-Requests",
    "User-Agent",
    "Accept",
    "Sec-Fetch-Site",
    "Sec-Fetch-Mode",
    "Sec-Fetch-User",
    "Sec-Fetch-Dest",
    "Referer",
    "Accept-Encoding",
    "Accept-Language",
    "Cookie",
    "Priority",
)
_FIREFOX_ORDER = (
    "User-Agent",
    "Accept",
    "Accept-Language",
    "Accept-Encoding",
    "Content-Type",
    "Content-Length",
    "Origin",
    "Referer",
    "Cookie",
    "Upgrade-Insecure-Requests",
    "Sec-Fetch-Dest",
    "Sec-Fetch-Mode",
    "Sec-Fetch-Site",
    "Sec-Fetch-User",
    "Priority",
    "TE",
)
#: The target was recorded at a reload; a first visit does not say this.
_FIRST_VISIT = (("Cache-Control", None),)
#: The target was recorded from a script; a page visit says this.
_FIREFOX_VISIT = (
    ("Sec-Fetch-Dest", "document"),
    ("Sec-Fetch-Mode", "navigate"),
    ("Sec-Fetch-Site", "none"),
    ("Sec-Fetch-User", "?1"),
    ("Upgrade-Insecure-Requests", "1"),
    ("Priority", "u=0, i"),
)
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
        "chrome": Profile("chrome152", _FIRST_VISIT, _CHROMIUM_ORDER),
        "firefox": Profile("firefox155", _FIREFOX_VISIT, _FIREFOX_ORDER),
        "safari": Profile("safari270", (("Sec-Fetch-Site", "none"),)),
        "edge": Profile("chrome152", (*_FIRST_VISIT, *_EDGE), _CHROMIUM_ORDER),
    }
)


def profile_named(name: str) -> Profile:
    """Return a profile, or that of one of curl_cffi's own targets (`chrome150`).

    Raises `NotSupported` for an unknown name.
    """
    if name in PROFILES:
        return PROFILES[name]
    if name in get_args(BrowserTypeLiteral):
        return Profile(name)
    raise NotSupported(f"no browser {name!r}; choose from {', '.join(PROFILES)}")
