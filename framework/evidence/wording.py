"""How much an English sentence is worded like an order to a reading machine (wording.json).

Patterns know what somebody thought of; this is a linear model over words and pairs of words, which
weighs all of a sentence. It was trained with benchmarks/train_injection.py on orders and
look-alikes written by us, against the text of some thousand recorded pages.
"""

from __future__ import annotations

import json
import re
from importlib.resources import files
from itertools import pairwise

__all__ = ["belief", "features", "resemblance"]

_MODEL = json.loads((files("framework.evidence") / "data/wording.json").read_text("utf-8"))
_WORD_WEIGHTS: dict[str, int] = {k: w for k, w in _MODEL["weights"].items() if " " not in k}
_PAIR_WEIGHTS: dict[tuple[str, ...], int] = {
    tuple(k.split(" ")): w for k, w in _MODEL["weights"].items() if " " in k
}
_BIAS: float = _MODEL["bias"]
_TOKEN = re.compile(r"[a-z][a-z'-]*|\d+|[:,!?]")
_DIGIT = re.compile(r"\d")
_MARKS = frozenset(":,!?")
_URL = re.compile(r"https?://\S+")


def features(folded: str) -> set[str]:
    """Return the words and the neighbouring pairs of a folded sentence; numbers are alike."""
    words, pairs = _found(folded)
    return {" ".join(pair) for pair in pairs} | words


def _found(folded: str) -> tuple[set[str], set[tuple[str, str]]]:
    if "http" in folded:
        folded = _URL.sub(" http ", folded)
    tokens = _TOKEN.findall(folded)
    if _DIGIT.search(folded):
        tokens = ["#" if token.isdigit() else token for token in tokens]
    return set(tokens) - _MARKS, set(zip(["^", *tokens], tokens, strict=False))


def resemblance(folded: str) -> float:
    """Return the log-odds that the sentence is an order to a machine; far below 0 for most."""
    words, pairs = _found(folded)
    total = sum(_WORD_WEIGHTS[word] for word in words & _WORD_WEIGHTS.keys())
    total += sum(_PAIR_WEIGHTS[pair] for pair in pairs & _PAIR_WEIGHTS.keys())
    return _BIAS + total / 100 * min(1.0, _LONG / max(1, len(words) + len(pairs)))


#: Features of a sentence from which on it counts by their mean: long ones gather chance signs.
_LONG = 80
#: Log-odds and the belief they are worth, straight lines between.
_SCALE = (
    (-3.5, 0.0),
    (-2.0, 0.18),
    (-1.0, 0.335),
    (0.5, 0.395),
    (1.0, 0.42),
    (3.0, 0.6),
    (6.0, 0.75),
)


def belief(odds: float) -> float:
    """Return the belief that wording alone gives, 0 to 0.75."""
    for (low, start), (high, end) in pairwise(_SCALE):
        if odds <= high:
            return max(0.0, start + (end - start) * (odds - low) / (high - low))
    return _SCALE[-1][1]
