"""What the spiders' tests share: an open hub that may talk to loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spiders.hub import Hub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

LOOPBACK = {"CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.0/8"]}


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    async with Hub(LOOPBACK) as opened:
        yield opened
