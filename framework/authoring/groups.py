"""What repeats in a page: groups of rows, each with a link that could be its title, best first."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from framework.authoring.words import has_price, headline_name, is_advert, titleness

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from framework.authoring.outline import Element, Outline

__all__ = ["Group", "find_groups", "layouts", "usable_links"]

_ASIDE = frozenset({"nav", "header", "footer", "aside", "form"})
_NO_TARGET = re.compile(r"^\s*(?:#|javascript:|mailto:|tel:|$)", re.IGNORECASE)
_FEWEST = 2
_PLENTY = 10
_LARGE = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Rows that repeat, in the page's order, with the link of each; `score` compares groups."""

    rows: tuple[Element, ...]
    links: tuple[Element, ...]
    adverts: tuple[Element, ...] = ()
    score: float = 0.0


def find_groups(outline: Outline, limit: int = 12) -> list[Group]:
    """Return the groups that look most like a list of results, the best first."""
    seen: dict[tuple[int, ...], Group] = {}
    for links in _clusters(usable_links(outline)):
        for rows, heads in layouts(links):
            group = _judge(outline, rows, heads)
            if group is None:
                continue
            key = tuple(row.order for row in group.rows)
            if key not in seen or seen[key].score < group.score:
                seen[key] = group
    return sorted(seen.values(), key=lambda group: -group.score)[:limit]


def usable_links(outline: Outline) -> list[Element]:
    """Return the links that lead to a page and have words, those of navigation left out."""
    kept = []
    for link in outline.links:
        if _NO_TARGET.match(link.attributes["href"]) or len(link.text) < 2:
            continue
        kept.append(link)
    return kept


def heading(link: Element) -> Element | None:
    """Return the heading in a link or closely around it."""
    for inner in link.inside():
        if headline_name(inner):
            return inner
    for above, _ in zip(link.ancestors(), range(3), strict=False):
        if re.fullmatch("h[1-6]", above.tag) or above.attributes.get("role") == "heading":
            return above
    return None


def _clusters(links: Sequence[Element]) -> Iterator[list[Element]]:
    """Yield links that are alike, by finer and by coarser likenesses."""
    found: dict[Hashable, list[Element]] = defaultdict(list)
    for link in links:
        head = heading(link)
        tag = head.tag if head else ""
        for key in _likenesses(link, head, tag):
            found[key].append(link)
    seen: set[tuple[int, ...]] = set()
    for cluster in found.values():
        key = tuple(link.order for link in cluster)
        if len(cluster) >= _FEWEST and key not in seen:
            seen.add(key)
            yield cluster


def _likenesses(link: Element, head: Element | None, tag: str) -> Iterator[Hashable]:
    path = tuple(above.tag for above, _ in zip(link.ancestors(), range(4), strict=False))
    yield ("classes", tag, link.classes)
    yield ("path", tag, path)
    yield ("path2", tag, path[:2])
    if head is not None:
        yield ("head", tag)
        yield ("headclasses", tag, head.classes)
    for name in link.classes:
        yield ("class", name)
    if link.parent is not None:
        for name in link.parent.classes:
            yield ("parentclass", name)


def layouts(links: Sequence[Element]) -> Iterator[tuple[list[Element], list[Element]]]:
    """Yield rows for links: what lies highest around each one alone, and children of one parent."""
    around = Counter(above.order for link in links for above in link.ancestors())
    climbed = [_climb(link, around) for link in links]
    yield climbed, list(links)
    for aligned in _aligned(links, climbed):
        yield aligned, list(links)
    parents = Counter(row.parent.order for row in climbed if row.parent is not None)
    for order, count in parents.most_common(3):
        if count < _FEWEST:
            continue
        parent = next(r.parent for r in climbed if r.parent is not None and r.parent.order == order)
        rows, heads = [], []
        for child in parent.children:
            inner = next((link for link in links if child.holds(link)), None)
            if inner is not None:
                rows.append(child)
                heads.append(inner)
        yield rows, heads
        yield from _purer(rows, heads)


def _aligned(links: Sequence[Element], rows: Sequence[Element]) -> Iterator[list[Element]]:
    """Yield rows of the same class where some of the highest are boxes around them."""
    if len({(row.tag, row.classes) for row in rows}) < 2:
        return
    paths = []
    for link, row in zip(links, rows, strict=True):
        above = [link, *link.ancestors()]
        paths.append(above[: above.index(row) + 1])
    shared = set.intersection(*({name for e in path for name in e.classes} for path in paths))
    found: dict[tuple[int, ...], list[Element]] = {}
    for name in sorted(shared):
        highest = [next(e for e in reversed(path) if name in e.classes) for path in paths]
        found[tuple(e.order for e in highest)] = highest
    yield from list(found.values())[:4]


def _purer(
    rows: list[Element], links: list[Element]
) -> Iterator[tuple[list[Element], list[Element]]]:
    """Yield the rows that share a tag or a class with most others, without the odd ones."""
    for traits in (lambda row: (row.tag,), lambda row: row.classes):
        counts = Counter(trait for row in rows for trait in traits(row))
        for trait, count in counts.most_common(6):
            if len(rows) > count >= max(_FEWEST, len(rows) // 2):
                kept = [(r, k) for r, k in zip(rows, links, strict=True) if trait in traits(r)]
                yield [row for row, _ in kept], [link for _, link in kept]


def _climb(link: Element, around: Counter[int]) -> Element:
    row = link
    for above in link.ancestors():
        if around[above.order] > 1 or above.tag in {"body", "html"}:
            break
        row = above
    return row


def _judge(outline: Outline, rows: list[Element], links: list[Element]) -> Group | None:
    pairs = [(row, link) for row, link in zip(rows, links, strict=True)]
    adverts = tuple(row for row, _ in pairs if is_advert(row))
    if len(adverts) * 10 <= len(pairs) * 6:
        pairs = [(row, link) for row, link in pairs if row not in adverts]
    else:
        adverts = ()
    if len(pairs) < _FEWEST:
        return None
    host = urlsplit(outline.document.response.url).hostname or ""
    worth = [_row_worth(row, link, host) for row, link in pairs]
    titles = {link.text for _, link in pairs}
    distinct = len(titles) / len(pairs)
    many = min(len(pairs), _PLENTY) ** 0.5
    mean = sum(worth) / len(worth)
    total = mean * many * distinct * distinct * _sameness([row for row, _ in pairs])
    return Group(
        rows=tuple(row for row, _ in pairs),
        links=tuple(link for _, link in pairs),
        adverts=adverts,
        score=total,
    )


def _row_worth(row: Element, link: Element, host: str) -> float:
    head = heading(link)
    title = (head or link).text if head is None or link.holds(head) else link.text
    worth = titleness(title) or 0.2 * bool(head)
    if head is not None:
        worth += 0.8 if re.fullmatch("h[1-6]", head.tag) else 0.4
    beyond = len(row.text) - len(link.text)
    worth += min(1.0, beyond / 120)
    if beyond > _LARGE:
        worth *= 0.3
    target = urljoin(outline_base(row), link.attributes["href"])
    if _leads_away(target, host):
        worth += 0.6
    if any(above.tag in _ASIDE for above in row.ancestors()):
        worth *= 0.35
    if has_price(row.text):
        worth *= 0.8
    return worth


def outline_base(_row: Element) -> str:
    """Return an address to resolve links against where only their host matters."""
    return "https://engine.invalid/"


def _leads_away(target: str, host: str) -> bool:
    """Whether a link goes to another site, directly or through a redirect that names it."""
    parts = urlsplit(target)
    other = parts.hostname or ""
    if other in {"engine.invalid", host} or (host and other.endswith(_site(host))):
        return bool(re.search(r"(?:=|/)(?:https?(?::|%3a)|a1aHR0c)", target[8:], re.IGNORECASE))
    return parts.scheme in {"http", "https"}


def _site(host: str) -> str:
    return "." + ".".join(host.split(".")[-2:])


def _sameness(rows: Sequence[Element]) -> float:
    """Return how alike the rows' own elements are: 0.4 to 1."""
    tags = Counter(row.tag for row in rows).most_common(1)[0][1] / len(rows)
    classes = Counter(name for row in rows for name in row.classes)
    shared = classes.most_common(1)[0][1] / len(rows) if classes else 0.5
    depths = Counter(row.depth for row in rows).most_common(1)[0][1] / len(rows)
    return 0.1 + 0.3 * tags + 0.4 * min(1.0, shared) + 0.2 * depths
