"""What the spiders' tests share: an open hub that may talk to loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from spiders.fingerprint import FingerprintServer
from spiders.hub import Hub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

LOOPBACK = {"CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.0/8"]}


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    async with Hub(LOOPBACK) as opened:
        yield opened


@pytest.fixture
async def proxy_free_hub(tmp_path: Path) -> AsyncIterator[tuple[Hub, FingerprintServer]]:
    """A hub that trusts a server which reports what it sees of it."""
    async with FingerprintServer() as server:
        server.ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        async with Hub({**LOOPBACK, "CONSILIENCE_CA_FILE": tmp_path / "ca.pem"}) as hub:
            yield hub, server
