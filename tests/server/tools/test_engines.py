"""The tools `get_engines` and `set_engines`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.errors import NotFoundError
from server.app import Application
from server.config import Environment
from server.tools import engines
from server.tools.base import Call, NoArguments
from tests.support.specs import RETIRED

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_deprecated_engine_names_the_one_to_use(tmp_path: Path) -> None:
    (tmp_path / "retired.yaml").write_text(RETIRED)
    environment = Environment(
        {
            "CONSILIENCE_ENGINES_DIR": str(tmp_path),
            "CONSILIENCE_STATE_DIR": str(tmp_path / "state"),
        }
    )
    async with Application.create(environment=environment) as app:
        reply = await engines.GET.run(app, NoArguments(), Call(caller="test"))

    listed = {one.id: one.replaced_by for one in reply.data.engines}
    assert (listed["retired"], listed["bing"]) == ("bing", None)
    assert "- retired is deprecated; use bing" in reply.text.splitlines()


async def test_defaults_are_kept_for_their_caller_only(app: Application) -> None:
    given = engines.SetEnginesArguments(engines=("mojeek",))
    chosen = await engines.SET.run(app, given, Call(caller="one"))
    other = await engines.GET.run(app, NoArguments(), Call(caller="another"))

    assert chosen.data.default == ("mojeek",)
    assert [one.id for one in chosen.data.engines if one.default] == ["mojeek"]
    assert "mojeek" not in other.data.default


async def test_an_unknown_default_is_refused_with_the_nearest_name(app: Application) -> None:
    given = engines.SetEnginesArguments(engines=("mojek",))
    with pytest.raises(NotFoundError, match="mojeek"):
        await engines.SET.run(app, given, Call(caller="one"))
