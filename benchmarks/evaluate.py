"""Evaluate reading and evidence on recorded pages: `python benchmarks/evaluate.py [--out DIR]`.

Two parts, both repeatable without a network: 20 relevance cases (relevance.tsv: the kept text must
hold the wanted words, not the unwanted, fit the budget, and stand where it says), and a stress run
over recorded pages (read, rank, scan; tokens saved, structured data, provenance). Writes
evaluation.json and evaluation.md; ends with 1 where a relevance case fails.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import json
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from framework.evidence import context, injection  # noqa: E402
from framework.reading import Document, read  # noqa: E402

PAGES = ROOT.parent / "shared" / "pages"


def document(path: Path) -> Document:
    return read(gzip.decompress(path.read_bytes()), f"https://recorded.example/{path.name[:16]}")


def placed(found: context.Context, page: Document) -> bool:
    """Tell whether every passage stands where it says it does."""
    return all(
        page.markdown[e.char_start : e.char_end] == e.text and e.dom_path
        for e in found.evidence_chunks
    )


def relevance(row: dict[str, str]) -> dict[str, object]:
    page = document(next((PAGES / "articles").glob(f"{row['page']}*.html.gz")))
    found = context.build(page, row["task"], max_tokens=int(row["max_tokens"]))
    text = "\n\n".join(e.text for e in found.evidence_chunks).lower()
    checks = {
        "included": all(word.lower() in text for word in row["must_include"].split("|")),
        "excluded": not any(w and w.lower() in text for w in row["must_not_include"].split("|")),
        "budget": found.tokens.returned <= int(row["max_tokens"]),
        "provenance": placed(found, page),
    }
    return {
        "task": row["task"],
        "passed": all(checks.values()),
        **checks,
        "tokens": found.tokens.returned,
    }


def stressed(path: Path) -> dict[str, object]:
    started = time.process_time()
    page = document(path)
    task = " ".join((page.title or "what is this page about").split()[:12])
    found = context.build(page, task, max_tokens=600, rerank=False) if task else None
    safety = injection.scan(page.raw or page.markdown)
    data = page.structured
    return {
        "page": path.name,
        "ok": bool(page.markdown.strip()) and found is not None,
        "raw_tokens": found.tokens.raw if found else 0,
        "returned_tokens": found.tokens.returned if found else 0,
        "structured": bool(data.json_ld or data.microdata or data.opengraph),
        "risk": safety.risk,
        "provenance": found is not None and placed(found, page),
        "confidence": found.retrieval_confidence.level if found else "low",
        "cpu_ms": round(1000 * (time.process_time() - started), 1),
    }


def stress(limit: int) -> dict[str, object]:
    pages = sorted(PAGES.rglob("*.html.gz"))
    rows = [stressed(path) for path in pages[:: max(1, len(pages) // limit)]]
    raw = sum(int(str(r["raw_tokens"])) for r in rows)
    kept = sum(int(str(r["returned_tokens"])) for r in rows)
    return {
        "pages": len(rows),
        "read": sum(bool(r["ok"]) for r in rows),
        "tokens_saved": round(1 - kept / max(1, raw), 3),
        "structured": sum(bool(r["structured"]) for r in rows),
        "provenance_exact": sum(bool(r["provenance"]) for r in rows),
        "risk": dict(Counter(str(r["risk"]) for r in rows)),
        "median_cpu_ms": median(float(str(r["cpu_ms"])) for r in rows),
        "rows": rows,
    }


def markdown(cases: list[dict[str, object]], run: dict[str, object]) -> str:
    lines = [
        "# Evaluation on recorded pages",
        "",
        "| task | passed | tokens |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {c['task']} | {'yes' if c['passed'] else 'NO'} | {c['tokens']} |" for c in cases]
    lines += [
        "",
        *(f"- {name.replace('_', ' ')}: {v}" for name, v in run.items() if name != "rows"),
    ]
    return "\n".join(lines) + "\n"


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--out", type=Path, default=Path("build/evaluation"))
    arguments.add_argument("--pages", type=int, default=120)
    given = arguments.parse_args()
    if not PAGES.exists():
        print("real recordings (../shared) are not part of this clone")
        return 0
    with (Path(__file__).parent / "relevance.tsv").open(encoding="utf-8") as file:
        cases = [relevance(row) for row in csv.DictReader(file, delimiter="\t")]
    run = stress(given.pages)
    given.out.mkdir(parents=True, exist_ok=True)
    report = {"relevance": cases, "stress": run}
    (given.out / "evaluation.json").write_text(json.dumps(report, indent=1), "utf-8")
    text = markdown(cases, run)
    (given.out / "evaluation.md").write_text(text, "utf-8")
    print(text)
    return 0 if all(c["passed"] for c in cases) else 1


if __name__ == "__main__":
    raise SystemExit(main())
