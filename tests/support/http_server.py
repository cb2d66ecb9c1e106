"""The product's HTTP server in a test's own loop, and as a process."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

import uvicorn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping
    from pathlib import Path

    from starlette.applications import Starlette

__all__ = ["Served", "hosted", "served"]

_ADDRESS = re.compile(rb"MCP at (http://\S+)/mcp")


@contextlib.asynccontextmanager
async def hosted(app: Starlette) -> AsyncIterator[str]:
    """Serve an application on loopback and give its base address."""
    config = uvicorn.Config(app, log_config=None, timeout_graceful_shutdown=1)
    server = uvicorn.Server(config)
    server.capture_signals = contextlib.nullcontext  # type: ignore[method-assign, assignment]
    with socket.create_server(("127.0.0.1", 0)) as listening:
        task = asyncio.create_task(server.serve(sockets=[listening]))
        async with asyncio.timeout(30):
            while not server.started:  # noqa: ASYNC110 - uvicorn has no event for it
                await asyncio.sleep(0.01)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            await task


class Served:
    """A server process; `url` is its base address."""

    def __init__(self, process: subprocess.Popen[bytes], url: str) -> None:
        self.process = process
        self.url = url


@contextlib.contextmanager
def served(
    *arguments: str, state: Path, environment: Mapping[str, str] | None = None
) -> Iterator[Served]:
    """Run `consilience serve --port 0 ARGUMENTS…` until the block ends."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("CONSILIENCE_") and not name.lower().endswith("_proxy")
    }
    process = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from server.cli import main; main()",
            "serve",
            "--port",
            "0",
            *arguments,
        ],
        stderr=subprocess.PIPE,
        start_new_session=True,
        env={**kept, "CONSILIENCE_STATE_DIR": str(state), **(environment or {})},
    )
    assert process.stderr is not None
    try:
        yield Served(process, _address(process))
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def _address(process: subprocess.Popen[bytes]) -> str:
    assert process.stderr is not None
    seen = b""
    for line in process.stderr:
        seen += line
        found = _ADDRESS.search(line)
        if found:
            return found[1].decode()
    raise AssertionError(f"the server ended: {seen!r}")
