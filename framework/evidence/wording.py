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
_WEIGHTS: dict[str, int] = _MODEL["weights"]
_BIAS: float = _MODEL["bias"]
_TOKEN = re.compile(r"[a-z][a-z'-]*|\d+|[:,!?]")
_URL = re.compile(r"https?://\S+")


def features(folded: str) -> set[str]:
    """Return the words and the neighbouring pairs of a folded sentence; numbers are alike."""
    found = _TOKEN.findall(_URL.sub(" http ", folded))
    tokens = ["^", *("#" if word.isdigit() else word for word in found)]
    pairs = {f"{a} {b}" for a, b in pairwise(tokens)}
    return pairs.union(word for word in tokens[1:] if word not in ":,!?")


def resemblance(folded: str) -> float:
    """Return the log-odds that the sentence is an order to a machine; far below 0 for most."""
    found = features(folded)
    total = sum(_WEIGHTS.get(feature, 0) for feature in found) / 100
    return _BIAS + total * min(1.0, _LONG / max(1, len(found)))


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
