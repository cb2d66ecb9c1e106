"""Planning and making the change to a client's file, with a backup."""

from __future__ import annotations

import contextlib
import difflib
import os
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError, InvalidInputError
from server.install import jsonc
from server.install.clients import NAME

if TYPE_CHECKING:
    from server.install.clients import Client, Command

__all__ = ["Change", "apply", "plan_install", "plan_uninstall"]


@dataclass(frozen=True, slots=True)
class Change:
    """A change to a file: its text before (None: there is no file) and after."""

    client: Client
    file: Path
    before: str | None
    after: str

    @property
    def needed(self) -> bool:
        """Whether anything would change."""
        return (self.before or "") != self.after

    def diff(self) -> str:
        """Return the change as a unified diff."""
        lines = difflib.unified_diff(
            (self.before or "").splitlines(keepends=True),
            self.after.splitlines(keepends=True),
            str(self.file),
            str(self.file),
            n=2,
        )
        return "".join(line if line.endswith("\n") else line + "\n" for line in lines)


def plan_install(client: Client, file: Path, command: Command) -> Change:
    """Plan to enter the server; other servers, comments and layout stay as they are.

    Raises:
        InvalidInputError: the file is there and is no JSON object; it is left alone.
    """
    before = _read(client, file)
    text = before if before and before.strip() else "{}\n"
    try:
        after = jsonc.set_member(text, client.key, NAME, client.entry(command))
        jsonc.parse(after)
    except InvalidInputError as error:
        raise _unreadable(client, file, error) from None
    return Change(client, file, before, after)


def plan_uninstall(client: Client, file: Path) -> Change | None:
    """Plan to take the server out again; None where it is not entered."""
    before = _read(client, file)
    if before is None or not before.strip():
        return None
    try:
        after = jsonc.remove(before, client.key, NAME)
        jsonc.parse(after)
    except InvalidInputError as error:
        raise _unreadable(client, file, error) from None
    change = Change(client, file, before, after)
    return change if change.needed else None


def _read(client: Client, file: Path) -> str | None:
    try:
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise _unreadable(client, file, error) from None


def _unreadable(client: Client, file: Path, error: Exception) -> InvalidInputError:
    return InvalidInputError(
        f"{client.title}: {file} cannot be read: {error}",
        hint="the file was left as it is; mend it, or add the server by hand (see --print)",
    )


def apply(change: Change) -> Path | None:
    """Write the change in one step, after keeping the old file; return the backup's path.

    A link is followed, so that the file it leads to is changed. Raises ConsilienceError.
    """
    file = change.file.resolve()
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        backup = None
        if change.before is not None:
            stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
            backup = file.with_name(f"{file.name}.{stamp}.bak")
            backup.write_bytes(file.read_bytes())
            backup.chmod(file.stat().st_mode & 0o777)
        _replace(file, change.after)
    except OSError as error:
        raise ConsilienceError(
            f"{change.client.title}: {file} cannot be written: {error.strerror or error}",
            code="not_writable",
        ) from None
    return backup


def _replace(file: Path, text: str) -> None:
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    try:
        with os.fdopen(handle, "wb") as new:
            new.write(text.encode("utf-8"))
        if file.exists():
            Path(name).chmod(file.stat().st_mode & 0o777)
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            Path(name).unlink()
        raise
