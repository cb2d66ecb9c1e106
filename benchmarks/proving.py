"""What evidence costs: passages for a task over their model alone, the scan over reading.

    python benchmarks/proving.py [--rounds 5] [--pages 6] [--json FILE]

Over recorded articles beside the checkout (../shared/pages); without them there is nothing to
measure, and it says so. CPU time of this process; `evidence.py` measures how good the answers are.
"""

from __future__ import annotations

import gzip
import statistics
import sys
import time
from typing import TYPE_CHECKING

from evidence import PAGES, stores
from measuring import Figures, Report, emit, parser, progress, ratios_of, spread, table

from framework.evidence import context, injection, nli, verify
from framework.evidence.chunks import Source
from framework.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.evidence.models import ModelStore
    from framework.reading import Document

ALONE, ALL = "reranking model alone", "passages with it"
LEXICAL, READING = "passages without a model", "reading the page"
SCAN, VERIFY = "scan for instructions", "a claim, no model"
PAIRS = f"{context.CANDIDATES} pairs of sentences, no model"


def spent(work: Callable[[], object]) -> float:
    """Return the CPU milliseconds of one piece of work."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1000


def articles(count: int, store: ModelStore) -> list[tuple[bytes, Document, str]]:
    """Pages on which the model is asked about as many passages as it ever is."""
    found = []
    for path in sorted((PAGES / "articles").glob("*.html.gz")):
        body = gzip.decompress(path.read_bytes())
        page = read(body, "https://recorded.example/")
        task = " ".join((page.title or "what happened").split()[:10])
        ranked = context.rank([Source(page.url, page.title or "", page)], task, store=store)
        if len(ranked.answers) >= context.CANDIDATES:
            found.append((body, page, task))
        if len(found) == count:
            break
    return found


def costs(
    body: bytes, page: Document, task: str, packaged: ModelStore, bare: ModelStore
) -> dict[str, float]:
    """CPU milliseconds of each step for one page."""
    source = Source(page.url, page.title or "", page)
    ranked = context.rank([source], task, store=packaged)
    pairs = [
        (task, " — ".join([*ranked.chunks[i].section[-1:], ranked.chunks[i].plain]))
        for i in ranked.answers
    ]
    model = packaged.get("rerank")
    assert model is not None
    steps: dict[str, Callable[[], object]] = {
        ALONE: lambda: model.logits(pairs, batch=4),
        ALL: lambda: context.build(page, task, store=packaged),
        LEXICAL: lambda: context.build(page, task, store=bare),
        READING: lambda: read(body, page.url),
        SCAN: lambda: injection.scan(body),
        VERIFY: lambda: verify.verify(f"{task} was on Monday.", [source], store=bare),
        PAIRS: lambda: nli.judge([(text, asked) for asked, text in pairs], bare),
    }
    return {name: spent(work) for name, work in steps.items()}


def once(
    pages: list[tuple[bytes, Document, str]], packaged: ModelStore, bare: ModelStore
) -> dict[str, Figures]:
    """One round: the mean of each step over the same pages."""
    found = [costs(*one, packaged, bare) for one in pages]
    return {name: {"cpu_ms": statistics.fmean(one[name] for one in found)} for name in found[0]}


def main() -> None:
    options = parser(__doc__)
    options.add_argument("--pages", type=int, default=6)
    given = options.parse_args()
    if not PAGES.exists():
        sys.exit("the recorded pages (../shared) are not beside this checkout")
    every = stores()
    packaged, bare = every["packaged models"], every["no model"]
    pages = articles(given.pages, packaged)
    if not pages or packaged.get("rerank") is None:
        sys.exit("no page is long enough, or the packaged model does not load")
    once(pages[:1], packaged, bare)
    rounds = [once(pages, packaged, bare) for _ in progress(given.rounds)]
    pairs = (
        (ALL, ALONE, "cpu_ms", 1.15),
        (SCAN, READING, "cpu_ms", None),
        (LEXICAL, READING, "cpu_ms", None),
    )
    rows = [(name, spread([one[name]["cpu_ms"] for one in rounds])) for name in rounds[0]]
    emit(
        Report(
            title="Evidence",
            ratios=ratios_of(rounds, pairs),
            tables=[table(("step", "CPU ms a page"), rows)],
            rounds=given.rounds,
        ),
        given.json,
    )


if __name__ == "__main__":
    main()
