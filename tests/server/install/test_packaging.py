"""The files that other programs read: registry entry, bundle, image, clients' page."""

from __future__ import annotations

import json
import re
import tomllib
import zipfile
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from framework.types import Verdict
from server import tools
from server.app import Application
from server.config import NAMES, Environment, Settings
from server.health import health_metrics
from server.install import guide
from server.install.bundle import build, manifest
from server.worker_metrics import WorkerMetrics

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def version(root: Path) -> str:
    project: dict[str, Any] = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    return str(project["version"])


def test_the_registry_entry_agrees_with_the_project(root: Path, version: str) -> None:
    entry = json.loads((root / "server.json").read_text())

    assert entry["version"] == version
    assert len(entry["description"]) <= 100
    for package in entry["packages"]:
        assert (package["identifier"], package["version"]) == ("consilience", version)
        for variable in package["environmentVariables"]:
            assert variable["isSecret"] == bool(re.search(r"KEY|TOKEN|PROXY", variable["name"])), (
                variable["name"]
            )


def test_a_bundle_is_complete_and_reproducible(root: Path, tmp_path: Path, version: str) -> None:
    first = build(root, tmp_path / "a.mcpb")
    second = build(root, tmp_path / "b.mcpb")

    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as bundle:
        names = set(bundle.namelist())
        described = json.loads(bundle.read("manifest.json"))
    assert {"pyproject.toml", "engines.d/bing.yaml", "server/stdio.py"} <= names
    assert described["server"]["entry_point"] in names
    assert not [name for name in names if "__pycache__" in name or name.startswith("/")]
    assert described["version"] == version
    assert [tool["name"] for tool in described["tools"]] == [tool.name for tool in tools.ALL]


def test_a_bundle_passes_on_settings_that_exist() -> None:
    described = manifest()
    known = {name for names in NAMES.values() for name in names}
    given = described["server"]["mcp_config"]["env"]

    assert {name for name in given if name.startswith("CONSILIENCE_")} <= known
    for value in given.values():
        assert value.removeprefix("${user_config.").removesuffix("}") in described["user_config"]


def test_a_bundle_names_the_systems_that_the_server_runs_on() -> None:
    assert manifest()["compatibility"]["platforms"] == ["darwin", "linux"]


def test_the_clients_page_is_what_install_writes(root: Path) -> None:
    assert (root / "docs" / "clients.md").read_text() == guide.render()


def test_the_clients_page_names_every_figure_that_the_server_gives(tmp_path: Path) -> None:
    application = Application.create(Settings(state_dir=tmp_path), Environment({}), replay=True)
    application.policy.cooldown.note("bing", Verdict.CAPTCHA)
    text = WorkerMetrics(application.metrics, tmp_path).text() + health_metrics(application)
    application.stores.close()
    names = {re.sub("_total$", "", name) for name in re.findall(r"(?m)^# TYPE (\S+)", text)}

    for name in names - {name for name in names if name.endswith("_created")}:
        assert f"| `{name}` |" in guide.render(), name


def test_every_entry_on_the_clients_page_is_json() -> None:
    blocks = re.findall(r"```json\n(.*?)```", guide.render(), re.DOTALL)

    assert len(blocks) >= 9
    assert all("consilience" in json.dumps(json.loads(block)) for block in blocks)


def test_the_image_is_built_with_care(root: Path) -> None:
    text = (root / "Dockerfile").read_text().replace("\\\n", " ")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    images = [line.split()[1] for line in lines if line.startswith("FROM")]
    stages = {line.split()[3] for line in lines if line.startswith("FROM") and " AS " in line}
    last = lines[max(i for i, line in enumerate(lines) if line.startswith("FROM")) :]

    assert all(":" in image and ":latest" not in image for image in images if image not in stages)
    assert {"build", "test", "run"} <= stages
    users = [line.split()[1] for line in last if line.startswith("USER")]
    assert users
    assert users[-1] not in {"root", "0"}
    assert any(line.startswith("HEALTHCHECK") for line in last)
    assert not [line for line in lines if line.startswith("ADD") or "sudo" in line]
    for line in lines:
        if "apt-get install" in line:
            assert "--no-install-recommends" in line
            assert "rm -rf /var/lib/apt/lists" in line
        if line.startswith("COPY") and "--from" not in line:
            for source in line.split()[1:-1]:
                assert (root / source).exists(), source


def test_compose_keeps_the_container_small_and_closed(root: Path) -> None:
    service = yaml.safe_load((root / "compose.yaml").read_text())["services"]["consilience"]

    assert service["read_only"]
    assert service["cap_drop"] == ["ALL"]
    assert "no-new-privileges:true" in service["security_opt"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert "CONSILIENCE_TOKEN" in service["environment"]
