"""Serve the product with the conformance suite's fixtures on the port given as argument."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from pathlib import Path

import uvicorn

from server.app import Application
from server.config import Environment, Settings
from server.http.app import http_app
from server.http.security import Access
from server.surface import build
from tests.mcp_conformance.fixtures import register


async def main(port: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(state_dir=Path(folder))
        surface = build(Application.create(settings, Environment({}), replay=True))
        register(surface)
        app = http_app(surface, Access())
        config = uvicorn.Config(app, port=port, log_level="error", timeout_graceful_shutdown=1)
        await uvicorn.Server(config).serve()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
