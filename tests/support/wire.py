"""Raw MCP over HTTP: one POST a message, in both protocol eras."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import httpx2

__all__ = ["CURRENT", "call", "current", "legacy_session", "message_of", "post"]

CURRENT = "2026-07-28"
LEGACY = "2025-11-25"
ACCEPT = {"Accept": "application/json, text/event-stream"}


def envelope(name: str = "tests", capabilities: object = None) -> dict[str, Any]:
    """The `_meta` of a request of the current era."""
    prefix = "io.modelcontextprotocol/"
    return {
        prefix + "protocolVersion": CURRENT,
        prefix + "clientInfo": {"name": name, "version": "0"},
        prefix + "clientCapabilities": capabilities or {},
    }


async def current(
    http: httpx2.AsyncClient, method: str, path: str = "/mcp", client: str = "tests", **params: Any
) -> dict[str, Any]:
    """Send one request of the current era and return the answering message."""
    answer = await post(http, method, path, client, **params)
    return message_of(answer)


async def post(
    http: httpx2.AsyncClient, method: str, path: str = "/mcp", client: str = "tests", **params: Any
) -> httpx2.Response:
    """Send one request of the current era and return the HTTP answer."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": method,
        "params": {**params, "_meta": envelope(client)},
    }
    headers = {**ACCEPT, "MCP-Protocol-Version": CURRENT, "Mcp-Method": method}
    name = params.get("name") or params.get("uri")
    if name:
        headers["Mcp-Name"] = name
    return await http.post(path, json=body, headers=headers)


async def call(
    http: httpx2.AsyncClient, tool: str, client: str = "tests", **arguments: Any
) -> dict[str, Any]:
    """Call a tool in the current era and return its result."""
    message = await current(http, "tools/call", client=client, name=tool, arguments=arguments)
    result: dict[str, Any] = message["result"]
    return result


async def legacy_session(http: httpx2.AsyncClient) -> dict[str, str]:
    """Open a session of the handshake era and return the headers that its requests bear."""
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": LEGACY,
            "capabilities": {},
            "clientInfo": {"name": "old", "version": "0"},
        },
    }
    answer = await http.post("/mcp", json=body, headers=ACCEPT)
    assert message_of(answer)["result"]["protocolVersion"] == LEGACY
    headers = {**ACCEPT, "MCP-Protocol-Version": LEGACY}
    if "mcp-session-id" in answer.headers:
        headers["Mcp-Session-Id"] = answer.headers["mcp-session-id"]
    note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
    assert (await http.post("/mcp", json=note, headers=headers)).status_code == 202
    return headers


def message_of(answer: httpx2.Response) -> dict[str, Any]:
    """Return the last message of a JSON or event-stream answer."""
    text = answer.text
    if "text/event-stream" in answer.headers.get("content-type", ""):
        text = [line[5:] for line in text.splitlines() if line.startswith("data:")][-1]
    message: dict[str, Any] = json.loads(text)
    return message
