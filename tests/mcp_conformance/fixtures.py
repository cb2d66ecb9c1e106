"""The tools, resources and prompts that the official conformance suite calls by name.

They are registered on the product's own server object, so the suite tests our middleware, gate and
transport with them.
"""

from __future__ import annotations

import asyncio
import base64
import json
import struct
import warnings
import zlib
from typing import TYPE_CHECKING, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.prompts.base import Message, UserMessage
from mcp.shared.exceptions import MCPError
from mcp.types import (
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    CallToolResult,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    EmptyResult,
    ImageContent,
    InputRequiredResult,
    ListRootsRequest,
    SamplingMessage,
    SetLevelRequestParams,
    SubscribeRequestParams,
    TextContent,
    TextResourceContents,
    UnsubscribeRequestParams,
)

if TYPE_CHECKING:
    from server.surface import Surface

Ctx = Context[Any, Any]
FIXTURE = "For the conformance suite."


def _chunk(kind: bytes, data: bytes) -> bytes:
    body = kind + data
    return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))


PNG = (
    b"\x89PNG\r\n\x1a\n"
    + _chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
    + _chunk(b"IDAT", zlib.compress(b"\x00\xff\x00\x00"))
    + _chunk(b"IEND", b"")
)
WAV = struct.pack(
    "<4sI4s4sIHHIIHH4sI", b"RIFF", 36, b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16, b"data", 0
)
IMAGE = ImageContent(type="image", data=base64.b64encode(PNG).decode(), mime_type="image/png")


def _embedded(uri: str, text: str, mime_type: str = "text/plain") -> EmbeddedResource:
    contents = TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return EmbeddedResource(type="resource", resource=contents)


def _text(text: str) -> TextContent:
    return TextContent(type="text", text=text)


def _result(text: str) -> CallToolResult:
    return CallToolResult(content=[_text(text)])


def _form(message: str, **properties: dict[str, Any]) -> ElicitRequest:
    schema = {"type": "object", "properties": properties, "required": list(properties)}
    return ElicitRequest(params=ElicitRequestFormParams(message=message, requested_schema=schema))


def _sample(text: str, most: int = 100) -> CreateMessageRequest:
    message = SamplingMessage(role="user", content=_text(text))
    return CreateMessageRequest(
        params=CreateMessageRequestParams(messages=[message], max_tokens=most)
    )


NAME = _form("What is your name?", name={"type": "string"})


def register(surface: Surface) -> None:
    """Add everything that the suite looks for."""
    _contents(surface)
    _behaviours(surface)
    _asking(surface)
    _rounds(surface)
    _changes(surface)
    _resources(surface)
    _prompts(surface)
    _handshake_methods(surface)


def _contents(surface: Surface) -> None:
    @surface.tool(description=FIXTURE)
    async def test_simple_text() -> CallToolResult:
        return _result("This is a simple text response for testing.")

    @surface.tool(description=FIXTURE)
    async def test_image_content() -> CallToolResult:
        return CallToolResult(content=[IMAGE])

    @surface.tool(description=FIXTURE)
    async def test_audio_content() -> CallToolResult:
        data = base64.b64encode(WAV).decode()
        return CallToolResult(
            content=[AudioContent(type="audio", data=data, mime_type="audio/wav")]
        )

    @surface.tool(description=FIXTURE)
    async def test_embedded_resource() -> CallToolResult:
        text = "This is an embedded resource content."
        return CallToolResult(content=[_embedded("test://embedded-resource", text)])

    @surface.tool(description=FIXTURE)
    async def test_multiple_content_types() -> CallToolResult:
        data = json.dumps({"test": "data", "value": 123})
        mixed = _embedded("test://mixed-content-resource", data, "application/json")
        return CallToolResult(content=[_text("Multiple content types test:"), IMAGE, mixed])


def _behaviours(surface: Surface) -> None:
    async def logging(ctx: Ctx) -> CallToolResult:
        for line in ("started", "processing data", "completed"):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                await ctx.log("info", f"Tool execution {line}")
            await asyncio.sleep(0.05)
        return _result("logged")

    surface.add_tool(logging, name="test_tool_with_logging", description=FIXTURE)
    surface.add_tool(logging, name="test_logging_tool", description=FIXTURE)

    @surface.tool(description=FIXTURE)
    async def test_error_handling() -> CallToolResult:
        raise ToolError("This tool intentionally returns an error for testing")

    @surface.tool(description=FIXTURE)
    async def test_tool_with_progress(ctx: Ctx) -> CallToolResult:
        for done in (0, 50, 100):
            await ctx.report_progress(done, 100, f"{done} of 100")
            await asyncio.sleep(0.05)
        return _result("done")

    @surface.tool(description=FIXTURE)
    async def test_missing_capability(ctx: Ctx) -> CallToolResult:
        offered = ctx.client_capabilities
        if offered is None or offered.sampling is None:
            raise MCPError(
                MISSING_REQUIRED_CLIENT_CAPABILITY,
                "sampling is needed",
                {"requiredCapabilities": {"sampling": {}}},
            )
        return _result("fine")


def _asking(surface: Surface) -> None:
    @surface.tool(description=FIXTURE)
    async def test_sampling(prompt: str, ctx: Ctx) -> CallToolResult:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reply = await ctx.session.create_message(
                [SamplingMessage(role="user", content=_text(prompt))],
                max_tokens=100,
                related_request_id=ctx.request_id,
            )
        text = reply.content.text if isinstance(reply.content, TextContent) else ""
        return _result(f"LLM response: {text}")

    async def elicit(
        ctx: Ctx, message: str, properties: dict[str, Any], label: str
    ) -> CallToolResult:
        schema = {"type": "object", "properties": properties, "required": []}
        reply = await ctx.session.elicit_form(message, schema, related_request_id=ctx.request_id)
        return _result(f"{label}: action={reply.action}, content={json.dumps(reply.content)}")

    @surface.tool(description=FIXTURE)
    async def test_elicitation(message: str, ctx: Ctx) -> CallToolResult:
        fields = {name: {"type": "string", "description": name} for name in ("username", "email")}
        return await elicit(ctx, message, fields, "User response")

    @surface.tool(description=FIXTURE)
    async def test_elicitation_sep1034_defaults(ctx: Ctx) -> CallToolResult:
        fields = {
            "name": {"type": "string", "default": "John Doe"},
            "age": {"type": "integer", "default": 30},
            "score": {"type": "number", "default": 95.5},
            "status": {
                "type": "string",
                "enum": ["active", "inactive", "pending"],
                "default": "active",
            },
            "verified": {"type": "boolean", "default": True},
        }
        return await elicit(ctx, "Check these", fields, "Elicitation completed")

    @surface.tool(description=FIXTURE)
    async def test_elicitation_sep1330_enums(ctx: Ctx) -> CallToolResult:
        plain = ["option1", "option2", "option3"]
        titled = [
            {"const": f"value{n}", "title": f"{word} Option"}
            for n, word in enumerate(("First", "Second", "Third"), 1)
        ]
        fields = {
            "untitledSingle": {"type": "string", "enum": plain},
            "titledSingle": {"type": "string", "oneOf": titled},
            "legacyEnum": {
                "type": "string",
                "enum": ["opt1", "opt2", "opt3"],
                "enumNames": ["Option One", "Option Two", "Option Three"],
            },
            "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
            "titledMulti": {"type": "array", "items": {"anyOf": titled}},
        }
        return await elicit(ctx, "Choose", fields, "Elicitation completed")


def _rounds(surface: Surface) -> None:
    def ask(name: str, state: str | None = None, **requests: Any) -> None:
        async def tool(ctx: Ctx) -> CallToolResult | InputRequiredResult:
            given = ctx.input_responses or {}
            if not requests.keys() <= given.keys():
                return InputRequiredResult(input_requests=requests, request_state=state)
            if state and ctx.request_state != state:
                raise ToolError("the state is not ours")
            answers = {key: given[key].model_dump(mode="json") for key in requests}
            return _result(f"state-ok Hello, {json.dumps(answers)}!")

        surface.add_tool(
            tool,
            name=f"test_input_required_result_{name}",
            structured_output=False,
            description=FIXTURE,
        )

    confirm = _form("Please confirm", ok={"type": "boolean"})
    roots = ListRootsRequest()
    ask("elicitation", user_name=NAME)
    ask("sampling", capital_question=_sample("What is the capital of France?"))
    ask("list_roots", client_roots=roots)
    ask("request_state", "s1", confirm=confirm)
    ask("tampered_state", "s2", confirm=confirm)
    ask(
        "multiple_inputs",
        "s3",
        user_name=NAME,
        greeting=_sample("Generate a greeting", 50),
        client_roots=roots,
    )
    surface.add_tool(_capabilities, structured_output=False, description=FIXTURE)
    surface.add_tool(_multi_round, structured_output=False, description=FIXTURE)
    surface.add_tool(
        _streaming, name="test_streaming_elicitation", structured_output=False, description=FIXTURE
    )


async def _capabilities(ctx: Ctx) -> CallToolResult | InputRequiredResult:
    offered = ctx.client_capabilities
    wanted: dict[str, CreateMessageRequest | ListRootsRequest | ElicitRequest | None] = {
        "question": _sample("Say something") if offered and offered.sampling else None,
        "name": NAME if offered and offered.elicitation else None,
    }
    requests = {key: request for key, request in wanted.items() if request is not None}
    if ctx.input_responses or not requests:
        return _result("done")
    return InputRequiredResult(input_requests=requests)


_capabilities.__name__ = "test_input_required_result_capabilities"


async def _multi_round(ctx: Ctx) -> CallToolResult | InputRequiredResult:
    given = ctx.input_responses or {}
    if ctx.request_state == "round-2" and "step2" in given:
        return _result("done")
    if ctx.request_state == "round-1" and "step1" in given:
        color = _form("Step 2: What is your favorite color?", color={"type": "string"})
        return InputRequiredResult(input_requests={"step2": color}, request_state="round-2")
    name = _form("Step 1: What is your name?", name={"type": "string"})
    return InputRequiredResult(input_requests={"step1": name}, request_state="round-1")


_multi_round.__name__ = "test_input_required_result_multi_round"


async def _streaming(ctx: Ctx) -> CallToolResult | InputRequiredResult:
    if ctx.input_responses:
        return _result("done")
    return InputRequiredResult(input_requests={"user_name": NAME})


def _changes(surface: Surface) -> None:
    @surface.tool(description=FIXTURE)
    async def test_trigger_tool_change(ctx: Ctx) -> CallToolResult:
        await ctx.notify_tools_changed()
        return _result("told")

    @surface.tool(description=FIXTURE)
    async def test_trigger_prompt_change(ctx: Ctx) -> CallToolResult:
        await ctx.notify_prompts_changed()
        return _result("told")


def _resources(surface: Surface) -> None:
    @surface.resource("test://static-text", mime_type="text/plain")
    async def static_text() -> str:
        return "This is the content of the static text resource."

    @surface.resource("test://static-binary", mime_type="image/png")
    async def static_binary() -> bytes:
        return PNG

    @surface.resource("test://watched-resource", mime_type="text/plain")
    async def watched() -> str:
        return "Watched"

    @surface.resource("test://template/{id}/data", mime_type="application/json")
    async def template(id: str) -> str:  # noqa: A002 - named by the suite
        return json.dumps({"id": id, "templateTest": True, "data": f"Data for ID: {id}"})


def _prompts(surface: Surface) -> None:
    @surface.prompt(description=FIXTURE)
    async def test_simple_prompt() -> str:
        return "This is a simple prompt for testing."

    @surface.prompt(description=FIXTURE)
    async def test_prompt_with_arguments(arg1: str, arg2: str) -> str:
        return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"

    def embedded(resourceUri: str) -> list[Message]:  # noqa: N803 - named by the suite
        return [
            UserMessage(_embedded(resourceUri, "Embedded resource content for testing.")),
            UserMessage("Please process the embedded resource above."),
        ]

    surface.prompt(name="test_prompt_with_embedded_resource", description=FIXTURE)(embedded)

    @surface.prompt(description=FIXTURE)
    async def test_prompt_with_image() -> list[Message]:
        return [UserMessage(IMAGE), UserMessage("Please analyze the image above.")]

    @surface.prompt(description=FIXTURE)
    async def test_input_required_result_prompt(ctx: Ctx) -> Any:
        if "user_context" in (ctx.input_responses or {}):
            return "Here is the prompt."
        form = _form("What context should the prompt use?", context={"type": "string"})
        return InputRequiredResult(input_requests={"user_context": form})


def _handshake_methods(surface: Surface) -> None:
    """Optional methods of the handshake era that the product does not offer."""

    async def accept(_ctx: Any, _params: Any) -> EmptyResult:
        return EmptyResult()

    add = surface._lowlevel_server.add_request_handler
    add("logging/setLevel", SetLevelRequestParams, accept)
    add("resources/subscribe", SubscribeRequestParams, accept)
    add("resources/unsubscribe", UnsubscribeRequestParams, accept)
