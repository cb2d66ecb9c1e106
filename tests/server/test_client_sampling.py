"""A language model in `web_search`: the client's own in both eras, or an endpoint."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pytest
from mcp import Client
from mcp.types import (
    CallToolResult,
    CreateMessageResult,
    Implementation,
    InputRequiredResult,
    TextContent,
)

from framework.types import Verdict
from server.app import Application
from server.config import Environment, load
from server.surface import build
from tests.support.site import Reply, Seen, Site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Era = Literal["auto", "legacy"]
ERAS = pytest.mark.parametrize("era", ["auto", "legacy"])
ME = Implementation(name="tests", version="0")


class Model:
    """A scripted model of a client; keeps what it was asked."""

    def __init__(self, answer: str) -> None:
        self.answer = answer
        self.asked: list[str] = []

    async def __call__(self, context: Any, params: Any) -> CreateMessageResult:
        content = params.messages[0].content
        assert isinstance(content, TextContent)
        self.asked.append(content.text)
        return CreateMessageResult(
            role="assistant", model="fake-1", content=TextContent(type="text", text=self.answer)
        )


def application(folder: Path, **settings: object) -> Application:
    given = load(Environment({}), state_dir=folder, **settings)
    return Application.create(given, Environment({}), replay=True)


async def search(
    app: Application, era: Era, model: Model | None, **arguments: object
) -> dict[str, Any]:
    surface = build(app)
    async with Client(surface, mode=era, sampling_callback=model, client_info=ME) as client:
        result = await client.call_tool(
            "web_search", {"query": "javascript tutorial", "engines": ["bing"], **arguments}
        )
    assert not result.is_error
    assert result.structured_content is not None
    return {**result.structured_content, "text": result.content[0].text}  # type: ignore[union-attr]


def answers(app: Application) -> float:
    text = app.metrics.text()
    line = f'consilience_engine_answers_total{{engine="bing",verdict="{Verdict.OK}"}} '
    return sum(float(row.removeprefix(line)) for row in text.splitlines() if row.startswith(line))


@ERAS
async def test_the_clients_model_drops_rows_and_never_changes_scores(
    tmp_path: Path, era: Era
) -> None:
    everything = await search(application(tmp_path), era, None)
    app, model = application(tmp_path), Model("[1, 3]")

    found = await search(app, era, model, sampling=True)

    assert found["sampling_applied"]
    expected = [everything["results"][0], everything["results"][2]]
    assert [(row["url"], row["score"]) for row in found["results"]] == [
        (row["url"], row["score"]) for row in expected
    ]
    assert len(model.asked) == 1
    assert everything["results"][0]["title"] in model.asked[0]
    assert answers(app) == 1, "the engines were asked again in a later round"


@ERAS
@pytest.mark.parametrize("answer", ["1, 3, none of the others", "[1, 999]", "", "{}", "[[1]]"])
async def test_what_is_no_list_of_numbers_leaves_the_rows_and_says_so(
    tmp_path: Path, era: Era, answer: str
) -> None:
    found = await search(application(tmp_path), era, Model(answer), sampling=True)

    assert not found["sampling_applied"]
    assert len(found["results"]) > 3
    assert "Not filtered" in found["text"]


@ERAS
async def test_a_client_without_a_model_gets_all_rows_and_the_reason(
    tmp_path: Path, era: Era
) -> None:
    found = await search(application(tmp_path), era, None, sampling=True)

    assert not found["sampling_applied"]
    assert "no language model is available" in found["text"]


@ERAS
async def test_nobody_is_asked_while_sampling_is_off(tmp_path: Path, era: Era) -> None:
    model = Model("[1]")

    found = await search(application(tmp_path), era, model)

    assert (model.asked, found["sampling_applied"]) == ([], False)


@ERAS
async def test_the_callers_choice_is_kept_and_reported(tmp_path: Path, era: Era) -> None:
    model = Model("[2]")
    async with Client(
        build(application(tmp_path)), mode=era, sampling_callback=model, client_info=ME
    ) as client:
        before = (await client.call_tool("get_sampling", {})).structured_content
        await client.call_tool("set_sampling", {"enabled": True})

    found = await search(application(tmp_path), era, model)

    assert before == {
        "sampling": False,
        "client_supports_sampling": True,
        "llm_configured": False,
        "resolution": "none",
    }
    assert (found["sampling_applied"], len(found["results"])) == (True, 1)


def chat(answer: str) -> Callable[[Seen], Reply]:
    def reply(_seen: Seen) -> Reply:
        body = {"model": "m", "choices": [{"message": {"role": "assistant", "content": answer}}]}
        return Reply(body=json.dumps(body).encode(), headers={"Content-Type": "application/json"})

    return reply


async def endpoint_search(folder: Path, site: Site, model: Model | None) -> dict[str, Any]:
    given: dict[str, object] = {
        "llm_base_url": site.url("/v1"),
        "llm_name": "small",
        "llm_api_key": "sk-secret-of-the-operator",
        "skip_ide_sampling": True,
        "sampling": True,
        "state_dir": folder,
    }
    app = Application.create(load(Environment({}), **given), Environment({}), replay=True)
    return await search(app, "auto", model)


async def test_a_configured_endpoint_answers_where_the_client_is_skipped(tmp_path: Path) -> None:
    async with Site({"/v1/chat/completions": chat("[1, 2]")}) as site:
        model = Model("[3]")
        found = await endpoint_search(tmp_path, site, model)
        seen = site.seen[0]

    assert (found["sampling_applied"], len(found["results"]), model.asked) == (True, 2, [])
    assert seen.headers["authorization"] == "Bearer sk-secret-of-the-operator"
    asked = json.loads(seen.body)
    assert asked["model"] == "small"
    assert "javascript" in asked["messages"][-1]["content"]


async def test_an_endpoint_that_refuses_leaves_the_rows_and_keeps_the_key_to_itself(
    tmp_path: Path,
) -> None:
    async with Site({"/v1/chat/completions": Reply(status=401)}) as site:
        found = await endpoint_search(tmp_path, site, None)

    assert not found["sampling_applied"]
    assert len(found["results"]) > 3
    assert "401" in found["text"]
    assert "sk-secret" not in json.dumps(found)


async def test_a_second_worker_with_the_same_key_goes_on_with_the_call(tmp_path: Path) -> None:
    first, second = application(tmp_path), application(tmp_path)
    key = b"0" * 32
    arguments = {"query": "javascript tutorial", "engines": ["bing"], "sampling": True}
    model = Model("[1]")

    async with Client(build(first, key=key), sampling_callback=model, client_info=ME) as client:
        asked = await client.session.call_tool("web_search", arguments, allow_input_required=True)
    assert isinstance(asked, InputRequiredResult)
    requests = asked.input_requests or {}
    replies: dict[str, Any] = {n: await model(None, r.params) for n, r in requests.items()}
    async with Client(build(second, key=key), sampling_callback=model, client_info=ME) as client:
        found = await client.session.call_tool(
            "web_search",
            arguments,
            input_responses=replies,
            request_state=asked.request_state,
            allow_input_required=True,
        )

    assert isinstance(found, CallToolResult)
    assert found.structured_content is not None
    assert found.structured_content["sampling_applied"]
    assert len(found.structured_content["results"]) == 1
    assert (answers(first), answers(second)) == (1, 0)
