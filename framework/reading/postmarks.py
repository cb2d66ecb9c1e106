"""What a post shows of itself: who wrote it, when, where it stands, how deep it answers others."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from framework.reading.dates import date
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.reading.dom import Dom
    from framework.reading.measure import Measures

__all__ = ["Post", "level", "marked"]

_AUTHOR = re.compile(
    r"(?:^|[\s_-])(?:author|\w*user-?name|hnuser|poster|nick(?:name)?|display-?name|creator|"
    r"user-details|(?:comment|post)-(?:user|by)|u-author|p-author|fn|member-?name)(?:[\s_-]|$)",
    re.I,
)
_DATE = re.compile(
    r"(?:^|[\s_-])(?:\w*date|\w*time|age|timestamp|posted|created|ago)(?:[\s_-]|$)", re.I
)
_TIMES = words("time relative-time time-ago faceplate-timeago local-time")
_SCORE = re.compile(r"(?:^|[\s_-])(?:score|points|vote-?count|karma)(?:[\s_-]|$)", re.I)
_POINTS = re.compile(r"[+-]?\d[\d.,]*k?(?: \w{1,12})?", re.I)
_YEAR = re.compile(r"(?:19|20)\d\d")
_BY = re.compile(
    r"^(?:(?:written|posted|created|answered|asked|erstellt|geschrieben|escrito|publicado|écrit) )?"
    r"(?:by|von|par|por)\b:? ",
    re.I,
)
_EDITED = re.compile(r"(?:last )?(?:edited|updated|modified)|bearbeitet|editado|modifié", re.I)
_LABEL = re.compile(
    r"^(?:(?:answered|asked|posted|commented|written|replied|said|erstellt|geschrieben|publié|"
    r"publicado|am|on|le|el)\s+)+",
    re.I,
)
_LEVEL = re.compile(r"(?:^|\s)(?:depth|level|indent|nesting)[_-]?(\d{1,2})(?:\s|$)", re.I)
_LEVELS = ("depth", "data-depth", "data-level", "aria-level", "indent")
_MARGIN = re.compile(r"(?:margin|padding)-(?:left|inline-start)\s*:\s*(\d{1,4})")
_NAMES = words("a strong b")
_NAME_SURE = 32
_NAME_MOST, _CARD_MOST, _DATE_MOST, _MARKS_MOST, _NEAR = 60, 160, 60, 12, 16


class Post:
    """One post: its element, who wrote it, when and where, and how deep it answers others."""

    __slots__ = (
        "author",
        "day",
        "depth",
        "is_dated",
        "is_sure",
        "link",
        "marks",
        "node",
        "past",
        "score",
    )

    def __init__(self, node: int) -> None:
        self.node = node
        self.marks: list[int] = []
        self.depth = self.past = 0
        self.is_sure = self.is_dated = False
        self.author = self.day = self.link = self.score = ""


def marked(dom: Dom, measures: Measures, candidates: list[int]) -> list[Post]:
    """Return the candidates that show who wrote them, marks given to the innermost of them."""
    length, end = measures.length, dom.end
    wanted = set(candidates)
    posts = {node: Post(node) for node in candidates}
    stack: list[int] = []
    stop = max(end[node] for node in candidates)
    for i, attrs in dom.attrs.items():
        while stack and i >= end[stack[-1]]:
            stack.pop()
        if i in wanted:
            stack.append(i)
            posts[i].author = (attrs.get("author") or "")[:_NAME_MOST]
        elif i >= stop:
            break
        elif stack and length[i]:
            _take(dom, posts[stack[-1]], i, attrs, length[i])
    return [post for post in posts.values() if post.author]


def _take(dom: Dom, post: Post, node: int, attrs: Mapping[str, str | None], size: int) -> None:
    """Take an element as a post's author, date or score if it is named as such."""
    kind = _kind(attrs.get("class") or attrs.get("data-testid") or "")
    title = attrs.get("title") or ""
    if len(post.marks) >= _MARKS_MOST:
        return
    stated = attrs.get("itemprop") == "author"
    if (
        size <= _CARD_MOST
        and (stated or not post.author)
        and not post.is_sure
        and (stated or "author" in kind or "email" in attrs)
        and (name := _name(dom, node))
    ):
        post.author, post.is_sure = name, stated
        post.marks.append(node)
        return
    if size <= len(post.author) and dom.words(node) == post.author:
        post.marks.append(node)
        return
    if size <= _DATE_MOST and (
        dom.tag[node] in _TIMES
        or "date" in kind
        or (title and len(title) < _DATE_MOST and date(title))
    ):
        _take_date(dom, post, node, attrs)
    elif "score" in kind and not post.score and size < 20:
        text = dom.words(node)
        if _POINTS.fullmatch(text):
            post.score = text if " " in text else ""
            post.marks.append(node)


def _name(dom: Dom, node: int) -> str:
    """Return the name that an element shows: that of a link in it, if it holds more."""
    shown = _BY.sub("", dom.words(node))
    if len(shown) <= _NAME_SURE:
        return shown
    inner = (i for i in range(node + 1, dom.end[node]) if dom.tag[i] in _NAMES)
    names = (text for i in inner if 0 < len(text := dom.words(i)) <= _NAME_SURE)
    return next(names, shown if len(shown) <= _NAME_MOST else "")


def _take_date(dom: Dom, post: Post, node: int, attrs: Mapping[str, str | None]) -> None:
    """Take the date that an element states or shows; a stated one wins."""
    stated = next(
        (day for key in ("datetime", "title", "content") if (day := date(attrs.get(key) or ""))), ""
    )
    if not stated and (post.day or not any(c.isdigit() for c in dom.words(node))):
        return
    shown = _LABEL.sub("", dom.words(node))
    if _EDITED.match(shown):
        post.past = dom.end[node]
        post.marks.append(node)
    if node < post.past:
        return
    exact = stated and any(
        (attrs.get(key) or "").startswith(stated[:10]) for key in ("datetime", "title")
    )
    if post.day and (post.is_dated or not exact):
        return
    post.day = shown if _YEAR.search(shown) and not exact else stated[:10] or shown
    post.is_dated = bool(exact)
    post.marks.append(node)
    post.link = post.link or _link(dom, node, post.node)


def _link(dom: Dom, node: int, stop: int) -> str:
    """Return the address that a date leads to: of the link around it, or in it."""
    up = node
    while up > stop:
        if dom.tag[up] == "a":
            return dom.get(up, "href")
        up = dom.parent[up]
    for child in range(node + 1, dom.end[node]):
        if dom.tag[child] == "a":
            return dom.get(child, "href")
    return ""


@lru_cache(maxsize=4096)
def _kind(label: str) -> frozenset[str]:
    """Return what a class says that an element shows of a post."""
    if not label:
        return frozenset()
    found = set()
    if _AUTHOR.search(label) or label == "User-Name":
        found.add("author")
    if _DATE.search(label):
        found.add("date")
    if _SCORE.search(label):
        found.add("score")
    return frozenset(found)


def level(dom: Dom, node: int) -> int | None:
    """Return how deep an element says that it is, in units of its own."""
    for i in range(node, min(node + _NEAR, dom.end[node])):
        attrs = dom.having(i)
        if not attrs:
            continue
        for key in _LEVELS:
            value = attrs.get(key) or ""
            if value.isascii() and value.isdigit() and len(value) < 3:
                return int(value)
        found = _LEVEL.search(attrs.get("class") or "") or _MARGIN.search(attrs.get("style") or "")
        if found and i == node:
            return int(found[1])
        width = attrs.get("width") or ""
        if (
            dom.tag[i] == "img"
            and attrs.get("height") == "1"
            and width.isascii()
            and width.isdigit()
        ):
            return int(width[:4])
    return None
