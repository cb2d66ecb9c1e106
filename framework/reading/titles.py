"""What a page calls itself, in its several spellings, and which heading only repeats that."""

from __future__ import annotations

import re

__all__ = ["Titles", "same", "without_site"]

_TITLE_MOST = 600
_WORD = re.compile(r"[^\W_]+")
_DIVIDER = re.compile(r"\s+[|\-–—·•»«/\\:>]+\s+|\s*[|»]\s*|:\s+")
_DIVIDERS = " |–—·•»«\\-"
_BAR = re.compile(r"\s[|»]\s")
_STRICT_DIVIDER = re.compile(r"\s+[|–—·•»«\\\-]+\s+|\s*[|»]\s*")


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


def same(left: str, right: str) -> bool:
    """Whether two titles say the same, small differences aside."""
    return _same(_words(left), _words(right))


def _same(a: list[str], b: list[str]) -> bool:
    """Whether the words of two titles say the same, small differences aside."""
    if not a or not b:
        return False
    if a == b or "".join(a) == "".join(b):
        return True
    short, long = sorted((a, b), key=len)
    if (
        len(short) > 3
        and len(long) <= len(short) + 4
        and f" {' '.join(short)} " in f" {' '.join(long)} "
    ):
        return True
    shared = len(set(a) & set(b))
    return shared >= 3 and shared / max(len(set(a)), len(set(b))) >= 0.75


def without_site(title: str, site: str = "") -> str:
    """Return a window title without the site's name before or behind it."""
    title = " ".join(title[:_TITLE_MOST].split())
    parts = _STRICT_DIVIDER.split(title)
    if len(parts) < 2:
        return title
    if site:
        wanted = _words(site)
        if _words(parts[-1]) == wanted:
            return title[: title.rindex(parts[-1])].rstrip(_DIVIDERS)
        if _words(parts[0]) == wanted:
            return title[title.index(parts[0]) + len(parts[0]) :].lstrip(_DIVIDERS)
    head, tail = parts[0], parts[-1]
    if _BAR.search(title):
        return (
            title[: title.rindex(tail)].rstrip(_DIVIDERS)
            if len(_words(tail)) <= len(_words(head)) + 1
            else tail
        )
    if len(_words(tail)) <= 4 and len(_words(title)) - len(_words(tail)) >= 3:
        return title[: title.rindex(tail)].rstrip(_DIVIDERS)
    if len(_words(head)) <= 2 and len(_words(title)) - len(_words(head)) >= 4:
        return title[title.index(head) + len(head) :].lstrip(_DIVIDERS)
    return title


class Titles:
    """The spellings of a page's title; `matches` says whether a heading is one of them."""

    __slots__ = ("_spellings",)

    def __init__(self, *titles: str) -> None:
        spellings: dict[str, list[str]] = {}
        for title in titles:
            title = " ".join(title[:_TITLE_MOST].split())
            if title and title not in spellings:
                spellings[title] = _words(title)
                for part in _DIVIDER.split(title):
                    words = _words(part)
                    if len(words) > 1 or len(part) > 3:
                        spellings[part] = words
        self._spellings = tuple(spellings.values())

    def matches(self, heading: str) -> bool:
        """Whether the heading repeats the title or the part of it without the site's name."""
        words = _words(heading)
        return any(_same(words, spelling) for spelling in self._spellings)
