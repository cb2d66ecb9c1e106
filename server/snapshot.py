"""What the server answers before any call, written down for the instant start.

`python -m server.snapshot` (or `make snapshot`) writes it again after a change of the tools, of
the instructions or of the version; a test holds it against the live answers.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import mcp.types as types
from mcp.shared.message import SessionMessage
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS

from server.app import Application
from server.config import Environment, Settings
from server.instant import SNAPSHOT
from server.selection import Selection
from server.surface import build

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["ask", "envelope", "record", "render", "request"]


def request(method: str, number: int = 1, **params: object) -> dict[str, Any]:
    """Return a request as JSON data."""
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def envelope(version: str = MODERN_PROTOCOL_VERSIONS[-1]) -> dict[str, object]:
    """Return what a request of the current era carries in `_meta`."""
    prefix = "io.modelcontextprotocol/"
    return {f"{prefix}protocolVersion": version, f"{prefix}clientCapabilities": {}}


async def ask(
    messages: Sequence[Mapping[str, Any]], tools: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """Send messages to a full server one by one, and return its answers to the requests."""
    application = Application.create(Settings(), Environment({}), replay=True)
    surface = build(application, Selection(tools))
    to_server, reading = anyio.create_memory_object_stream[SessionMessage | Exception](4)
    writing, from_server = anyio.create_memory_object_stream[SessionMessage](4)
    answers = []
    async with anyio.create_task_group() as group, to_server, from_server:
        group.start_soon(surface.serve, reading, writing)
        for message in messages:
            parsed = types.jsonrpc_message_adapter.validate_python(message, by_name=False)
            await to_server.send(SessionMessage(parsed))
            if "id" in message:
                sent = (await from_server.receive()).message
                answers.append(json.loads(sent.model_dump_json(by_alias=True, exclude_unset=True)))
        await to_server.aclose()
    return answers


async def record() -> dict[str, object]:
    """Ask a full server in both eras and on both surfaces; return the snapshot."""
    client = {"name": "snapshot", "version": "0"}
    newest = HANDSHAKE_PROTOCOL_VERSIONS[-1]
    hello = request("initialize", protocolVersion=newest, capabilities={}, clientInfo=client)
    discover = request("server/discover", _meta=envelope())
    listing = request("tools/list", 2, _meta=envelope())
    (greeted,) = await ask([hello])
    discovered, listed = await ask([discover, listing])
    (compact,) = await ask([listing], ("compact",))
    initialize, full = dict(greeted["result"]), dict(listed["result"])
    del initialize["protocolVersion"]
    return {
        "version": initialize["serverInfo"]["version"],
        "handshake": {"versions": HANDSHAKE_PROTOCOL_VERSIONS, "initialize": initialize},
        "full": full.pop("tools"),
        "compact": compact["result"]["tools"],
        "current": {
            "version": MODERN_PROTOCOL_VERSIONS[-1],
            "server/discover": discovered["result"],
            "tools/list": full,
        },
    }


def render(snapshot: Mapping[str, object]) -> str:
    """Write a snapshot as it is committed: one line a value."""
    return json.dumps(snapshot, ensure_ascii=False, indent=1) + "\n"


if __name__ == "__main__":
    Path(SNAPSHOT).write_text(render(asyncio.run(record())), encoding="utf-8")
