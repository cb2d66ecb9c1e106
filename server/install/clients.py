"""The clients that are known: where each keeps its servers and in which form."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CLIENTS", "NAME", "Client", "Command", "Home", "own_command"]

Base = Literal["home", "config", "dotted"]

#: The name under which the server is entered.
NAME = "consilience"


@dataclass(frozen=True, slots=True)
class Command:
    """How a client starts the server."""

    program: str
    arguments: tuple[str, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    def entry(self) -> dict[str, Any]:
        """Return the form that most clients share."""
        entry: dict[str, Any] = {"command": self.program, "args": list(self.arguments)}
        return entry | ({"env": dict(self.environment)} if self.environment else {})


def own_command() -> Command:
    """Return the command that starts this very installation, by its full path."""
    script = Path(sys.argv[0]).absolute()
    beside = Path(sys.executable).with_name("consilience")
    program = next((path for path in (script, beside) if path.name == "consilience"), beside)
    return Command(str(program), ("mcp",))


@dataclass(frozen=True, slots=True)
class Home:
    """Where a user's files lie; `platform` as in `sys.platform`."""

    folder: Path
    platform: str = "linux"
    variables: Mapping[str, str] | None = None

    @classmethod
    def current(cls) -> Home:
        """Return this user's."""
        return cls(Path.home(), sys.platform, os.environ)

    @property
    def config(self) -> Path:
        """The folder of applications' settings."""
        variables = self.variables or {}
        if self.platform == "darwin":
            return self.folder / "Library" / "Application Support"
        if self.platform == "win32":
            return Path(variables.get("APPDATA", self.folder / "AppData" / "Roaming"))
        return self.dotted

    @property
    def dotted(self) -> Path:
        """The folder of programs that keep to XDG's rules on macOS too."""
        if self.platform == "win32":
            return self.config
        chosen = (
            (self.variables or {}).get("XDG_CONFIG_HOME") if self.platform != "darwin" else None
        )
        return Path(chosen or self.folder / ".config")


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """One client: its file, the key of its servers there, and what an entry looks like.

    `base` names the folder of `Home` where `path` starts; `extra` goes into the entry.
    """

    id: str
    title: str
    base: Base
    path: str
    key: tuple[str, ...] = ("mcpServers",)
    extra: tuple[tuple[str, object], ...] = ()

    def file(self, home: Home) -> Path:
        """Return the client's settings file."""
        folders = {"home": home.folder, "config": home.config, "dotted": home.dotted}
        return folders[self.base] / self.path

    def found(self, home: Home) -> bool:
        """Whether the client seems to be installed: its file or the folder of it exists."""
        file = self.file(home)
        return file.exists() or (file.parent != home.folder and file.parent.is_dir())

    def entry(self, command: Command) -> dict[str, Any]:
        """Return what is entered for the server."""
        return {**command.entry(), **dict(self.extra)}


_EXTENSIONS = "Code/User/globalStorage"

CLIENTS: tuple[Client, ...] = (
    Client(
        id="claude-desktop",
        title="Claude Desktop",
        base="config",
        path="Claude/claude_desktop_config.json",
    ),
    Client(
        id="claude-code",
        title="Claude Code",
        base="home",
        path=".claude.json",
        extra=(("type", "stdio"),),
    ),
    Client(id="cursor", title="Cursor", base="home", path=".cursor/mcp.json"),
    Client(
        id="vscode",
        title="VS Code",
        base="config",
        path="Code/User/mcp.json",
        key=("servers",),
        extra=(("type", "stdio"),),
    ),
    Client(
        id="cline",
        title="Cline",
        base="config",
        path=f"{_EXTENSIONS}/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        extra=(("disabled", False), ("timeout", 300)),
    ),
    Client(id="windsurf", title="Windsurf", base="home", path=".codeium/windsurf/mcp_config.json"),
    Client(
        id="zed",
        title="Zed",
        base="dotted",
        path="zed/settings.json",
        key=("context_servers",),
        extra=(("source", "custom"),),
    ),
)
