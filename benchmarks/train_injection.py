"""Train how orders to a machine are worded: `python benchmarks/train_injection.py [SHARED]`.

Learns from benchmarks/injection_wordings.toml (written by us) and, from the recordings in SHARED
(default: ../shared beside the checkout), the sentences of pages and of the development attacks.
Writes framework/evidence/data/wording.json; the seed is fixed, so the same files give the same
weights. Takes some five minutes on one core. Needs numpy.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from framework.evidence import injection  # noqa: E402
from framework.evidence.disguise import fold  # noqa: E402
from framework.evidence.surfaces import surfaces  # noqa: E402
from framework.evidence.wording import features  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

OUT = ROOT / "framework/evidence/data/wording.json"
WORDINGS = Path(__file__).with_name("injection_wordings.toml")
PLAIN = "plain_task_no_marker"
#: Orders and statements put together from parts, and what one sentence of a kind weighs.
ORDERS, STATEMENTS = 4_000, 900
WEIGHT = {"attack": 2.0, "order": 0.5, "page": 1.0, "benign": 3.0}
STEPS, DECAY = 150, 0.9

Row = tuple[frozenset[str], int, float]


def sentences(body: bytes | str) -> Iterator[str]:
    text = body.decode("utf-8", "replace") if isinstance(body, bytes) else body
    for surface in surfaces(text):
        if not surface.code:
            for sentence in re.split(r"(?<=[.!?])\s+|\n+", surface.text):
                folded = re.sub(r"\s+", " ", fold(sentence)).strip()
                if 15 <= len(folded) <= 600 and folded.isascii():
                    yield folded


def orders(parts: dict[str, list[str]], chance: random.Random) -> Iterator[str]:
    for _ in range(ORDERS):
        head, ask, tail = (chance.choice(parts[k]) for k in ("addresses", "asks", "tails"))
        link = "" if not head or head[-1] in ",:" or head.split()[-1] in LINKS else " must"
        yield f"{head}{link} {ask}{tail}.".strip().lower()


LINKS = {"to", "must", "should", "now"}


def recorded(shared: Path) -> Iterator[tuple[str, int, str]]:
    """Yield sentence, label and kind from the recordings: pages, articles, known attacks."""
    for path in sorted((shared / "pages").rglob("*.gz")):
        yield from ((s, 0, "page") for s in sentences(gzip.decompress(path.read_bytes())))
    for line in (shared / "evals/injection.jsonl").read_text("utf-8").splitlines():
        row = json.loads(line)
        body = row.get("html") or row["text"]
        if row["label"] == "benign":
            yield from ((s, 0, "benign") for s in sentences(body))
        elif row["category"] != PLAIN:
            for warning in injection.scan(body).warnings:
                yield from ((s, 1, "attack") for s in sentences(warning.snippet))


def written() -> Iterator[tuple[str, int, str]]:
    table = tomllib.loads(WORDINGS.read_text("utf-8"))
    chance = random.Random(1)
    yield from ((fold(s), 1, "attack") for s in table["attack"])
    yield from ((s, 1, "order") for s in orders(table["orders"], chance))
    yield from ((fold(s), 0, "benign") for s in table["benign"])
    parts = table["statements"]
    for _ in range(STATEMENTS):
        said = f"{chance.choice(parts['subjects'])} {chance.choice(parts['predicates'])}."
        yield fold(said), 0, "benign"


def vocabulary(rows: Iterable[Row]) -> dict[str, int]:
    """Features of several orders: those that ordinary text has too, and the very frequent ones."""
    orders, others = Counter[str](), Counter[str]()
    for found, label, _ in rows:
        (orders if label else others).update(found)
    kept = (f for f, n in orders.items() if n >= 6 or (n >= 3 and others[f]))
    return {feature: number for number, feature in enumerate(sorted(kept))}


def fit(rows: list[Row], known: dict[str, int]) -> tuple[NDArray[np.float64], float]:
    """Logistic regression with a quadratic penalty, by Adam over all rows at once."""
    picks = [[known[f] for f in found if f in known] for found, _, _ in rows]
    columns = np.array([i for pick in picks for i in pick])
    lines = np.repeat(np.arange(len(rows)), [len(pick) for pick in picks])
    gold, weight = (np.array([row[i] for row in rows], dtype=float) for i in (1, 2))
    theta, speed, size = (
        np.zeros(len(known) + 1),
        np.zeros(len(known) + 1),
        np.zeros(len(known) + 1),
    )
    theta[-1] = -6.0
    for step in range(1, STEPS + 1):
        odds = theta[-1] + np.bincount(lines, weights=theta[columns], minlength=len(rows))
        error = (1 / (1 + np.exp(-odds)) - gold) * weight
        slope = np.append(
            np.bincount(columns, error[lines], len(known)) + DECAY * theta[:-1], error.sum()
        )
        speed, size = 0.9 * speed + 0.1 * slope, 0.99 * size + 0.01 * slope**2
        theta -= 0.15 * (speed / (1 - 0.9**step)) / (np.sqrt(size / (1 - 0.99**step)) + 1e-8)
    return theta[:-1], float(theta[-1])


def main() -> None:
    shared = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared"
    unique = dict.fromkeys([*written(), *recorded(shared)])
    rows = [(frozenset(features(s)), label, WEIGHT[kind]) for s, label, kind in unique]
    known = vocabulary(rows)
    theta, bias = fit(rows, known)
    weights = {f: round(100 * theta[i]) for f, i in known.items() if abs(theta[i]) >= 0.03}
    OUT.write_text(
        json.dumps({"bias": round(bias, 3), "weights": weights}, indent=0) + "\n", "utf-8"
    )
    print(f"{len(rows)} sentences, {len(weights)} weights -> {OUT.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
