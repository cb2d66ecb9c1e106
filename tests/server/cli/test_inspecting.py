"""`consilience inspect` as people read it: tables of tools, of arguments, and answers."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from server import tools
from server.app import Application
from server.config import Environment, Settings
from server.http.app import http_app
from server.http.security import Access
from server.surface import build
from tests.support.http_server import hosted

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.support.command import Run


@pytest.fixture
async def url(tmp_path: Path) -> AsyncIterator[str]:
    settings = Settings(state_dir=tmp_path / "served")
    app = Application.create(settings, Environment({}), replay=True)
    async with hosted(http_app(build(app), Access())) as address:
        yield f"{address}/mcp"


async def test_the_list_has_every_tool_with_its_arguments(run: Run, url: str) -> None:
    done = await asyncio.to_thread(run, "inspect", "list", "--url", url)
    lines = done.out.splitlines()

    assert lines[0].startswith("consilience ")
    for tool in tools.ALL:
        assert any(row.split()[:1] == [tool.name] for row in lines), tool.name
    (search,) = (row for row in lines if row.startswith("web_search "))
    assert " query " in search
    assert "[max_results]" in search


async def test_one_tool_is_shown_with_what_it_needs(run: Run, url: str) -> None:
    text = await asyncio.to_thread(run, "inspect", "show", "web_fetch", "--url", url)
    data = await asyncio.to_thread(run, "inspect", "show", "web_fetch", "--url", url, "--json")

    assert text.out.startswith("web_fetch: ")
    assert "max_tokens" in text.out
    assert json.loads(data.out)["inputSchema"]["properties"].keys() >= {"url", "query"}


async def test_an_answer_is_printed_as_text_and_as_json(run: Run, url: str) -> None:
    words = ("inspect", "call", "web_search", "-a", "query=javascript", "--url", url)
    text = await asyncio.to_thread(run, *words)
    data = await asyncio.to_thread(run, *words, "--json")

    assert "JavaScript" in text.out
    assert json.loads(data.out)["structuredContent"]["engines"][0]["verdict"] == "ok"


async def test_an_unknown_tool_is_one_sentence(run: Run, url: str) -> None:
    done = await asyncio.to_thread(run, "inspect", "show", "web_serch", "--url", url)

    assert (done.code, done.out) == (1, "")
    assert "web_search" in done.error
    assert "Traceback" not in done.error
