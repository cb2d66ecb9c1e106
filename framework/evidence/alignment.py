"""A claim laid along a text word by word: what fits, what stands in a word's place, what is left.

Every function gives numbers within about -3 to 5 by name, for the classifier of nli.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from math import log1p
from typing import TYPE_CHECKING

from framework.evidence.signals import alike, is_negation, share, stem
from framework.evidence.wordlists import table, words

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from framework.evidence.signals import Facts

__all__ = ["aligned_features", "lay"]

_STOP = words("small")
_PRONOUNS = words("pronouns")
_CUES = {name: frozenset(listed.split()) for name, listed in table("cues").items()}
_KINDS = ("number", "name", "verb", "adverb", "other")


@dataclass(frozen=True, slots=True)
class Laid:
    """A claim laid along a text: `places` holds each claim word's place in the text, -1 if none.

    `found` and `missing` are places of the claim's content words, `hit` those of the text that
    they meet, `content` all places of the text's content words.
    """

    claim: Facts
    text: Facts
    places: tuple[int, ...]
    found: tuple[int, ...]
    missing: tuple[int, ...]
    hit: frozenset[int]
    content: tuple[int, ...]


def _places(claim: Facts, text: Facts) -> Iterable[int]:
    """Place every word of the claim as near as can be to where the one before it was placed."""
    where: dict[str, list[int]] = {}
    for j, s in enumerate(text.stems):
        where.setdefault(s, []).append(j)
    last = -1
    for s in claim.stems:
        known = where.get(s) or [j for o, spots in where.items() if alike(s, o) for j in spots]
        place = min(known, key=lambda j: (abs(j - last - 1), j), default=-1)
        if known and last < 0:
            place = min(known)
        if known and s in claim.content:
            last = place
        yield place


def lay(claim: Facts, text: Facts) -> Laid:
    """Lay a claim along a text."""
    places = tuple(_places(claim, text))
    content = [i for i, s in enumerate(claim.stems) if s in claim.content]
    found = tuple(i for i in content if places[i] >= 0)
    return Laid(
        claim=claim,
        text=text,
        places=places,
        found=found,
        missing=tuple(i for i in content if places[i] < 0),
        hit=frozenset(places[i] for i in found),
        content=tuple(j for j, s in enumerate(text.stems) if s in text.content),
    )


@lru_cache(maxsize=50_000)
def _grams(word: str) -> frozenset[str]:
    edged = f"<{word}>"
    return frozenset(edged[i : i + 3] for i in range(len(edged) - 2))


def _dice(one: str, other: str) -> float:
    a, b = _grams(one), _grams(other)
    return 2 * len(a & b) / (len(a) + len(b))


def _common(one: Sequence[str], other: Sequence[str]) -> int:
    """Length of the longest row of stems that both have in the same order."""
    row = [0] * (len(other) + 1)
    for a in one:
        before = 0
        for j, b in enumerate(other):
            above = row[j + 1]
            row[j + 1] = before + 1 if a == b else max(above, row[j])
            before = above
    return row[-1]


def _kind(word: str, names: frozenset[str]) -> str:
    if any(c.isdigit() for c in word):
        return "number"
    if word in names:
        return "name"
    if word.endswith(("ing", "ed")):
        return "verb"
    return "adverb" if word.endswith("ly") else "other"


def _extent(laid: Laid) -> dict[str, float]:
    """How closely the shared words stand together in the text, and what else stands there."""
    lo, hi = min(laid.hit, default=0), max(laid.hit, default=-1)
    between = [j for j in laid.content if lo <= j <= hi and j not in laid.hit]
    rest = [j for j in laid.content if j not in laid.hit]
    claim, text = laid.claim, laid.text
    near = range(max(0, lo - 4), min(hi + 3, len(text.words)))
    return {
        "compact": share(len(laid.hit), hi - lo + 1),
        "span": log1p(hi - lo + 1) - 1.5,
        "between": log1p(len(between)),
        "text_extra": share(len(rest), len(laid.content)),
        "jaccard": share(len(claim.content & text.content), len(claim.content | text.content)),
        "common_row": share(_common(claim.stems[:60], text.stems[:200]), len(claim.stems[:60])),
        "span_negated": float(bool(laid.hit) and any(is_negation(text.words[j]) for j in near)),
    }


def _missing(laid: Laid) -> dict[str, float]:
    """What the missing words are, where in the claim they stand, how near the text comes."""
    claim, text = laid.claim, laid.text
    weights = [len(w) ** 0.5 for w in claim.words]
    kinds = {i: _kind(claim.words[i], claim.names) for i in (*laid.found, *laid.missing)}
    lacking = [kinds[i] for i in laid.missing]
    likeness = [
        max((_dice(claim.words[i], text.words[j]) for j in laid.content), default=0.0)
        for i in laid.missing
    ]
    ends = sorted(kinds)
    long_found = sum(weights[i] for i in laid.found)
    return {
        "weighted_overlap": share(long_found, long_found + sum(weights[i] for i in laid.missing)),
        **{f"missing_{kind}": log1p(lacking.count(kind)) for kind in _KINDS},
        "verbs_found": _found_share(kinds, lacking, "verb"),
        "names_found": _found_share(kinds, lacking, "name"),
        "likeness_least": min(likeness, default=1.0),
        "likeness": share(sum(likeness), len(likeness)) if likeness else 1.0,
        "first_missing": float(bool(ends) and laid.places[ends[0]] < 0),
        "last_missing": float(bool(ends) and laid.places[ends[-1]] < 0),
        "missing_place": share(sum(laid.missing), len(laid.missing) * len(claim.words)),
    }


def _found_share(kinds: dict[int, str], lacking: list[str], kind: str) -> float:
    count = sum(k == kind for k in kinds.values())
    return 1.0 - lacking.count(kind) / count if count else 0.5


def _gap(laid: Laid, i: int) -> list[int] | None:
    """Places of the text between the neighbours of a missing word; None where they are apart."""
    places = laid.places
    before = next((x for x in range(i - 1, -1, -1) if places[x] >= 0), None)
    after = next((x for x in range(i + 1, len(places)) if places[x] >= 0), None)
    if before is None or after is None or after - before > 4:
        return None
    if not 0 < places[after] - places[before] <= 5:
        return None
    inside = range(places[before] + 1, places[after])
    return [j for j in inside if laid.text.words[j] not in _STOP]


def _replaced(laid: Laid) -> dict[str, float]:
    """Count missing words in whose place the text has another: of a name, a number, a word."""
    claim, text = laid.claim, laid.text
    names = numbers = plain = every = bare = 0
    for i in laid.missing:
        gap = _gap(laid, i)
        if gap is None:
            continue
        every, bare = every + bool(gap), bare + (not gap)
        named = any(text.words[j] in text.names for j in gap)
        is_name = claim.words[i] in claim.names
        names += is_name and named
        plain += bool(gap) and not is_name and not named
        digits = any(c.isdigit() for j in gap for c in text.words[j])
        numbers += digits and any(c.isdigit() for c in claim.words[i])
    return {
        "replaced": float(min(every, 3)),
        "replaced_name": float(min(names, 3)),
        "replaced_word": float(min(plain, 3)),
        "replaced_number": float(min(numbers, 3)),
        "inserted": float(min(bare, 2)),
        "beside": float(min(sum(_beside(laid, i) for i in laid.missing), 4)),
    }


def _beside(laid: Laid, i: int) -> int:
    """Count the neighbours of a missing word with another such word beside them in the text."""
    claim, text = laid.claim, laid.text
    count = 0
    for step in (-1, 1):
        x = i + step
        if not 0 <= x < len(claim.words) or laid.places[x] < 0:
            continue
        j = laid.places[x] - step
        if 0 <= j < len(text.words) and j not in laid.hit and text.words[j] not in _STOP:
            count += (text.words[j] in text.names) == (claim.words[i] in claim.names)
    return count


_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_IS = re.compile(
    r"\b(?:is|was|are|were|be|been|became|becomes|remains) "
    r"(?:not |also |only |still |always )?(?:an?|the|one of the) ",
    re.IGNORECASE,
)
_ENDS = words("clause_ends")


def _predicates(text: str) -> list[frozenset[str]]:
    """Return the stems of what a text says that something is ("is a Dutch painter and poet")."""
    return [_predicate(text[m.end() : m.end() + 120]) for m in _IS.finditer(text)]


def _predicate(rest: str) -> frozenset[str]:
    """Return the stems up to the word or the mark that ends a predicate, at most twelve words."""
    clause = re.split(r"[.;:()](?:\s|$)", rest, maxsplit=1)[0]
    found: list[str] = []
    for word in _WORD.findall(clause)[:12]:
        if word.lower() in _ENDS and found:
            break
        found.append(word.lower())
    return frozenset(stem(w) for w in found if w not in _STOP)


def _predication(laid: Laid, premise: str, hypothesis: str) -> dict[str, float]:
    """Whether text and claim say that something is the same kind of thing."""
    said, known = _predicates(hypothesis), _predicates(premise)
    if not said:
        return {"is_claim": 0.0, "is_both": 0.0, "is_share": 0.5, "is_met": -1.0, "is_other": 0.0}
    kind = said[0]
    if not known:
        shared = share(len(kind & laid.text.content), len(kind))
        return {"is_claim": 1.0, "is_both": 0.0, "is_share": shared, "is_met": -1.0, "is_other": 0}
    other = frozenset[str]().union(*known)
    return {
        "is_claim": 1.0,
        "is_both": 1.0,
        "is_share": share(len(kind & other), len(kind)),
        "is_met": float(bool(kind & other)),
        "is_other": float(not kind & laid.text.content),
    }


def _subject(laid: Laid) -> dict[str, float]:
    """Whether the text speaks of what the claim begins with, and how much of the rest it has."""
    claim, text, places = laid.claim, laid.text, laid.places
    content = sorted((*laid.found, *laid.missing))
    first = [i for i, w in enumerate(claim.words) if w in claim.names or (not i and i in content)]
    lead, rest = first[:2], [i for i in content if i not in first[:2]]
    later = [i for i in content if claim.words[i] in claim.names and i > 3]
    lead_found = share(sum(places[i] >= 0 for i in lead), len(lead)) if lead else 0.5
    return {
        "text_pronoun": float(any(w in _PRONOUNS for w in text.words[:3])),
        "text_pronouns": log1p(sum(w in _PRONOUNS for w in text.words)),
        "text_names": log1p(len(text.names)),
        "lead_named": float(any(claim.words[i] in claim.names and places[i] >= 0 for i in first)),
        "lead_found": lead_found,
        "later_names": log1p(len(later)),
        "later_missing": log1p(sum(places[i] < 0 for i in later)),
        "rest": log1p(len(rest)),
        "rest_found": share(sum(places[i] >= 0 for i in rest), len(rest)),
        "rest_missing": log1p(sum(places[i] < 0 for i in rest)),
    }


def _years(laid: Laid) -> dict[str, float]:
    claim = [q.value for q in laid.claim.numbers if q.kind == "year"]
    text = [q.value for q in laid.text.numbers if q.kind == "year"]
    both = bool(claim and text)
    return {
        "text_numbers": log1p(len(laid.text.numbers)),
        "year_distance": log1p(min((abs(a - b) for a in claim for b in text), default=0.0)),
        "year_outside": float(both and not min(text) <= claim[0] <= max(text)),
        "year_between": float(both and min(text) < claim[0] < max(text)),
    }


def _cues(laid: Laid) -> dict[str, float]:
    """Whether claim and text compare, count, look back or ahead; 2 in the claim only, 1 in both."""
    found = {}
    for name, listed in _CUES.items():
        in_claim = not listed.isdisjoint(laid.claim.words)
        in_text = not listed.isdisjoint(laid.text.words)
        found[f"cue_{name}"] = (1.0 if in_text else 2.0) if in_claim else (-1.0 if in_text else 0.0)
    return found


def aligned_features(claim: Facts, text: Facts, premise: str, hypothesis: str) -> dict[str, float]:
    """Return what laying a claim along a text shows, by name."""
    laid = lay(claim, text)
    return {
        **_extent(laid),
        **_missing(laid),
        **_replaced(laid),
        **_predication(laid, premise, hypothesis),
        **_subject(laid),
        **_years(laid),
        **_cues(laid),
    }
