"""Where an image really is: lazy loading, source sets, pictures; and which are only decoration."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.reading.dom import Dom

__all__ = ["TAGS", "alternative", "is_image", "is_second", "largest", "sign", "source", "tiny"]

TAGS = ("img", "amp-img")
"""The elements that are an image."""
_LAZY = (
    "data-src",
    "data-original",
    "data-lazy-src",
    "data-lazy",
    "data-url",
    "data-hi-res-src",
    "data-actualsrc",
    "data-large-src",
    "data-full-src",
    "data-image",
    "data-img-url",
)
_SETS = ("srcset", "data-srcset", "data-lazy-srcset")
_STAND_IN = re.compile(
    r"[/_.-](?:blank|spacer|placeholder|transparent|pixel|lazy|loading|"
    r"grey|gray|1x1)[^/]*\.(?:gif|png|svg|jpe?g)(?:\?|$)",
)
_IMAGE_URL = re.compile(r"(?:https?:)?/{1,2}\S+\.(?:jpe?g|png|webp|gif|avif|svg)(?:\?\S*)?$", re.I)
_NOSCRIPT_NEAR = 5
_SIGN = re.compile(r"emoji|smil(?:ey|ies)|emoticon", re.I)
_SIGN_MOST = 16
_CANDIDATE = re.compile(r"(\S+[^\s,])(?:\s+([\d.]+)([wx]))?\s*(?:,|$)")


def source(dom: Dom, node: int) -> str:
    """Return the address of an image as written, or an empty text."""
    attrs = dom.having(node)
    plain = (attrs.get("src") or "").strip()
    if plain and not _is_stand_in(plain[:300].lower()):
        return (
            largest(attrs.get("srcset") or "") if " " in (attrs.get("srcset") or "") else ""
        ) or plain
    for name in _LAZY:
        value = (attrs.get(name) or "").strip()
        if value and not value.startswith(("data:", "{", "[")):
            return value
    for name in _SETS:
        value = largest(attrs.get(name) or "")
        if value:
            return value
    return _from_picture(dom, node) or next(
        (
            value
            for name, value in attrs.items()
            if name.startswith("data-") and value and is_image(value.strip())
        ),
        "",
    )


def _is_stand_in(address: str) -> bool:
    """Whether an address in small letters is that of a picture shown until the real one comes."""
    return address.startswith(("data:", "about:")) or bool(_STAND_IN.search(f"/{address}"))


def largest(candidates: str) -> str:
    """Return the address with the largest width or density of a source set."""
    best, widest = "", -1.0
    for match in _CANDIDATE.finditer(candidates[:8000]):
        if match[1].startswith("data:"):
            continue
        try:
            width = float(match[2] or 1)
        except ValueError:
            width = 1.0
        if width > widest:
            best, widest = match[1], width
    return best


def is_image(address: str) -> bool:
    """Whether an address is that of an image file."""
    return len(address) < _ADDRESS_MOST and bool(_IMAGE_URL.match(address))


def is_second(dom: Dom, node: int) -> bool:
    """Whether an image for readers without scripts stands behind one that loads by a script."""
    up = dom.parent[node]
    for _ in range(3):
        if up < 0 or dom.tag[up] == "noscript":
            break
        up = dom.parent[up]
    if up < 0 or dom.tag[up] != "noscript":
        return False
    before = range(max(0, up - _NOSCRIPT_NEAR), up)
    return any(dom.tag[i] in TAGS and dom.end[i] <= up and source(dom, i) for i in reversed(before))


def sign(attrs: Mapping[str, str | None]) -> str:
    """Return the emoji or smiley that an image draws, or an empty text for any other image."""
    alt = (attrs.get("alt") or "").strip()
    if not 0 < len(alt) <= _SIGN_MOST or " " in alt:
        return ""
    if not any(map(str.isalnum, alt)) and not alt.isascii():
        return alt
    named = _SIGN.search(f"{attrs.get('class') or ''} {(attrs.get('src') or '')[:300]}")
    return alt if named else ""


def tiny(attrs: Mapping[str, str | None]) -> bool:
    """Whether the declared size shows a spacer or tracking pixel."""
    for name in ("width", "height"):
        value = (attrs.get(name) or "").strip().removesuffix("px")
        if value.isascii() and value.isdigit() and int(value[:6]) <= 3:
            return True
    return False


def _from_picture(dom: Dom, node: int) -> str:
    up = dom.parent[node]
    if up < 0 or dom.tag[up] != "picture":
        return ""
    for child in dom.children(up):
        if dom.tag[child] == "source":
            for name in _SETS:
                value = largest(dom.get(child, name))
                if value:
                    return value
    return ""


_ADDRESS_MOST = 2000
_WORDS_MOST = 8
_FIGURE_LEVELS = 8
_FILE = re.compile(
    r"\.(?:jpe?g|png|gif|webp|svg|avif)$|^\S+$|"
    r"^(?:image|photo|img|picture|foto)(?: for post)?\W*\d*$|"
    r"[_]\S*[_]|^\w+-\w+-[\w-]+$",
    re.I,
)


def alternative(dom: Dom, node: int, seen: set[str]) -> str:
    """Return the alternative text where it tells something that the page doesn't say in words.

    File names, texts given before, images that have a caption and texts as long as a caption,
    which the words around repeat, give an empty text.
    """
    text = " ".join(dom.get(node, "alt").split())
    if not text or _FILE.search(text) or text.count(" ") >= _WORDS_MOST:
        return ""
    key = text.casefold()
    if key in seen:
        return ""
    seen.add(key)
    up = dom.parent[node]
    for _ in range(_FIGURE_LEVELS):
        if up < 0:
            break
        if dom.tag[up] == "figure":
            inner = dom.tag[up : dom.end[up]]
            return "" if "figcaption" in inner else text
        up = dom.parent[up]
    return text
