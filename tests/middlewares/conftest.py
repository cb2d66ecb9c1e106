"""What the middlewares' tests share: hubs that may talk to loopback, in each fetch mode."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.types import FetchMode
from spiders.hub import Hub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from spiders.replay import ReplayProxy

LOOPBACK = {"CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.0/8"]}
USERS = {"ann": "p@ss:w/rd %"}


@pytest.fixture
async def hub() -> AsyncIterator[Hub]:
    async with Hub(LOOPBACK) as opened:
        yield opened


@pytest.fixture
async def public_hub() -> AsyncIterator[Hub]:
    """A hub as operators get it: nothing private is allowed."""
    async with Hub() as opened:
        yield opened


@pytest.fixture(params=[FetchMode.HTTP, FetchMode.IMPERSONATE])
def mode(request: pytest.FixtureRequest) -> FetchMode:
    return FetchMode(request.param)


@pytest.fixture
def proxy_settings(tmp_path: Path) -> dict[str, object]:
    return {**LOOPBACK, "CONSILIENCE_CA_FILE": tmp_path / "ca.pem"}


def trust(proxy: ReplayProxy, settings: dict[str, object]) -> None:
    """Write the proxy's authority to where the hub's settings look for it."""
    assert proxy.ca is not None
    proxy.ca.cert_pem.write_to_path(str(settings["CONSILIENCE_CA_FILE"]))
