"""The work behind `consilience batch`: a progress bar on a terminal, figures at the end."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError
from framework.types import Query
from server.app import Application
from server.batch import Batch, Journal, Pause, read_queries, run_batch
from server.cli.calls import run_with
from server.cli.output import note
from server.cli.setup import settings_of
from server.requests import SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from framework.types import SearchAnswer

__all__ = ["run"]


def run(
    queries: Path,
    output: Path,
    overrides: Mapping[str, object],
    *,
    engines: tuple[str, ...] | None,
    max_results: int,
    timeout: float,
    concurrency: int,
    retries: int,
    replay: bool | Path,
) -> int:
    """Search every query of a file; return 0 where each was answered, 1 where some failed.

    What stands in the output already is not asked again. Raises InvalidInputError for files that
    cannot be used and NotFoundError for an unknown engine.
    """
    wanted = list(read_queries(_lines(queries)))
    application = Application.create(settings_of(overrides), replay=replay)
    for name in engines or ():
        application.catalogue.entry(name)
    with Journal(output) as journal:
        before = sum(query in journal for query in wanted)
        batch = Batch(total=len(wanted), before=before)
        if before:
            note(f"{output}: {before} of {len(wanted)} queries are done; going on")
        began = time.perf_counter()

        async def work(app: Application) -> Batch:
            async def search(text: str) -> SearchAnswer:
                query = Query(text=text, max_results=max_results)
                request = SearchRequest(query=query, engines=engines, timeout=timeout)
                return await app.search(request, caller="cli")

            with _progress(batch) as advanced:
                return await run_batch(
                    wanted,
                    journal,
                    search,
                    batch=batch,
                    concurrency=concurrency,
                    pause=Pause(retries=retries),
                    advanced=advanced,
                )

        run_with(application, work)
    seconds = time.perf_counter() - began
    note(_told(batch, output, seconds))
    return int(batch.failed > 0)


def _lines(path: Path) -> Iterator[str]:
    try:
        text = sys.stdin.read() if str(path) == "-" else path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path}: cannot be read as UTF-8 text: {error}") from error
    yield from text.splitlines()


@contextmanager
def _progress(batch: Batch) -> Iterator[Callable[[Batch], None] | None]:
    """Show a bar on a terminal; nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    bar = Progress(
        "searching", BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), "{task.fields[bad]}",
        console=Console(stderr=True),
    )  # fmt: skip
    with bar:
        task = bar.add_task("", total=batch.total, completed=batch.before, bad="")

        def advanced(now: Batch) -> None:
            bad = f"{now.failed} failed" if now.failed else ""
            bar.update(task, completed=now.before + now.done, bad=bad)

        yield advanced


def _told(batch: Batch, output: Path, seconds: float) -> str:
    rate = batch.done / seconds if seconds else 0.0
    failed = f", {batch.failed} of them failed" if batch.failed else ""
    return f"{output}: {batch.done} queries in {seconds:.1f} s ({rate:.1f} a second){failed}"
