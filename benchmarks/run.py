"""Run all benchmarks and write docs/benchmarks.md with its plots.

    python benchmarks/run.py [--rounds 5] [--only search,scale] [--docs FOLDER]

Scripts that are left out keep what the last run found (build/benchmarks). One that fails is named
at the end and does not keep the others from running.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from measuring import ROOT, Report, loaded, machine, ratio_table, spread, svg, table

if TYPE_CHECKING:
    from collections.abc import Sequence

DOCS = ROOT / "docs"
KEPT = ROOT / "build" / "benchmarks"
#: Each script that writes a report, with what its section says first.
REPORTS = {
    "search": (
        "One question to Bing, DuckDuckGo and Brave, merged, against ddgs with the same three "
        "engines and against the least that any design must do. Recorded pages from loopback."
    ),
    "reading": (
        "`read()` against other readers, reader by reader over the same recorded pages with known "
        "text: pages in a second of CPU, and how much of the wanted text each one finds."
    ),
    "proving": (
        "Passages that serve a task over the model that ranks them, and the steps around them, "
        "over recorded articles."
    ),
    "startup": (
        "Each a process of its own: from its start to the first list of tools, to the first line "
        "of `--help`, to the answer of a first search in recordings; and what it takes to compile "
        "engine files."
    ),
    "mcp_overhead": (
        "From the start of the process to the answer of `tools/list`, and `web_search` over "
        "standard input and output against the same search in process."
    ),
    "http_throughput": (
        "`GET /search` of `consilience serve`. Load, pages and workers share the cores of one "
        "machine: two workers can only be as fast as the cores that are left for them."
    ),
    "fetch": (
        "The hub, with guard, proxy routing, retries and redirects, over the bare clients that it "
        "drives; render over Playwright alone."
    ),
    "parse": "What reading costs beyond parsing, for the results pages of engines.",
    "scale": "What one unit of work costs as there are more of them; flat is linear.",
}
#: Scripts that print their own tables, and how each is asked for a short run.
PRINTED = {
    "read": ("Reading pages: quality and passages", ["--limit", "40", "--only", "ours"]),
    "evidence": ("Evidence: quality without a model", ["--quick", "--step", "20", "--every", "16"]),
    "where": ("Where the CPU goes", []),
    "soak": ("Soak", ["--searches", "6400"]),
}
#: No script may hold the whole up.
LIMIT = 400


def run_report(name: str, rounds: int) -> str:
    """Measure, and say what went wrong; what the last run found is kept then."""
    file = KEPT / f"{name}.json"
    done = _run(name, ["--rounds", str(rounds), "--json", str(file)])
    print(done.stdout, flush=True)
    return _problem(done)


def run_printed(name: str, given: list[str]) -> str:
    """Run a script that prints its tables, and keep them."""
    done = _run(name, given)
    print(done.stdout, flush=True)
    if done.stdout.strip():
        (KEPT / f"{name}.txt").write_text(done.stdout, encoding="utf-8")
    return _problem(done)


def _run(name: str, given: list[str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(Path(__file__).with_name(f"{name}.py")), *given]
    try:
        return subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=False, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, stdout=f"{name} took over {LIMIT} s\n")


def _problem(done: subprocess.CompletedProcess[str]) -> str:
    return f"ended with {done.returncode}" if done.returncode else ""


def as_markdown(printed: str) -> str:
    """Markdown tables stay as they are, headings one step down; plain lines are fenced."""
    if "\n| --- |" not in printed:
        return f"```text\n{printed}\n```"
    return re.sub("^## ", "### ", printed, flags=re.MULTILINE)


def section(name: str, words: str, report: Report, docs: Path) -> str:
    plot = docs / "benchmarks" / f"{name}.svg"
    plot.write_text(svg(report.ratios, report.title), encoding="utf-8")
    parts = [
        f"## {report.title}",
        f"{words} {report.rounds} rounds.",
        f"![{report.title}: ratios](benchmarks/{name}.svg)",
        ratio_table(report.ratios),
        *report.tables,
    ]
    return "\n\n".join(parts)


def targets(reports: Sequence[Report]) -> str:
    """All ratios that have a target, in one table."""
    rows = [
        (
            f"[{report.title}](#{slug(report.title)})",
            one.name,
            spread(one.values),
            one.goal,
            one.verdict,
        )
        for report in reports
        for one in report.ratios
        if one.target is not None
    ]
    head = ("of", "ratio", "min / median / max", "target", "")
    return f"## Targets\n\n{table(head, rows)}"


def slug(title: str) -> str:
    """The anchor that the site makes of a heading."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", title.lower())).strip("-")


def page(docs: Path = DOCS, kept: Path = KEPT) -> str:
    """The page, from whatever has been measured; its plots are written beside it."""
    (docs / "benchmarks").mkdir(exist_ok=True)
    parts = [
        "# Benchmarks",
        (
            "Generated by `make bench`. Every figure is min / median / max over the rounds. Ratios "
            "are taken between candidates of the same round, since the machine may be busy; times "
            "are given for orientation and are never a target."
        ),
        machine(),
    ]
    reports = {
        name: loaded(kept / f"{name}.json") for name in REPORTS if (kept / f"{name}.json").exists()
    }
    parts.append(targets(list(reports.values())))
    parts += [section(name, REPORTS[name], report, docs) for name, report in reports.items()]
    for name, (title, _) in PRINTED.items():
        file = kept / f"{name}.txt"
        if file.exists():
            printed = file.read_text(encoding="utf-8").strip()
            parts.append(f"## {title}\n\n{as_markdown(printed)}")
    parts.append(SEARXNG)
    return "\n\n".join(parts) + "\n"


SEARXNG = """\
## Against SearXNG, by hand

SearXNG is not a dependency. To compare: install it and granian in an environment of its own, keep
the engines bing, duckduckgo and brave (`use_default_settings: {engines: {keep_only: [...]}}`, with
`enable_http: true` each), point their addresses at `python benchmarks/search.py --serve`, start it
with `granian --interface wsgi --workers 1 searx.webapp:app`, and ask `/search?format=json` with the
same question and as many at once. Compare CPU of the process, in one run with `search.py`."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default=",".join([*REPORTS, *PRINTED]))
    parser.add_argument("--docs", type=Path, default=DOCS, help="where benchmarks.md is written")
    given = parser.parse_args()
    wanted = [name for name in given.only.split(",") if name]
    KEPT.mkdir(parents=True, exist_ok=True)
    if unknown := [name for name in wanted if name not in {**REPORTS, **PRINTED}]:
        parser.error(f"no benchmark {unknown[0]}; there are {', '.join([*REPORTS, *PRINTED])}")
    problems = []
    began = time.monotonic()
    for number, name in enumerate(wanted, 1):
        print(
            f"== {name}, {number} of {len(wanted)}, after {time.monotonic() - began:.0f} s",
            file=sys.stderr,
            flush=True,
        )
        problem = (
            run_report(name, given.rounds)
            if name in REPORTS
            else run_printed(name, PRINTED[name][1])
        )
        if problem:
            problems.append(f"{name} {problem}")
        (given.docs / "benchmarks.md").write_text(page(given.docs), encoding="utf-8")
    print(f"== all in {time.monotonic() - began:.0f} s", file=sys.stderr)
    if problems:
        raise SystemExit("; ".join(problems))


if __name__ == "__main__":
    main()
