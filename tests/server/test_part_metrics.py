"""What the cache and the proxies count is in the figures, and no address is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.errors import ConsilienceError
from server.app import Application
from server.config import Environment
from server.pages import PageRequest
from tests.support.site import Reply, Site

if TYPE_CHECKING:
    from pathlib import Path


def variables(state: Path, **more: str) -> Environment:
    known = {"CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8", "CONSILIENCE_STATE_DIR": str(state)}
    return Environment({**known, **more})


async def test_the_cache_tells_hits_and_misses(tmp_path: Path) -> None:
    page = Reply(
        headers={"Content-Type": "text/html", "Cache-Control": "max-age=60"},
        body=b"<article><h1>Tides</h1><p>One paragraph of text.</p></article>",
    )
    async with (
        Site({"/": page}) as site,
        Application.create(environment=variables(tmp_path)) as app,
    ):
        before = app.metrics.text()
        for _ in range(3):
            await app.read_page(PageRequest(url=site.url("/")))
        text = app.metrics.text()

    assert "consilience_page_cache_total{" not in before
    assert 'consilience_page_cache_total{outcome="hit"} 2.0' in text
    assert 'consilience_page_cache_total{outcome="miss"} 1.0' in text


async def test_proxies_tell_their_uses_and_who_is_benched(tmp_path: Path) -> None:
    given = variables(tmp_path, CONSILIENCE_PROXY="http://user:secret@127.0.0.1:1")
    async with Application.create(environment=given) as app:
        with pytest.raises(ConsilienceError):
            await app.read_page(PageRequest(url="http://www.example/"))
        text = app.metrics.text()

    assert "secret" not in text
    assert "127.0.0.1" not in text
    uses = [line for line in text.splitlines() if line.startswith("consilience_proxy_uses_total{")]
    assert len(uses) == 1
    assert float(uses[0].split()[-1]) >= 1
    assert "consilience_proxies_benched{" in text
