"""Threads: pages whose content is posts by several people, each with its author, date and depth.

A post is an element named as one, by class, id or schema.org type, that shows who wrote it.
Posts under an article are no thread: they stay what they are, surroundings.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from framework.reading.dates import date
from framework.reading.hints import BODY, BOILER, POST, WEAK
from framework.reading.measure import HEADINGS
from framework.reading.postmarks import level, marked
from framework.reading.surroundings import Flag
from framework.reading.wordlist import words

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from framework.reading.content import Content
    from framework.reading.dom import Dom
    from framework.reading.postmarks import Post

__all__ = ["Thread", "find"]

_TYPES = re.compile(
    r"schema\.org/(?:\w*Comment|Answer|Question|DiscussionForumPosting|SocialMediaPosting)$"
)
_IDS = words("data-message-id data-comment-id data-commentid data-post-id data-postid")
_CUSTOM = ("-comment", "-post", "-reply")
_COMMENT = re.compile(r"comment|comtr|repl(?:y|ies)", re.I)
_PERSON = re.compile(
    r"avatar|userpic|profile|user-?(?:info|stats|details|extras|title)|(?:poster|author)-?info|"
    r"cell--user|message-user|signature|reactions?-?bar|likes?-?bar",
    re.I,
)
_QUOTE = re.compile(r"(?:^|[\s_-])(?:bbcode_?)?quote(?:d|box|block|container)?(?:\s|$)", re.I)
_REPLIED = re.compile(r"gmail_(?:quote|attr|extra)|moz-cite-prefix|yahoo_quoted")
_LEAST = 2
_POSTS_MOST, _POST_LEAST = 5000, 12
_HEAD_MOST, _ACTION_MOST = 48, 40
_ARTICLE_LEAST, _ARTICLE_MOST = 250.0, 1500.0
_DEPTHS_MOST = 12
_LEAD_LEAST = 40.0
_ITEM_NEAR, _HEADING_NEAR = 3, 300
_LINE_MOST, _PERSON_MOST = 16, 200
_HOLDERS = words("div li article section tr td table dl dd")
_BOXES = words("div p ul ol li td footer section")


class Thread:
    """The posts of a page in order, the element that holds a text before them too (-1 for none),
    what is left out of it all, and the boxes that quote another post."""

    __slots__ = ("drop", "posts", "quotes", "root")

    def __init__(
        self, posts: list[Post], root: int, drop: bytearray, quotes: frozenset[int]
    ) -> None:
        self.posts, self.root, self.drop, self.quotes = posts, root, drop, quotes


def find(dom: Dom, found: Content, host: str, *, is_article: bool = False) -> Thread | None:
    """Return the thread that a page is, or None for a page that is anything else.

    A page that states to be an article is a thread only where next to nothing but posts is on it.
    """
    if is_article and found.measures.good[found.root] > _ARTICLE_MOST and not _holds(dom, found):
        return None
    candidates = _candidates(dom, found)
    if len(candidates) < _LEAST:
        return None
    posts = _without_frames(dom, marked(dom, found.measures, candidates))
    posts = _of_one_kind(dom, found, posts)
    if (
        len(posts) < _LEAST
        or _is_listing(dom, posts)
        or not _is_main(dom, found, posts, is_article)
    ):
        return None
    _set_depths(dom, posts, candidates)
    return Thread(
        posts,
        _around(dom, found, posts),
        _left_out(dom, found, posts, host),
        frozenset(_quotes(dom, posts)),
    )


def _holds(dom: Dom, found: Content) -> bool:
    """Whether the chosen content holds several elements that are named as posts."""
    root, stop = found.root, dom.end[found.root]
    inside = (1 for i, value in dom.names.items() if value & POST and root < i < stop)
    return sum(inside) >= _LEAST


def _without_frames(dom: Dom, posts: list[Post]) -> list[Post]:
    """Return the posts without those that are the frame of a whole page: its title and others."""
    nodes = [post.node for post in posts]
    return [
        post
        for place, post in enumerate(posts)
        if nodes[place + 1 : place + 2] == []
        or nodes[place + 1] >= dom.end[post.node]
        or "h1" not in dom.tag[post.node : dom.end[post.node]]
    ]


def _candidates(dom: Dom, found: Content) -> list[int]:
    """Return the elements that are named as posts and not hidden, in order."""
    tag, length = dom.tag, found.measures.length
    nodes = {i for i, value in dom.names.items() if value & POST and tag[i] in _HOLDERS}
    named = {name for name in set(tag) if name == "article" or name.endswith(_CUSTOM)}
    if named:
        nodes.update(i for i, name in enumerate(tag) if name in named)
    nodes.update(
        i
        for i, attrs in dom.stating.items()
        if ("itemtype" in attrs and _TYPES.search(attrs["itemtype"] or ""))
        or not _IDS.isdisjoint(attrs)
    )
    if len(nodes) < _LEAST:
        return []
    hidden = {i for i, flag in found.flagged.items() if flag is Flag.HIDDEN}
    kept: list[int] = []
    past = -1
    for i in sorted(nodes | hidden):
        if i < past:
            continue
        if i in hidden:
            past = dom.end[i]
        elif length[i] >= _POST_LEAST or (length[i] and dom.names.get(i, 0) & POST):
            kept.append(i)
    return kept[:_POSTS_MOST]


def _of_one_kind(dom: Dom, found: Content, posts: list[Post]) -> list[Post]:
    """Return the comments alone where a single longer text of another kind stands over them."""
    comments = [post for post in posts if _COMMENT.search(_label(dom, post.node))]
    if len(posts) - len(comments) != 1 or len(comments) < _LEAST:
        return posts
    other = next(post for post in posts if post not in comments)
    short = found.measures.good[other.node] < _ARTICLE_LEAST
    return posts if short and other is posts[0] else comments


def _label(dom: Dom, node: int) -> str:
    return f"{dom.tag[node]} {dom.get(node, 'class')} {dom.get(node, 'itemtype')}"


def _outermost(dom: Dom, posts: Sequence[Post]) -> Iterator[Post]:
    past = -1
    for post in posts:
        if post.node >= past:
            yield post
            past = dom.end[post.node]


def _is_listing(dom: Dom, posts: list[Post]) -> bool:
    """Whether the posts are sections or teasers: headed by more than a link to themselves."""
    headed = 0
    for post in posts:
        for node in range(post.node + 1, min(dom.end[post.node], post.node + _HEADING_NEAR)):
            if dom.tag[node] == "h1":
                return True
            if dom.tag[node] in HEADINGS and dom.words(node) != post.author:
                around = [dom.parent[node], *range(node, dom.end[node])]
                links = [dom.get(i, "href") for i in around if dom.tag[i] == "a"]
                headed += not any("#" in link for link in links)
                break
    return headed * 2 >= len(posts)


def _is_main(dom: Dom, found: Content, posts: list[Post], is_article: bool) -> bool:
    """Whether the posts are the content of the page, not what stands under it."""
    good = found.measures.good
    within = sum(good[post.node] for post in _outermost(dom, posts))
    root = found.root
    inside = sum(
        good[post.node] for post in _outermost(dom, posts) if root <= post.node < dom.end[root]
    )
    holder = any(post.node <= root < dom.end[post.node] for post in posts)
    outside = 0.0 if holder else good[root] - inside
    if outside < _ARTICLE_LEAST:
        return within > 0
    if is_article or _is_article(dom, root):
        return False
    return outside < _ARTICLE_MOST and within >= 3 * outside


def _is_article(dom: Dom, node: int) -> bool:
    """Whether an element is named as an article."""
    return dom.tag[node] == "article" or bool(dom.names.get(node, 0) & BODY)


def _around(dom: Dom, found: Content, posts: list[Post]) -> int:
    """Return the innermost element that holds the posts and a text before them, or -1."""
    node = first = posts[0].node
    root = found.root
    while root > 0 and root < first and dom.end[root] <= first:
        root = dom.parent[root]
    while (up := dom.parent[node]) >= root:
        value = 0.0
        child = up + 1
        while child < node:
            value += 0.0 if found.drop[child] else found.measures.good[child]
            child = dom.end[child]
        if value >= _LEAD_LEAST:
            return up
        node = up
    return -1


def _set_depths(dom: Dom, posts: list[Post], candidates: list[int]) -> None:
    """Give each post its depth: as markup states it, else as the elements nest."""
    stated = [level(dom, post.node) for post in posts]
    if all(value is not None for value in stated):
        ranks = {value: rank for rank, value in enumerate(sorted({x or 0 for x in stated}))}
        for post, value in zip(posts, stated, strict=True):
            post.depth = min(ranks[value or 0], _DEPTHS_MOST)
        return
    by_node = {post.node: post for post in posts}
    around: list[list[int]] = []
    for node in sorted({*candidates, *_items(dom, posts)}):
        while around and node >= dom.end[around[-1][0]]:
            around.pop()
        found = by_node.get(node)
        if found is not None:
            depth = 0
            for entry in around:
                if entry[1] < 0:
                    entry[1] = node
                elif node >= dom.end[entry[1]] or entry[0] == entry[1]:
                    depth += 1
            found.depth = min(depth, _DEPTHS_MOST)
            around.append([node, node])
        elif dom.tag[node] == "li":
            around.append([node, -1])


def _items(dom: Dom, posts: list[Post]) -> Iterator[int]:
    """Yield the list items close around posts."""
    for post in posts:
        up = post.node
        for _ in range(_ITEM_NEAR):
            up = dom.parent[up]
            if up < 0:
                break
            if dom.tag[up] == "li":
                yield up
                break


def _left_out(dom: Dom, found: Content, posts: list[Post], host: str) -> bytearray:
    """Return what is not written of the posts: their marks, tools and pictures of people."""
    drop = bytearray(found.drop)
    end = dom.end
    whole = list(_outermost(dom, posts))
    for post in whole:
        drop[post.node : end[post.node]] = bytes(end[post.node] - post.node)
    holders = {post.node for post in posts}
    for post in posts:
        up = dom.parent[post.node]
        while up >= 0 and up not in holders:
            holders.add(up)
            up = dom.parent[up]
    for post in whole:
        for i in range(post.node + 1, end[post.node]):
            if dom.tag[i] and i not in holders and _is_tool(dom, found, i, post.node, host):
                drop[i] = 1
            elif _REPLIED.search(dom.get(i, "class")):
                _drop_history(dom, drop, i)
    for post in posts:
        for node in _head(dom, found, post):
            if node not in holders:
                drop[node] = 1
        post.day = post.day or _day_beside(dom, found, post, drop)
        drop[post.node] = 1
    return drop


def _quotes(dom: Dom, posts: list[Post]) -> Iterator[int]:
    """Yield the outermost boxes in posts that are named as quotes, other than block quotes."""
    past = -1
    for post in _outermost(dom, posts):
        for node in range(post.node + 1, dom.end[post.node]):
            if node >= past and dom.tag[node] == "div" and _QUOTE.search(dom.get(node, "class")):
                yield node
                past = dom.end[node]


def _day_beside(dom: Dom, found: Content, post: Post, drop: bytearray) -> str:
    """Return the date that stands, unmarked, in what is left out at the start of a post."""
    for node in range(post.node + 1, min(dom.end[post.node], post.node + _HEADING_NEAR)):
        if drop[node] and 0 < found.measures.length[node] < _PERSON_MOST:
            day = date(dom.words(node))
            if day:
                return day[:10]
    return ""


def _drop_history(dom: Dom, drop: bytearray, node: int) -> None:
    """Leave out a letter that is only quoted whole: the line that announces it and the quotes."""
    drop[node] = 1
    following, stop = dom.end[node], dom.end[dom.parent[node]]
    while following < stop:
        if dom.tag[following] == "blockquote":
            drop[following] = 1
        following = dom.end[following]


def _is_tool(dom: Dom, found: Content, node: int, post: int, host: str) -> bool:
    """Whether an element in a post is hidden, a button, or a few links within the site."""
    measures = found.measures
    flag, named = found.flagged.get(node), dom.names.get(node, 0)
    little = 2 * measures.good[node] < measures.good[post] or not measures.good[node]
    if flag in (Flag.HIDDEN, Flag.HIDDEN_BY_NAME):
        return True
    if flag is Flag.MARKUP and dom.tag[node] != "header":
        return "blockquote" not in dom.tag[node : dom.end[node]]
    if named & BOILER and not named & BODY and little and dom.tag[node] in _BOXES:
        return True
    size = measures.length[node]
    label = dom.get(node, "class")
    if label and size < _PERSON_MOST and little and _PERSON.search(label):
        return True
    if not 0 < size < _ACTION_MOST or dom.tag[node] not in _BOXES:
        return False
    if named & WEAK and not measures.good[node]:
        return True
    return measures.links[node] >= 0.8 * size and _leads_inside(dom, node, host)


def _leads_inside(dom: Dom, node: int, host: str) -> bool:
    """Whether the links under a node lead to the same site and show no picture."""
    inner = range(node, dom.end[node])
    links = [dom.get(i, "href") for i in inner if dom.tag[i] == "a"]
    return all(
        "://" not in link[:10] or (bool(host) and host in link[:100]) for link in links
    ) and ("img" not in dom.tag[node : dom.end[node]])


def _head(dom: Dom, found: Content, post: Post) -> list[int]:
    """Return the elements that hold a post's marks and hardly anything else."""
    length = found.measures.length
    if not post.marks:
        return []
    marks = [node for node in post.marks if not any(m < node < dom.end[m] for m in post.marks)]
    around = marks[0]
    while around > post.node and dom.end[around] <= marks[-1]:
        around = dom.parent[around]
    inked = sum(length[node] for node in marks)
    if around > post.node and length[around] - inked <= _HEAD_MOST:
        marks = [around]
    return [_whole_line(dom, found, node, post) for node in marks]


def _whole_line(dom: Dom, found: Content, node: int, post: Post) -> int:
    """Return the element around a mark that holds marks alone, or a line with little else."""
    length, holds = found.measures.length, found.measures.holds
    up = dom.parent[node]
    while up > post.node:
        within = sum(length[m] for m in post.marks if up < m < dom.end[up])
        if length[up] != length[node] and (holds[up] or length[up] - within > _LINE_MOST):
            break
        node, up = up, dom.parent[up]
    return node
