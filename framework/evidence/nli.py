"""Does a text entail, contradict or leave open a claim: the shipped classifier, and its stack
with the small models where they are present.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import exp, log, tanh
from typing import TYPE_CHECKING

from framework.evidence import models
from framework.evidence.signals import conflicting, features

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from framework.evidence.models import Model, ModelStore

__all__ = ["LABELS", "Judgement", "entailment", "judge", "packaged_features"]

LABELS = ("entailment", "neutral", "contradiction")
#: Explicit signs against a claim that rarely deceive, and those that need a surer classifier.
STRONG = frozenset({"number", "date", "opposite", "kind", "polarity"})
WEAK = frozenset({"negation", "name"})
#: The model whose logits the shipped stack was fitted with; others are taken at their word.
_STACKED = "nli-minilm-l6"

Vector = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Judgement:
    """Three probabilities that add up to 1, what gave them, and the explicit signs against.

    `verdict` is supported or refuted only where the probability is above the method's bar, which
    was set for a precision of 0.8 on held-out pairs; refuted needs a second, explicit sign
    (number, date, name, negation, opposite, kind) or a second model of the same opinion.
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
        if self.entailment >= bars["supported"] and not signs & STRONG:
            return "supported"
        if signs & STRONG and self.contradiction >= bars["refuted_strong"]:
            return "refuted"
        second = bool(signs & WEAK) or self.seconded
        return "refuted" if second and self.contradiction >= bars["refuted"] else "unclear"


@cache
def _weights():  # type: ignore[no-untyped-def]  # noqa: ANN202 (plain JSON)
    return json.loads((files("framework.evidence") / "data/nli.json").read_text("utf-8"))


def softmax(values: Sequence[float]) -> Vector:
    """Return the values as probabilities."""
    top = max(values)
    powers = [exp(value - top) for value in values]
    total = sum(powers)
    return tuple(power / total for power in powers)


def _linear(rows: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [sum(w * x for w, x in zip(row, vector, strict=True)) for row in rows]


def _scaled(vector: Sequence[float], scale: Mapping[str, Sequence[float]]) -> list[float]:
    return [
        max(-4.0, min(4.0, (x - m) / s))
        for x, m, s in zip(vector, scale["mean"], scale["deviation"], strict=True)
    ]


def _logs(probabilities: Sequence[float]) -> Vector:
    return tuple(log(max(p, 1e-6)) for p in probabilities)


def _network(vector: Sequence[float], nets: Sequence[Mapping[str, list[list[float]]]]) -> Vector:
    """Average the answers of small networks with one hidden layer; the last input is 1."""
    total = [0.0, 0.0, 0.0]
    for net in nets:
        hidden = [tanh(value) for value in _linear(net["hidden"], [*vector, 1.0])]
        for i, p in enumerate(softmax(_linear(net["output"], [*hidden, 1.0]))):
            total[i] += p / len(nets)
    return tuple(total)


def _log_parts(
    words: Vector, packaged: Vector | None, logits: Vector | None
) -> tuple[list[float], Vector]:
    """Return the inputs of the stack (log-probabilities of every part) and the scaled features."""
    weights = _weights()
    scaled = _scaled(words, weights["lexical"]["scale"])
    inputs = [1.0, *_logs(_network(scaled, weights["lexical"]["nets"]))]
    if packaged is not None:
        both = _scaled([*words, *packaged], weights["packaged"]["scale"])
        inputs += _logs(softmax(_linear(weights["packaged"]["linear"], both)))
        inputs += _logs(_network(both, weights["packaged"]["nets"]))
    if logits is not None:
        inputs += _logs(softmax(logits))
    return inputs, tuple(0.3 * x for x in scaled[1:])


def combine(words: Vector, packaged: Vector | None, logits: Vector | None) -> tuple[Vector, str]:
    """Return the three probabilities and the name of the method, from whatever parts there are."""
    method = "+".join(
        name
        for name, there in (("lexical", True), ("packaged", packaged), ("nli", logits))
        if there
    )
    inputs, scaled = _log_parts(words, packaged, logits)
    if logits is not None:
        inputs += scaled
    return softmax(_linear(_weights()["stack"][method], inputs)), method


def packaged_features(
    pairs: Sequence[tuple[str, str]], reranker: Model, embedder: Model
) -> list[Vector]:
    """Return what reranker and embedder say of every (premise, hypothesis), as numbers near 1.

    Relevance of the premise for the claim, cosine of both, and how well every token of the claim
    finds its like in the premise (mean, least, least three, share below 0.6).
    """
    relevance = [row[0] for row in reranker.logits([(h, p) for p, h in pairs])]
    texts = sorted({text for pair in pairs for text in pair})
    tokens = {}
    for index, output, mask in embedder.run(texts):
        rows = output[mask > 0]
        tokens[texts[index]] = rows / ((rows * rows).sum(1, keepdims=True) ** 0.5 + 1e-9)
    found: list[Vector] = []
    for (premise, hypothesis), logit in zip(pairs, relevance, strict=True):
        p, h = tokens[premise], tokens[hypothesis]
        cosine = float(p[0] @ h[0])
        best = sorted(float(v) for v in (h[1:-1] @ p[1:-1].T).max(1)) or [0.0]
        found.append(
            (
                logit / 5, cosine * 3, 3 * sum(best) / len(best), 3 * best[0],
                3 * sum(best[:3]) / len(best[:3]), 3 * sum(b < 0.6 for b in best) / len(best),
                max(logit, 0.0) / 5, cosine * 3 * logit / 5,
            )
        )  # fmt: skip
    return found


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
    classifier always answers. About 0.3 ms a pair without models, some 45 ms with all three.
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
    signs = conflicting(*pair)
    if nli is not None and logits is not None and nli.record.name != _STACKED:
        return _judgement(softmax(logits), "model", signs, seconded=True)
    probabilities, method = combine(words, packaged, logits)
    own, _ = combine(words, packaged, None)
    seconded = logits is not None and own[2] > max(own[:2]) and logits[2] > max(logits[:2])
    return _judgement(probabilities, method, signs, seconded=seconded)


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
