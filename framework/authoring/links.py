"""Addresses in rows: how a redirect's target is taken out of it, by the look of the links."""

from __future__ import annotations

import base64
import binascii
import json
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urljoin, urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.authoring.draft import Pick

__all__ = ["unwrapping"]

_PATH_TARGET = re.compile(r"/([A-Z]{1,3})=(https?%3[aA][^/]+)/")


def unwrapping(links: Sequence[str], address: str) -> list[object]:
    """Return the filters that take the targets out of links; none where links are direct.

    A way that most links go holds; one that fewer go holds where they lead to the site of
    `address` itself, whose own links cannot be results.
    """
    site = _site(address)
    votes: dict[str, list[str]] = {}
    for link in links:
        found = _wrapped(link)
        if found:
            votes.setdefault(json.dumps(found), []).append(link)
    if not votes:
        return []
    name, wrapped = max(votes.items(), key=lambda vote: len(vote[1]))
    own = all(_site(urljoin(address, link)) == site for link in wrapped)
    filters: list[object] = json.loads(name)
    return filters if own or len(wrapped) * 2 > len(links) else []


def _site(address: str) -> list[str]:
    return (urlsplit(address).hostname or "").split(".")[-2:]


def _wrapped(link: str) -> list[object]:
    path = _PATH_TARGET.search(link)
    if path:
        return [{"match": f"/{path[1]}=([^/]+)/"}, "url_decode"]
    for name, value in parse_qsl(urlsplit(link).query):
        if re.match(r"https?://", value):
            return [{"query_param": name}]
        prefix = _base64_prefix(value)
        if prefix is not None:
            cut: list[object] = [{"match": f"^{prefix}(.+)"}] if prefix else []
            return [{"query_param": name}, *cut, {"base64": "url"}]
    return []


def _base64_prefix(value: str) -> str | None:
    """Return what stands before an address in base64, or None where there is none."""
    for start in ("aHR0cHM6", "aHR0cDov"):
        at = value.find(start)
        if 0 <= at <= 4 and value[:at].isalnum() | (at == 0):
            text = value[at:]
            try:
                base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
            except (binascii.Error, ValueError):
                return None
            return value[:at]
    return None


def with_fallback(pick: str, filters: list[object]) -> Pick | list[Pick]:
    """Return the pick of an address: through its filters first where there are any, then as is."""
    return [{"css": pick, "do": filters}, pick] if filters else pick
