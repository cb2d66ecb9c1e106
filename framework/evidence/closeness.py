"""What the packaged models, re-ranker and embedder, say of a text and a claim, as numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from framework.evidence.models import Model

    Floats = NDArray[np.float32]

__all__ = ["packaged_features"]


def packaged_features(
    pairs: Sequence[tuple[str, str]], reranker: Model, embedder: Model
) -> list[tuple[float, ...]]:
    """Return what reranker and embedder say of every (premise, hypothesis), as numbers near 1.

    Relevance of the premise for the claim, cosine of both, how well every token of the claim finds
    its like in the premise and every token of the premise in the claim, and in which order.
    """
    relevance = [row[0] for row in reranker.logits([(h, p) for p, h in pairs])]
    tokens = _tokens(sorted({text for pair in pairs for text in pair}), embedder)
    return [
        _closeness(tokens[premise], tokens[hypothesis], logit)
        for (premise, hypothesis), logit in zip(pairs, relevance, strict=True)
    ]


def _tokens(texts: Sequence[str], embedder: Model) -> dict[str, Floats]:
    """Return each text's vectors of length 1: that of the whole, those of its tokens, the last."""
    found = {}
    for index, output, mask in embedder.run(texts):
        rows = output[mask > 0]
        found[texts[index]] = rows / ((rows * rows).sum(1, keepdims=True) ** 0.5 + 1e-9)
    return found


def _closeness(premise: Floats, hypothesis: Floats, logit: float) -> tuple[float, ...]:
    import numpy as np

    cosine = float(premise[0] @ hypothesis[0])
    claim, text = hypothesis[1:-1], premise[1:-1]
    alike = claim @ text.T if len(claim) and len(text) else np.zeros((1, 1), np.float32)
    best, back = np.sort(alike.max(1)), np.sort(alike.max(0))
    steps = np.diff(alike.argmax(1))
    means = float(claim.mean(0) @ text.mean(0)) if len(claim) and len(text) else 0.0
    return (
        logit / 5,
        max(logit, 0.0) / 5,
        3 * cosine,
        3 * cosine * logit / 5,
        *_spread(best),
        *_spread(back)[:2],
        3 * float((back < 0.6).mean()),
        3 * float(best[-1]),
        3 * float(np.median(best)),
        float(alike.max(1).argmin()) / len(best),
        len(best) / 20,
        float((steps > 0).mean()) if len(steps) else 1.0,
        float((abs(steps) <= 2).mean()) if len(steps) else 1.0,
        3 * means,
    )


def _spread(best: Floats) -> tuple[float, ...]:
    """Mean, least and least three of ascending likenesses, and the shares below three bounds."""
    return (
        3 * float(best.mean()),
        3 * float(best[0]),
        3 * float(best[:3].mean()),
        *(3 * float((best < bound).mean()) for bound in (0.6, 0.7, 0.8)),
    )
