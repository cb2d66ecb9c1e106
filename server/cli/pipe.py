"""What a pipe without arguments means: an MCP client, or one call as JSON."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError, InvalidInputError
from server import instant

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["run_piped"]

_HELP = (
    "consilience: nothing on standard input; see `consilience --help`, "
    "or pipe an MCP client's messages or one call as JSON: "
    '{"tool": "web_search", "args": {"query": "…"}}\n'
)


def run_piped() -> int:
    """Serve MCP or run one call, as the first line says; return the exit status.

    A first line with `tool` and without `jsonrpc` is one call; any other line is the server's.
    """
    first = _first_line()
    if not first.strip():
        sys.stderr.write(_HELP)
        return 0
    message = _json(first)
    if isinstance(message, dict) and "tool" in message and "jsonrpc" not in message:
        return _once(message)
    front = instant.start((), os.environ, first)
    from server.cli.serving import serve_stdio

    serve_stdio(None, (), front)
    return 0


def _first_line() -> bytes:
    """Read one line from descriptor 0, byte by byte, so that the rest stays in the pipe."""
    line = bytearray()
    while byte := os.read(0, 1):
        line += byte
        if byte == b"\n":
            break
    return bytes(line)


def _json(line: bytes) -> object:
    try:
        value: object = json.loads(line)
    except ValueError:
        return None
    return value


def _once(message: Mapping[str, object]) -> int:
    from server.cli.calls import call_tool

    try:
        name, arguments = message["tool"], message.get("args", {})
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise InvalidInputError("a call is {'tool': NAME, 'args': {…}}")
        answer = call_tool(name, arguments)
    except ConsilienceError as error:
        return _fail(error)
    sys.stdout.write(json.dumps(answer.model_dump(mode="json", exclude_none=True)) + "\n")
    return 0


def _fail(error: ConsilienceError) -> int:
    body = {
        "error": {
            "code": error.code,
            "message": str(error),
            "retryable": error.retryable,
            "retry_after": error.retry_after,
        }
    }
    sys.stdout.write(json.dumps(body) + "\n")
    sys.stderr.write(f"consilience: {error}\n")
    return 1
