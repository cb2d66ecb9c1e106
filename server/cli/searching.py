"""`consilience search`: a table of merged results and a line for each engine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from framework.errors import NotFoundError, UnavailableError
from framework.merge.consensus import explain as explain_rank
from server.app import Application
from server.cli.calls import run_with
from server.cli.live import watched
from server.cli.output import as_json as print_json
from server.cli.output import line, note, plain, table
from server.cli.setup import settings_of
from server.pages import checked_url
from server.requests import SearchRequest
from server.tools import web_search
from server.tools.base import parse

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from framework.types import EngineReport, SearchAnswer

__all__ = ["run"]


def run(
    arguments: Mapping[str, object],
    overrides: Mapping[str, object],
    *,
    explain: bool,
    replay: bool | Path,
    as_json: bool,
    place: int | None = None,
) -> None:
    """Search and print, and open the result at `place` in the browser.

    Raises:
        NotFoundError: there is no result at that place.
        ConsilienceError: not one engine answered.
    """
    given = parse(web_search.TOOL, arguments)
    application = Application.create(settings_of(overrides), replay=replay)
    request = SearchRequest(
        query=web_search.query_of(given), engines=given.engines, timeout=given.timeout
    )

    async def work(app: Application) -> SearchAnswer:
        with watched(app.catalogue, wanted=not as_json, rows=given.max_results) as heard:
            return await app.search(request, caller="cli", on_report=heard)

    answer = run_with(application, work)
    if replay:
        note("These results are recordings, not the web: --replay answers any query with them.")
    if as_json:
        sentences = given.highlight_sentences if given.include_highlights else 0
        print_json(web_search.structured(answer, sentences))
    else:
        _show(answer, explain=explain)
    if place is not None:
        _open(answer, place)


def _open(answer: SearchAnswer, place: int) -> None:
    import webbrowser

    chosen = next((row for row in answer.results if row.rank == place), None)
    if chosen is None:
        raise NotFoundError(f"--open {place}: there are {len(answer.results)} results")
    note(f"opening {plain(chosen.url)}")
    if not webbrowser.open(checked_url(chosen.url)):
        raise UnavailableError("no browser could be started", hint="BROWSER names one")


def _show(answer: SearchAnswer, *, explain: bool) -> None:
    rows = [
        [
            str(row.rank),
            f"{row.score:.3f}",
            " ".join(f"{vote.engine}#{vote.rank}" for vote in row.votes),
            row.title,
            row.url,
        ]
        for row in answer.results
    ]
    table(["#", "score", "votes", "title", "url"], rows)
    line()
    for report in answer.engines:
        line(_report(report))
    for label, texts in (
        ("Answer", answer.answers),
        ("Did you mean", answer.corrections),
        ("Related", answer.suggestions[:8]),
    ):
        if texts:
            line(plain(f"{label}: {' · '.join(texts)}"))
    if explain:
        line()
        for row in answer.results:
            line(explain_rank(row))
    if answer.next_page:
        line(f"{answer.total} results in all; more with --page {answer.next_page}")


def _report(report: EngineReport) -> str:
    text = f"{report.id}: {report.verdict.value}, {report.rows} rows, {report.elapsed_ms} ms"
    if report.detail:
        text += f" ({report.detail})"
    if report.retry_after is not None:
        text += f", retry in {report.retry_after:.0f} s"
    return text
