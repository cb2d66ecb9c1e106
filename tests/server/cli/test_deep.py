"""`consilience deep`: a report on a pipe and in a file, an interrupt, wrong use, the live line."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
import threading
from typing import TYPE_CHECKING

import pytest
from werkzeug import Request, Response

from framework.research.loop import Progress
from framework.research.state import State, Task
from server.cli.deep import status_line
from spiders.replay import ReplayProxy
from tests.research_world import world
from tests.research_world.model import Model
from tests.research_world.world import OBJECTIVE
from tests.support.command import runner
from tests.support.place import Place
from tests.support.site import Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from pytest_httpserver import HTTPServer

    from tests.support.command import Done

    Here = Callable[..., Awaitable[Done]]


class Endpoint:
    """An OpenAI-compatible server; with `hold` it keeps questions for quotes until it is set."""

    def __init__(self, server: HTTPServer) -> None:
        self.model = Model(misbehaves=False)
        self.hold: threading.Event | None = None
        self.held = threading.Event()
        self.base = server.url_for("/v1")
        server.expect_request("/v1/chat/completions").respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        system, user = (one["content"] for one in json.loads(request.get_data())["messages"])
        if self.hold is not None and '"task": "quotes"' in user:
            self.held.set()
            self.hold.wait(30)
        content = self.model.answer(system, user)
        return Response(
            json.dumps({"choices": [{"message": {"content": content}}]}),
            mimetype="application/json",
        )


@pytest.fixture
def endpoint(httpserver: HTTPServer) -> Endpoint:
    return Endpoint(httpserver)


@pytest.fixture
async def place(endpoint: Endpoint, tmp_path: Path) -> AsyncIterator[Place]:
    async with ReplayProxy(answer=world.respond) as proxy, Site({}) as site:
        assert proxy.ca is not None
        proxy.ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        world.write_engines(tmp_path / "engines.d")
        yield Place(
            tmp_path,
            site,
            CONSILIENCE_PROXY=proxy.url("socks5h"),
            CONSILIENCE_CA_FILE=str(tmp_path / "ca.pem"),
            CONSILIENCE_ENGINES=",".join(world.ENGINES),
            CONSILIENCE_LOG="error",
            CONSILIENCE_SAMPLING="on",
            INTERNET_CONTEXT_MCP_RERANK="off",
            INTERNET_CONTEXT_MCP_EMBEDDINGS="off",
            INTERNET_CONTEXT_MCP_NLI="off",
            LLM_BASE_URL=endpoint.base,
            LLM_NAME="m",
        )


@pytest.fixture
def here(place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Here:
    """Runs a command in this process, beside the loop of the site and the proxy."""
    run = runner(capsys, monkeypatch, place.folder / "state")

    async def ran(*words: str) -> Done:
        with place.entered():
            return await asyncio.to_thread(run, *words)

    return ran


async def test_a_report_in_a_file(place: Place, here: Here) -> None:
    words = ("deep", OBJECTIVE, "--out", "report.md", "--max-loops", "1")
    done = await here(*words, "--max-citation-urls", "3")

    report = (place.folder / "report.md").read_text()
    assert done.code == 0
    assert "wrote report.md" in done.error
    assert report.startswith("# How was the Harrow Sound tidal barrage built")
    assert "## References" in report
    assert "3 pages read" in report


async def test_an_interrupt_gives_a_partial_report_and_the_run_goes_on(
    place: Place, endpoint: Endpoint
) -> None:
    endpoint.hold = threading.Event()
    words = ("deep", OBJECTIVE, "--max-loops", "1", "--max-citation-urls", "3")
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-c", "from server.cli import main; main()"),
        *words,
        cwd=place.folder,
        env=place.environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert await asyncio.to_thread(endpoint.held.wait, 60)

    process.send_signal(signal.SIGINT)
    out, error = await process.communicate()
    endpoint.hold.set()

    assert process.returncode == 0, error.decode()
    assert "**Not finished: it was cancelled.**" in out.decode()
    assert "Not finished: it was cancelled." in error.decode()
    endpoint.hold = None
    asked = endpoint.model.asked["plan"]
    said = await place.run(*words, "--json", expect=(0,))
    assert "An interrupted run was continued." in said
    assert endpoint.model.asked["plan"] == asked


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("deep", OBJECTIVE, "--out", "no/folder/report.md"), 1, "--out: no/folder/report.md"),
        (("deep", OBJECTIVE, "--engines", "alfa"), 1, "alpha"),
    ],
    ids=["unwritable", "engine"],
)
async def test_wrong_use(here: Here, words: tuple[str, ...], code: int, reason: str) -> None:
    done = await here(*words)

    assert done.code == code
    assert reason in done.error
    assert "Traceback" not in done.error


def test_the_live_line_counts_rounds_pages_and_citations() -> None:
    state = State(task=Task(objective=OBJECTIVE, today="2026-11-29", max_loops=4), round=2)

    line = status_line(Progress(3, "reading 4 pages", state))

    assert line == "round 2/4 · 0 pages · 0 citations · reading 4 pages"
