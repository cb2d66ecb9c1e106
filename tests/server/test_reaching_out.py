"""What a call does outside: it stops when its caller leaves, and failures keep their reasons."""

from __future__ import annotations

import asyncio
import contextlib
import json
import socket
from typing import TYPE_CHECKING

import httpx2

from server.app import Application
from server.config import Environment, load
from server.http.app import http_app
from server.http.security import Access
from server.surface import build
from tests.support.http_server import hosted
from tests.support.local_engines import write_local
from tests.support.mcp_pipe import spawned
from tests.support.site import Reply, Site, hang
from tests.support.waiting import eventually
from tests.support.wire import call

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@contextlib.asynccontextmanager
async def serving(folder: Path, **addresses: str) -> AsyncIterator[httpx2.AsyncClient]:
    environment = Environment(write_local(folder / "engines", **addresses))
    application = Application.create(load(environment, state_dir=folder), environment)
    app = http_app(build(application), Access())
    async with hosted(app) as url, httpx2.AsyncClient(base_url=url, timeout=60) as http:
        yield http


async def test_a_caller_that_hangs_up_cancels_the_transfer(tmp_path: Path) -> None:
    async with (
        Site({"/": Reply(stream=hang)}) as site,
        serving(tmp_path, slow=site.url("")) as http,
    ):
        calling = asyncio.create_task(call(http, "web_search", query="cats", timeout=20))
        await asyncio.wait_for(site.arrived.wait(), 20)

        calling.cancel()
        await asyncio.wait([calling])

        await eventually(lambda: site.open == 0)


async def test_a_cancelled_request_on_a_pipe_cancels_the_transfer(tmp_path: Path) -> None:
    async with Site({"/": Reply(stream=hang)}) as site:
        environment = write_local(tmp_path / "engines", slow=site.url(""))
        async with spawned("mcp", state=tmp_path, environment=environment) as pipe:
            number = await pipe.start(
                "tools/call", name="web_search", arguments={"query": "cats", "timeout": 20}
            )
            await asyncio.wait_for(site.arrived.wait(), 20)
            note = {"method": "notifications/cancelled", "params": {"requestId": number}}
            await pipe.put(json.dumps({"jsonrpc": "2.0", **note}).encode())

            await eventually(lambda: site.open == 0)


OTHER = Reply(body=b"<p>hi", headers={"Content-Type": "text/html"})
GOOD = Reply(
    body=b'<li><a href="https://a.example/">All about cats</a></li>',
    headers={"Content-Type": "text/html"},
)


def closed() -> str:
    """An address where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


async def test_where_no_engine_answers_the_error_has_every_reason(tmp_path: Path) -> None:
    async with Site({"/": Reply(status=403)}) as blocking, Site({"/": OTHER}) as other:
        addresses = {"blocking": blocking.url(""), "other": other.url(""), "gone": closed()}
        async with serving(tmp_path, **addresses) as http:
            result = await call(http, "web_search", query="cats")
            plain = await http.get("/search", params={"q": "cats"})

    assert result["isError"]
    error = result["structuredContent"]["error"]
    assert result["content"][0]["text"] == f"{error['code']}: {error['message']}"
    for reason in ("gone", "blocking", "other", "changed"):
        assert reason in error["message"]
    assert "no results" not in result["content"][0]["text"].lower()
    assert plain.status_code == 503
    assert {name for name, _ in plain.json()["unresponsive_engines"]} == {
        "gone",
        "blocking",
        "other",
    }


async def test_one_engine_that_answers_is_a_success_with_the_others_reasons(
    tmp_path: Path,
) -> None:
    async with (
        Site({"/": GOOD}) as site,
        serving(tmp_path, good=site.url(""), gone=closed()) as http,
    ):
        result = await call(http, "web_search", query="cats")

    assert not result["isError"]
    data = result["structuredContent"]
    assert [row["url"] for row in data["results"]] == ["https://a.example/"]
    assert {engine["id"]: engine["verdict"] for engine in data["engines"]}["good"] == "ok"
    assert all("detail" in engine for engine in data["engines"] if engine["id"] == "gone")
