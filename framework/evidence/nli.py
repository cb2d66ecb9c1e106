"""Does a text entail, contradict or leave open a claim: the shipped classifier, and its stack
with the small models where they are present.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, log
from typing import TYPE_CHECKING

from framework.evidence import models
from framework.evidence.closeness import packaged_features
from framework.evidence.comparison import features, signs
from framework.evidence.forest import Forest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.evidence.models import Model, ModelStore

__all__ = ["LABELS", "Judgement", "entailment", "judge"]

LABELS = ("entailment", "neutral", "contradiction")
#: Explicit signs against a claim that rarely deceive, and those that need a surer classifier.
STRONG = frozenset({"date", "opposite", "kind", "polarity", "place"})
WEAK = frozenset({"number", "negation", "name", "rival"})
#: The model whose logits the shipped stack was fitted with; others are taken at their word.
_STACKED = "nli-minilm-l6"

Vector = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Three probabilities that add up to 1, what gave them, and the explicit signs against.

    `verdict` is supported or refuted only where the probability is above the method's bar, which
    was set for a precision of 0.8 on held-out pairs; refuted needs a second, explicit sign
    (number, date, name, negation, opposite, kind, place, rival) or a second model of the same
    opinion.
    """

    entailment: float
    neutral: float
    contradiction: float
    method: str
    signs: tuple[str, ...] = ()
    seconded: bool = False

    @property
    def verdict(self) -> str:
        """What may be said: supported, refuted or unclear."""
        bars = _weights()["bars"][self.method]
        signs = frozenset(self.signs)
        if self.entailment >= bars["supported"] and not signs:
            return "supported"
        if signs & STRONG and self.contradiction >= bars["refuted_strong"]:
            return "refuted"
        second = bool(signs & WEAK) or self.seconded
        return "refuted" if second and self.contradiction >= bars["refuted"] else "unclear"


@cache
def _weights():  # type: ignore[no-untyped-def]  # noqa: ANN202 (plain JSON)
    return json.loads((files("framework.evidence") / "data/nli.json").read_text("utf-8"))


@cache
def _forest(name: str) -> Forest:
    return Forest.read(_weights()[name])


def softmax(values: Sequence[float]) -> Vector:
    """Return the values as probabilities."""
    top = max(values)
    powers = [exp(value - top) for value in values]
    total = sum(powers)
    return tuple(power / total for power in powers)


def _centred(logs: Sequence[float]) -> Vector:
    """Take the mean off, so that only what sets the labels apart is left."""
    mean = sum(logs) / len(logs)
    return tuple(value - mean for value in logs)


def _logs(raw: Sequence[float]) -> Vector:
    return _centred([log(max(p, 1e-4)) for p in softmax(raw)])


def log_parts(words: Vector, packaged: Vector | None, logits: Vector | None) -> list[Vector]:
    """Return the centred log-probabilities of every part that is there."""
    raw = _forest("lexical").raw(words)
    parts = [_logs(raw)]
    if packaged is not None:
        parts.append(_logs(_forest("packaged").raw([*words, *_centred(raw), *packaged])))
    if logits is not None:
        parts.append(_logs(logits))
    return parts


def combine(words: Vector, packaged: Vector | None, logits: Vector | None) -> tuple[Vector, str]:
    """Return the three probabilities and the name of the method, from whatever parts there are."""
    method = "+".join(
        name
        for name, there in (("lexical", True), ("packaged", packaged), ("nli", logits))
        if there
    )
    weights = _weights()["stack"][method]
    parts = log_parts(words, packaged, logits)
    return softmax(
        [
            sum(w * x for w, x in zip(weights, label, strict=True))
            for label in zip(*parts, strict=True)
        ]
    ), method


def _ordered(model: Model, logits: Vector) -> Vector:
    """Put a model's outputs into our order of labels, by the names in its configuration."""
    if set(model.labels) != set(LABELS):
        raise models.ModelError(
            f"the model {model.record.name} does not say which output means entailment",
            hint="add id2label with entailment, neutral, contradiction to its config.json",
        )
    return tuple(logits[model.labels.index(label)] for label in LABELS)


def _logits(pairs: Sequence[tuple[str, str]], model: Model | None) -> list[Vector | None]:
    if model is None:
        return [None] * len(pairs)
    return [_ordered(model, row) for row in model.logits(pairs)]


def judge(pairs: Sequence[tuple[str, str]], store: ModelStore | None = None) -> list[Judgement]:
    """Judge (premise, hypothesis) pairs, in order, with the best method the machine has.

    Models that are absent or damaged are left out (the store keeps the reason); the shipped
    classifier always answers. About 1 ms a pair without models, some 45 ms with all three.
    """
    if not pairs:
        return []
    store = models.store() if store is None else store
    nli, reranker, embedder = (store.get(kind) for kind in ("nli", "rerank", "embed"))
    both = reranker and embedder
    extra: Sequence[Vector | None] = (
        packaged_features(pairs, reranker, embedder) if both else [None] * len(pairs)  # type: ignore[arg-type]
    )
    try:
        logits = _logits(pairs, nli)
    except models.ModelError as error:
        store.problems["nli"] = str(error)
        nli, logits = None, [None] * len(pairs)
    return [
        _judged(pair, more, row, nli) for pair, more, row in zip(pairs, extra, logits, strict=True)
    ]


def _judged(
    pair: tuple[str, str], packaged: Vector | None, logits: Vector | None, nli: Model | None
) -> Judgement:
    words = features(*pair)
    against = signs(*pair)
    if nli is not None and logits is not None and nli.record.name != _STACKED:
        return _judgement(softmax(logits), "model", against, seconded=True)
    probabilities, method = combine(words, packaged, logits)
    seconded = False
    if logits is not None and logits[2] > max(logits[:2]):
        own, _ = combine(words, packaged, None)
        seconded = own[2] > max(own[:2])
    return _judgement(probabilities, method, against, seconded=seconded)


def _judgement(
    probabilities: Vector, method: str, signs: tuple[str, ...], *, seconded: bool
) -> Judgement:
    for_, open_, against = probabilities
    return Judgement(for_, open_, against, method, signs, seconded)


def entailment(premise: str, hypothesis: str) -> tuple[float, float, float]:
    """Return the probabilities (entailment, neutral, contradiction) of a claim, given a text.

    Uses the models that `CONSILIENCE_MODELS_DIR` or an installed package provides, else the
    shipped classifier; never raises for want of a model.
    """
    found = judge([(premise, hypothesis)])[0]
    return found.entailment, found.neutral, found.contradiction
