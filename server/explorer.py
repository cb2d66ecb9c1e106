"""Looking at any MCP server from outside: what it offers, and what a call answers."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mcp import Client, StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp.shared._httpx_utils import create_mcp_http_client
from mcp.shared.exceptions import MCPError
from mcp.types import Implementation

from framework.errors import ConsilienceError, InvalidInputError, NotFoundError, UnavailableError
from server.version import VERSION

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from mcp.types import CallToolResult, Tool

__all__ = ["Catalogue", "Target", "arguments_of", "call", "connected", "listing", "tool_named"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """The server to look at: an address with an optional bearer token, or a command to run."""

    url: str | None = None
    token: str | None = None
    command: Sequence[str] = ()
    timeout: float = 60.0

    def __post_init__(self) -> None:
        if bool(self.url) == bool(self.command):
            raise InvalidInputError(
                "name one server to look at", hint="give --url URL, or -- COMMAND …"
            )

    @property
    def label(self) -> str:
        """The target as a user knows it."""
        return self.url or shlex.join(self.command)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """What a server says of itself."""

    name: str
    version: str
    protocol: str
    instructions: str | None
    tools: tuple[Tool, ...]
    resources: tuple[str, ...]
    prompts: tuple[str, ...]

    def as_data(self) -> dict[str, object]:
        """Return everything as JSON data, tools in the protocol's own spelling."""
        return {
            "server": {"name": self.name, "version": self.version},
            "protocol": self.protocol,
            "instructions": self.instructions,
            "tools": [_data(tool) for tool in self.tools],
            "resources": list(self.resources),
            "prompts": list(self.prompts),
        }


def _data(model: Tool | CallToolResult) -> dict[str, Any]:
    found: dict[str, Any] = model.model_dump(mode="json", by_alias=True, exclude_none=True)
    return found


@contextlib.asynccontextmanager
async def connected(target: Target) -> AsyncIterator[Client]:
    """Connect to a server, in the newest protocol that it speaks.

    Raises:
        UnavailableError: it cannot be reached or started, or speaks no MCP.
        ConsilienceError: it answered with a protocol error.
    """
    try:
        async with contextlib.AsyncExitStack() as stack:
            client = Client(
                await _transport(target, stack),
                client_info=Implementation(name="consilience-inspect", version=VERSION),
                read_timeout_seconds=target.timeout,
            )
            yield await stack.enter_async_context(client)
    except Exception as error:
        raise _explained(error, target) from error


async def _transport(target: Target, stack: contextlib.AsyncExitStack) -> Any:  # noqa: ANN401
    if target.url is None:
        program, *arguments = target.command
        return StdioServerParameters(command=program, args=arguments, env=dict(os.environ))
    headers = {"Authorization": f"Bearer {target.token}"} if target.token else {}
    http = await stack.enter_async_context(create_mcp_http_client(headers=headers))
    return streamable_http_client(target.url, http_client=http)


def _explained(error: BaseException, target: Target) -> ConsilienceError:
    cause = _first(error)
    if isinstance(cause, ConsilienceError):
        return cause
    if isinstance(cause, MCPError):
        return ConsilienceError(
            f"{target.label}: {cause.error.message} ({cause.error.code})", code="protocol_error"
        )
    system = cause.strerror if isinstance(cause, OSError) else None
    reason = system or str(cause) or type(cause).__name__
    return UnavailableError(
        f"{target.label}: {reason}", hint="is it running, and does it speak MCP there?"
    )


def _first(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def listing(client: Client) -> Catalogue:
    """Ask a server for everything it offers."""
    info, offers = client.server_info, client.server_capabilities
    tools = await _all_tools(client) if offers.tools else ()
    resources: list[str] = []
    if offers.resources:
        resources += [str(r.uri) for r in (await client.list_resources()).resources]
        templates = await client.list_resource_templates()
        resources += [t.uri_template for t in templates.resource_templates]
    prompts = (await client.list_prompts()).prompts if offers.prompts else []
    return Catalogue(
        name=info.name if info else "",
        version=info.version if info else "",
        protocol=client.protocol_version,
        instructions=client.instructions,
        tools=tools,
        resources=tuple(resources),
        prompts=tuple(prompt.name for prompt in prompts),
    )


async def _all_tools(client: Client) -> tuple[Tool, ...]:
    found: list[Tool] = []
    cursor: str | None = None
    while True:
        page = await client.list_tools(cursor=cursor)
        found += page.tools
        cursor = page.next_cursor
        if not cursor:
            return tuple(found)


async def tool_named(client: Client, name: str) -> Tool:
    """Return a tool of the server; raises NotFoundError with the names that there are."""
    tools = await _all_tools(client)
    found = next((tool for tool in tools if tool.name == name), None)
    if found is None:
        known = ", ".join(tool.name for tool in tools)
        raise NotFoundError(f"the server has no tool {name!r}", hint=f"it has: {known}")
    return found


async def call(client: Client, name: str, arguments: Mapping[str, object]) -> CallToolResult:
    """Call a tool and return what it answered, failures included."""
    return await client.call_tool(name, dict(arguments))


def arguments_of(
    schema: Mapping[str, Any], pairs: Sequence[str], whole: str | None
) -> dict[str, object]:
    """Build a call's arguments from `key=value` pairs over a JSON object.

    A value is text where the tool's schema says so, else JSON where it is JSON.

    Raises:
        InvalidInputError: a pair without `=`, or a text that is no JSON object.
    """
    found = _object(whole)
    properties = schema.get("properties", {})
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key:
            raise InvalidInputError(f"-a {pair}: must be key=value")
        found[key] = _value(value, properties.get(key, {}))
    return found


def _object(text: str | None) -> dict[str, object]:
    if text is None:
        return {}
    try:
        value: object = json.loads(text)
    except ValueError as error:
        raise InvalidInputError(f"--args: no JSON: {error}") from None
    if not isinstance(value, dict):
        raise InvalidInputError("--args: must be a JSON object")
    return value


def _value(text: str, schema: Mapping[str, Any]) -> object:
    if schema.get("type") == "string":
        return text
    try:
        value: object = json.loads(text)
    except ValueError:
        return text.split(",") if schema.get("type") == "array" else text
    return [value] if schema.get("type") == "array" and not isinstance(value, list) else value
