"""What names and texts give away: titles, addresses, advertisements, keys of JSON objects."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framework.authoring.outline import Element

__all__ = ["has_price", "is_advert", "looks_like_address", "titleness"]

_ADDRESS = re.compile(
    r"^\s*(?:https?://|www\.)|^[\w-]+(?:\.[\w-]+)+(?:/\S*)?(?:\s*[›>»/]|$)|\s[›»]\s"
)
_ADVERT = re.compile(
    r"(?:^|[-_])(?:ads?|adlabel|advert\w*|sponsor\w*|promoted|commercial)(?:$|[-_])", re.IGNORECASE
)
_AD_LINK = re.compile(
    r"/acli?c?k\b|/aclk\?|y\.js\?ad_|googleadservices|doubleclick\.|[?&]ad_domain="
)
_AD_VALUE = re.compile(r"ads?|adverts?|advertisement|sponsored|promoted", re.IGNORECASE)
_PRICE = re.compile(r"[$€£¥]\s?\d|\d\s?[€£¥]")
_HEADLINE = re.compile(r"title|heading|headline", re.IGNORECASE)


def looks_like_address(text: str) -> bool:
    """Whether a text is the address of a page or a trail of its parts rather than words."""
    return _ADDRESS.search(text) is not None


def titleness(text: str) -> float:
    """Return how much a text looks like a page's title: 0 to 1."""
    if not text or looks_like_address(text):
        return 0.0
    length = len(text)
    if length < 3 or length > 300:
        return 0.05
    worth = min(1.0, 0.3 + length / 25) if length <= 160 else 0.6
    if text.endswith(("...", "…")) and length < 40:
        worth *= 0.6
    return worth if any(char.isalpha() for char in text) else 0.1


def has_price(text: str) -> bool:
    """Whether a text names a price, as offers do and pages that were found seldom."""
    return _PRICE.search(text) is not None


def headline_name(element: Element) -> bool:
    """Whether an element is called a title, or is a heading."""
    if re.fullmatch("h[1-6]", element.tag) or element.attributes.get("role") == "heading":
        return True
    names = [*element.classes, element.attributes.get("data-testid", "")]
    return any(_HEADLINE.search(name) for name in names)


def is_advert(row: Element) -> bool:
    """Whether a row is marked as paid for, by its names or by where its link goes."""
    near = [above for above, _ in zip(row.ancestors(), range(2), strict=False)]
    if any(_is_labelled(element) for element in near):
        return True
    for element in (row, *row.inside()):
        if _is_labelled(element) or any(_ADVERT.search(name) for name in element.classes):
            return True
        if element.tag == "a" and _AD_LINK.search(element.attributes.get("href", "")):
            return True
    return False


def _is_labelled(element: Element) -> bool:
    """Whether a data attribute calls an element an advertisement."""
    return any(
        name.startswith("data-") and _AD_VALUE.fullmatch(value)
        for name, value in element.attributes.items()
    )
