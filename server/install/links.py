"""One-click links and plain snippets, made from the same entries as the installed files."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING
from urllib.parse import quote

from server.install.clients import NAME

if TYPE_CHECKING:
    from server.install.clients import Client, Command

__all__ = ["cursor_link", "snippet", "vscode_link"]


def cursor_link(command: Command) -> str:
    """Return the link that offers to add the server to Cursor."""
    config = base64.b64encode(json.dumps(command.entry()).encode()).decode()
    return f"https://cursor.com/install-mcp?name={NAME}&config={quote(config, safe='')}"


def vscode_link(command: Command) -> str:
    """Return the link that offers to add the server to VS Code."""
    config = json.dumps({"type": "stdio", **command.entry()}, separators=(",", ":"))
    return f"https://vscode.dev/redirect/mcp/install?name={NAME}&config={quote(config, safe='')}"


def snippet(client: Client, command: Command) -> str:
    """Return what stands in a client's file, as a whole JSON document."""
    value: dict[str, object] = {NAME: client.entry(command)}
    for key in reversed(client.key):
        value = {key: value}
    return json.dumps(value, indent=2)
