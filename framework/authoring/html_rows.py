"""A page's rows and their fields: drafts from what repeats, no knowledge of the site needed."""

from __future__ import annotations

import re
from dataclasses import replace
from statistics import mean
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from framework.authoring.draft import Draft
from framework.authoring.groups import find_groups, usable_links
from framework.authoring.links import unwrapping, with_fallback
from framework.authoring.selecting import features, rank_all, select_inside, simplicity
from framework.authoring.words import headline_name, is_advert, looks_like_address, titleness

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from framework.authoring.draft import Pick
    from framework.authoring.groups import Group
    from framework.authoring.outline import Element, Outline

__all__ = ["draft_rows", "html_drafts", "linked"]

_INLINE = frozenset(
    ("a", "abbr", "b", "bdi", "br", "cite", "code", "em", "font", "i", "img", "mark", "q", "s",
     "small", "span", "strong", "sub", "sup", "time", "u", "wbr")
)  # fmt: skip
_HEADING = re.compile("h[1-6]")
_SHOWN = 12
#: A draft that reads more of the same rows is preferred from this share of the best score on.
_CLOSE = 0.6


def html_drafts(outline: Outline, limit: int = 3) -> list[Draft]:
    """Return drafts for a page's rows, the best first; fewer where less was found."""
    families: dict[tuple[int, ...], list[Draft]] = {}
    for group in find_groups(outline)[: limit * 2]:
        draft = draft_rows(outline, group)
        if draft is not None:
            families.setdefault(tuple(link.order for link in group.links), []).append(draft)
    drafts = (draft for family in families.values() for draft in _fullest(family))
    return sorted(drafts, key=lambda draft: (-draft.score, -len(draft.fields)))[:limit]


def _fullest(family: Sequence[Draft]) -> Iterator[Draft]:
    """Yield drafts of the same links, those worth most that read the most fields.

    A link alone is as good a row as the box around it, but for the text that stands beside it.
    """
    best = max(draft.score for draft in family)
    most = max(len(draft.fields) for draft in family)
    for draft in family:
        full = len(draft.fields) == most and draft.score >= _CLOSE * best
        yield replace(draft, score=best) if full else draft


def draft_rows(outline: Outline, group: Group) -> Draft | None:
    """Return how the rows of a group could be read, or None where no selector tells them apart."""
    rows = list(group.rows)
    ranked = rank_all(outline, rows, 8)
    if not ranked or ranked[0].recall < 0.6:
        return None
    each = max(ranked[:2], key=lambda found: round(found.agreement, 2))
    fields: dict[str, Pick | list[Pick]] = {}
    heading = _title(outline, rows)
    if heading is None:
        return None
    title, heads = heading
    fields["title"] = title
    links = [_link(outline, row, head) for row, head in zip(rows, heads, strict=True)]
    address = _address(outline, rows, links)
    if address is None:
        return None
    fields["url"] = address
    fields |= _further(outline, rows, heads)
    drop = _drop(outline, each.selector, group)
    score = group.score * each.agreement
    return Draft(
        format="html",
        each=each.selector,
        fields=fields,
        drop=drop,
        rows=len(rows),
        score=score,
        others=tuple(found.selector for found in ranked if found is not each),
    )


# -- title and address ------------------------------------------------------------------------


def _title(outline: Outline, rows: Sequence[Element]) -> tuple[str, list[Element | None]] | None:
    best: tuple[float, str, list[Element | None]] | None = None
    shown = rows[:_SHOWN]
    for selector in _selectors(shown, _title_parts):
        heads = [outline.first(selector, row) for row in shown]
        worth = mean(_title_worth(head, row) for head, row in zip(heads, shown, strict=True))
        worth += 0.1 * simplicity(selector)
        if best is None or worth > best[0]:
            best = (worth, selector, heads)
    if best is None or best[0] < 0.3:
        return None
    selector = best[1]
    return selector, [outline.first(selector, row) for row in rows]


def _title_parts(row: Element) -> Iterator[Element]:
    for element in (row, *row.inside()):
        if element.tag == "a" or headline_name(element):
            yield element
            yield from (inner for inner in element.inside() if inner.text)


def _title_worth(head: Element | None, row: Element) -> float:
    if head is None:
        return 0.0
    worth = titleness(head.text)
    if not worth:
        return 0.0
    around = [head, *(above for above, _ in zip(head.ancestors(), range(2), strict=False))]
    if any(_HEADING.fullmatch(element.tag) for element in around):
        worth += 0.7
    elif any(headline_name(element) for element in around[:2]):
        worth += 0.4
    if linked(head) is not None:
        worth += 0.3
    else:
        inner = next((e for e in head.inside() if e.tag == "a"), None)
        if inner is not None:
            worth += 0.2 if len(head.text) <= len(inner.text) + 3 else -0.2
    return worth - 0.3 * (head.order - row.order) / max(1, row.last - row.order)


def linked(element: Element) -> Element | None:
    """Return the link that an element is or lies in."""
    for above in (element, *element.ancestors()):
        if above.tag == "a" and "href" in above.attributes:
            return above
    return None


def _link(outline: Outline, row: Element, head: Element | None) -> Element | None:
    if head is not None:
        around = linked(head)
        if around is not None:
            return around
        inner = next((e for e in head.inside() if e.tag == "a" and "href" in e.attributes), None)
        if inner is not None:
            return inner
    if row.tag == "a" and "href" in row.attributes:
        return row
    return next((link for link in usable_links(outline) if row.holds(link)), None)


def _address(
    outline: Outline, rows: Sequence[Element], links: Sequence[Element | None]
) -> Pick | list[Pick] | None:
    pairs = [(row, link) for row, link in zip(rows, links, strict=True) if link is not None]
    if len(pairs) * 2 < len(rows):
        return None
    targets = [link.attributes["href"] for _, link in pairs]
    filters = unwrapping(targets, outline.document.response.url)
    named = _named_target(outline, [row for row, _ in pairs], targets)
    if named is not None:
        found = select_inside(outline, pairs)
        return [named, f"{found.selector}::attr(href)"] if found else named
    if all(not link.holds(row) for row, link in pairs):
        found = select_inside(outline, pairs)
        return None if found is None else with_fallback(f"{found.selector}::attr(href)", filters)
    if all(link is row for row, link in pairs):
        return with_fallback("::attr(href)", filters)
    return None


def _named_target(outline: Outline, rows: Sequence[Element], links: Sequence[str]) -> str | None:
    """Return the attribute of rows that names the page where their links only lead around.

    Scripts of some engines keep the real address in an attribute of the row.
    """
    home = urlsplit(outline.document.response.url).hostname or ""
    around = [urlsplit(link).hostname in {None, home} for link in links]
    if sum(around) * 2 < len(links):
        return None
    for name in rows[0].attributes:
        values = [row.attributes.get(name, "") for row in rows]
        hosts = {urlsplit(v).hostname for v in values if v.startswith(("http://", "https://"))}
        if len(hosts - {None, home}) * 2 > len(rows):
            return f"::attr({name})"
    return None


# -- other fields ------------------------------------------------------------------------------


def _further(
    outline: Outline, rows: Sequence[Element], heads: Sequence[Element | None]
) -> dict[str, Pick | list[Pick]]:
    fields: dict[str, Pick | list[Pick]] = {}
    snippet = _snippet(outline, rows, heads)
    if snippet:
        fields["snippet"] = {"css": snippet, "optional": True}
    if _share(outline, rows, "time[datetime]") >= 0.3:
        iso = [{"date": {"formats": ["iso"]}}]
        fields["published"] = {"css": "time::attr(datetime)", "do": iso, "optional": True}
    if _share(outline, rows, "img[src^='http'], img[src^='//']") >= 0.5:
        fields["thumbnail"] = {"css": "img::attr(src)", "optional": True}
    return fields


def _share(outline: Outline, rows: Sequence[Element], selector: str) -> float:
    return mean(row.node.css_first(selector) is not None for row in rows)


def _snippet(
    outline: Outline, rows: Sequence[Element], heads: Sequence[Element | None]
) -> str | None:
    best: tuple[float, str] | None = None
    shown = list(zip(rows, heads, strict=True))[:_SHOWN]
    for selector in _selectors([row for row, _ in shown], _text_parts):
        worth = mean(_snippet_worth(outline.first(selector, row), row, head) for row, head in shown)
        worth += 0.05 * simplicity(selector)
        if best is None or worth > best[0]:
            best = (worth, selector)
    return best[1] if best and best[0] > 0.2 else None


def _text_parts(row: Element) -> Iterator[Element]:
    return (element for element in row.inside() if len(element.text) >= 25)


def _snippet_worth(found: Element | None, row: Element, head: Element | None) -> float:
    if found is None or found is row:
        return 0.0
    if head is not None and (found.holds(head) or head.holds(found)):
        return 0.0
    text = found.text
    if looks_like_address(text):
        return 0.0
    worth = min(1.0, len(text) / 140)
    blocks = sum(inner.tag not in _INLINE for inner in found.inside())
    in_links = sum(len(inner.text) for inner in found.inside() if inner.tag == "a")
    around = linked(found)
    if around is not None and around is not row and row.holds(around):
        in_links = len(text)
    return worth * (0.85**blocks) * (1.0 - 0.7 * min(1.0, in_links / max(1, len(text))))


def _selectors(rows: Sequence[Element], parts: Callable[[Element], Iterator[Element]]) -> list[str]:
    """Return simple selectors of the parts of rows, those first that most rows share."""
    counts: dict[str, int] = {}
    for row in rows:
        names: dict[str, None] = {}
        for element in parts(row):
            own = [*list(features(element))[:7], element.tag]
            if not element.classes:
                own.insert(0, f"{element.tag}:not([class])")
            names.update(dict.fromkeys(own))
            if element.parent is not None and element.parent is not row:
                for outer in [*list(features(element.parent))[:4], element.parent.tag]:
                    names.update(dict.fromkeys(f"{outer} {base}" for base in own[-1:]))
                    names.update(dict.fromkeys(f"{outer} > {base}" for base in own[-1:]))
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    common = [name for name, count in counts.items() if count * 10 >= len(rows) * 3]
    return sorted(common, key=lambda name: -counts[name])[:250]


def _drop(outline: Outline, each: str, group: Group) -> str:
    """Return what tells advertisements among the matches from the rows, or nothing."""
    matched = outline.select(each)
    wanted = {row.order for row in group.rows}
    adverts = [row for row in matched if row.order not in wanted and is_advert(row)]
    if not adverts:
        return ""
    counts: dict[str, int] = {}
    for row in adverts:
        for element in (row, *row.inside()):
            for name in element.classes:
                counts[f".{name}"] = counts.get(f".{name}", 0) + 1
    for selector in sorted(counts, key=simplicity, reverse=True):
        clean = all(row.node.css_first(selector) is None for row in group.rows)
        caught = all(row.node.css_first(selector) is not None for row in adverts)
        if clean and caught:
            return selector
    return ""
