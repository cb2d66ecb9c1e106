"""A table that grows while engines answer; only where somebody watches."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

from framework.merge.consensus import Ballot, merge
from server.cli.output import plain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rich.console import RenderableType
    from rich.table import Table

    from framework.merge.search import OnReport
    from framework.spec.catalogue import Catalogue
    from framework.types import EngineReport, Result, Row

__all__ = ["Growing", "watched"]

_ROWS = 10
_COLOURS = {"ok": "green", "empty": "dim"}


class Growing:
    """What has arrived so far of one search: merged rows, and a line for each engine."""

    def __init__(
        self, catalogue: Catalogue, draw: Callable[[RenderableType], None], rows: int = _ROWS
    ) -> None:
        self._catalogue = catalogue
        self._draw = draw
        self._rows = min(rows, _ROWS)
        self._ballots: list[Ballot] = []
        self._reports: list[EngineReport] = []

    def heard(self, report: EngineReport, rows: tuple[Row, ...]) -> None:
        """Take one engine's answer in, and draw."""
        self._reports.append(report)
        engine = self._catalogue.entry(report.id).engine
        if rows and engine is not None:
            ballot = Ballot(engine=report.id, rows=rows, index=engine.index, weight=engine.weight)
            self._ballots.append(ballot)
        self._draw(_drawn(merge(self._ballots, max_results=self._rows), self._reports))


def _drawn(results: Sequence[Result], reports: Sequence[EngineReport]) -> RenderableType:
    from rich.console import Group
    from rich.text import Text

    lines = (
        Text.assemble(
            f"{report.id} ",
            (report.verdict.value, _COLOURS.get(report.verdict.value, "yellow")),
            f" {report.rows} rows, {report.elapsed_ms} ms",
        )
        for report in reports
    )
    return Group(_table(results), *lines)


def _table(results: Sequence[Result]) -> Table:
    from rich.table import Table
    from rich.text import Text

    grid = Table("#", "votes", "title", box=None, pad_edge=False, header_style="bold")
    for row in results:
        votes = " ".join(f"{vote.engine}#{vote.rank}" for vote in row.votes)
        grid.add_row(
            str(row.rank), votes, Text(plain(row.title), no_wrap=True, overflow="ellipsis")
        )
    return grid


@contextlib.contextmanager
def watched(catalogue: Catalogue, *, wanted: bool, rows: int = _ROWS) -> Iterator[OnReport | None]:
    """Give what hears of each engine's answer, or None where nobody watches standard output.

    What was drawn is gone when the block ends: the full table follows.
    """
    if not wanted or not sys.stdout.isatty():
        yield None
        return
    from rich.console import Console
    from rich.live import Live

    with Live(console=Console(), auto_refresh=False, transient=True) as live:
        yield Growing(catalogue, lambda drawn: live.update(drawn, refresh=True), rows).heard
