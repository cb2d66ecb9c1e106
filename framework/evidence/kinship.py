"""Words of a claim that a text lacks, but bears out or excludes by other words: kinship.toml."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files
from math import log1p
from typing import TYPE_CHECKING

from framework.evidence.signals import missing_stems, share, stem
from framework.evidence.wordlists import words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from framework.evidence.signals import Facts

__all__ = ["Kin", "borne_out", "kin", "kinship_features"]

_TABLE = tomllib.loads((files("framework.evidence") / "data/kinship.toml").read_text("utf-8"))
_VAGUE = words("vague")
_FIRM = words("firm")


def _sets(lines: Iterable[str]) -> dict[str, frozenset[int]]:
    """Map every word, and its stem, to the numbers of the lines it stands in."""
    found: dict[str, set[int]] = {}
    for n, line in enumerate(lines):
        for word in line.split():
            for form in {word, stem(word)}:
                found.setdefault(form, set()).add(n)
    return {word: frozenset(numbers) for word, numbers in found.items()}


_SAME = _sets(_TABLE["same"].strip().splitlines())
_KINDS = {
    kind: frozenset(form for word in listed.split() for form in (word, stem(word)))
    for kind, listed in _TABLE["kinds"].items()
}
_RIVALS = {
    word: frozenset(name for name, listed in _TABLE["rivals"].items() if word in listed.split())
    for listed in _TABLE["rivals"].values()
    for word in listed.split()
}


def _countries() -> tuple[dict[str, str], frozenset[str]]:
    """Return the country of every place, and the words that mean a country itself."""
    places: dict[str, str] = {}
    own: set[str] = set()
    for country, listed in _TABLE["places"].items():
        names, _, inside = listed.partition("|")
        own |= {country, *names.split()}
        places |= dict.fromkeys((country, *names.split()), country)
        places = dict.fromkeys(inside.split(), country) | places
    return places, frozenset(own)


_PLACES, _OWN = _countries()


def _singular(word: str) -> str:
    if word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if word.endswith("s") and len(word) > 3 else word


@dataclass(frozen=True, slots=True)
class Kin:
    """How many of a claim's missing words a text has by another name, and how many it excludes.

    `left` are those that nothing bears out.
    """

    same: int
    kinds: int
    within: int
    narrower: int
    elsewhere: int
    rivals: int
    left: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Known:
    """What a text's words stand for."""

    forms: frozenset[str]
    same: frozenset[int]
    countries: frozenset[str]
    rivals: frozenset[str]


def _known(claim: Facts, text: Facts) -> _Known:
    own = frozenset(text.words)
    forms = own | frozenset(text.stems)
    none: frozenset[str] = frozenset()
    return _Known(
        forms=forms,
        same=frozenset(n for form in forms for n in _SAME.get(form, ())),
        countries=frozenset(_PLACES[word] for word in own if word in _PLACES),
        rivals=frozenset(
            group
            for word in own.difference(claim.words)
            for group in _RIVALS.get(word, none) | _RIVALS.get(_singular(word), none)
        ),
    )


def _relation(word: str, known: _Known) -> str:
    """Name what a text makes of a word it lacks, by a field of Kin; empty for nothing."""
    if known.same & (_SAME.get(word) or _SAME.get(stem(word)) or frozenset()):
        return "same"
    if known.forms & (_KINDS.get(word) or _KINDS.get(_singular(word)) or frozenset()):
        return "kinds"
    country = _PLACES.get(word)
    if country in known.countries:
        return "within" if word in _OWN else "narrower"
    if country and known.countries:
        return "elsewhere"
    none: frozenset[str] = frozenset()
    rival = _RIVALS.get(word, none) | _RIVALS.get(_singular(word), none)
    return "rivals" if rival & known.rivals else ""


def kin(claim: Facts, text: Facts) -> Kin:
    """Look up every content word of a claim that a text lacks."""
    missing = missing_stems(claim, text)
    lacking = [w for w, s in zip(claim.words, claim.stems, strict=True) if s in missing]
    known = _known(claim, text)
    found = [_relation(word, known) for word in lacking]
    return Kin(
        same=found.count("same"),
        kinds=found.count("kinds"),
        within=found.count("within"),
        narrower=found.count("narrower"),
        elsewhere=found.count("elsewhere"),
        rivals=found.count("rivals"),
        left=tuple(
            word
            for word, relation in zip(lacking, found, strict=True)
            if relation not in ("same", "kinds", "within")
        ),
    )


def borne_out(claim: Facts, text: Facts) -> bool:
    """Tell whether a text has every content word of a claim, by that or another name."""
    return not kin(claim, text).left


def kinship_features(claim: Facts, text: Facts) -> dict[str, float]:
    """Return what is borne out and excluded by kinship, by name; all within 0 to 4."""
    found = kin(claim, text)
    left = share(len(found.left), len(claim.content))
    own, firm = set(text.words), [w for w in claim.words if w in _FIRM]
    return {
        "kin_same": float(min(found.same, 3)),
        "kin_kinds": float(min(found.kinds, 3)),
        "kin_within": float(min(found.within, 3)),
        "kin_narrower": float(min(found.narrower, 3)),
        "kin_elsewhere": float(min(found.elsewhere, 3)),
        "kin_rivals": float(min(found.rivals, 3)),
        "left": log1p(len(found.left)),
        "left_share": left,
        "left_none": float(not found.left),
        "left_one": float(len(found.left) == 1),
        "left_names": log1p(sum(word in claim.names for word in found.left)),
        "rivals_full": float(found.rivals > 0) * (1.0 - left),
        "elsewhere_full": float(found.elsewhere > 0) * (1.0 - left),
        "vague": float(sum(word in _VAGUE for word in claim.words)),
        "firm": float(len(firm)),
        "firm_new": float(sum(word not in own for word in firm)),
        "firm_text": float(sum(word in _FIRM for word in own.difference(claim.words))),
    }
