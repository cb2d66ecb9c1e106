"""The image's steps, carried out in a scratch folder: no container engine is needed for that.

What needs root (system packages, the user) is left out and listed. The packages of this
environment stand for those that the image fetches, so nothing is fetched where they agree.
"""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.dockerfile import Place, Stage, stages

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def plan(root: Path) -> dict[str, Stage]:
    return stages((root / "Dockerfile").read_text())


@pytest.fixture(scope="module")
def image(root: Path, plan: dict[str, Stage], tmp_path_factory: pytest.TempPathFactory) -> Place:
    """The folder after the steps of the stages that lead to the image that runs."""
    folder = tmp_path_factory.mktemp("image")
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("CONSILIENCE_", "PYTHON", "COV_")) and name != "VIRTUAL_ENV"
    }
    place = Place(folder, root, {**kept, "PIP_NO_BUILD_ISOLATION": "1"})
    packages = sysconfig.get_path("purelib")
    place.environment["PYTHONPATH"] = packages
    for name in ("base", "build", "run"):
        place.carry_out(plan[name])
    del place.environment["PYTHONPATH"]
    (site,) = (folder / "opt/consilience/lib").glob("python*/site-packages")
    (site / "others.pth").write_text(f"{packages}\n")
    return place


def test_only_what_needs_root_is_left_out(image: Place) -> None:
    assert {command.split()[0] for command in image.left_out} == {
        "apt-get",
        "rm",
        "useradd",
        "install",
    }


def test_each_stage_builds_upon_one_that_exists(plan: dict[str, Stage]) -> None:
    assert {"build", "test", "run"} <= plan.keys()
    for stage in plan.values():
        assert stage.base in plan or stage.base.startswith("python:"), stage.name


def test_what_is_installed_is_whole(image: Place) -> None:
    """Without the checkout: engines, recordings and schema have to be in the package."""
    image.folder = "/home/consilience"
    image.at("").mkdir(parents=True, exist_ok=True)
    state = {"CONSILIENCE_STATE_DIR": str(image.root / "state")}
    where = image.run(["python", "-c", "import server; print(server.__file__)"], state)
    searched = image.run(["consilience", "search", "javascript", "--replay", "--json"], state)
    checked = image.run(["consilience", "engines", "check"], state)

    assert where.stdout.startswith(str(image.root)), where
    assert json.loads(searched.stdout)["results"]
    assert checked.returncode == 0, checked.stdout


def test_the_entry_point_serves_and_the_health_check_sees_it(
    image: Place, plan: dict[str, Stage]
) -> None:
    steps = {step.name: step.rest for step in plan["run"].steps}
    command = [*json.loads(steps["ENTRYPOINT"]), *json.loads(steps["CMD"])]
    check = json.loads(steps["HEALTHCHECK"].partition("CMD ")[2])
    more = {
        "CONSILIENCE_STATE_DIR": str(image.root / "state"),
        "CONSILIENCE_TOKEN": "a-long-enough-token",
        "CONSILIENCE_ALLOW_HOSTS": "localhost",
        "CONSILIENCE_HOST": "127.0.0.1",
        "CONSILIENCE_PORT": "0",
    }
    image.folder = "/"
    server = subprocess.Popen(
        command, cwd=image.root, env=image.environ(more), stderr=subprocess.PIPE, text=True
    )
    try:
        assert server.stderr is not None
        said = server.stderr.readline()
        port = said.partition("127.0.0.1:")[2].partition("/")[0]
        healthy = image.run(check, {"CONSILIENCE_PORT": port})
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60)
    finally:
        server.terminate()
        _, rest = server.communicate(timeout=60)

    assert healthy.returncode == 0, healthy.stderr
    assert (server.returncode, "Traceback" in rest) == (0, False), rest


def test_an_image_without_a_token_says_what_it_needs(image: Place) -> None:
    state = {"CONSILIENCE_STATE_DIR": str(image.root / "state")}
    ended = image.run(["consilience", "serve"], state)

    assert image.variables["CONSILIENCE_HOST"] == "0.0.0.0"
    assert (ended.returncode, "CONSILIENCE_TOKEN" in ended.stderr) == (1, True)


def test_the_health_check_sees_a_server_that_is_gone(image: Place, plan: dict[str, Stage]) -> None:
    (step,) = [step for step in plan["run"].steps if step.name == "HEALTHCHECK"]
    check: list[Any] = json.loads(step.rest.partition("CMD ")[2])

    assert image.run(check, {"CONSILIENCE_PORT": "9"}).returncode == 1
