"""A bare MCP client over a process's pipes: one JSON line a message."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from pathlib import Path
    from typing import IO

    Stream = int | IO[bytes]

__all__ = ["META", "Pipe", "spawned", "started"]

META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "0"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Pipe:
    """Sends messages of the current era and keeps every line that comes back."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.lines: list[bytes] = []
        self._number = 0

    async def raw(self, line: bytes) -> dict[str, Any]:
        """Send a line as it is and return the next message."""
        await self.put(line)
        return await self.next()

    async def put(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        await self.process.stdin.drain()

    async def next(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = await asyncio.wait_for(self.process.stdout.readline(), 60)
        if not line:
            assert self.process.stderr is not None
            raise AssertionError(f"the server ended: {await self.process.stderr.read()!r}")
        self.lines.append(line)
        message: dict[str, Any] = json.loads(line)
        return message

    async def request(self, method: str, **params: object) -> dict[str, Any]:
        """Send a request and return its answer; notifications in between are kept aside."""
        number = await self.start(method, **params)
        while True:
            message = await self.next()
            if message.get("id") == number:
                return message

    async def start(self, method: str, **params: object) -> int:
        self._number += 1
        body = {
            "jsonrpc": "2.0",
            "id": self._number,
            "method": method,
            "params": {**params, "_meta": META},
        }
        await self.put(json.dumps(body).encode())
        return self._number

    async def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        answer = await self.request("tools/call", name=tool, arguments=arguments)
        result: dict[str, Any] = answer["result"]
        return result

    async def close(self) -> int:
        """Close the server's input and return its exit status."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return await asyncio.wait_for(self.process.wait(), 30)


@contextlib.asynccontextmanager
async def spawned(
    *arguments: str, state: Path, environment: Mapping[str, str] | None = None
) -> AsyncIterator[Pipe]:
    """Run `consilience ARGUMENTS…` with its own state folder."""
    async with started(*arguments, state=state, environment=environment) as process:
        yield Pipe(process)


@contextlib.asynccontextmanager
async def started(
    *arguments: str,
    state: Path,
    environment: Mapping[str, str] | None = None,
    source: Stream = asyncio.subprocess.PIPE,
    sink: Stream = asyncio.subprocess.PIPE,
) -> AsyncIterator[asyncio.subprocess.Process]:
    """Run `consilience ARGUMENTS…` over any two descriptors, until the block ends."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CONSILIENCE_") and not name.lower().endswith("_proxy")
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        "from server.cli import main; main()",
        *arguments,
        stdin=source,
        stdout=sink,
        stderr=asyncio.subprocess.PIPE,
        env={**kept, "CONSILIENCE_STATE_DIR": str(state), **(environment or {})},
        limit=16 * 1024 * 1024,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.communicate()
