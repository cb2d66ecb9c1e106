"""An application over a local site."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from server.app import Application
from server.config import Environment
from tests.support.site import Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    async with Site() as site:
        yield site


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[Application]:
    environment = Environment(
        {
            "CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8",
            "CONSILIENCE_STATE_DIR": str(tmp_path / "state"),
        }
    )
    async with Application.create(environment=environment) as app:
        yield app
