"""What clients of either era see: tools, their size, resources, prompts, completion."""

from __future__ import annotations

import asyncio
import json
import re
from typing import TYPE_CHECKING, Any, Literal

import jsonschema
import pytest
import pytest_asyncio
from mcp import Client
from mcp.shared.exceptions import MCPError
from mcp.types import PromptReference, ResourceTemplateReference, TextContent, TextResourceContents

from framework.reading import tokens
from server import tools
from server.app import Application
from server.config import Environment, Settings
from server.selection import Selection
from server.surface import Surface, build

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable

pytestmark = pytest.mark.asyncio(loop_scope="module")

Era = Literal["auto", "legacy"]


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Application:
    settings = Settings(state_dir=tmp_path_factory.mktemp("state"))
    return Application.create(settings, Environment({}), replay=True)


@pytest.fixture(scope="module")
def surface(application: Application) -> Surface:
    return build(application)


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["auto", "legacy"])
async def client(application: Application, request: pytest.FixtureRequest) -> AsyncIterator[Client]:
    """A connected client, opened and closed by one task, as its cancel scopes want it."""
    era: Era = request.param
    ready: asyncio.Future[Client] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def hold() -> None:
        async with Client(build(application), mode=era) as opened:
            ready.set_result(opened)
            await done.wait()

    task = asyncio.create_task(hold())
    task.add_done_callback(lambda ended: ready.done() or ready.cancel())
    yield await ready
    done.set()
    await task


def as_sent(tool: Any) -> dict[str, Any]:
    found: dict[str, Any] = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


def size(listed: list[dict[str, Any]]) -> int:
    return tokens.count(json.dumps(listed, separators=(",", ":"), ensure_ascii=False))


async def test_the_list_of_tools_is_small(surface: Surface) -> None:
    listed = [as_sent(tool) for tool in await surface.list_tools() if tool.name != "web"]
    bare = [{k: v for k, v in tool.items() if k != "outputSchema"} for tool in listed]

    assert size(listed) <= 6_000
    assert size(bare) <= 3_000


async def test_the_compact_list_is_smaller(surface: Surface) -> None:
    listed = [as_sent(tool) for tool in await surface.list_tools() if tool.name == "web"]

    assert size(listed) <= 900


async def test_every_tool_says_what_it_is_and_does(client: Client) -> None:
    listed = (await client.list_tools()).tools

    assert [tool.name for tool in listed] == [tool.name for tool in tools.ALL]
    for tool in listed:
        assert tool.title
        assert tool.description
        assert tool.output_schema
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint == (not tool.name.startswith("set_"))
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        jsonschema.Draft202012Validator.check_schema(tool.output_schema)


async def test_answers_fit_their_schemas(client: Client) -> None:
    schemas = {tool.name: tool.output_schema for tool in (await client.list_tools()).tools}
    for name, arguments in (
        ("web_search", {"query": "javascript"}),
        ("web_search", {"query": ""}),
        ("get_engines", {}),
        ("get_sampling", {}),
    ):
        result = await client.call_tool(name, arguments)

        jsonschema.validate(result.structured_content, schemas[name] or {})
        assert result.is_error == (arguments == {"query": ""})


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"query": "a", "max_results": 99}, "max_results: .*1 to 50.*99"),
        ({"query": "a", "limit": 3}, "limit: unknown argument"),
        ({}, "query: this argument is required"),
        ({"query": "a", "engines": ["bingo"]}, "did you mean .bing"),
    ],
)
async def test_wrong_arguments_are_told_as_a_result(
    client: Client, arguments: dict[str, Any], words: str
) -> None:
    result = await client.call_tool("web_search", arguments)

    assert result.is_error
    assert result.structured_content is not None
    error = result.structured_content["error"]
    block = result.content[0]
    assert isinstance(block, TextContent)
    assert block.text == f"{error['code']}: {error['message']}"
    assert re.search(words, error["message"])
    assert "pydantic" not in block.text


@pytest.mark.parametrize("call", ["tool", "prompt", "argument", "resource", "engine"])
async def test_what_does_not_exist_is_a_protocol_error(client: Client, call: str) -> None:
    calls: dict[str, Callable[[], Awaitable[object]]] = {
        "tool": lambda: client.call_tool("web_serch", {}),
        "prompt": lambda: client.get_prompt("nope", {}),
        "argument": lambda: client.get_prompt("research_a_topic", {}),
        "resource": lambda: client.read_resource("consilience://nothing"),
        "engine": lambda: client.read_resource("consilience://engine/bingo"),
    }
    with pytest.raises(MCPError) as caught:
        await calls[call]()

    assert caught.value.error.code == -32602
    if call in {"tool", "engine"}:
        assert "did you mean" in caught.value.error.message


async def test_resources_tell_of_engines(client: Client) -> None:
    listed = [str(resource.uri) for resource in (await client.list_resources()).resources]
    engines = (await client.read_resource("consilience://engines")).contents[0]
    file = (await client.read_resource("consilience://engine/brave")).contents[0]

    assert "consilience://engines" in listed
    assert isinstance(engines, TextResourceContents)
    assert isinstance(file, TextResourceContents)
    assert {"bing", "brave"} <= {engine["id"] for engine in json.loads(engines.text)}
    assert "id: brave" in file.text


async def test_a_report_is_a_resource_of_its_caller(
    client: Client, application: Application
) -> None:
    own = application.reports.put("mcp", "report.md", b"# Mine")
    other = application.reports.put("somebody", "report.md", b"# Theirs")

    contents = (await client.read_resource(f"consilience://report/{own.id}")).contents[0]
    assert isinstance(contents, TextResourceContents)
    assert contents.text == "# Mine"
    with pytest.raises(MCPError):
        await client.read_resource(f"consilience://report/{other.id}")


async def test_a_fetched_page_is_a_resource_of_its_caller(
    client: Client, application: Application
) -> None:
    answer = await client.call_tool("web_fetch", {"url": "http://www.example/", "max_chars": 500})
    page = answer.structured_content
    assert page is not None
    uri = f"consilience://page/{page['fingerprint']}"
    contents = (await client.read_resource(uri)).contents[0]
    template = ResourceTemplateReference(
        type="ref/resource", uri="consilience://page/{fingerprint}"
    )
    known = await client.complete(template, {"name": "fingerprint", "value": ""})

    assert isinstance(contents, TextResourceContents)
    assert contents.text.startswith('<untrusted source="http://www.example/" id="')
    assert len(contents.text) > page["total"]["chars"] > page["returned"]["chars"]
    assert page["fingerprint"] in known.completion.values
    assert application.pages.get(page["fingerprint"], "somebody") is None


async def test_ids_are_completed(client: Client, application: Application) -> None:
    engine = ResourceTemplateReference(type="ref/resource", uri="consilience://engine/{id}")
    kept = application.reports.put("mcp", "report.md", b"x")
    report = ResourceTemplateReference(type="ref/resource", uri="consilience://report/{id}")
    prompt = PromptReference(type="ref/prompt", name="research_a_topic")

    found = await client.complete(engine, {"name": "id", "value": "brav"})
    reports = await client.complete(report, {"name": "id", "value": kept.id[:6]})
    nothing = await client.complete(prompt, {"name": "query", "value": "a"})

    assert "brave" in found.completion.values
    assert all(name.startswith("brav") for name in found.completion.values)
    assert reports.completion.values == [kept.id]
    assert nothing.completion.values == []


@pytest.mark.parametrize(
    ("name", "arguments", "words"),
    [
        ("verify_with_sources", {"claim": "The sky is blue"}, ("web_verify", "The sky is blue")),
        ("summarize_from_context", {"url": "https://a.example", "task": "t"}, ("web_context",)),
        ("research_a_topic", {"query": "cats", "depth": "2"}, ("web_research", "depth=2")),
    ],
)
async def test_prompts_name_the_tool_to_use(
    client: Client, name: str, arguments: dict[str, str], words: tuple[str, ...]
) -> None:
    message = (await client.get_prompt(name, arguments)).messages[0].content

    assert isinstance(message, TextContent)
    assert all(word in message.text for word in words)


async def test_instructions_and_hints_are_sent(client: Client) -> None:
    assert client.instructions is not None
    assert "untrusted" in client.instructions


async def test_progress_is_told_and_only_grows(client: Client) -> None:
    seen: list[float] = []

    async def told(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    await client.call_tool("web_search", {"query": "javascript"}, progress_callback=told)

    assert seen
    assert seen == sorted(set(seen))


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"operation": "web_search", "input": {"query": "javascript"}}, None),
        ({"operation": "get_sampling"}, None),
        ({"operation": "web_serch", "input": {}}, "did you mean 'web_search'"),
        ({"operation": "web_search", "input": {"q": "x"}}, "q: unknown argument"),
        ({"input": {}}, "operation: this argument is required"),
    ],
)
async def test_the_compact_tool_routes(
    application: Application, given: dict[str, Any], expected: str | None
) -> None:
    async with Client(build(application, Selection(("compact",)))) as client:
        assert [tool.name for tool in (await client.list_tools()).tools] == ["web"]
        result = await client.call_tool("web", given)

    data = result.structured_content
    assert data is not None
    if expected is None:
        assert data["operation"] == given["operation"]
        assert data["result"]
    else:
        assert expected in data["error"]["message"]


async def test_the_compact_schema_names_every_operation_once(surface: Surface) -> None:
    web = next(tool for tool in await surface.list_tools() if tool.name == "web")
    validator = jsonschema.Draft202012Validator(web.input_schema)

    assert [ref["$ref"] for ref in web.input_schema["oneOf"]] == [
        f"#/$defs/{tool.name}" for tool in tools.ALL
    ]
    assert validator.is_valid({"operation": "web_search", "input": {"query": "a", "page": 2}})
    assert not validator.is_valid({"operation": "web_search", "input": {"query": 3}})
    assert not validator.is_valid({"operation": "nothing"})
