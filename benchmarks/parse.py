"""Reading an engine's answer against parsing it: CPU of read() over that of lexbor alone.

    python benchmarks/parse.py [--rounds 5]

One results page of each engine: the recordings beside the checkout where they are, else fixtures.
"""

from __future__ import annotations

import csv
import gc
import time

from measuring import ROOT, Ratio, Report, emit, parser, spread, table

SHARED = ROOT.parent / "shared" / "captures"


def pages() -> dict[str, bytes]:
    """The first good results page of each engine."""
    from framework.spec.catalogue import Catalogue

    catalogue, found = Catalogue(), {}
    index = SHARED / "INDEX.tsv"
    if index.exists():
        with index.open(encoding="utf-8") as lines:
            for line in csv.DictReader(lines, delimiter="\t"):
                engine, file = line["engine"], SHARED / line["path"]
                wanted = line["kind"] == "results" and file.suffix == ".html"
                if wanted and engine in catalogue.ids() and file.is_file():
                    found.setdefault(engine, file.read_bytes())
    for name in catalogue.ids():
        entry = catalogue.entry(name)
        if name in found or entry.engine is None or entry.engine.spec.response.format != "html":
            continue
        for fixture in catalogue.fixtures(name):
            if fixture.case.startswith("ok"):
                found.setdefault(name, fixture.response.body)
    return found


def best(work: object, times: int = 12) -> float:
    start = time.process_time()
    for _ in range(times):
        work()  # type: ignore[operator]
    return (time.process_time() - start) / times * 1000


def main() -> None:
    options = parser(__doc__).parse_args()
    from selectolax.lexbor import LexborHTMLParser

    from framework.spec.catalogue import Catalogue
    from framework.types import HttpResponse
    from server.memory import keep_memory

    keep_memory()
    catalogue, rows, ratios = Catalogue(), [], []
    headers = (("Content-Type", "text/html; charset=utf-8"),)
    gc.freeze()
    for name, body in sorted(pages().items()):
        engine = catalogue.get(name)
        response = HttpResponse(url="https://site.test/", body=body, headers=headers)
        page = engine.read(response)
        if page.verdict != "ok":
            continue
        parses, reads = [], []
        for _ in range(options.rounds):
            parses.append(best(lambda body=body: LexborHTMLParser(body)))
            reads.append(best(lambda e=engine, r=response: e.read(r)))
        values = [read / parse for read, parse in zip(reads, parses, strict=True)]
        rows.append((name, len(body) // 1024, len(page.rows), spread(parses), spread(reads)))
        ratios.append(Ratio(name=f"{name}: read over parse", values=values))
    heavy = [one for one in ratios if one.name.split(":")[0] in ("bing", "duckduckgo", "brave")]
    head = ("engine", "KB", "rows", "parse ms", "read ms")
    emit(
        Report(
            title="Reading results pages",
            ratios=heavy or ratios[:3],
            tables=[table(head, rows)],
            rounds=options.rounds,
        ),
        options.json,
    )


if __name__ == "__main__":
    main()
