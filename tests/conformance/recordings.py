"""Real recorded answers of engines, how they are read, and how texts are compared."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from framework.spec.compiler import compile_spec
from framework.types import HttpResponse, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.spec.compiler import Engine

ROOT = Path(__file__).resolve().parent.parent.parent
CAPTURES = ROOT.parent / "shared" / "captures"
ENGINES = ROOT / "engines.d"
#: Engines that nobody can use any more: their files are for tests only.
RETIRED = Path(__file__).resolve().parent / "specs"

#: Layouts that no shipped file reads: id lists, suggestion arrays, dead and script-built pages.
UNREAD = (
    "pubmed/",
    "wikipedia/pymediawiki_",
    "google/serpspider_cheap_video_editing_2019",
    "duckduckgo/openserp_fetch_js_2026",
)

#: What a page has to be called, where its kind alone does not say it.
VERDICTS: Mapping[str, Verdict] = {
    "github/pygithub_rate_limit.json": Verdict.RATE_LIMITED,
    "duckduckgo/nuhmanpk_error_403_2026.html": Verdict.BLOCKED,
    "google/nuhmanpk_enablejs_2026.html": Verdict.BLOCKED,
    "google/openserp_soft_block_2026.html": Verdict.BLOCKED,
    "mojeek/nuhmanpk_forbidden_403_2026.html": Verdict.BLOCKED,
    "qwant/sanguinary_country_unavailable_2026.html": Verdict.BLOCKED,
    "qwant/sanguinary_country_unavailable_http_2026.html": Verdict.BLOCKED,
}
KINDS: Mapping[str, Verdict] = {
    "results": Verdict.OK,
    "no-results": Verdict.EMPTY,
    "captcha": Verdict.CAPTCHA,
    "error": Verdict.ERROR,
}

_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1f\x7f-\x9f]")
_DATE = re.compile(
    r"^(?:[^\W\d]+\.? \d{1,2}, \d{4}|\d{1,2}\.? [^\W\d]+\.? \d{4}|\d{1,2}[./]\d{1,2}[./]\d{4}"
    r"|\d+ [^\W\d]+ ago)\s*(?:·|—|-|\.\.\.)\s*"
)


@dataclass(frozen=True, slots=True)
class Recording:
    """One recorded answer and what its index says about it."""

    path: str
    folder: str
    kind: str
    query: str
    note: str

    @property
    def stubbed(self) -> bool:
        """Links were replaced and spaces beside inline tags lost when the page was recorded."""
        return "hrefs stubbed" in self.note

    @property
    def verdict(self) -> Verdict:
        """What the answer has to be called."""
        return VERDICTS.get(self.path, KINDS[self.kind])

    @property
    def status(self) -> int:
        """The recorded status; 200 where none is known: then the page speaks for itself."""
        known = re.search(r"HTTP (\d{3})", self.note)
        return int(known[1]) if known else 200

    @property
    def expected(self) -> list[dict[str, str]]:
        """The rows that a careful reader sees, in order."""
        file = (CAPTURES / self.path).with_suffix(".expected.json")
        rows: list[dict[str, str]] = json.loads(file.read_text())["results"]
        return rows

    def response(self, engine: Engine, status: int | None = None) -> HttpResponse:
        """The answer as it arrived, from the engine's own address."""
        kind = "text/html" if self.path.endswith(".html") else "application/octet-stream"
        return HttpResponse(
            url=_address(engine),
            status=status or self.status,
            headers=(("Content-Type", f"{kind}; charset=utf-8"),),
            body=(CAPTURES / self.path).read_bytes(),
        )


def _address(engine: Engine) -> str:
    url = engine.spec.request.url
    return url if url.startswith("https://") and "{{" not in url else "https://engine.example/"


def engine_of(recording: Recording) -> Engine:
    """The engine whose answer it is: the folder's name, but that DuckDuckGo's holds two."""
    name = recording.folder.replace("_", "-")
    lite = name == "duckduckgo" and "_lite_" in recording.path
    return engine(f"{name}-lite" if lite else name)


@cache
def engine(name: str) -> Engine:
    """The compiled engine of that id; retired ones come from the tests' own folder."""
    path = ENGINES / f"{name}.yaml"
    return compile_spec(path if path.exists() else RETIRED / f"{name}.yaml")


def recordings(*, every: bool = False) -> list[Recording]:
    """Every recorded answer that some engine file reads, or all; none without the recordings."""
    index = CAPTURES / "INDEX.tsv"
    if not index.exists():
        return []
    with index.open(newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    found = [
        Recording(
            r["path"], r["engine"], r["kind"], r["query"], f"{r['whole_or_cut']}; {r['note']}"
        )
        for r in rows
    ]
    return [item for item in found if every or not item.path.startswith(UNREAD)]


def plain(text: str, *, stubbed: bool = False) -> str:
    """Text as it is compared: white space collapsed (or gone), a leading date left out.

    Control characters are never kept from a page, so they do not count either.
    """
    collapsed = " ".join(_CONTROLS.sub("", text).split())
    dateless = _DATE.sub("", collapsed)
    return re.sub(r"\s+", "", dateless) if stubbed else dateless
