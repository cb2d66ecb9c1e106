"""search_deep the whole way: MCP, engines and pages behind a proxy, an endpoint that misbehaves."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from mcp import Client
from mcp.types import CreateMessageResult, TextContent
from werkzeug import Request, Response

from framework.llm import Completion
from server.app import Application
from server.config import Environment
from server.deep import DeepRequest, deep
from server.surface import build
from server.tools.base import Call
from spiders.replay import ReplayProxy
from tests.research_world import world
from tests.research_world.model import INVENTED, PLAN, QUESTIONS, Model
from tests.research_world.world import FALSE_NUMBER, OBJECTIVE, sites

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from pytest_httpserver import HTTPServer

    from framework.types import HttpRequest, HttpResponse

ARGUMENTS = {"objective": OBJECTIVE, "max_citation_urls": -1, "max_loops": 4}
PATH = "/v1/chat/completions"


@pytest.fixture
async def proxy() -> AsyncIterator[ReplayProxy]:
    async with ReplayProxy(answer=world.respond) as proxy:
        yield proxy


def application(proxy: ReplayProxy, folder: Path, **more: str) -> Application:
    assert proxy.ca is not None
    ca_file = folder / "ca.pem"
    proxy.ca.cert_pem.write_to_path(str(ca_file))
    world.write_engines(folder / "engines")
    values = {
        "CONSILIENCE_PROXY": proxy.url("socks5h"),
        "CONSILIENCE_CA_FILE": str(ca_file),
        "CONSILIENCE_STATE_DIR": str(folder / "state"),
        "CONSILIENCE_ENGINES_DIR": str(folder / "engines"),
        "CONSILIENCE_ENGINES": ",".join(world.ENGINES),
        "PUBLIC_URL": "https://research.example/",
        "INTERNET_CONTEXT_MCP_RERANK": "off",
        "INTERNET_CONTEXT_MCP_EMBEDDINGS": "off",
        "INTERNET_CONTEXT_MCP_NLI": "off",
        **more,
    }
    return Application.create(environment=Environment(values))


class Endpoint:
    """An OpenAI-compatible server that refuses, hangs and breaks off now and then."""

    def __init__(self, server: HTTPServer, model: Model) -> None:
        self.model = model
        self.count: Counter[str] = Counter()
        self.leave = threading.Event()
        server.expect_request(PATH, method="POST").respond_with_handler(self.answer)

    def answer(self, request: Request) -> Response:
        self.count["all"] += 1
        trouble = {2: "busy", 5: "hangs", 7: "no completion"}.get(self.count["all"])
        if trouble == "busy":
            return Response(status=429, headers={"Retry-After": "0"})
        if trouble == "hangs":
            self.leave.wait(2)
        if trouble == "no completion":
            return Response("<p>oops</p>", mimetype="text/html")
        body = json.loads(request.get_data())
        system, user = (one["content"] for one in body["messages"])
        assert body["temperature"] == 0
        text = self.model.answer(system, user)
        usage = {"prompt_tokens": 100, "completion_tokens": 20}
        return Response(
            json.dumps(
                {"model": "m-1", "choices": [{"message": {"content": text}}], "usage": usage}
            ),
            mimetype="application/json",
        )


def with_endpoint(server: HTTPServer) -> dict[str, str]:
    return {
        "LLM_BASE_URL": server.url_for("/v1"),
        "LLM_NAME": "m",
        "LLM_TIMEOUT_MS": "1000",
        "CONSILIENCE_LLM_PRICE_INPUT": "2",
        "CONSILIENCE_LLM_PRICE_OUTPUT": "10",
    }


def check(data: dict[str, Any]) -> None:
    """What must hold of every report about the made-up world."""
    everything = [*data["references"], *data.get("unused_references", [])]
    for reference in everything:
        body = " ".join(sites()[reference["url"]].body)
        assert [one["text"] for one in reference["quotes"] if one["text"] not in body] == []
    urls = {one["url"] for one in everything}
    assert len(urls & {*world.COPIES, world.ORIGINAL}) <= 1
    report = data["report"]
    assert "PINEAPPLE" not in report
    assert INVENTED not in report
    assert "collector.example" not in report
    assert "[99]" not in report
    sides = [one["a_quote"] + one["b_quote"] for one in data["contradictions"]]
    assert any("540 gigawatt" in pair and "410 gigawatt" in pair for pair in sides)
    stated = [line for line in data["report"].split("## ")[1].splitlines() if FALSE_NUMBER in line]
    assert stated == []


async def test_an_endpoint_that_misbehaves(
    proxy: ReplayProxy, httpserver: HTTPServer, tmp_path: Path
) -> None:
    endpoint = Endpoint(httpserver, Model())
    surface = build(application(proxy, tmp_path, **with_endpoint(httpserver)))
    heard: list[str] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        heard.append(message or "")

    async with Client(surface) as client:
        answer = await client.call_tool("search_deep", ARGUMENTS, progress_callback=told)
        data = answer.structured_content
        assert data is not None
        assert not answer.is_error, data
        kept = await client.read_resource(data["resource"])
    endpoint.leave.set()

    check(data)
    assert data["finished"]
    assert kept.contents[0].text == data["report"]  # type: ignore[union-attr]
    assert data["download_url"].startswith("https://research.example/download/")
    assert data["usage"]["cost"] == pytest.approx(data["usage"]["calls"] * (200 + 200) / 1e6)
    assert not data["usage"]["estimated"]
    assert any("reading" in message for message in heard)
    requested = Counter(one.url for one in proxy.served if ".example/find" not in one.url)
    assert requested
    pages = {url: count for url, count in requested.items() if url in sites()}
    assert all(count == 1 for url, count in pages.items() if sites()[url].status == 200)


def sampler(model: Model) -> Any:
    async def sample(_context: Any, params: Any) -> CreateMessageResult:
        text = model.answer(params.system_prompt, params.messages[0].content.text)
        return CreateMessageResult(
            role="assistant", model="client-1", content=TextContent(type="text", text=text)
        )

    return sample


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_the_clients_own_model(proxy: ReplayProxy, tmp_path: Path, mode: Any) -> None:
    model = Model()
    surface = build(application(proxy, tmp_path))

    async with Client(surface, mode=mode, sampling_callback=sampler(model)) as client:
        answer = await client.call_tool("search_deep", ARGUMENTS)

    data = answer.structured_content
    assert data is not None
    assert not answer.is_error, data
    check(data)
    assert data["finished"]
    assert len(model.prompts) == len(set(model.prompts))
    pages = Counter(one.url for one in proxy.served if one.url in sites())
    assert all(count == 1 for url, count in pages.items() if sites()[url].status == 200)


async def test_without_a_model_it_says_what_to_do(proxy: ReplayProxy, tmp_path: Path) -> None:
    surface = build(application(proxy, tmp_path))

    async with Client(surface) as client:
        listed = await client.list_tools()
        answer = await client.call_tool("search_deep", ARGUMENTS)

    assert "search_deep" in {tool.name for tool in listed.tools}
    assert answer.is_error
    assert answer.structured_content is not None
    error = answer.structured_content["error"]
    assert error["code"] == "llm_missing"
    assert "LLM_BASE_URL" in error["message"]
    assert "web_research" in error["message"]
    assert not proxy.served


async def test_an_unknown_engine_is_refused_before_the_model_is_asked(
    proxy: ReplayProxy, tmp_path: Path
) -> None:
    model = Model()
    surface = build(application(proxy, tmp_path))

    async with Client(surface, sampling_callback=sampler(model)) as client:
        answer = await client.call_tool("search_deep", {**ARGUMENTS, "engines": ["gama"]})

    assert answer.is_error
    assert "gamma" in str(answer.structured_content)
    assert not model.prompts


@pytest.mark.untraced
async def test_twenty_runs_share_pages_and_room(proxy: ReplayProxy, tmp_path: Path) -> None:
    app = application(proxy, tmp_path)
    most = 0

    async with app:
        room = app.deep_runs.room
        free = room._value

        async def watch() -> None:
            nonlocal most
            while True:
                most = max(most, free - room._value)
                await asyncio.sleep(0.001)

        watching = asyncio.create_task(watch())
        request = DeepRequest(objective=OBJECTIVE, max_loops=1, max_citation_urls=4)
        outcomes = await asyncio.gather(
            *(deep(app, request, Call(caller=f"caller {n}", client_llm=Model())) for n in range(20))
        )
        watching.cancel()

    assert all(one.report.finished and one.report.references for one in outcomes)
    pages = Counter(one.url for one in proxy.served if one.url in sites())
    assert pages
    assert all(count == 1 for url, count in pages.items() if sites()[url].status == 200)
    assert 0 < most <= free


class Numbered(Model):
    """Plans queries that no other run asks, so that none of them is answered by the cache."""

    number: int

    def _plan(self, given: dict[str, Any], again: bool) -> str:
        queries = [f"{query} {self.number}" for query in PLAN]
        return json.dumps({"queries": queries, "questions": list(QUESTIONS)})

    async def complete(self, prompt: Any) -> Completion:
        if '"task": "plan"' in prompt.user:
            return Completion(text=self._plan({}, False), model="scripted-1")
        return await Model.complete(self, prompt)


@pytest.mark.untraced
async def test_twenty_runs_share_the_pace_of_an_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No run may ask an engine as if the others were not there, whatever they ask."""
    burst, seconds, slack = 8, 1.0, 2.0
    limits = f"limits: {{{{rate: {burst}/1s}}}}\n"
    monkeypatch.setattr(world, "SPEC", f"{world.SPEC}{limits}")
    asked: list[float] = []

    def timed(request: HttpRequest) -> HttpResponse | None:
        if "//alpha.example/" in request.url:
            asked.append(time.monotonic())
        return world.respond(request)

    async with ReplayProxy(answer=timed) as proxy, application(proxy, tmp_path) as app:
        request = DeepRequest(objective=OBJECTIVE, max_loops=1, max_citation_urls=2)
        outcomes = await asyncio.gather(
            *(
                deep(app, request, Call(caller=f"caller {n}", client_llm=numbered(n)))
                for n in range(20)
            )
        )

    assert all(one.report.finished for one in outcomes)
    assert len(asked) > burst
    early = [
        (first, last)
        for first, start in enumerate(asked)
        for last, end in enumerate(asked[first:], first)
        if end - start < (last - first - burst) * seconds / burst - slack
    ]
    assert not early


def numbered(number: int) -> Numbered:
    model = Numbered()
    model.number = number
    return model


class Leaving(Model):
    """Never answers what is still open, so that its caller can leave meanwhile."""

    reached: asyncio.Event

    async def complete(self, prompt: Any) -> Any:
        if '"task": "judge"' in prompt.user:
            self.reached.set()
            await asyncio.Event().wait()
        return await Model.complete(self, prompt)


async def test_a_call_that_was_cancelled_goes_on_when_repeated(
    proxy: ReplayProxy, tmp_path: Path
) -> None:
    request = DeepRequest(objective=OBJECTIVE, max_loops=1, max_citation_urls=3)
    leaving = Leaving()
    leaving.reached = asyncio.Event()

    async with application(proxy, tmp_path) as app:
        calling = asyncio.create_task(deep(app, request, Call(caller="ann", client_llm=leaving)))
        await asyncio.wait_for(leaving.reached.wait(), 60)
        calling.cancel()
        with pytest.raises(asyncio.CancelledError):
            await calling
        (shelved,) = app.reports.ids("ann")
        kept = app.reports.get(shelved, "ann")
        others = app.reports.get(shelved, "bob")
        again = await deep(app, request, Call(caller="ann", client_llm=Model()))
        foreign = await deep(app, request, Call(caller="bob", client_llm=Model()))

    assert kept is not None
    assert b"Not finished: it was cancelled" in kept.body
    assert others is None
    assert again.continued
    assert again.report.finished
    assert not foreign.continued
    pages = Counter(one.url for one in proxy.served if one.url in sites())
    assert all(count == 1 for url, count in pages.items() if sites()[url].status == 200)
