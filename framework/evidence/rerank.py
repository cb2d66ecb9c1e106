"""Rank the best passages again with a cross-encoder, where the machine has one."""

from __future__ import annotations

import time
from math import exp
from typing import TYPE_CHECKING

from framework.evidence import models
from framework.evidence.sentences import is_english

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from framework.evidence.models import ModelRecord, ModelStore

__all__ = ["answers_from", "ratings"]

#: Seconds of CPU that one ranking may take; what is not rated by then keeps its lexical rank.
CPU_SECONDS = 3.0
_GROUP = 12


def probability(logit: float, record: ModelRecord) -> float:
    """Return a logit as the probability that the passage answers, by the model's own logistic."""
    return 1.0 / (1.0 + exp(-max(-30.0, min(30.0, record.slope * logit + record.intercept))))


def answers_from(store: ModelStore | None = None) -> float:
    """Return the probability from which a passage counts as an answer, of the model in use."""
    model = (models.store() if store is None else store).get("rerank")
    return model.record.threshold if model is not None else 0.5


def ratings(
    query: str,
    texts: Sequence[str],
    store: ModelStore | None = None,
    *,
    cpu_seconds: float = CPU_SECONDS,
    clock: Callable[[], float] = time.thread_time,
) -> list[float | None] | None:
    """Return for every text, best candidates first, the probability that it answers the query.

    None as a whole: no model here, or not its language (the packaged one knows English only). None
    for one text: the CPU time was used up before it. Runs in the calling thread on one core; texts
    of like length share a batch.
    """
    store = models.store() if store is None else store
    if not texts or not query.isascii() or not is_english(" ".join(texts)):
        return None
    model = store.get("rerank")
    if model is None:
        return None
    started, found = clock(), list[float | None]()
    for start in range(0, len(texts), _GROUP):
        if found and clock() - started > cpu_seconds:
            break
        pairs = [(query, text) for text in texts[start : start + _GROUP]]
        found += [probability(row[0], model.record) for row in model.logits(pairs, batch=4)]
    return found + [None] * (len(texts) - len(found))
