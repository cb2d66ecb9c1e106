"""Train the shipped claim classifier: `python benchmarks/train_nli.py TRAIN.jsonl.gz DEV.jsonl`.

Features come from framework.evidence; the parts (two small networks, one linear model) are trained
on TRAIN, the stack and the bars are fitted on DEV. The seed is fixed: the same files and packages
give the same framework/evidence/data/nli.json. Needs the evidence extra, the packaged models, and
the small model's folder in CONSILIENCE_MODELS_DIR. Rows: premise, hypothesis, label, source,
synthetic (optional). Takes some ten minutes on one core; features are cached beside TRAIN's name
in the folder given with --cache.
"""

from __future__ import annotations

import argparse
import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from framework.evidence import models, nli
from framework.evidence.signals import FEATURES, conflicting, features

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Rows = list[dict[str, object]]

OUT = Path(__file__).resolve().parent.parent / "framework/evidence/data/nli.json"
PRIOR = (0.36, 0.27, 0.37)
PRECISION, LEAST, PENALTY = 0.82, 8, 10.0
METHODS = ("lexical", "lexical+packaged", "lexical+nli", "lexical+packaged+nli")


def read(path: Path) -> Rows:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def measured(rows: Rows, cache: Path | None, name: str) -> dict[str, Array]:
    """Lexical features, packaged features and logits of the small model, cached where asked."""
    file = cache / f"{name}.npz" if cache else None
    pairs = [(str(r["premise"]), str(r["hypothesis"])) for r in rows]
    words = np.array([features(*pair) for pair in pairs])
    if file and file.exists():
        kept = np.load(file)
        return {"words": words, "packaged": kept["packaged"], "logits": kept["logits"]}
    store = models.store()
    rerank, embed, small = (store.get(kind) for kind in ("rerank", "embed", "nli"))
    if not (rerank and embed and small):
        raise SystemExit(f"all three models are needed: {store.problems}")
    packaged, logits = [], []
    for start in range(0, len(pairs), 256):
        part = pairs[start : start + 256]
        packaged += nli.packaged_features(part, rerank, embed)
        logits += small.logits(part)
    found = {"packaged": np.array(packaged), "logits": np.array(logits)}
    if file:
        np.savez(file, **found)
    return {"words": words, **found}


def softmax(z: Array) -> Array:
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def logs(p: Array) -> Array:
    return np.log(np.maximum(p, 1e-6))


def scale_of(x: Array) -> dict[str, list[float]]:
    mean, deviation = x.mean(0), x.std(0) + 1e-6
    mean[0], deviation[0] = 0.0, 1.0
    return {"mean": short(mean), "deviation": short(deviation)}


def short(x: Array) -> list[float]:
    return [float(f"{v:.3g}") for v in np.asarray(x).ravel()]


def table(x: Array) -> list[list[float]]:
    return [short(row) for row in x]


def scaled(x: Array, scale: dict[str, list[float]]) -> Array:
    return np.clip((x - np.array(scale["mean"])) / np.array(scale["deviation"]), -4, 4)


def weights_of(rows: Rows, y: Array) -> Array:
    """Weigh FEVER down, made-up rows other than the neutral ones too, and balance the labels."""
    w = np.array(
        [
            (0.5 if str(r["source"]).startswith("FEVER dev") else 1.0)
            * (0.3 if r.get("synthetic") and r["label"] != "neutral" else 1.0)
            for r in rows
        ]
    )
    for label, share in enumerate(PRIOR):
        w[y == label] *= share / w[y == label].sum()
    return w / w.mean()


def linear(x: Array, y: Array, w: Array, penalty: float, steps: int = 300) -> Array:
    """Multinomial logistic regression by accelerated gradient descent; one row a label."""
    n, d = x.shape
    target = np.eye(3)[y]
    now = ahead = np.zeros((d, 3))
    rate = 1 / (0.5 * np.linalg.norm(x * np.sqrt(w)[:, None], 2) ** 2 / n + penalty / n)
    t = 1.0
    for _ in range(steps):
        gradient = x.T @ ((softmax(x @ ahead) - target) * w[:, None]) / n + penalty / n * ahead
        new = ahead - rate * gradient
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead, now, t = new + (t - 1) / t_new * (new - now), new, t_new
    return now.T


def network(x: Array, y: Array, w: Array, seed: int, hidden: int = 10) -> dict[str, Array]:
    """One hidden layer of tanh, trained with Adam."""
    rng = np.random.default_rng(seed)
    x = np.hstack([x, np.ones((len(x), 1))])
    a = rng.normal(0, x.shape[1] ** -0.5, (x.shape[1], hidden))
    b = rng.normal(0, hidden**-0.5, (hidden + 1, 3))
    first = [np.zeros_like(a), np.zeros_like(b)]
    second = [np.zeros_like(a), np.zeros_like(b)]
    step, epochs, target = 0, 12, np.eye(3)[y]
    for epoch in range(epochs):
        order = rng.permutation(len(x))
        for start in range(0, len(x), 64):
            i = order[start : start + 64]
            h = np.hstack([np.tanh(x[i] @ a), np.ones((len(i), 1))])
            error = (softmax(h @ b) - target[i]) * w[i][:, None] / len(i)
            back = (error @ b[:-1].T) * (1 - h[:, :-1] ** 2)
            step += 1
            for k, (p, g) in enumerate(
                ((a, x[i].T @ back + 1e-4 * a), (b, h.T @ error + 1e-4 * b))
            ):
                first[k] = 0.9 * first[k] + 0.1 * g
                second[k] = 0.999 * second[k] + 0.001 * g * g
                move = first[k] / (1 - 0.9**step) / (np.sqrt(second[k] / (1 - 0.999**step)) + 1e-8)
                p -= 3e-3 * (1 - epoch / epochs) * move
    return {"hidden": table(a.T), "output": table(b.T)}


def parts(rows: Rows, data: dict[str, Array], y: Array) -> dict[str, object]:
    w = weights_of(rows, y)
    both = np.hstack([data["words"], data["packaged"]])
    scales = scale_of(data["words"]), scale_of(both)
    one, two = scaled(data["words"], scales[0]), scaled(both, scales[1])
    return {
        "lexical": {"scale": scales[0], "nets": [network(one, y, w, s) for s in range(3)]},
        "packaged": {
            "scale": scales[1],
            "linear": table(linear(two, y, w, 1.0)),
            "nets": [network(two, y, w, s) for s in range(3)],
        },
    }


def stack_inputs(data: dict[str, Array], method: str) -> Array:
    out = []
    for words, packaged, logits in zip(
        data["words"], data["packaged"], data["logits"], strict=True
    ):
        inputs, rest = nli._log_parts(
            tuple(words),
            tuple(packaged) if "packaged" in method else None,
            tuple(logits) if "nli" in method else None,
        )
        out.append([*inputs, *rest] if "nli" in method else inputs)
    return np.array(out)


def crossed(x: Array, y: Array, penalty: float) -> Array:
    """Ten-fold predictions, five times over, so that nothing is judged by what it was fitted to."""
    rng, found = np.random.default_rng(0), np.zeros((len(y), 3))
    for _ in range(5):
        order = rng.permutation(len(y))
        for fold in range(10):
            test = order[fold::10]
            train = np.setdiff1d(order, test)
            found[test] += softmax(
                x[test] @ linear(x[train], y[train], np.ones(len(train)), penalty).T
            )
    return found / 5


def bar(p: Array, right: Array) -> float:
    """The lowest bar above which at least PRECISION of the pairs are right."""
    order = np.argsort(-p)
    precision = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    good = [i for i in range(LEAST - 1, len(order)) if precision[i] >= PRECISION]
    return float(round(p[order[good[-1]]], 3)) if good else 0.99


def scores(p: Array, y: Array) -> tuple[float, float]:
    said = p.argmax(1)
    f1 = [
        2 * ((said == k) & (y == k)).sum() / max(1, (said == k).sum() + (y == k).sum())
        for k in range(3)
    ]
    return float((said == y).mean()), float(np.mean(f1))


def pooled_bar(p: Array, right: Array, where: Array) -> float:
    return max(0.4, bar(np.where(where, p, 0.0), right & where))


def strong_bar(rows: Rows, data: dict[str, Array], y: Array) -> float:
    """The bar for pairs with a strong sign, from rows that people wrote and made neutral ones."""
    kept = [
        i
        for i, r in enumerate(rows)
        if (not r.get("synthetic") or r["label"] == "neutral")
        and nli.STRONG & set(conflicting(str(r["premise"]), str(r["hypothesis"])))
    ]
    p = np.array([nli.combine(tuple(data["words"][i]), None, None)[0][2] for i in kept])
    found = bar(p, y[kept] == 2)
    print(
        f"{len(kept)} pairs with a strong sign, {(y[kept] == 2).mean():.2f} contradictions, "
        f"bar {found}"
    )
    return max(0.6, found)


def agreed(method: str, results: dict[str, Array], logits: Array) -> Array:
    """Where the shipped classifier and the small model both find the claim contradicted."""
    own = results["lexical+packaged" if "packaged" in method else "lexical"]
    both = (own.argmax(1) == 2) & (logits.argmax(1) == 2)
    return both if "nli" in method else np.zeros(len(logits), bool)


def report(method: str, p: Array, y: Array, yes: Array, no: Array, bars: dict[str, float]) -> None:
    accuracy, f1 = scores(p, y)
    right = (y[no] == 2).mean() if no.any() else float("nan")
    print(
        f"{method:22} cross-validated accuracy {accuracy:.3f} macro-F1 {f1:.3f}; supported "
        f"{yes.mean():.2f} at {(y[yes] == 0).mean():.2f}; refuted {no.mean():.2f} at {right:.2f}; "
        f"{bars}"
    )


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("train", type=Path)
    arguments.add_argument("dev", type=Path)
    arguments.add_argument("--cache", type=Path)
    given = arguments.parse_args()
    train, dev = read(given.train), read(given.dev)
    y, y_dev = (
        np.array([nli.LABELS.index(str(r["label"])) for r in rows]) for rows in (train, dev)
    )
    data, data_dev = measured(train, given.cache, "train"), measured(dev, given.cache, "dev")
    weights: dict[str, object] = {
        "features": list(FEATURES),
        **parts(train, data, y),
        "stack": {},
        "bars": {},
    }
    nli._weights = lambda: weights  # the functions below read the weights that are being made
    seen = [set(conflicting(str(r["premise"]), str(r["hypothesis"]))) for r in dev]
    weak, strong = (np.array([bool(s & kind) for s in seen]) for kind in (nli.WEAK, nli.STRONG))
    results = {}
    for method in METHODS:
        x = stack_inputs(data_dev, method)
        results[method] = crossed(x, y_dev, PENALTY)
        weights["stack"][method] = table(linear(x, y_dev, np.ones(len(x)), PENALTY))  # type: ignore[index]
    seconds = {m: weak | agreed(m, results, data_dev["logits"]) for m in METHODS}
    # Pairs with a sign against them are few: one bar for all methods, the strong signs' from TRAIN.
    pooled = np.concatenate([results[m][:, 2] for m in METHODS])
    wrong = np.tile(y_dev == 2, len(METHODS))
    refuted = pooled_bar(pooled, wrong, np.concatenate([seconds[m] for m in METHODS]))
    certain = strong_bar(train, data, y)
    for method in METHODS:
        p, second = results[method], seconds[method]
        supported = max(0.55, bar(np.where(strong, 0.0, p[:, 0]), y_dev == 0))
        bars = {"supported": supported, "refuted": refuted, "refuted_strong": certain}
        weights["bars"][method] = bars  # type: ignore[index]
        yes = (p[:, 0] >= supported) & ~strong
        no = ((p[:, 2] >= refuted) & second) | ((p[:, 2] >= certain) & strong)
        report(method, p, y_dev, yes, no, bars)
    weights["bars"]["model"] = {"supported": 0.9, "refuted": 0.9, "refuted_strong": 0.7}  # type: ignore[index]
    OUT.write_text(json.dumps(weights, separators=(",", ":")) + "\n", "utf-8")
    print(OUT, OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
