"""Clients' files are changed carefully or not at all."""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from framework.errors import ConsilienceError, InvalidInputError
from server.install import jsonc
from server.install.changes import apply, plan_install, plan_uninstall
from server.install.clients import CLIENTS, Client, Command, Home
from server.install.links import cursor_link, snippet, vscode_link

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMAND = Command("/opt/c onsilience/bin/consilience", ("mcp",))
EACH = pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client.id)

#: A file as each client's users have it: other servers, other settings, comments where allowed.
EXISTING = {
    "claude-desktop": '{\n  "mcpServers": {\n    "files": {"command": "npx"}\n  }\n}\n',
    "claude-code": '{\n  "numStartups": 3,\n  "projects": {"/a": {"mcpServers": {}}}\n}',
    "cursor": '{"mcpServers": {"files": {"url": "https://a.example/mcp"}}}',
    "vscode": '{\n\t// servers\n\t"servers": {},\n\t"inputs": [],\n}\n',
    "cline": '{"mcpServers": {"x": {"command": "y", "disabled": true, "autoApprove": ["z"]}}}',
    "windsurf": "",
    "zed": '// Zed settings\n{\n  "vim_mode": true,\n  "context_servers": {}, // none\n}\n',
}


def entry_in(client: Client, text: str) -> object:
    value = jsonc.parse(text).value
    for key in client.key:
        assert isinstance(value, dict)
        value = value[key]
    assert isinstance(value, dict)
    return value.get("consilience")


@EACH
def test_install_and_uninstall_on_a_file_that_exists(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(EXISTING[client.id])
    file.chmod(0o600)

    backup = apply(plan_install(client, file, COMMAND))

    text = file.read_text()
    assert entry_in(client, text) == client.entry(COMMAND)
    assert backup is not None
    assert backup.read_text() == EXISTING[client.id]
    assert file.stat().st_mode & 0o777 == backup.stat().st_mode & 0o777 == 0o600
    assert not plan_install(client, file, COMMAND).needed
    change = plan_uninstall(client, file)
    assert change is not None
    apply(change)
    assert entry_in(client, file.read_text()) is None
    before = jsonc.parse(EXISTING[client.id] or "{}").value
    after = jsonc.parse(file.read_text()).value
    assert isinstance(before, dict)
    assert isinstance(after, dict)
    assert {**after, client.key[0]: 0} == {**before, client.key[0]: 0}
    for comment in ("// servers", "// Zed settings", "// none"):
        assert (comment in EXISTING[client.id]) == (comment in file.read_text())


@EACH
def test_install_makes_a_file_where_there_is_none(client: Client, tmp_path: Path) -> None:
    file = client.file(Home(tmp_path))

    backup = apply(plan_install(client, file, COMMAND))

    assert backup is None
    assert json.loads(file.read_text()) == json.loads(snippet(client, COMMAND))
    assert plan_uninstall(client, file.with_name("none.json")) is None


@EACH
@pytest.mark.parametrize("content", [b"{broken", b"[]", b"\xff\xfe{}", b'{"a": 1} trailing'])
def test_a_file_that_cannot_be_parsed_is_left_alone(
    client: Client, content: bytes, tmp_path: Path
) -> None:
    file = tmp_path / "settings.json"
    file.write_bytes(content)

    with pytest.raises(InvalidInputError, match="was left as it is"):
        plan_install(client, file, COMMAND)

    assert file.read_bytes() == content
    assert list(tmp_path.iterdir()) == [file]


def test_a_linked_file_is_changed_where_it_is(tmp_path: Path) -> None:
    real = tmp_path / "dotfiles" / "mcp.json"
    real.parent.mkdir()
    real.write_text("{}")
    link = tmp_path / "mcp.json"
    link.symlink_to(real)

    apply(plan_install(CLIENTS[2], link, COMMAND))

    assert link.is_symlink()
    assert "consilience" in real.read_text()


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")

    with pytest.raises((ConsilienceError, InvalidInputError), match="cannot be"):
        apply(plan_install(CLIENTS[0], tmp_path / "file" / "x" / "y.json", COMMAND))


@pytest.mark.parametrize(
    ("platform", "part"),
    [
        ("linux", ".config/Claude/"),
        ("darwin", "Library/Application Support/Claude/"),
        ("win32", "AppData/Roaming/Claude/"),
    ],
)
def test_each_platform_has_its_folder(platform: str, part: str, tmp_path: Path) -> None:
    assert part in CLIENTS[0].file(Home(tmp_path, platform)).as_posix()


@pytest.mark.parametrize(
    ("platform", "part"),
    [("linux", "/given/zed/"), ("darwin", ".config/zed/"), ("win32", "AppData/Roaming/zed/")],
)
def test_zed_keeps_to_one_folder_on_linux_and_macos(
    platform: str, part: str, tmp_path: Path
) -> None:
    (zed,) = [client for client in CLIENTS if client.id == "zed"]
    home = Home(tmp_path, platform, {"XDG_CONFIG_HOME": "/given"})

    assert part in zed.file(home).as_posix()


def test_links_carry_the_entry() -> None:
    cursor = parse_qs(urlsplit(cursor_link(COMMAND)).query)
    vscode = parse_qs(urlsplit(vscode_link(COMMAND)).query)

    assert json.loads(base64.b64decode(cursor["config"][0])) == COMMAND.entry()
    assert json.loads(vscode["config"][0]) == {"type": "stdio", **COMMAND.entry()}
    assert cursor["name"] == vscode["name"] == ["consilience"]


def script(arguments: Sequence[str], home: Path) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name != "XDG_CONFIG_HOME"}
    return subprocess.run(
        [sys.executable, "-c", "from server.cli import main; main()", "install", *arguments],
        env={**kept, "HOME": str(home)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_command_changes_the_clients_that_are_there(tmp_path: Path) -> None:
    cursor = tmp_path / ".cursor" / "mcp.json"
    cursor.parent.mkdir()
    broken = tmp_path / ".claude.json"
    broken.write_text("{broken")

    installed = script([], tmp_path)

    assert installed.returncode == 1
    assert "Claude Code" in installed.stderr
    assert broken.read_text() == "{broken"
    entry = json.loads(cursor.read_text())["mcpServers"]["consilience"]
    assert Path(entry["command"]).is_absolute()
    assert '+    "consilience"' in installed.stdout

    removed = script(["cursor", "--uninstall"], tmp_path)

    assert removed.returncode == 0
    assert json.loads(cursor.read_text())["mcpServers"] == {}


def test_the_command_prints_and_refuses(tmp_path: Path) -> None:
    printed = script(["--print"], tmp_path)
    unknown = script(["cursr"], tmp_path)
    nothing = script([], tmp_path)

    assert printed.returncode == 0
    assert "https://cursor.com/install-mcp?" in printed.stdout
    assert list(tmp_path.iterdir()) == []
    assert (unknown.returncode, nothing.returncode) == (1, 1)
    assert "did you mean cursor?" in unknown.stderr
