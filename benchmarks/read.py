"""Quality and speed of page reading, beside the readers that are installed (group `bench`).

    python benchmarks/read.py [--limit N] [--sets articles,markdown] [--only ours]

Reads the pages with known answers beside the checkout (../shared/pages). Every reader sees the same
pages in the same run; speed is CPU time of this process, reading files and scoring not counted.
"""

from __future__ import annotations

import argparse
import gzip
import importlib.util
import json
import multiprocessing
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, cast

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))
SHARED = ROOT.parent / "shared"
SETS = ("articles", "readability", "markdown", "snippets")
LANGUAGES = ("en", "es", "ru", "ar", "zh", "th")
BUDGET = 500

Reader = Callable[[bytes, str], str]
WARM = 5


class Scorer(Protocol):
    """The parts of the shared scorer that are used here."""

    def plain(self, text: str) -> str: ...
    def words(self, text: str) -> list[str]: ...
    def squash(self, text: str) -> str: ...
    def squash_tight(self, text: str) -> str: ...
    def page_score(
        self, found: str, expected: str
    ) -> tuple[float | None, float | None, float, bool]: ...


def scorer() -> Scorer:
    """The scorer of the page sets, loaded from beside the checkout."""
    spec = importlib.util.spec_from_file_location(
        "scorer", SHARED / "tools" / "score_extraction.py"
    )
    if spec is None or spec.loader is None:
        sys.exit("../shared/tools/score_extraction.py is not there")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast("Scorer", module)


def readers(only: str) -> dict[str, Reader]:
    """The readers that can be imported, ours first."""
    from framework.reading import read

    found: dict[str, Reader] = {"ours": lambda body, url: read(body, url).markdown}
    for name, load in (
        ("trafilatura", _trafilatura),
        ("resiliparse", _resiliparse),
        ("readability-lxml", _readability),
    ):
        try:
            found[name] = load()
        except ImportError:
            print(f"{name} is not installed", file=sys.stderr)
    return {name: reader for name, reader in found.items() if not only or name in only.split(",")}


def _trafilatura() -> Reader:
    import trafilatura

    return lambda body, url: trafilatura.extract(body, url=url or None) or ""


def _resiliparse() -> Reader:
    from resiliparse.extract.html2text import extract_plain_text
    from resiliparse.parse.encoding import bytes_to_str, detect_encoding

    def reader(body: bytes, url: str) -> str:
        return extract_plain_text(bytes_to_str(body, detect_encoding(body)), main_content=True)

    return reader


def _readability() -> Reader:
    import lxml.html
    import readability

    def reader(body: bytes, url: str) -> str:
        summary = readability.Document(body.decode("utf-8", "replace")).summary(html_partial=True)
        return str(lxml.html.fromstring(summary).text_content())

    return reader


def attempt(name: str, reader: Reader, page: dict[str, Any]) -> str:
    """Return what a reader says of a page; nothing where it fails."""
    try:
        return reader(page["body"], page.get("url") or "")
    except Exception as error:  # noqa: BLE001 - another reader's failure is its result
        print(f"{name}: {page['id']}: {error!r}", file=sys.stderr)
        return ""


def timed(
    chosen: dict[str, Reader], pages: list[dict[str, Any]]
) -> tuple[dict[str, list[str]], dict[str, float]]:
    """Read all the pages with one reader after another; return the texts and pages per CPU second.

    The first pages are read once beforehand, so that no reader pays for its imports and tables.
    """
    texts: dict[str, list[str]] = {}
    spent: dict[str, float] = {}
    for name, reader in chosen.items():
        for page in pages[:WARM]:
            attempt(name, reader, page)
        start = time.process_time()
        texts[name] = [attempt(name, reader, page) for page in pages]
        spent[name] = time.process_time() - start
    return texts, {name: len(pages) / seconds for name, seconds in spent.items()}


def quality(score: Scorer, pages: list[dict[str, Any]], texts: list[str]) -> dict[str, float]:
    """The figures of the scorer for one set."""
    if "truth" in pages[0]:
        rows = [
            score.page_score(score.plain(text), score.plain(page["want"]))
            for page, text in zip(pages, texts, strict=True)
        ]
        precision = _mean([row[0] for row in rows if row[0] is not None])
        recall = _mean([row[1] for row in rows if row[1] is not None])
        return {
            "F1": _f1(precision, recall),
            "P": precision,
            "R": recall,
            "page F1": _mean([row[2] for row in rows]),
        }
    wanted = found = unwanted = 0
    for page, text in zip(pages, texts, strict=True):
        loose, tight = score.squash(text), score.squash_tight(text)
        held = [
            [
                score.squash(part) in loose or score.squash_tight(part) in tight
                for part in page[kind]
            ]
            for kind in ("with", "without")
        ]
        wanted += len(held[0])
        found += sum(held[0])
        unwanted += sum(held[1])
    precision, recall = found / max(1, found + unwanted), found / max(1, wanted)
    return {"F1": _f1(precision, recall), "P": precision, "R": recall}


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


_FENCE = re.compile(r"^( *(?:> ?)*)(`{3,}|~{3,})([^\n`]*)\n(.*?)^\1?\s*(?:> ?)*\2\s*$", re.M | re.S)
_LINK = re.compile(
    r"(?<!!)\[(?:[^\[\]\\]|\\.|!?\[[^\]]*\](?:\([^)]*\))?)*\]\(<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\)"
)
_IMAGE = re.compile(r"!\[[^\]]*\]\(<?([^()\s>]+)>?(?:\s+\"[^\"]*\")?\)")


def structure(score: Scorer, text: str) -> dict[str, Counter[Any]]:
    """Headings, code blocks, table rows, links, list items and images of a Markdown text."""
    code: list[str] = []

    def words(part: str) -> str:
        return " ".join(score.words(score.plain(part)))

    def take(match: re.Match[str]) -> str:
        code.append(" ".join(score.words(match[4])))
        return "\n"

    body = _FENCE.sub(take, text)
    rows = [
        row
        for row in re.findall(r"^ *\|.*\|\s*$", body, re.M)
        if not re.fullmatch(r"[\s|:\-]+", row)
    ]
    return {
        "headings": Counter(
            filter(None, map(words, re.findall(r"^(?:> ?)*#{1,6} +(.+)$", body, re.M)))
        ),
        "code": Counter(code),
        "tables": Counter(
            tuple(map(words, re.split(r"(?<!\\)\|", row.strip().strip("|")))) for row in rows
        ),
        "links": Counter(_LINK.findall(body)),
        "lists": Counter(
            filter(None, map(words, re.findall(r"^ *(?:> ?)*(?:[-*+]|\d+[.)]) +(.+)$", body, re.M)))
        ),
        "images": Counter(_IMAGE.findall(body)),
    }


def structure_kept(score: Scorer, pages: list[dict[str, Any]], texts: list[str]) -> str:
    """Recall and precision of each construct over a set whose truth is Markdown."""
    sums: dict[str, list[int]] = {}
    for page, text in zip(pages, texts, strict=True):
        ours, theirs = structure(score, text), structure(score, page["want"])
        for name in ours:
            total = sums.setdefault(name, [0, 0, 0])
            total[0] += (ours[name] & theirs[name]).total()
            total[1] += theirs[name].total()
            total[2] += ours[name].total()
    return ", ".join(
        f"{name} {both / max(1, want):.2f}/{both / max(1, got):.2f}"
        for name, (both, want, got) in sums.items()
    )


def load(name: str, limit: int) -> list[dict[str, Any]]:
    """The pages of a set with their bodies and truths."""
    folder = SHARED / "pages" / name
    pages = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    pages = pages[:: max(1, len(pages) // limit)] if limit else pages
    for page in pages:
        page["body"] = gzip.decompress((folder / page["html"]).read_bytes())
        if "truth" in page:
            page["want"] = gzip.decompress((folder / page["truth"]).read_bytes()).decode("utf-8")
    return pages


def page_sets(args: argparse.Namespace) -> None:
    score = scorer()
    chosen = readers(args.only)
    for name in args.sets.split(","):
        pages = load(name, args.limit)
        timed(chosen, pages[:3])
        print(f"\n{name}, {len(pages)} pages")
        texts, speeds = timed(chosen, pages)
        for label in chosen:
            figures = "  ".join(
                f"{key} {value:.4f}" for key, value in quality(score, pages, texts[label]).items()
            )
            print(f"  {label:18}{figures}  {speeds[label]:6.0f} pages/s")
            if name == "markdown":
                kept = structure_kept(score, pages, texts[label])
                print(f"  {'':18}recall/precision: {kept}")
        if {"ours", "trafilatura"} <= speeds.keys():
            print(
                "  ours / trafilatura: "
                f"{speeds['ours'] / speeds['trafilatura']:.1f} times the speed"
            )


def passages(limit: int) -> None:
    """XQuAD as one page a language: is the answer among the passages kept in 500 tokens?"""
    from framework.reading import read, tokens
    from framework.reading.passages import Passages

    print(f"\nanswers kept in {BUDGET} tokens")
    for language in LANGUAGES:
        file = SHARED / "evals" / "passages" / f"{language}.json.gz"
        data = json.loads(gzip.decompress(file.read_bytes()))
        page, section = ["<!doctype html><meta charset=utf-8><main>"], ""
        for passage in data["passages"]:
            if passage["section"] != section:
                section = passage["section"]
                page.append(f"<h2>{section}</h2>")
            page.append(f"<p>{passage['text'].replace('&', '&amp;').replace('<', '&lt;')}</p>")
        index = Passages(read("".join(page).encode(), "https://passages.test/"))
        queries = (
            data["queries"][:: max(1, len(data["queries"]) // limit)] if limit else data["queries"]
        )
        kept = over = 0
        start = time.process_time()
        for query in queries:
            text = "\n\n".join(
                found.text for found in index.select(query["query"], max_tokens=BUDGET)
            )
            kept += query["answer"] in text.replace("\\", "")
            over += tokens.count(text) > BUDGET
        each = (time.process_time() - start) / len(queries) * 1000
        print(
            f"  {language}  {kept / len(queries):.3f} of {len(queries)}, "
            f"{over} over the budget, {each:.1f} ms a query"
        )


FIVE = {
    "news, 1.5 MB": ("articles", "ef4e67b66d63b5fa"),
    "encyclopedia": ("readability", "wikipedia"),
    "issue": ("markdown", "general--github.com-issue-56"),
    "lesson in Chinese": ("mixed", "https_www_w3school_com_cn_python_numpy"),
    "German, ISO 8859": ("snippets", "winfuture.de-NASA"),
}


def five_pages() -> None:
    """Five pages as web_fetch shows them: tokens, share of the true words, a second read's time."""
    from framework.reading import read, tokens
    from framework.reading.projections import lean

    score = scorer()
    print("\nfive pages: tokens, words kept, ms")
    total = 0
    for label, (name, start) in FIVE.items():
        page = next(page for page in load(name, 0) if page["id"].startswith(start))
        read(page["body"], page["url"])
        begin = time.process_time()
        document = lean(read(page["body"], page["url"]))
        spent = (time.process_time() - begin) * 1000
        wanted = score.words(score.plain(page.get("want") or " ".join(page["with"])))
        held = set(score.words(score.plain(document.markdown)))
        kept = sum(word in held for word in wanted) / len(wanted)
        size = tokens.count(document.markdown)
        total += size
        print(f"  {label:20}{size:6}  {kept:.2f}  {spent:4.0f}")
    print(f"  {'together':20}{total:6}")


def large_page() -> None:
    """A page of 8.8 MB: seconds, and the memory of the process after it."""
    import resource

    from framework.reading import read

    page = b"<html><body><main>" + b"<p>A line of a long page, <b>word</b> by word.</p>\n" * 172_500
    begin = time.process_time()
    document = read(page, "https://large.test/")
    spent = time.process_time() - begin
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    print(
        f"\n{len(page) / 1e6:.1f} MB: {spent:.1f} s, {len(document.blocks)} blocks, "
        f"{peak} MB at the most"
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument(
        "--limit", type=int, default=0, help="about how many pages a set, and queries a language"
    )
    parser.add_argument("--only", default="", help="readers, comma between")
    args = parser.parse_args()
    if not SHARED.exists():
        sys.exit("the pages with known answers (../shared) are not beside this checkout")
    large = multiprocessing.get_context("spawn").Process(target=large_page)
    large.start()
    large.join()
    page_sets(args)
    passages(args.limit)
    five_pages()


if __name__ == "__main__":
    main()
