"""How settings become the parts of an application."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError
from framework.types import HttpRequest
from middlewares.state import default_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from framework.evidence.models import ModelStore
    from server.app import Application
    from server.config import Settings

__all__ = ["crawler_settings", "downloader", "model_store", "models_dir", "state_dir"]

log = logging.getLogger(__name__)
#: How long a model's file may take, in seconds, and its most bytes.
_MODEL_SECONDS = 600.0
_MODEL_BYTES = 512 * 1024 * 1024


def crawler_settings(app: Application) -> Mapping[str, object]:
    """Return the changes to `spiders.settings` that an application's settings ask for."""
    given = app.settings
    return {
        "CONSILIENCE_ALLOW_NETWORKS": [str(network) for network in given.allow_networks],
        "CONSILIENCE_CA_FILE": str(given.ca_file) if given.ca_file else None,
        "REPLAY": str(app.replay) if app.replay else None,
        "CONSILIENCE_PROXY_POLICY": app.proxies,
        "CONSILIENCE_ROBOTS": given.robots,
        "CONSILIENCE_CHROME_PATH": str(given.chrome_path) if given.chrome_path else None,
        "RENDER_TIMEOUT": given.render_timeout,
        "RENDER_CONCURRENCY": given.render_concurrency,
        "RENDER_MAX_REQUESTS": given.render_requests,
        "RENDER_MAX_NETWORK_BYTES": given.render_network_bytes,
        "RENDER_MAX_HTML_BYTES": given.render_html_bytes,
        "LOG_ENABLED": False,
    }


def model_store(app: Application) -> ModelStore:
    """Return the store of the models that the settings allow, in the folder that they name."""
    from framework.evidence.models import RECORDS, ModelStore

    given = app.settings
    wanted = {"rerank": given.rerank, "nli": given.nli, "embed": given.embeddings}
    return ModelStore(
        models_dir=models_dir(given),
        mirror=given.models_url or "",
        get_file=downloader(app) if given.models_download else None,
        progress=log.info,
        records=tuple(record for record in RECORDS if wanted.get(record.kind, True)),
    )


def models_dir(settings: Settings) -> Path:
    """Return the folder of models."""
    return settings.models_dir or state_dir(settings) / "models"


def downloader(app: Application, timeout: float = _MODEL_SECONDS) -> Callable[[str], bytes]:
    """Return a function for worker threads that fetches a file through the crawler."""
    loop = asyncio.get_running_loop()

    async def fetch(url: str) -> bytes:
        hub = await app.hub()
        answer = await hub.fetch(HttpRequest(url=url), timeout=timeout, maxsize=_MODEL_BYTES)
        if answer.status != 200:
            raise ConsilienceError(f"{url} answered status {answer.status}", retryable=True)
        return answer.body

    return lambda url: asyncio.run_coroutine_threadsafe(fetch(url), loop).result()


def state_dir(settings: Settings) -> Path:
    """Return the folder of the state database."""
    return settings.state_dir or default_folder()
