"""`consilience deep`: a research run with a live view, and its report."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from framework.errors import InvalidInputError
from server.cli.options import AsJson, EngineIds, Overrides, fetching, split

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from framework.research.loop import Progress
    from server.app import Application
    from server.deep import Outcome


__all__ = ["register", "status_line"]


@fetching
def deep(
    objective: Annotated[str, typer.Argument(help="What to find out.")],
    overrides: Overrides,
    out: Annotated[Path | None, typer.Option(help="Write the report to this file.")] = None,
    max_loops: Annotated[int | None, typer.Option(min=1, max=50, help="Rounds at most.")] = None,
    results_per_engine: Annotated[
        int | None, typer.Option(min=1, max=20, help="Results taken of each engine.")
    ] = None,
    max_citation_urls: Annotated[
        int | None, typer.Option(min=-1, max=50, help="Pages read at most; -1: no limit.")
    ] = None,
    engine_ids: EngineIds = None,
    attach_context: Annotated[
        bool, typer.Option("--attach-context", help="Add the passages that were read.")
    ] = False,
    time_budget: Annotated[
        float,
        typer.Option("--time-budget", "--timeout", min=5, max=3_600, help="Seconds for the run."),
    ] = 600,
    as_json: AsJson = False,
) -> None:
    """Research a question in rounds; Ctrl-C ends it with what it has."""
    arguments: dict[str, object] = {
        "objective": objective,
        "max_loops": max_loops,
        "results_per_engine": results_per_engine,
        "max_citation_urls": max_citation_urls,
        "engines": split(engine_ids),
        "attach_context": attach_context,
        "time_budget": time_budget,
    }
    _run(arguments, overrides, out=out, as_json=as_json)


def _run(
    arguments: Mapping[str, object],
    overrides: Mapping[str, object],
    *,
    out: Path | None,
    as_json: bool,
) -> None:
    from server.app import Application
    from server.cli.calls import run_with
    from server.cli.output import as_json as print_json
    from server.cli.output import line, note
    from server.cli.setup import settings_of
    from server.deep import deep as research
    from server.tools.base import Call, parse
    from server.tools.search_deep import TOOL, request_of, structured

    given = parse(TOOL, arguments)
    _check(out)

    async def work(app: Application) -> Outcome:
        with _view() as tell, _interruptible() as cancel:
            call = Call(caller="cli")
            return await research(app, request_of(given), call, cancel=cancel, tell=tell)

    outcome = run_with(Application.create(settings_of(overrides)), work)
    if outcome.continued:
        note("An interrupted run was continued.")
    if not outcome.report.finished:
        note(f"Not finished: {outcome.report.stopped}.")
    if out is not None:
        out.write_text(outcome.report.markdown, encoding="utf-8")
        note(f"wrote {out}")
    if as_json:
        print_json(structured(outcome))
    elif out is None:
        line(outcome.report.markdown)


def _check(out: Path | None) -> None:
    """Say before the work, not after it, that a report cannot be written."""
    if out is None:
        return
    try:
        out.touch()
    except OSError as error:
        raise InvalidInputError(f"--out: {out}: {error.strerror or error}") from error


@contextlib.contextmanager
def _interruptible() -> Iterator[asyncio.Event]:
    """Set the event at the first interrupt; a second one ends the program."""
    cancel = asyncio.Event()
    loop = asyncio.get_running_loop()

    def stop() -> None:
        cancel.set()
        loop.remove_signal_handler(signal.SIGINT)

    with contextlib.suppress(NotImplementedError, RuntimeError):
        loop.add_signal_handler(signal.SIGINT, stop)
    try:
        yield cancel
    finally:
        with contextlib.suppress(NotImplementedError, RuntimeError):
            loop.remove_signal_handler(signal.SIGINT)


@contextlib.contextmanager
def _view() -> Iterator[Callable[[Progress], None]]:
    """Show a line that follows the run, on a terminal only."""
    if not sys.stderr.isatty():
        yield lambda _progress: None
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda progress: status.update(status_line(progress))


def status_line(progress: Progress) -> str:
    """Return the line of the live view: rounds, pages, citations and what is being done."""
    state = progress.state
    quotes = sum(len(source.quotes) for source in state.sources)
    return (
        f"round {state.round}/{state.task.max_loops} · {len(state.sources)} pages · "
        f"{quotes} citations · {progress.message}"
    )


def register(app: typer.Typer) -> None:
    """Add the command to the program."""
    app.command()(deep)
