"""Selectors for elements that are known: candidates from what they have in common, tried out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from framework.authoring.outline import stability

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from framework.authoring.outline import Element, Outline

__all__ = [
    "Found",
    "candidates",
    "features",
    "rank_all",
    "select_all",
    "select_inside",
    "simplicity",
]

_IDENT = re.compile(r"-?[A-Za-z_][\w-]*", re.ASCII)
_GOOD_ATTRIBUTES = re.compile(r"(?:data-[\w-]+|role|itemprop|itemtype|rel|name|type)")
_VALUE = re.compile(r"[A-Za-z][\w -]{0,30}", re.ASCII)
_MOST = 400
#: How much finding the right elements outweighs a short and lasting selector.
_AGREEMENT = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A selector with how well it finds the wanted elements: shares from 0 to 1."""

    selector: str
    precision: float
    recall: float

    @property
    def agreement(self) -> float:
        """The harmonic mean of both shares."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def features(element: Element) -> Iterator[str]:
    """Yield simple selectors of one element: by class, by attribute, by id, by tag."""
    tag = element.tag
    for name in element.classes:
        if _IDENT.fullmatch(name):
            yield f"{tag}.{name}"
            yield f".{name}"
    for name, value in element.attributes.items():
        if _GOOD_ATTRIBUTES.fullmatch(name):
            yield f"{tag}[{name}]"
            if _VALUE.fullmatch(value):
                yield f'{tag}[{name}="{value}"]'
    yield tag


def container_features(element: Element) -> Iterator[str]:
    """Yield simple selectors of an element that others lie in; its id goes first."""
    name = element.attributes.get("id", "")
    if _IDENT.fullmatch(name):
        yield f"#{name}"
    yield from features(element)


def common(elements: Sequence[Element], share: float = 1.0) -> list[str]:
    """Return the simple selectors that hold for (a share of) all elements, the best first."""
    counts: dict[str, int] = {}
    for element in elements:
        for feature in dict.fromkeys(features(element)):
            counts[feature] = counts.get(feature, 0) + 1
    needed = share * len(elements)
    return sorted((f for f, n in counts.items() if n >= needed), key=simplicity, reverse=True)


def simplicity(selector: str) -> float:
    """Return how short and how lasting a selector is; more is better."""
    names = re.findall(r"[.#]([\w-]+)", selector)
    lasting = sum(stability(name) for name in names) / len(names) if names else 0.35
    telling = selector.replace(":not([class])", "")
    if not names and not re.search(r"\bh[1-6]\b|\[", telling):
        lasting -= 0.5
    return lasting - 0.12 * len(re.split(r"[ >]+", selector)) - 0.004 * len(selector)


def candidates(outline: Outline, wanted: Sequence[Element]) -> Iterator[str]:
    """Yield selectors for elements of a page: what they share, alone and below their container."""
    bases = common(wanted) or ["*"]
    pairs = [f"{a}{b[b.index('.') :]}" for a in bases for b in bases if _joinable(a, b)]
    yield from bases
    yield from pairs[:20]
    parents = [element.parent for element in wanted if element.parent is not None]
    if len(parents) == len(wanted):
        for outer in common(parents)[:6]:
            yield from (f"{outer} > {base}" for base in [*bases[:6], wanted[0].tag])
    above = container(wanted)
    direct = all(element.parent is above for element in wanted)
    steps = 0
    while above is not None and above.tag not in {"html", "body"} and steps < 5:
        for outer in list(dict.fromkeys(container_features(above)))[:6]:
            for base in dict.fromkeys([*bases[:8], *pairs[:4], wanted[0].tag]):
                if direct and steps == 0:
                    yield f"{outer} > {base}"
                yield f"{outer} {base}"
        above, steps = above.parent, steps + 1


def _joinable(first: str, second: str) -> bool:
    return (
        first.count(".") == 1
        and second.startswith(".")
        and not first.startswith(".")
        and (first.partition(".")[2] < second[1:])
    )


def container(elements: Sequence[Element]) -> Element | None:
    """Return the nearest element around all of these."""
    for above in elements[0].ancestors():
        if all(above.holds(element) for element in elements):
            return above
    return None


def select_all(outline: Outline, wanted: Sequence[Element]) -> Found | None:
    """Return the selector that finds these elements of a page best and is simplest."""
    return next(iter(rank_all(outline, wanted, 1)), None)


def rank_all(outline: Outline, wanted: Sequence[Element], limit: int) -> list[Found]:
    """Return up to `limit` selectors for these elements of a page, the best first."""
    rated: list[tuple[float, Found]] = []
    targets = {element.order for element in wanted}
    for index, selector in enumerate(dict.fromkeys(candidates(outline, wanted))):
        if index > _MOST:
            break
        got = {element.order for element in outline.select(selector)}
        hits = len(got & targets)
        if hits:
            found = Found(selector=selector, precision=hits / len(got), recall=hits / len(targets))
            rated.append((_AGREEMENT * found.agreement + simplicity(selector), found))
    rated.sort(key=lambda item: -item[0])
    best = [found for _, found in rated[: 2 * limit]]
    return [f if f.precision == 1 else _without_extras(outline, f, wanted) for f in best[:limit]]


def _without_extras(outline: Outline, found: Found, wanted: Sequence[Element]) -> Found:
    """Exclude what else a selector finds by what only that has or lacks, where there is such."""
    targets = {element.order for element in wanted}
    extras = [e for e in outline.select(found.selector) if e.order not in targets]
    for ending in _endings(wanted, extras):
        selector = f"{found.selector}{ending}"
        got = {element.order for element in outline.select(selector)}
        hits = len(got & targets)
        if hits == len(got) and hits >= found.recall * len(targets):
            return Found(selector=selector, precision=1.0, recall=hits / len(targets))
    return found


def _endings(wanted: Sequence[Element], extras: Sequence[Element]) -> Iterator[str]:
    """Yield pseudo-classes that hold for all wanted elements and for none of the others."""
    theirs = _every(extras, features)
    ours = _any(wanted, features)
    yield from (f":not({f})" for f in theirs if f not in ours and f.startswith("."))
    inner_ours, inner_theirs = _every(wanted, _inner_names), _any(extras, _inner_names)
    yield from (f":has({f})" for f in inner_ours if f not in inner_theirs)
    shared, inner_any = _every(extras, _inner_names), _any(wanted, _inner_names)
    yield from (f":not(:has({f}))" for f in shared if f not in inner_any)


def _inner_names(element: Element) -> Iterator[str]:
    for inner in element.inside():
        yield from (f for f in features(inner) if "[" not in f)


def _every(elements: Sequence[Element], names: Callable[[Element], Iterator[str]]) -> list[str]:
    """Return the names that all elements have, the simplest first."""
    sets = [set(names(element)) for element in elements]
    both = set.intersection(*sets) if sets else set()
    return sorted(both, key=lambda name: (-simplicity(name), name))[:12]


def _any(elements: Sequence[Element], names: Callable[[Element], Iterator[str]]) -> set[str]:
    return {name for element in elements for name in names(element)}


def select_inside(outline: Outline, pairs: Sequence[tuple[Element, Element]]) -> Found | None:
    """Return the selector whose first match inside each row is that row's element, if there is one.

    `pairs` holds rows with their elements; recall is the share of rows where it is so, precision
    the share among the rows where it finds anything.
    """
    best: tuple[float, Found] | None = None
    for selector in _inner([target for _, target in pairs], [row for row, _ in pairs]):
        right = matched = 0
        for row, target in pairs:
            first = outline.first(selector, row)
            matched += first is not None
            right += first is target
        if not right:
            continue
        found = Found(selector=selector, precision=right / matched, recall=right / len(pairs))
        worth = _AGREEMENT * found.agreement + simplicity(selector)
        if best is None or worth > best[0]:
            best = (worth, found)
    return best[1] if best else None


def _inner(targets: Sequence[Element], rows: Sequence[Element]) -> list[str]:
    bases = common(targets, 0.5)[:12] or [targets[0].tag]
    found = list(bases)
    pairs = list(zip(targets, rows, strict=True))
    for hop in (1, 2):
        above = [up for target, row in pairs if (up := _up(target, row, hop)) is not None]
        if len(above) * 2 >= len(targets):
            outers = [*common(above, 0.5)[:6], above[0].tag]
            inner = list(dict.fromkeys([*bases[:5], targets[0].tag]))
            found += [f"{outer} {base}" for outer in outers for base in inner]
            if hop == 1:
                found += [f"{outer} > {base}" for outer in outers for base in inner]
    return list(dict.fromkeys(found))


def _up(target: Element, row: Element, hops: int) -> Element | None:
    for _ in range(hops):
        if target.parent is None or target is row or target.parent is row:
            return None
        target = target.parent
    return target
