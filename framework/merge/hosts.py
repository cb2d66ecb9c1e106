"""Host identity: spelling, IDNA, address notations, and the sub-domains that only change the view.

Source of the address rules: the WHATWG URL standard's host parser; of the names: UTS 46 and
IDNA 2008 (non-transitional, so that `ß` stays a letter of its own).
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import NamedTuple
from urllib.parse import quote, unquote

import idna

__all__ = ["Host", "fold", "words"]


class Host(NamedTuple):
    """A folded host: `name` is its identity, `site` its last two labels, `brand` see below.

    `brand` is the first label of hosts such as `google.co.uk`, where one service stands under many
    country suffixes; it is empty for all others.
    """

    name: str
    site: str
    brand: str


def words(text: str) -> frozenset[str]:
    """Return the words of a table that is written as one text."""
    return frozenset(text.split())


#: First labels that select a view of the same page, never another page.
_WWW = "www"
_VIEWS = frozenset({"m", "mobile", "touch", "amp"})

#: Wikimedia puts the mobile label second: `en.m.wikipedia.org`.
_WIKIMEDIA = words(
    "wikipedia.org wiktionary.org wikibooks.org wikiquote.org wikisource.org wikinews.org"
    " wikiversity.org wikivoyage.org wikimedia.org wikidata.org mediawiki.org"
)

#: Second labels that, before a country code, are registries rather than sites.
_REGISTRIES = words("ac co com edu go gob gov gouv ltd mil ne net nom or org plc sch")

#: Other names of the same site.
_ALIASES = {
    "twitter.com": "x.com",
    "dx.doi.org": "doi.org",
    "export.arxiv.org": "arxiv.org",
    "old.reddit.com": "reddit.com",
    "new.reddit.com": "reddit.com",
    "np.reddit.com": "reddit.com",
    "mbasic.facebook.com": "facebook.com",
    "web.facebook.com": "facebook.com",
    "youtube-nocookie.com": "youtube.com",
}

#: What no host can contain; escaped, so that such an address has a key all the same.
_FORBIDDEN = re.compile(r"[\x00-\x20#%/:<>?@\[\\\]^|\x7f]")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]*|[0-9]+")
_BRANDED = re.compile(r"([a-z0-9-]+)\.(?:[a-z]{2,3}\.)?[a-z]{2,3}")


@lru_cache(maxsize=4096)
def fold(host: str) -> Host:
    """Return the identity of a host as it stands in an address; total, never raises."""
    name = _spelling(host)
    if not name.startswith("["):
        name = _address(name) or _view(name)
    labels = name.split(".")
    branded = _BRANDED.fullmatch(name)
    return Host(name, ".".join(labels[-2:]), branded.group(1) if branded else "")


def _spelling(host: str) -> str:
    if host.startswith("["):
        return _ipv6(host)
    if "%" in host:
        host = unquote(host, errors="replace")
    if not host.isascii():
        host = _ascii(host)
    host = host.lower().strip(".")
    return quote(host, safe="") if _FORBIDDEN.search(host) else host


def _ascii(host: str) -> str:
    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii")
    except (idna.IDNAError, UnicodeError):
        return ".".join(map(_punycode, host.lower().split(".")))


def _punycode(label: str) -> str:
    """The label of a name that IDNA 2008 refuses and registries sell all the same (emoji)."""
    return label if label.isascii() else f"xn--{label.encode('punycode').decode('ascii')}"


def _ipv6(host: str) -> str:
    try:
        return f"[{ipaddress.IPv6Address(host.strip('[]')).compressed}]"
    except ValueError:
        return host.lower()


def _address(host: str) -> str | None:
    """Return the dotted form of an IPv4 address in any notation, or None if it is a name."""
    if not host or not (host[-1].isdigit() or "0x" in host):
        return None
    parts = host.split(".")
    if len(parts) > 4 or not all(_NUMBER.fullmatch(part) for part in parts):
        return None
    try:
        *heads, last = (_integer(part) for part in parts)
        if any(head > 255 for head in heads) or last >= 256 ** (5 - len(parts)):
            return None
    except ValueError:
        return None
    leading = sum(head << 8 * (3 - position) for position, head in enumerate(heads))
    return str(ipaddress.IPv4Address(leading + last))


def _integer(part: str) -> int:
    if part[:2].lower() == "0x":
        return int(part[2:] or "0", 16)
    if len(part) > 1 and part.startswith("0"):
        return int(part, 8)
    return int(part)


def _view(name: str) -> str:
    """Drop the labels that choose between renderings of one site."""
    labels = name.split(".")
    while _redundant(labels):
        del labels[0]
    if len(labels) == 4 and labels[1] == "m" and ".".join(labels[2:]) in _WIKIMEDIA:
        del labels[1]
    folded = ".".join(labels)
    return _ALIASES.get(folded, folded)


def _redundant(labels: list[str]) -> bool:
    first, rest = labels[0], labels[1:]
    if first == _WWW:
        return len(rest) > 1
    return first in _VIEWS and len(rest) > 1 and not _is_registry(rest)


def _is_registry(labels: list[str]) -> bool:
    return len(labels) == 2 and labels[0] in _REGISTRIES and len(labels[1]) == 2
