"""Logging: to standard error or a file, never to standard output, and only as much as asked."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from server.config import Settings

__all__ = ["announce", "configure"]

_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_LEVELS = {
    "off": logging.CRITICAL + 10,
    "error": logging.ERROR,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}
#: Libraries whose debug lines hold whole requests.
_CHATTY = ("asyncio", "curl_cffi", "hpack", "mcp", "playwright", "scrapy", "twisted", "urllib3")
_FILE = "debug.log"


def configure(settings: Settings, folder: Path) -> None:
    """Send the log where the settings say; `folder` takes a debug file without a path.

    Everything of other libraries below a warning stays out, since it may hold queries.
    """
    level = logging.DEBUG if settings.debug_terminal else _LEVELS[settings.log]
    handlers: list[logging.Handler] = [logging.StreamHandler()]
    handlers[0].setLevel(level)
    if settings.debug_file:
        path = folder / _FILE if settings.debug_file is True else Path(settings.debug_file)
        path.parent.mkdir(parents=True, exist_ok=True)
        handlers.append(logging.FileHandler(path, encoding="utf-8"))
        level = logging.DEBUG
    logging.basicConfig(level=level, format=_FORMAT, handlers=handlers, force=True)
    for name in _CHATTY:
        logging.getLogger(name).setLevel(max(level, logging.WARNING))


def announce(settings: Settings, text: str) -> None:
    """Write what an operator should see at start, however little is logged, unless it is off."""
    if settings.log != "off":
        sys.stderr.write(f"consilience: {text}\n")
