"""Train the shipped claim classifier: `python benchmarks/train_nli.py TRAIN.jsonl.gz DEV.jsonl`.

Features come from framework.evidence. Two boosted forests are trained on TRAIN: one on what can be
counted with no model, on all rows; one that also sees the packaged models' numbers, on a drawn
sample. The stack (one number a part) and the bars are fitted on DEV. Everything is seeded: the
same files and packages give the same framework/evidence/data/nli.json. Printed are the accuracies
on TRAIN (in folds by premise), on DEV by a forest that never saw it, and on DEV in folds.

Needs the evidence extra, the packaged models, and the small model's folder in
CONSILIENCE_MODELS_DIR. Rows: premise, hypothesis, label, source, synthetic (optional). Takes some
five minutes on one core; what models say is kept in the folder given with --cache.
"""

from __future__ import annotations

import argparse
import base64
import gzip
import json
import zlib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from framework.evidence import models, nli
from framework.evidence.closeness import packaged_features
from framework.evidence.comparison import FEATURES, features, signs
from framework.evidence.forest import Forest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    Array = NDArray[np.float64]
    Counts = NDArray[np.int64]
    Rows = list[dict[str, object]]

OUT = Path(__file__).resolve().parent.parent / "framework/evidence/data/nli.json"
PRIOR = (0.36, 0.27, 0.37)
PRECISION, LEAST = 0.84, 8
METHODS = ("lexical", "lexical+packaged", "lexical+nli", "lexical+packaged+nli")
SAMPLE, FOLDS, BINS = 5_120, 3, 20
LEXICAL = {"forests": 3, "trees": 150, "depth": 4, "rate": 0.08, "columns": 0.2, "rows": 0.4}
PACKAGED = {"forests": 3, "trees": 70, "depth": 4, "rate": 0.09, "columns": 0.2, "rows": 0.5}
LEAF_PENALTY, STACK_PENALTY, CLAIM_PENALTY = 20.0, 3.0, 3.0
#: Rows in which a word must stand to count in the classifier of claims alone, and how far its
#: answers may move a row's weight.
CLAIM_ROWS, CLAIM_REACH = 40, 2.0


def read(path: Path) -> Rows:
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def pairs_of(rows: Rows) -> list[tuple[str, str]]:
    return [(str(r["premise"]), str(r["hypothesis"])) for r in rows]


def source_of(row: dict[str, object]) -> str:
    return str(row["source"])


def sample(rows: Rows) -> Counts:
    """Draw the rows that the packaged models are asked about: few of the many from FEVER."""
    rng = np.random.default_rng(0)
    fever = np.array([source_of(r).startswith("FEVER dev") for r in rows])
    plain = np.array([source_of(r).startswith("Breaking") for r in rows])
    drawn = [np.flatnonzero(~fever & ~plain)]
    for kind, most in ((plain, 1_000), (fever, 3_000)):
        known = np.flatnonzero(kind)
        drawn.append(rng.choice(known, min(most, len(known)), replace=False))
    chosen = np.concatenate(drawn)
    rng.shuffle(chosen)
    return chosen[:SAMPLE]


def asked(rows: Rows, cache: Path | None, name: str, *, logits: bool) -> dict[str, Array]:
    """What the packaged models say of the rows, and where asked for the small model's logits."""
    file = cache / f"{name}.npz" if cache else None
    if file and file.exists():
        return dict(np.load(file))
    store = models.store()
    rerank, embed, small = (store.get(kind) for kind in ("rerank", "embed", "nli"))
    if not (rerank and embed and small):
        raise SystemExit(f"all three models are needed: {store.problems}")
    pairs = pairs_of(rows)
    parts = [pairs[start : start + 256] for start in range(0, len(pairs), 256)]
    found = {"packaged": [row for part in parts for row in packaged_features(part, rerank, embed)]}
    if logits:
        found["logits"] = [row for part in parts for row in small.logits(part)]
    arrays = {key: np.array(value) for key, value in found.items()}
    if file:
        np.savez(file, allow_pickle=False, **arrays)
    return arrays


def softmax(z: Array) -> Array:
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def centred(z: Array) -> Array:
    return z - z.mean(1, keepdims=True)


def balanced(w: Array, y: Counts) -> Array:
    for label, part in enumerate(PRIOR):
        w[y == label] *= part / w[y == label].sum()
    return w / w.mean()


def source_weights(rows: Rows, y: Counts) -> Array:
    """Weigh rows by how much they are like a person's claim about a text.

    FEVER is large and of one style, its symmetric part made to undo that style; rows made by rule
    count less, those of Fool Me Twice's other sentences least: some of them bear the claim out.
    """
    w = np.ones(len(rows))
    for i, row in enumerate(rows):
        source, made = source_of(row), bool(row.get("synthetic"))
        for start, weight in (
            ("FEVER dev", 0.5),
            ("FEVER-sym", 2.0),
            ("Break", 0.7),
            ("Fool", 2.0),
        ):
            w[i] *= weight if source.startswith(start) else 1.0
        if made and row["label"] != "neutral":
            w[i] *= 0.3
        if made and row["label"] == "neutral" and source.startswith("Fool"):
            w[i] *= 0.3
    return balanced(w, y)


def from_claims_alone(rows: Rows, y: Counts, w: Array) -> Array:
    """What the words of a claim betray of its label, without any text; in folds by claim."""
    claims = [frozenset(str(r["hypothesis"]).split()) for r in rows]
    counts = Counter(word for claim in claims for word in claim)
    known = sorted(word for word, n in counts.items() if n >= CLAIM_ROWS)
    x = np.array([[1.0, *(word in claim for word in known)] for claim in claims], np.float32)
    fold = np.array([zlib.crc32(str(r["hypothesis"]).encode()) % FOLDS for r in rows])
    found = np.zeros((len(rows), 3))
    for n in range(FOLDS):
        away = fold != n
        found[~away] = softmax(x[~away] @ linear(x[away], y[away], w[away], CLAIM_PENALTY).T)
    return found


def weights_of(rows: Rows, y: Counts) -> Array:
    """Weigh rows so that the claim alone tells little of the label, as in the symmetric part.

    A person who makes up a false claim likes certain words ("only", "not"); weighing each row by
    how little its claim betrays keeps the classifier from learning those.
    """
    w = source_weights(rows, y)
    betrayed = from_claims_alone(rows, y, w)
    print(f"TRAIN from claims alone: {scores(betrayed, y)}")
    ratio = (np.array(PRIOR)[y] / betrayed[np.arange(len(y)), y]) ** 0.5
    return balanced(w * np.clip(ratio, 1 / CLAIM_REACH, CLAIM_REACH), y)


def borders_of(x: Array) -> list[list[float]]:
    """Where each feature may be split: between its values, at most BINS - 1 places."""
    found = []
    for column in x.T:
        values = np.unique(column)
        if len(values) > BINS:
            values = np.unique(np.quantile(column, np.linspace(0, 1, BINS + 1)))
        middles = (values[1:] + values[:-1]) / 2
        found.append(sorted({float(f"{v:.4g}") for v in middles}) or [0.0])
    return found


def binned(x: Array, borders: list[list[float]]) -> Counts:
    columns = [np.searchsorted(b, x[:, j], side="right") for j, b in enumerate(borders)]
    return np.stack(columns, 1)


def sums(key: Counts, values: Array, shape: tuple[int, ...]) -> Array:
    """Add the values up by key, for every column of values."""
    size = int(np.prod(shape))
    flat, width = key.ravel(), key.shape[1]
    return np.stack([np.bincount(flat, np.repeat(v, width), size).reshape(shape) for v in values.T])


def split(q: Counts, leaf: Counts, leaves: int, g: Array, h: Array) -> tuple[int, int]:
    """Return the column and the border that part all leaves of a level best."""
    width = q.shape[1]
    shape = (width, leaves, BINS + 1)
    key = np.arange(width)[None, :] * leaves * (BINS + 1) + leaf[:, None] * (BINS + 1) + q
    low_g, low_h = sums(key, g, shape).cumsum(3), sums(key, h, shape).cumsum(3)
    high_g, high_h = low_g[..., -1:] - low_g, low_h[..., -1:] - low_h
    gain = low_g**2 / (low_h + LEAF_PENALTY) + high_g**2 / (high_h + LEAF_PENALTY)
    column, border = np.unravel_index(gain.sum((0, 2))[:, :-1].argmax(), (width, BINS))
    return int(column), int(border)


def grow(
    x: Array, y: Counts, w: Array, *, forests: int, trees: int, depth: int, rate: float,
    columns: float, rows: float,
) -> dict[str, object]:  # fmt: skip
    """Grow the mean of several boosted forests; the result is what Forest.read reads."""
    borders = borders_of(x)
    q = binned(x, borders)
    nodes: list[tuple[int, int]] = []
    values: list[Array] = []
    for seed in range(forests):
        more, leaves = boost(q, borders, y, w, seed, trees, depth, rate, columns, rows)
        nodes += more
        values += [leaf / forests for leaf in leaves]
    return stored(borders, nodes, np.array(values), depth)


def boost(
    q: Counts, borders: list[list[float]], y: Counts, w: Array, seed: int, trees: int, depth: int,
    rate: float, columns: float, rows: float,
) -> tuple[list[tuple[int, int]], list[Array]]:  # fmt: skip
    """Boost trees whose levels ask one question each."""
    rng = np.random.default_rng(seed)
    n, width = q.shape
    z, target = np.zeros((n, 3)), np.eye(3)[y]
    nodes: list[tuple[int, int]] = []
    values: list[Array] = []
    for _ in range(trees):
        p = softmax(z)
        drawn = rng.choice(n, int(n * rows), replace=False)
        seen = rng.choice(width, max(1, int(width * columns)), replace=False)
        g = (target - p)[drawn] * w[drawn][:, None]
        h = (p * (1 - p))[drawn] * w[drawn][:, None]
        leaf, place = np.zeros(len(drawn), np.int64), np.zeros(n, np.int64)
        for level in range(depth):
            column, border = split(q[drawn][:, seen], leaf, 1 << level, g, h)
            feature = int(seen[column])
            border = min(border, len(borders[feature]) - 1)
            nodes.append((feature, border))
            place = 2 * place + (q[:, feature] > border)
            leaf = place[drawn]
        key = leaf[:, None]
        top, bottom = (sums(key, v, (1 << depth,)) for v in (g, h))
        values.append(rate * (top / (bottom + LEAF_PENALTY)).T)
        z += values[-1][place]
    return nodes, values


def stored(
    borders: list[list[float]], nodes: list[tuple[int, int]], values: Array, depth: int
) -> dict[str, object]:
    used = {feature for feature, _ in nodes}
    scale = float(f"{abs(values).max() / 127:.4g}")
    leaves = np.clip(np.rint(values / scale) + 128, 0, 255).astype(np.uint8)
    return {
        "depth": depth,
        "scale": scale,
        "borders": [b if n in used else [] for n, b in enumerate(borders)],
        "splits": base64.b85encode(bytes(v for node in nodes for v in node)).decode(),
        "leaves": base64.b85encode(leaves.tobytes()).decode(),
    }


def raw(forest: dict[str, object], x: Array) -> Array:
    """The sums of a stored forest, exactly as the program itself finds them."""
    trees = Forest.read(forest)
    return np.array([trees.raw(row) for row in x.tolist()])


def folds(rows: Rows) -> Counts:
    """Number every row's fold by its premise, so that no premise is in two of them."""
    return np.array([zlib.crc32(str(r["premise"]).encode()) % FOLDS for r in rows])


def out_of_fold(rows: Rows, x: Array, y: Counts, w: Array) -> Array:
    """What a forest says of each row that was trained without the row's premise."""
    fold, found = folds(rows), np.zeros((len(rows), 3))
    for n in range(FOLDS):
        away = fold != n
        found[~away] = raw(grow(x[away], y[away], w[away], **LEXICAL), x[~away])  # type: ignore[arg-type]
    return found


def linear(x: Array, y: Counts, w: Array, penalty: float, steps: int = 150) -> Array:
    """Multinomial logistic regression by accelerated gradient descent; one row a label."""
    n, d = x.shape
    target = np.eye(3, dtype=x.dtype)[y]
    now = ahead = np.zeros((d, 3), x.dtype)
    weight = (w / n).astype(x.dtype)[:, None]
    rate = x.dtype.type(1 / (0.5 * largest(x * weight**0.5) + penalty / n))
    t = 1.0
    for _ in range(steps):
        gradient = x.T @ ((softmax(x @ ahead) - target) * weight) + penalty / n * ahead
        new = ahead - rate * gradient
        t_new = (1 + np.sqrt(1 + 4 * t * t)) / 2
        ahead, now, t = new + x.dtype.type((t - 1) / t_new) * (new - now), new, t_new
    return now.T


def largest(x: Array) -> float:
    """The largest eigenvalue of x.T @ x, by power iteration, a little over."""
    v = np.ones(x.shape[1], x.dtype)
    for _ in range(30):
        v = x.T @ (x @ (v / np.linalg.norm(v)))
    return 1.05 * float(np.linalg.norm(v))


def stacked(parts: Array, y: Counts, steps: int = 300) -> Array:
    """Weigh the parts' log-probabilities: one number a part, none below zero, no label favoured."""
    n, _, count = parts.shape
    target, even = np.eye(3)[y], np.full(count, 1 / count)
    found = even.copy()
    for _ in range(steps):
        error = (softmax(parts @ found) - target) / n
        gradient = (error[:, :, None] * parts).sum((0, 1))
        found = np.maximum(found - 0.3 * (gradient + STACK_PENALTY / n * (found - even)), 0.0)
    return found


def crossed(parts: Array, y: Counts) -> Array:
    """Ten-fold predictions, five times over, so that nothing is judged by what it was fitted to."""
    rng, found = np.random.default_rng(0), np.zeros((len(y), 3))
    for _ in range(5):
        order = rng.permutation(len(y))
        for fold in range(10):
            test = order[fold::10]
            train = np.setdiff1d(order, test)
            found[test] += softmax(parts[test] @ stacked(parts[train], y[train]))
    return found / 5


def bar(p: Array, right: NDArray[np.bool_]) -> float:
    """The lowest bar above which at least PRECISION of the pairs are right."""
    order = np.argsort(-p)
    precision = np.cumsum(right[order]) / np.arange(1, len(order) + 1)
    good = [i for i in range(LEAST - 1, len(order)) if precision[i] >= PRECISION]
    return float(np.ceil(p[order[good[-1]]] * 1_000) / 1_000) if good else 0.99


def scores(p: Array, y: Counts) -> str:
    said = p.argmax(1)
    f1 = [
        2 * ((said == k) & (y == k)).sum() / max(1, (said == k).sum() + (y == k).sum())
        for k in range(3)
    ]
    loss = -np.log(np.maximum(p[np.arange(len(y)), y], 1e-6)).mean()
    return f"accuracy {(said == y).mean():.3f} macro-F1 {np.mean(f1):.3f} log-loss {loss:.3f}"


def stack_inputs(words: Array, data: dict[str, Array], method: str) -> Array:
    """The parts' centred log-probabilities: row, label, part."""
    return np.array(
        [
            nli.log_parts(
                tuple(w),
                tuple(p) if "packaged" in method else None,
                tuple(s) if "nli" in method else None,
            )
            for w, p, s in zip(
                words.tolist(), data["packaged"].tolist(), data["logits"].tolist(), strict=True
            )
        ]
    ).transpose(0, 2, 1)


def agreed(method: str, results: dict[str, Array], logits: Array) -> NDArray[np.bool_]:
    """Where the shipped classifier and the small model both find the claim contradicted."""
    own = results["lexical+packaged" if "packaged" in method else "lexical"]
    both: NDArray[np.bool_] = (own.argmax(1) == 2) & (logits.argmax(1) == 2)
    return both if "nli" in method else np.zeros(len(logits), bool)


def trained(rows: Rows, words: Array, y: Counts, cache: Path | None) -> dict[str, object]:
    """Grow both forests; the second also learns from what the first says of rows it never saw."""
    w = weights_of(rows, y)
    unseen = out_of_fold(rows, words, y, w)
    print(f"TRAIN in folds by premise: {scores(softmax(unseen), y)}")
    chosen = sample(rows)
    part = [rows[i] for i in chosen]
    packaged = asked(part, cache, "sample", logits=False)["packaged"]
    both = np.hstack([words[chosen], centred(unseen[chosen]), packaged])
    return {
        "features": list(FEATURES),
        "lexical": grow(words, y, w, **LEXICAL),  # type: ignore[arg-type]
        "packaged": grow(both, y[chosen], w[chosen], **PACKAGED),  # type: ignore[arg-type]
        "stack": {},
        "bars": {},
    }


def pooled(results: dict[str, Array], where: dict[str, NDArray[np.bool_]]) -> Array:
    """The chosen pairs' probability of contradiction, 0 elsewhere, over all methods: pairs with a
    sign against them are too few for a bar of each method's own."""
    return np.concatenate([np.where(where[m], results[m][:, 2], 0.0) for m in METHODS])


def bars_of(
    results: dict[str, Array], data: dict[str, Array], y: Counts, seen: Sequence[set[str]]
) -> dict[str, dict[str, float]]:
    """Set each method's bars, and print what lies above them.

    Weaker signs come in after the strong ones, as long as all together stay right often enough.
    """
    weak, strong = (np.array([bool(s & kind) for s in seen]) for kind in (nli.WEAK, nli.STRONG))
    plain = np.array([not s for s in seen])
    seconds = {m: weak | agreed(m, results, data["logits"]) for m in METHODS}
    wrong = np.tile(y == 2, len(METHODS))
    sure = pooled(results, dict.fromkeys(METHODS, strong))
    certain = max(0.55, bar(sure, wrong))
    rest = pooled(results, {m: seconds[m] & ~strong for m in METHODS})
    refuted = max(0.7, bar(np.where(sure >= certain, 1.0, rest), wrong))
    found = {}
    for method in METHODS:
        p = results[method]
        supported = max(0.5, bar(np.where(plain, p[:, 0], 0.0), (y == 0) & plain))
        bars = {"supported": supported, "refuted": refuted, "refuted_strong": certain}
        found[method] = bars
        yes = (p[:, 0] >= supported) & plain
        no = ((p[:, 2] >= refuted) & seconds[method]) | ((p[:, 2] >= certain) & strong)
        right = (y[no] == 2).mean() if no.any() else float("nan")
        print(
            f"{method:22} DEV in folds: {scores(p, y)}; supported {yes.mean():.3f} at "
            f"{(y[yes] == 0).mean():.2f}; refuted {no.mean():.3f} at {right:.2f}; {bars}"
        )
    return found


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
    words, words_dev = (
        np.array([features(*pair) for pair in pairs_of(rows)]) for rows in (train, dev)
    )
    weights = trained(train, words, y, given.cache)
    nli._weights = lambda: weights  # the functions below read the weights that are being made
    data = asked(dev, given.cache, "dev", logits=True)
    results = {}
    stack: dict[str, object] = {}
    for method in METHODS:
        x = stack_inputs(words_dev, data, method)
        print(f"{method:22} DEV, last part alone: {scores(softmax(x[:, :, -1]), y_dev)}")
        results[method] = crossed(x, y_dev)
        stack[method] = [float(f"{v:.3g}") for v in stacked(x, y_dev)]
    weights["stack"] = stack
    bars = bars_of(results, data, y_dev, [set(signs(*pair)) for pair in pairs_of(dev)])
    bars["model"] = {"supported": 0.9, "refuted": 0.9, "refuted_strong": 0.7}
    weights["bars"] = bars
    OUT.write_text(json.dumps(weights, separators=(",", ":")) + "\n", "utf-8")
    print(OUT, OUT.stat().st_size, "bytes")


if __name__ == "__main__":
    main()
