"""Many searches at once while proxies die: none wrong, none lost, nothing left behind."""

from __future__ import annotations

import asyncio
import html
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from framework.types import FetchMode, HttpRequest, HttpResponse, Query, Verdict
from middlewares.proxy import proxies_from
from spiders.hub import Hub
from spiders.replay import Fault, ReplayProxy
from tests.support.engines import PLAIN, engine, rows

if TYPE_CHECKING:
    from pathlib import Path

    from framework.types import Page

SEARCHES, PROXIES, DYING = 200, 10, 3


class Mortal:
    """Answers for a proxy until it has served so many requests; then the proxy dies."""

    def __init__(self, proxy: ReplayProxy, lives: float) -> None:
        self.proxy = proxy
        self.lives = lives

    def __call__(self, request: HttpRequest) -> HttpResponse:
        self.lives -= 1
        if self.lives <= 0:
            self.proxy.fault = Fault.CLOSE
        query = parse_qs(urlsplit(request.url).query)["q"][0]
        body = rows("one", extra="").replace("One", html.escape(query))
        kind = (("Content-Type", "text/html"),)
        return HttpResponse(url=request.url, headers=kind, body=body.encode())


@pytest.mark.untraced
@pytest.mark.parametrize("mode", [FetchMode.HTTP, FetchMode.IMPERSONATE])
async def test_searches_while_proxies_die(tmp_path: Path, mode: FetchMode) -> None:
    plain = engine(PLAIN.replace("limits:", f"fetch: {{mode: {mode}}}\nlimits:"))
    before = asyncio.all_tasks()
    async with AsyncExitStack() as stack:
        proxies = [
            await stack.enter_async_context(ReplayProxy(answer=lambda request: None))
            for _ in range(PROXIES)
        ]
        for number, proxy in enumerate(proxies):
            proxy.ca = proxies[0].ca
            proxy.answer = Mortal(proxy, 5 if number < DYING else float("inf"))
        settings = pooled(tmp_path, proxies)
        async with Hub(settings) as hub:
            texts = [f"question {number}" for number in range(SEARCHES)]
            pages = await asyncio.gather(
                *(hub.search_engine(plain, Query(text=text), timeout=20) for text in texts)
            )
        assert [found(page) for page in pages] == [(Verdict.OK, text) for text in texts]
        assert sum(proxy.fault is not None for proxy in proxies) == DYING
        assert {entry.host for proxy in proxies for entry in proxy.log} == {"plain.example"}
    assert asyncio.all_tasks() == before


def found(page: Page) -> tuple[Verdict, str]:
    return page.verdict, page.rows[0].title if page.rows else page.detail


def pooled(folder: Path, proxies: list[ReplayProxy]) -> dict[str, object]:
    assert proxies[0].ca is not None
    proxies[0].ca.cert_pem.write_to_path(str(folder / "ca.pem"))
    members = "".join(f"\n      - {proxy.url()}" for proxy in proxies)
    (folder / "pools.yaml").write_text(f"pools:\n  default:\n    members:{members}\n")
    return {
        "CONSILIENCE_CA_FILE": folder / "ca.pem",
        "CONSILIENCE_PROXY_POLICY": proxies_from({}, pools_file=folder / "pools.yaml"),
    }
