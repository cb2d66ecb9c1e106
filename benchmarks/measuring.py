"""What the benchmarks share: rounds in own processes, ratios, tables, plots, local engines.

Only ratios of candidates of the same round are reported as results: the machine may be busy, but
it is equally busy for all. A report is printed as Markdown, and written as JSON where `--json`
names a file, from which `benchmarks/run.py` makes docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from html import escape
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

Figures = dict[str, float]

_WIDTH, _ROW, _LEFT, _RIGHT, _NAME = 820, 26, 370, 70, 60
_STYLE = (
    "<style>text{font:12px sans-serif;fill:#778}.b{fill:#6f8fbf}.met{fill:#3b9a68}"
    ".missed{fill:#cf6a4a}.w{stroke:#778;stroke-width:1.5}"
    ".t{stroke:#b03;stroke-width:2;stroke-dasharray:3 2}</style>"
)


@dataclass(frozen=True, kw_only=True)
class Ratio:
    """One ratio over the rounds; `target` is met where the median is at most it (or at least)."""

    name: str
    values: list[float]
    target: float | None = None
    at_least: bool = False

    @property
    def verdict(self) -> str:
        if self.target is None:
            return ""
        middle = statistics.median(self.values)
        met = middle >= self.target if self.at_least else middle <= self.target
        return "met" if met else "missed"

    @property
    def goal(self) -> str:
        return "" if self.target is None else f"{'≥' if self.at_least else '≤'} {self.target:g}"


@dataclass(frozen=True, kw_only=True)
class Report:
    """What one script found; `tables` are Markdown."""

    title: str
    ratios: list[Ratio]
    tables: list[str] = field(default_factory=list)
    rounds: int = 0

    def markdown(self) -> str:
        return "\n\n".join(
            [f"## {self.title}", machine(), ratio_table(self.ratios), *self.tables]
        ).replace("\n\n\n", "\n\n")


def machine() -> str:
    """Describe what this runs on and the versions that matter."""
    packages = (
        *("ddgs", "aiohttp", "curl_cffi", "playwright", "selectolax", "scrapy", "mcp"),
        *("trafilatura", "resiliparse", "readability-lxml"),
    )
    found = []
    for package in packages:
        with contextlib.suppress(PackageNotFoundError):
            found.append(f"{package} {version(package)}")
    return (
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}, "
        f"{os.cpu_count()} cores; {', '.join(found)}."
    )


def spread(values: Sequence[float]) -> str:
    """Write min, median and max."""
    return " / ".join(f"{one:.3g}" for one in (min(values), statistics.median(values), max(values)))


def ratio_table(ratios: Sequence[Ratio]) -> str:
    lines = ["| ratio | min / median / max | target | |", "| --- | --- | --- | --- |"]
    lines += [
        f"| {one.name} | {spread(one.values)} | {one.goal} | {one.verdict} |" for one in ratios
    ]
    return "\n".join(lines)


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|{' --- |' * len(head)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def figures_table(
    rounds: Sequence[Mapping[str, Mapping[str, float]]], what: str = "candidate"
) -> str:
    """List every figure of every candidate over the rounds."""
    rows = [
        (name, key, spread([one[name][key] for one in rounds]))
        for name in rounds[0]
        for key in rounds[0][name]
    ]
    return table((what, "figure", "min / median / max"), rows)


def svg(ratios: Sequence[Ratio], title: str) -> str:
    """Draw each ratio as a bar to its median with a line from min to max, and its target."""
    top = max(max(max(one.values), one.target or 0) for one in ratios) * 1.05 or 1
    scale = (_WIDTH - _LEFT - _RIGHT) / top
    height = _ROW * len(ratios) + 34
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" role="img">',
        f"<title>{escape(title)}</title>",
        _STYLE,
    ]
    for number, one in enumerate(ratios):
        y = 10 + number * _ROW
        middle = statistics.median(one.values)
        low, high = (_LEFT + value * scale for value in (min(one.values), max(one.values)))
        name, wide, look = escape(_short(one.name)), middle * scale, one.verdict or "b"
        parts += [
            f'<text x="{_LEFT - 8}" y="{y + 13}" text-anchor="end">{name}</text>',
            f'<rect class="{look}" x="{_LEFT}" y="{y + 2}" width="{wide:.1f}" height="14" rx="2"/>',
            f'<line class="w" x1="{low:.1f}" x2="{high:.1f}" y1="{y + 9}" y2="{y + 9}"/>',
            f'<text x="{_WIDTH - 8}" y="{y + 13}" text-anchor="end">{middle:.3g}</text>',
        ]
        if one.target is not None:
            x = _LEFT + one.target * scale
            parts.append(f'<line class="t" x1="{x:.1f}" x2="{x:.1f}" y1="{y}" y2="{y + 18}"/>')
    parts.append(
        f'<text x="{_LEFT}" y="{height - 6}">bar and figure: median, line: min to max, '
        "dashes: target, green where it is met</text>"
    )
    return "\n".join([*parts, "</svg>", ""])


def _short(name: str) -> str:
    return name if len(name) <= _NAME else f"{name[: _NAME - 1]}…"


def emit(report: Report, file: Path | None) -> None:
    """Print a report, and write it as JSON for the whole page."""
    print(report.markdown())
    if file:
        file.write_text(json.dumps(asdict(report)), encoding="utf-8")


def loaded(file: Path) -> Report:
    given = json.loads(file.read_text(encoding="utf-8"))
    return Report(**{**given, "ratios": [Ratio(**one) for one in given["ratios"]]})


def parser(doc: str | None, *, rounds: int = 5) -> argparse.ArgumentParser:
    """The options that every script has."""
    options = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    options.add_argument("--rounds", type=int, default=rounds)
    options.add_argument("--json", type=Path)
    options.add_argument("--one", nargs="*", help=argparse.SUPPRESS)
    return options


def progress(rounds: int) -> Iterator[int]:
    """Count the rounds and say on standard error which one is being measured."""
    for number in range(rounds):
        print(f"   round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        yield number


def in_process(script: str, *given: object) -> Figures:
    """Run `script --one GIVEN…` in a process of its own and return the JSON of its last line."""
    done = subprocess.run(
        [sys.executable, script, "--one", *map(str, given)],
        capture_output=True,
        text=True,
        timeout=1200,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    if done.returncode:
        raise SystemExit(f"{given} failed:\n{done.stderr[-2000:]}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def used() -> float:
    """Return the CPU seconds of this process."""
    times = resource.getrusage(resource.RUSAGE_SELF)
    return times.ru_utime + times.ru_stime


def used_by(pids: Sequence[int]) -> float:
    """Return the CPU seconds of other processes together."""
    ticks = 0
    for pid in pids:
        parts = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        ticks += int(parts[11]) + int(parts[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def resident() -> float:
    """Return the resident megabytes of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


_ENGINE = """\
schema: 1
id: {id}
name: {id}
extends: {parent}
status: experimental
settings: {{base: {{env: BENCH_BASE}}}}
request: {{url: "{{{{ settings.base }}}}/{path}"}}
fetch: {{mode: http}}
limits: {{rate: null, concurrency: 64}}
"""
_PATHS = {"bing": "bing/search", "duckduckgo": "duckduckgo/html/", "brave": "brave/search"}


def local_engines(
    folder: Path, port: int, count: int = 3, parents: Sequence[str] = tuple(_PATHS)
) -> tuple[dict[str, str], tuple[str, ...]]:
    """Write engine files that ask the page server; returns an environment and their ids."""
    engines = folder / "engines"
    engines.mkdir()
    ids = []
    for number in range(count):
        parent = parents[number % len(parents)]
        ids.append(f"bench-{parent}-{number}")
        text = _ENGINE.format(id=ids[-1], parent=parent, path=_PATHS[parent])
        (engines / f"{ids[-1]}.yaml").write_text(text)
    environment = {
        "BENCH_BASE": f"http://127.0.0.1:{port}",
        "CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8",
        "CONSILIENCE_ENGINES_DIR": str(engines),
        "CONSILIENCE_STATE_DIR": str(folder / "state"),
    }
    return environment, tuple(ids)


@contextlib.contextmanager
def page_server(script: str = "search.py") -> Iterator[int]:
    """Run a script's server of pages in a process of its own; gives its port."""
    with subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name(script)), "--serve"],
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.terminate()


def ratios_of(
    rounds: Sequence[Mapping[str, Figures]],
    pairs: Sequence[tuple[str, str, str, float | None]],
    *,
    name: Callable[[str, str, str], str] = lambda left, right, key: f"{left} : {right}, {key}",
) -> list[Ratio]:
    """Take ratios within each round: (left, right, figure, target)."""
    return [
        Ratio(
            name=name(left, right, key),
            values=[one[left][key] / one[right][key] for one in rounds],
            target=target,
        )
        for left, right, key, target in pairs
    ]
