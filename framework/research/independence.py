"""Which sources are one voice: pages of one owner, and pages that copy each other."""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from framework.merge.hosts import words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.research.state import Source

__all__ = ["copied", "domain_of", "groups", "sketch_of"]

_WORD = re.compile(r"\w+")
_SHINGLE = 5
_SKETCH = 256
_COPY = 0.6
_LEAST = 20

#: Second-level labels that only register others, below two-letter country codes.
_REGISTRIES = words("ac co com edu gob gov go gouv ne net nom or org sch")
#: Hosts whose sub-domains belong to different people.
_SHARED = words(
    "github.io gitlab.io blogspot.com wordpress.com substack.com medium.com netlify.app pages.dev "
    "vercel.app herokuapp.com tumblr.com wixsite.com weebly.com typepad.com livejournal.com "
    "readthedocs.io web.app firebaseapp.com azurewebsites.net cloudfront.net fandom.com"
)


def domain_of(url: str) -> str:
    """Return the registrable domain of an address: what one owner holds.

    Country registries (co.uk) and hosts that give away sub-domains are known by short lists; an
    unknown one makes two owners look like one, which only lowers confidence.
    """
    host = (urlsplit(url).hostname or "").removeprefix("www.").rstrip(".")
    labels = host.split(".")
    if len(labels) < 3 or labels[-1].isdigit():
        return host
    pair = ".".join(labels[-2:])
    registry = len(labels[-1]) == 2 and labels[-2] in _REGISTRIES
    return ".".join(labels[-3:]) if registry or pair in _SHARED else pair


def sketch_of(text: str) -> tuple[int, ...]:
    """Return the smallest hashes of a text's runs of five words (bottom-k sketch, k = 256)."""
    found = _WORD.findall(text.casefold())
    runs = {" ".join(found[at : at + _SHINGLE]) for at in range(len(found) - _SHINGLE + 1)}
    return tuple(sorted(map(_hash, runs))[:_SKETCH])


def _hash(run: str) -> int:
    return int.from_bytes(hashlib.blake2b(run.encode(), digest_size=6).digest(), "big")


def copied(one: Sequence[int], other: Sequence[int]) -> bool:
    """Say whether two sketches are of the same text, with other matter around it at most.

    Of the hashes below the smaller of both sketches' ends, at least 0.6 of the poorer one's must
    be shared (an estimate of containment); texts of fewer than twenty runs are never copies.
    """
    if min(len(one), len(other)) < _LEAST:
        return False
    end = min(_end(one), _end(other))
    left = {value for value in one if value <= end}
    right = {value for value in other if value <= end}
    poorer = min(len(left), len(right))
    return poorer >= _LEAST // 2 and len(left & right) / poorer >= _COPY


def _end(sketch: Sequence[int]) -> int:
    return sketch[-1] if len(sketch) == _SKETCH else 1 << 48


def groups(sources: Sequence[Source]) -> dict[int, int]:
    """Return for every source's id the id that stands for its voice: the first of its group.

    Two sources are one voice where they share a registrable domain or one copies the other.
    """
    first_of_domain: dict[str, int] = {}
    voice: dict[int, int] = {}
    for source in sources:
        origin = voice.get(source.copy_of, source.id) if source.copy_of else source.id
        voice[source.id] = min(origin, first_of_domain.setdefault(source.domain, origin))
    return voice
