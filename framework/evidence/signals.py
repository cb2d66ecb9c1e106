"""What two sentences say about the same thing, compared point by point, with no model at all."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field
from functools import lru_cache
from importlib.resources import files
from itertools import pairwise
from math import log1p

from framework.evidence.quantities import Quantity, conflicts, quantities
from framework.evidence.wordlists import words
from framework.reading.terms import terms

__all__ = [
    "Facts",
    "alike",
    "conflicting",
    "facts",
    "is_negation",
    "missing_stems",
    "named_features",
    "share",
    "stem",
]

_TABLE = tomllib.loads((files("framework.evidence") / "data/opposites.toml").read_text("utf-8"))
_GROUPS: dict[str, str] = {
    word: name for name, words in _TABLE["groups"].items() for word in words.split()
}
_STOP = words("small")
_NEGATION = words("negation")
_EXCLUSIVE = words("exclusive")
_HEDGE = words("hedge")
_WORD = re.compile(r"[^\W_]+(?:['’.-][^\W_]+)*")
_UNSPACED = re.compile("[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_SUFFIXES = (
    "ationally", "ization", "isation", "ational", "fulness", "ousness", "iveness", "ations",
    "ation", "ingly", "ments", "ment", "ness", "ings", "edly", "able", "ible", "ions", "ing",
    "ers", "ies", "ied", "ity", "ion", "ive", "ous", "ful", "est", "ed", "er", "es", "ly", "al",
    "s", "e", "y",
)  # fmt: skip


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """Return the word without its ending, at least three letters of it."""
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= 3:
            return word[: -len(suffix)]
    return word


def _pairs() -> frozenset[tuple[str, str]]:
    table = set()
    for pair in _TABLE["pairs"]:
        one, other = (_forms(word) for word in pair.split())
        table |= {(a, b) for a in one for b in other} | {(b, a) for a in one for b in other}
    return frozenset(table)


def _forms(word: str) -> set[str]:
    """The stems that the usual forms of a word have."""
    bare = word[:-1] if word.endswith("e") else word
    return {stem(word), stem(f"{bare}ed"), stem(f"{word}s"), stem(f"{bare}ing")}


_OPPOSITES = _pairs()


@dataclass(frozen=True, slots=True)
class Facts:
    """A sentence as the comparison sees it."""

    words: tuple[str, ...]
    stems: tuple[str, ...]
    content: frozenset[str]
    names: frozenset[str]
    negated: int
    numbers: tuple[Quantity, ...] = field(default=())


def _tokens(text: str) -> list[str]:
    """Words as written; pairs of signs where a script parts no words."""
    return terms(text) if not text.isascii() and _UNSPACED.search(text) else _WORD.findall(text)


@lru_cache(maxsize=4_096)
def facts(text: str) -> Facts:
    """Take a text apart: words, stems, names, negations, quantities."""
    tokens = _tokens(text.replace("’", "'"))
    words = tuple(token.lower() for token in tokens)
    stems = tuple(stem(word) for word in words)
    content = frozenset(
        s for w, s in zip(words, stems, strict=True) if w not in _STOP and w not in _NEGATION
    )
    return Facts(
        words, stems, content, _names(text, tokens), _negations(text, words), quantities(text)
    )


#: Negations of scripts that part no words.
_UNSPACED_NEGATION = re.compile("[不没沒未无無]|ない|ません|않|못하|없|아니|ไม่")


def is_negation(word: str) -> bool:
    """Tell whether a lower-case word turns a statement round."""
    return word in _NEGATION or word.endswith("n't")


def _negations(text: str, words: tuple[str, ...]) -> int:
    spaced = sum(map(is_negation, words))
    return spaced + (0 if text.isascii() else len(_UNSPACED_NEGATION.findall(text)))


def _names(text: str, tokens: list[str]) -> frozenset[str]:
    """Capitalised words, those that only begin a sentence left out unless they come again."""
    starts = {m[1] for m in re.finditer(r"(?:^|[.!?:]\s+|[\"“]\s*)([^\W\d_][\w'-]*)", text)}
    return frozenset(
        token.lower()
        for i, token in enumerate(tokens)
        if token[0].isupper()
        and len(token) > 1
        and (token not in starts or (i and tokens[i - 1][0].isupper()))
        and token.lower() not in _STOP
    )


def share(part: float, whole: float) -> float:
    """Return a part's share of the whole, 0 where there is nothing."""
    return part / whole if whole else 0.0


def alike(a: str, b: str) -> bool:
    """Tell whether two stems share so long a beginning that they are forms of one word."""
    if a[:4] != b[:4]:
        return False
    n = min(len(a), len(b))
    return n >= 4 and a[: max(4, n - 1)] == b[: max(4, n - 1)]


def missing_stems(claim: Facts, text: Facts) -> frozenset[str]:
    """Return the stems of a claim's content words that a text has in no form."""
    rest = claim.content - text.content
    return frozenset(s for s in rest if not any(alike(s, other) for other in text.content))


def _opposed(claim: Facts, text: Facts) -> int:
    """Count words of the claim whose opposite stands in the text and which the text lacks."""
    left = set(claim.stems) - set(text.stems)
    right = set(text.stems) - set(claim.stems)
    return sum((a, b) in _OPPOSITES for a in left for b in right)


def _grouped(claim: Facts, text: Facts) -> int:
    """Count words of the claim that the text replaces with another of the same group."""
    ours, theirs = set(claim.words), set(text.words)
    return sum(
        any(other not in ours and _GROUPS.get(other) == _GROUPS[word] for other in theirs)
        for word in ours - theirs
        if word in _GROUPS
    )


def _common_run(claim: Facts, text: Facts) -> float:
    """Share of the claim's neighbouring word pairs that the text has too."""
    pairs = set(zip(claim.stems, claim.stems[1:], strict=False))
    return share(len(pairs & set(zip(text.stems, text.stems[1:], strict=False))), len(pairs))


def _window(claim: Facts, text: Facts) -> tuple[int, int]:
    """Negations of the text near the words that the claim shares, and elsewhere."""
    shared = [i for i, s in enumerate(text.stems) if s in claim.content]
    if not shared:
        return 0, text.negated
    near = {j for i in shared for j in range(i - 3, i + 4)}
    if any(_UNSPACED.match(word) for word in text.words):
        return text.negated, 0
    close = sum(j in near and is_negation(w) for j, w in enumerate(text.words))
    return close, text.negated - close


def _subject(claim: Facts) -> str:
    return next((s for s in claim.stems if s in claim.content), "")


def _wording(claim: Facts, text: Facts, missing: frozenset[str]) -> dict[str, float]:
    """How much of the claim's wording the text has."""
    lacking = share(len(missing), len(claim.content))
    long_words = {s for s in claim.content if len(s) >= 6}
    return {
        "overlap": 1.0 - lacking,
        "overlap_long": 1.0 - share(len(long_words & missing), len(long_words)),
        "pairs": _common_run(claim, text),
        "missing": log1p(len(missing)),
        "missing_share": lacking,
        "log_claim": log1p(len(claim.words)) - 2.3,
        "log_text": log1p(len(text.words)) - 3.3,
        "subject_missing": float(_subject(claim) in missing),
        "full": float(not missing),
    }


def _particulars(claim: Facts, text: Facts, missing: frozenset[str]) -> dict[str, float]:
    """Numbers, years and names: what the claim has, and what the text has not."""
    conflict, years, absent = conflicts(claim.numbers, text.numbers)
    unnamed = {n for n in claim.names if n not in text.words and stem(n) in missing}
    return {
        "numbers_claim": log1p(len(claim.numbers)),
        "numbers_missing": log1p(absent),
        "numbers_conflict": log1p(conflict),
        "years_conflict": log1p(years),
        "numbers_agree": log1p(max(len(claim.numbers) - absent, 0)),
        "conflict_full": (conflict + years) * _overlap(claim, missing),
        "names_claim": log1p(len(claim.names)),
        "names_missing": log1p(len(unnamed)),
        "names_missing_share": share(len(unnamed), len(claim.names)),
        "text_only_names": log1p(len(text.names - claim.names)),
    }


def _polarity(claim: Facts, text: Facts, missing: frozenset[str]) -> dict[str, float]:
    """Negation, opposites, kinds, and words without exception or with reserve."""
    near, far = _window(claim, text)
    overlap = _overlap(claim, missing)
    opposed, grouped = min(_opposed(claim, text), 3), min(_grouped(claim, text), 3)
    differs = float((claim.negated % 2) != min(near, 1))
    exclusive = {w for w in claim.words if w in _EXCLUSIVE}
    return {
        "negated_claim": float(min(claim.negated, 2)),
        "negated_near": float(min(near, 2)),
        "negated_far": log1p(max(far, 0)),
        "negation_differs": differs,
        "negation_full": differs * overlap,
        "edge_negation": float(any(w in _NEGATION for w in claim.words[:2])),
        "opposed": float(opposed),
        "opposed_full": opposed * overlap,
        "grouped": float(grouped),
        "grouped_full": grouped * overlap,
        "exclusive_claim": float(bool(exclusive)),
        "exclusive_new": float(bool(exclusive - set(text.words))),
        "hedge_claim": float(any(w in _HEDGE for w in claim.words)),
        "text_hedge": float(any(w in _HEDGE for w in text.words)),
    }


_SCOPE = re.compile(
    r"\b(?:not|never|no longer|no|without|fail(?:s|ed)? to|refus(?:es|ed) to|unable to|lacks?|"
    r"unlike|instead of|rather than|"
    r"declined to|stopped|ceased|denied|did(?: not|n't)|neither|nor|except|but not|yet to|hardly|"
    r"rarely|cannot|only)\b"
    r"((?:[\s,]+[\w'-]+){1,7})"
)


def _scoped(words: tuple[str, ...]) -> frozenset[str]:
    """The content stems that stand within reach of a negation."""
    text = " ".join(words)
    return frozenset(
        stem(word) for m in _SCOPE.finditer(text) for word in m[1].split() if word not in _STOP
    )


def _structure(claim: Facts, text: Facts) -> dict[str, float]:
    """Whether shared words stand within a negation's reach, and in the same order."""
    shared = claim.content & text.content
    under, over = len(shared & _scoped(text.words)), len(shared & _scoped(claim.words))
    places = {s: i for i, s in reversed(list(enumerate(text.stems)))}
    order = [places[s] for s in claim.stems if s in shared]
    rising = sum(a < b for a, b in pairwise(order))
    pairs = {(a, b) for i, a in enumerate(claim.stems) for b in claim.stems[i + 2 : i + 4]}
    skips = {(a, b) for i, a in enumerate(text.stems) for b in text.stems[i + 1 : i + 5]}
    return {
        "scope_text": share(under, len(shared)),
        "scope_claim": share(over, len(shared)),
        "scope_differs": float(bool(under) != bool(over)),
        "skip_pairs": share(len(pairs & skips), len(pairs)),
        "order": share(rising, max(len(order) - 1, 1)),
    }


def _overlap(claim: Facts, missing: frozenset[str]) -> float:
    return 1.0 - share(len(missing), len(claim.content))


def named_features(text: Facts, claim: Facts) -> dict[str, float]:
    """Return what can be counted of a text and a claim, by name; all within about -3 to 3."""
    missing = missing_stems(claim, text)
    return {
        **_wording(claim, text, missing),
        **_particulars(claim, text, missing),
        **_polarity(claim, text, missing),
        **_structure(claim, text),
    }


def _turned(claim: Facts, text: Facts, overlap: float) -> bool:
    """Tell whether a short text says all that the claim says, but for one negation."""
    near, _ = _window(claim, text)
    if overlap < 0.99 or len(text.words) > 40 or _CONTRAST & set(text.words):
        return False
    if (claim.negated % 2) == min(near, 1):
        return False
    return bool(claim.negated) or 2 * len(_scoped(text.words) & claim.content) >= len(claim.content)


#: Words of a text that says one thing of one and another of another.
_CONTRAST = frozenset({"unlike", "but", "while", "whereas", "although", "though", "except", "only"})
_SAME = 0.7


def _same_matter(claim: Facts, text: Facts, missing: frozenset[str]) -> float:
    """Share of the claim that the text has, without the words whose very point is to differ."""
    opposed = {s for s in missing if any((s, other) in _OPPOSITES for other in text.stems)}
    matter = {
        s
        for w, s in zip(claim.words, claim.stems, strict=True)
        if s in claim.content and not any(c.isdigit() for c in w) and w not in _GROUPS
    } - opposed
    return share(len(matter - missing), len(matter)) if len(matter) > 1 else 0.0


def conflicting(premise: str, hypothesis: str) -> tuple[str, ...]:
    """Name the explicit signs against a claim: number, date, name, negation, polarity (all else
    being the same), opposite, kind.

    Each is only counted where the text has so many of the claim's content words that both speak of
    the same thing: half of them for names and negation, 70 % for the others.
    """
    text, claim = facts(premise), facts(hypothesis)
    missing = missing_stems(claim, text)
    overlap = _overlap(claim, missing)
    same = _same_matter(claim, text, missing)
    if max(overlap, same) < 0.5:
        return ()
    conflict, years, _ = conflicts(claim.numbers, text.numbers)
    near, _ = _window(claim, text)
    names = {n for n in claim.names if n not in text.words}
    signs = {
        "number": conflict > 0 and same >= _SAME,
        "date": years > 0 and same >= _SAME,
        "name": bool(
            overlap >= 0.5
            and names
            and text.names - claim.names
            and len(names) * 2 <= len(claim.names)
        ),
        "negation": overlap >= 0.5 and (claim.negated % 2) != min(near, 1),
        "polarity": _turned(claim, text, overlap),
        "opposite": same >= _SAME and _opposed(claim, text) > 0,
        "kind": same >= _SAME and _grouped(claim, text) > 0,
    }
    return tuple(name for name, present in signs.items() if present)
