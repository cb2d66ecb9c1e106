"""A folder for own engines, and Scrapy's commands from an isolated install."""

from __future__ import annotations

import os
import shutil
from typing import TYPE_CHECKING

from framework.errors import InvalidInputError
from framework.spec import catalogue
from server.cli.output import line
from server.config import Environment

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["init", "scrapy"]

#: Variables by which a stranger's `.env` could have code run.
_CODE = ("SCRAPY", "PYTHON", "LD_", "DYLD_")

_SCRAPY_CFG = """\
[settings]
default = spiders.settings
"""

_README = """\
# Your own search engines

Each YAML file here is one engine; a file named like a packaged engine replaces it.
The first line of a file lets an editor complete and check it:

    # yaml-language-server: $schema=../engine-v1.json

`consilience engines check` tells what is wrong with a file, `scrapy list` shows all engines,
`scrapy crawl ID -a query="…" -O out.jsonl` runs one.
"""


def init(folder: Path) -> None:
    """Write scrapy.cfg, engines.d/ and the editor's schema into `folder`; keep what exists.

    Raises:
        InvalidInputError: the folder cannot be made or written.
    """
    try:
        (folder / "engines.d").mkdir(parents=True, exist_ok=True)
        _write(folder / "scrapy.cfg", _SCRAPY_CFG)
        _write(folder / "engines.d" / "README.md", _README)
        schema = folder / "engine-v1.json"
        if not schema.exists():
            shutil.copyfile(catalogue.packaged_schema(), schema)
            line(f"wrote {schema}")
    except OSError as error:
        raise InvalidInputError(
            f"{folder}: {error.strerror or error}", hint="name a folder that you may write to"
        ) from error


def _write(path: Path, text: str) -> None:
    if path.exists():
        line(f"kept {path}")
        return
    path.write_text(text, encoding="utf-8")
    line(f"wrote {path}")


def scrapy(command: str, arguments: Sequence[str]) -> None:
    """Run one of Scrapy's commands with our settings and spiders.

    A `.env` file counts as for the other commands, but never for Scrapy itself, whose variables
    can name code to run.
    """
    os.environ.setdefault("SCRAPY_SETTINGS_MODULE", "spiders.settings")
    for name, value in Environment.read().values.items():
        if not name.upper().startswith(_CODE):
            os.environ.setdefault(name, value)
    from scrapy.cmdline import execute

    execute(["scrapy", command, *arguments])
