"""Measure evidence: `python benchmarks/evidence.py [--quick]` prints one table a subject.

Without the recordings beside the checkout there is nothing to measure, and it says so. --quick
leaves out what needs models; the small NLI model is looked for in CONSILIENCE_MODELS_DIR, else in
the recordings. The stack of the classifier was fitted on nli.jsonl: its cross-validated figures
are printed by train_nli.py, the figures here are those of the shipped weights on the same pairs.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import os
import sys
import time
from collections import Counter, defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from framework.evidence import agreement, context, injection, models, nli, verify  # noqa: E402
from framework.evidence.chunks import Chunk, Source  # noqa: E402
from framework.evidence.lexical import WordIndex  # noqa: E402
from framework.reading import read, tokens  # noqa: E402
from framework.reading.document import BlockKind  # noqa: E402

SHARED = ROOT.parent / "shared"
EVALS, PAGES = SHARED / "evals", SHARED / "pages"
PLAIN = "plain_task_no_marker"


def rows(name: str) -> list[dict[str, str]]:
    return [json.loads(line) for line in (EVALS / name).read_text("utf-8").splitlines()]


def stores() -> dict[str, models.ModelStore]:
    folder = Path(os.environ.get(models.MODELS_DIR) or SHARED / "models")
    packaged = tuple(r for r in models.RECORDS if r.kind != "nli")
    small = tuple(r for r in models.RECORDS if r.kind == "nli")
    return {
        "no model": models.ModelStore(records=()),
        "packaged models": models.ModelStore(records=packaged),
        "small NLI model": models.ModelStore(models_dir=folder, records=small),
        "all": models.ModelStore(models_dir=folder),
    }


def table(title: str, head: tuple[str, ...], body: list[tuple[object, ...]]) -> None:
    print(f"\n## {title}\n")
    print(f"| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for row in body:
        print("| " + " | ".join(f"{c:.3f}" if isinstance(c, float) else str(c) for c in row) + " |")


def injections() -> None:
    count: dict[tuple[str, str], list[int]] = defaultdict(lambda: [0, 0])
    started = time.process_time()
    for row in rows("injection.jsonl"):
        key = row["label"], row["category"]
        count[key][0] += injection.scan(row.get("html") or row["text"]).risk != "low"
        count[key][1] += 1
    seconds = time.process_time() - started

    def share(keys: list[tuple[str, str]]) -> float:
        return sum(count[k][0] for k in keys) / max(1, sum(count[k][1] for k in keys))

    attacks = [k for k in count if k[0] == "attack" and k[1] != PLAIN]
    benign = [k for k in count if k[0] == "benign"]
    pages = [k for k in benign if "web_" in k[1]]
    snippets = json.loads((EVALS / "prompt_injection.json").read_text("utf-8"))
    wrong = sum(
        (injection.scan(s["html"]).risk != "low") != (s["expected"] == "detect") for s in snippets
    )
    table(
        "Injection scan (risk medium or high)",
        ("set", "share flagged"),
        [
            ("attacks (recall)", share(attacks)),
            ("plain tasks without a marker", share([("attack", PLAIN)])),
            ("benign (false alarms)", share(benign)),
            ("whole pages and articles (false alarms)", share(pages)),
            (f"prompt_injection.json: wrong of {len(snippets)}", wrong),
            ("seconds", seconds),
        ],
    )
    missed = [
        (k[1], f"{n} of {total}")
        for k, (n, total) in sorted(count.items())
        if k in attacks and n < total
    ]
    table("Attacks missed, by category", ("category", "found"), missed)


def false_alarms_on_pages(every: int) -> None:
    paths = sorted(PAGES.rglob("*.gz"))[::every]
    started, size, flagged = time.process_time(), 0, 0
    for path in paths:
        body = gzip.decompress(path.read_bytes())
        size += len(body)
        flagged += injection.scan(body).risk != "low"
    seconds = time.process_time() - started
    speed = size / 1e6 / seconds
    body = [(len(paths), flagged, flagged / len(paths), speed)]
    table("Injection scan of recorded pages", ("pages", "flagged", "share", "MB/s"), body)


def scanning_cost(every: int) -> None:
    """CPU time of scanning recorded pages against that of reading them, page by page in one run."""
    paths = sorted(PAGES.rglob("*.html.gz"))[::every]
    reading = scanning = 0.0
    injection.scan("The expressions are read once, which is not part of a page's cost.")
    for path in paths:
        body = gzip.decompress(path.read_bytes())
        started = time.process_time()
        read(body, "https://recorded.example/")
        between = time.process_time()
        injection.scan(body)
        scanning += time.process_time() - between
        reading += between - started
    each = 1000 / len(paths)
    table(
        "CPU of the injection scan",
        ("pages", "reading, ms a page", "scan, ms a page", "ratio"),
        [(len(paths), reading * each, scanning * each, scanning / reading)],
    )


def entailments(chosen: dict[str, models.ModelStore]) -> None:
    pairs = rows("nli.jsonl")
    gold = [row["label"] for row in pairs]
    body = []
    for name, store in chosen.items():
        started = time.process_time()
        found = nli.judge([(r["premise"], r["hypothesis"]) for r in pairs], store)
        ms = 1000 * (time.process_time() - started) / len(pairs)
        said = [
            nli.LABELS[max(range(3), key=(j.entailment, j.neutral, j.contradiction).__getitem__)]
            for j in found
        ]
        accuracy = sum(a == b for a, b in zip(said, gold, strict=True)) / len(gold)
        committed = []
        for verdict, label in (("supported", "entailment"), ("refuted", "contradiction")):
            hits = [g == label for j, g in zip(found, gold, strict=True) if j.verdict == verdict]
            committed += [len(hits) / len(gold), sum(hits) / max(1, len(hits))]
        body.append((name, found[0].method, accuracy, *committed, round(ms, 1)))
    head = (
        "models",
        "method",
        "accuracy",
        "supported: coverage",
        "precision",
        "refuted: coverage",
        "precision",
        "ms a pair",
    )
    table("Entailment (nli.jsonl; weights fitted on it, see train_nli.py)", head, body)


def disagreements(chosen: dict[str, models.ModelStore]) -> None:
    pairs = [row for row in rows("nli.jsonl") if row["source"].startswith("hand-written")]
    body = []
    for name, store in chosen.items():
        found = Counter(
            (r["label"], agreement.relate(r["premise"], r["hypothesis"], store).kind) for r in pairs
        )
        total = Counter(r["label"] for r in pairs)
        body.append((name, *(found[label, "agreement"] / total[label] for label in nli.LABELS)))
    head = ("models", "entailment", "neutral", "contradiction")
    table("Hand-written pairs counted as agreement", head, body)


def ranking(chosen: dict[str, models.ModelStore], step: int) -> None:
    body = []
    for language in ("en", "es", "ru", "ar", "zh", "th"):
        data = json.loads(gzip.decompress((EVALS / f"passages/{language}.json.gz").read_bytes()))
        chunks = [
            Chunk(
                str(p["id"]),
                0,
                p["text"],
                p["text"],
                0,
                0,
                (p["section"],),
                "",
                BlockKind.PARAGRAPH,
            )
            for p in data["passages"]
        ]
        index = WordIndex(chunks)
        for name, store in chosen.items():
            if name == "packaged models" and language != "en":
                continue
            queries = data["queries"][::step]
            started, right = time.process_time(), 0
            for query in queries:
                ranked = context.rank_chunks(chunks, index, query["query"], store=store)
                right += bool(ranked.order) and chunks[ranked.order[0]].id == str(query["passage"])
            ms = 1000 * (time.process_time() - started) / len(queries)
            body.append((language, name, len(queries), right / len(queries), round(ms, 1)))
    table(
        "Right paragraph first (XQuAD)",
        ("language", "models", "questions", "R@1", "ms a query"),
        body,
    )


def made_claims(chosen: dict[str, models.ModelStore]) -> None:
    with (ROOT / "tests/framework/evidence/made_claims.tsv").open(encoding="utf-8") as file:
        claims = list(csv.DictReader(file, delimiter="\t"))
    pages = {}
    for key in {row["page"] for row in claims}:
        path = next((PAGES / "articles").glob(f"{key}*.html.gz"))
        pages[key] = read(gzip.decompress(path.read_bytes()), f"https://recorded.example/{key}")
    body = []
    for name, store in chosen.items():
        found: Counter[tuple[bool, str]] = Counter()
        for row in claims:
            source = Source(
                pages[row["page"]].url, pages[row["page"]].title or "", pages[row["page"]]
            )
            found[
                row["made"] == "true", verify.verify(row["claim"], [source], store=store).verdict
            ] += 1
        counts = [
            found[truth, verdict]
            for truth in (False, True)
            for verdict in ("supported", "refuted", "unclear")
        ]
        body.append((name, *counts))
    head = (
        "models",
        "false: supported",
        "refuted",
        "unclear",
        "true: supported",
        "refuted",
        "unclear",
    )
    table("Made claims about recorded pages", head, body)


def cost(store: models.ModelStore) -> None:
    """web_context's CPU time against that of its model alone, on pages with 12 candidates."""
    model = store.get("rerank")
    tokens.count("The vocabulary is loaded once, which is not part of an answer's cost.")
    total = alone = 0.0
    for path in sorted((PAGES / "articles").glob("*.html.gz"))[:40]:
        page = read(gzip.decompress(path.read_bytes()), "https://recorded.example/")
        task = " ".join((page.title or "what happened").split()[:10])
        ranked = context.rank([Source(page.url, page.title or "", page)], task, store=store)
        if model is None or len(ranked.answers) < context.CANDIDATES:
            continue
        pairs = [
            (task, " — ".join([*ranked.chunks[i].section[-1:], ranked.chunks[i].plain]))
            for i in ranked.answers
        ]
        started = time.process_time()
        model.logits(pairs, batch=4)
        alone += time.process_time() - started
        started = time.process_time()
        context.build(page, task, store=store)
        total += time.process_time() - started
    if alone:
        table(
            "CPU of web_context",
            ("model alone, s", "all, s", "ratio"),
            [(alone, total, total / alone)],
        )


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--quick", action="store_true", help="only what needs no model")
    arguments.add_argument("--step", type=int, default=5, help="take every Nth question of XQuAD")
    arguments.add_argument("--every", type=int, default=1, help="scan every Nth recorded page")
    given = arguments.parse_args()
    if not EVALS.exists():
        print("real recordings (../shared) are not part of this clone")
        return 0
    every = stores()
    chosen = {"no model": every["no model"]} if given.quick else every
    rankers = {name: s for name, s in chosen.items() if name in ("no model", "packaged models")}
    injections()
    false_alarms_on_pages(given.every)
    scanning_cost(given.every)
    entailments(chosen)
    disagreements(chosen)
    ranking(rankers, given.step)
    made_claims(chosen)
    if not given.quick:
        cost(every["packaged models"])
        for name, problem in every["all"].problems.items():
            print(f"\n{name}: {problem}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
