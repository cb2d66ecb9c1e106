"""Engine files that change while the server runs are seen by it."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import TYPE_CHECKING

from watchfiles import Change, awatch

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable

    from framework.spec.catalogue import Catalogue

__all__ = ["follow"]

log = logging.getLogger(__name__)


async def follow(
    catalogue: Catalogue,
    stop: asyncio.Event,
    *,
    started: Callable[[], None] = lambda: None,
    debounce_ms: int = 200,
) -> None:
    """Reload engine files of the catalogue's folders as they change, until `stop` is set.

    A file that is broken keeps its last good version; its problems stand in the catalogue.
    Folders that do not exist when this starts are not watched.
    """
    folders = [folder for folder in catalogue.folders if folder.is_dir()]
    if not folders:
        return
    watching = awatch(
        *folders,
        watch_filter=_is_engine,
        stop_event=stop,
        debounce=debounce_ms,
        step=20,
        rust_timeout=500,
        yield_on_timeout=True,
        recursive=False,
    )
    async for changes in watching:
        started()
        if not changes:
            continue
        changed = catalogue.reload(Path(path) for _, path in changes)
        if changed:
            log.info("engine files changed: %s", ", ".join(changed))


def _is_engine(_change: Change, path: str) -> bool:
    return path.endswith(".yaml")
