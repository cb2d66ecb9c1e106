"""A tool's pictures reach the client beside its text."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

from mcp import Client
from mcp.types import ImageContent, TextContent

from server.app import Application
from server.config import Environment, Settings
from server.contract_tool import publish
from server.surface import build
from server.tools.base import Call, NoArguments, Output, Reply, Tool

if TYPE_CHECKING:
    from pathlib import Path


async def _picture(_app: Application, _given: NoArguments, _call: Call) -> Reply[Output]:
    return Reply("a picture", Output(), images=(b"\xff\xd8 not really",))


async def _broken(_app: Application, _given: NoArguments, _call: Call) -> Reply[Output]:
    raise RuntimeError("secret detail")


def _tool(name: str) -> Tool[NoArguments, Output]:
    run = {"picture": _picture, "broken": _broken}[name]
    return Tool(
        name=name, title=name, description=name, arguments=NoArguments, output=Output, run=run
    )


async def test_pictures_follow_the_text_and_faults_stay_inside(tmp_path: Path) -> None:
    app = Application.create(Settings(state_dir=tmp_path), Environment({}), replay=True)
    surface = build(app)
    for name in ("picture", "broken"):
        surface._tool_manager._tools[name] = publish(_tool(name), app)

    async with Client(surface) as client:
        shown = await client.call_tool("picture", {})
        failed = await client.call_tool("broken", {})

    text, picture = shown.content
    assert isinstance(text, TextContent)
    assert isinstance(picture, ImageContent)
    assert picture.mime_type == "image/jpeg"
    assert base64.b64decode(picture.data) == b"\xff\xd8 not really"
    assert failed.is_error
    assert "secret detail" not in failed.model_dump_json()
