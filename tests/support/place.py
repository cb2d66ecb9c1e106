"""A folder with engines, and a local site, where commands are run as processes."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from typing import TYPE_CHECKING
from unittest import mock

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.site import Site

__all__ = ["Place"]


class Place:
    """Runs `consilience` in a folder of its own; `environment` is what the operator set."""

    def __init__(self, folder: Path, site: Site, **environment: str) -> None:
        self.folder = folder
        self.site = site
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith("CONSILIENCE_") and not name.lower().endswith("_proxy")
        }
        self.environment = {
            **kept,
            "CONSILIENCE_STATE_DIR": str(folder / "state"),
            "CONSILIENCE_ENGINES_DIR": str(folder / "engines.d"),
            "CONSILIENCE_ALLOW_NETWORKS": "127.0.0.0/8",
            "CONSILIENCE_LOG": "debug",
            "COLUMNS": "200",
            **environment,
        }

    async def run(self, *words: str, expect: tuple[int, ...] = (0, 1)) -> str:
        """Return everything that a command prints."""
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-c", "from server.cli import main; main()"),
            *words,
            cwd=self.folder,
            env=self.environment,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, error = await process.communicate()
        text = out.decode() + error.decode()
        assert process.returncode in expect, text
        assert "Traceback" not in text, text
        return text

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Let this process stand in the folder with the operator's variables."""
        with contextlib.chdir(self.folder), mock.patch.dict(os.environ, self.environment):
            yield

    def files(self) -> dict[str, str]:
        """Everything that lies in the folder."""
        found = [path for path in self.folder.rglob("*") if path.is_file()]
        return {
            str(path.relative_to(self.folder)): path.read_bytes().decode("latin-1")
            for path in found
        }
