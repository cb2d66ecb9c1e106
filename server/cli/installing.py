"""`consilience install`: enter this server into the MCP clients of this machine."""

from __future__ import annotations

import difflib
import sys
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError, NotFoundError
from server.cli.output import line, note
from server.install.changes import apply, plan_install, plan_uninstall
from server.install.clients import CLIENTS, Home, own_command
from server.install.links import cursor_link, snippet, vscode_link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from server.install.changes import Change
    from server.install.clients import Client

__all__ = ["run"]


def run(names: Sequence[str], *, only_print: bool, uninstall: bool, yes: bool) -> None:
    """Install into the named clients, else into all that are found.

    Each change is shown first, and on a terminal asked for unless `yes`.

    Raises:
        NotFoundError: an unknown client, or none is found.
        ConsilienceError: a file cannot be read or written; the other clients are done first.
    """
    home = Home.current()
    clients = _named(names) if names else [c for c in CLIENTS if only_print or c.found(home)]
    if only_print:
        _print(clients)
        return
    if not clients:
        raise NotFoundError("none of the known clients is here", hint="name one, or use --print")
    failed: list[str] = []
    for client in clients:
        try:
            _change(client, home, uninstall=uninstall, yes=yes)
        except ConsilienceError as error:
            failed.append(str(error))
    if failed:
        raise ConsilienceError("\n".join(failed), code="not_installed")


def _named(names: Sequence[str]) -> list[Client]:
    known = {client.id: client for client in CLIENTS}
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(known)}"
            raise NotFoundError(f"unknown client {name!r}", hint=hint)
    return [known[name] for name in dict.fromkeys(names)]


def _print(clients: Sequence[Client]) -> None:
    command, home = own_command(), Home.current()
    for client in clients:
        line(f"# {client.title}: {client.file(home)}")
        line(snippet(client, command) + "\n")
    line(f"Cursor: {cursor_link(command)}")
    line(f"VS Code: {vscode_link(command)}")


def _change(client: Client, home: Home, *, uninstall: bool, yes: bool) -> None:
    file = client.file(home)
    change = (
        plan_uninstall(client, file) if uninstall else plan_install(client, file, own_command())
    )
    if change is None or not change.needed:
        line(f"{client.title}: nothing to change")
        return
    line(change.diff().rstrip("\n"))
    if not yes and not _agreed(change):
        line(f"{client.title}: left as it is")
        return
    backup = apply(change)
    kept = f", the old file is {backup}" if backup else ""
    line(f"{client.title}: wrote {change.file}{kept}")


def _agreed(change: Change) -> bool:
    if not sys.stdin.isatty():
        return True
    note(f"Write this to {change.file}? [y/N] ")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
