"""Addresses as a page means them: resolved against its base, cheap for the usual forms."""

from __future__ import annotations

import re
from urllib.parse import quote, urljoin, urlsplit

__all__ = ["Resolver"]

_SCHEME = re.compile(r"[a-zA-Z][a-zA-Z0-9+.\-]*:")
_UNSAFE = re.compile(r"[\s<>()\"\\`|^{}]")
_SAFE = "%/:=&?~#+!$,;'@()*[]^`{}|<>\"\\ "
_REFUSED = ("javascript:", "data:", "vbscript:", "blob:", "about:", "file:")
_ESCAPED = {
    "(": "%28",
    ")": "%29",
    "<": "%3C",
    ">": "%3E",
    '"': "%22",
    "\\": "%5C",
    "`": "%60",
    "|": "%7C",
    "^": "%5E",
    "{": "%7B",
    "}": "%7D",
}


class Resolver:
    """Turns the addresses of one page into absolute ones, safe inside a Markdown link."""

    __slots__ = ("_cache", "base", "host", "origin", "page", "scheme")

    def __init__(self, url: str, base: str = "") -> None:
        self.page = url.partition("#")[0]
        self.base = _join(self.page, base.strip()) if base.strip() else self.page
        try:
            parts = urlsplit(self.base)
        except ValueError:
            parts = urlsplit("")
        self.scheme, self.host = parts.scheme, parts.netloc
        self.origin = f"{parts.scheme}://{parts.netloc}" if parts.netloc else ""
        self._cache: dict[str, str] = {}

    def __call__(self, address: str) -> str:
        """Return the absolute address, or an empty text where it leads to no page."""
        known = self._cache.get(address)
        if known is None:
            known = self._cache[address] = self._resolve(address)
        return known

    def _resolve(self, address: str) -> str:
        address = address.strip()
        if not address or address[:11].lower().startswith(_REFUSED):
            return ""
        if address[0] == "#":
            joined = self.page + address
        elif address.startswith(("http://", "https://")):
            joined = address
        elif address[0] == "/" and self.origin and "/." not in address:
            joined = (
                f"{self.scheme}:{address}" if address.startswith("//") else self.origin + address
            )
        elif _SCHEME.match(address):
            joined = address
        else:
            joined = _join(self.base, address)
        if joined.count("/") == 2 and "?" not in joined and "#" not in joined:
            joined += "/"
        if not joined.isascii():
            joined = quote(joined, safe=_SAFE)
        if _UNSAFE.search(joined):
            joined = _UNSAFE.sub(lambda m: _ESCAPED.get(m[0], "%20" if m[0] == " " else ""), joined)
        return joined


def _join(base: str, address: str) -> str:
    try:
        return urljoin(base, address)
    except ValueError:
        return ""
