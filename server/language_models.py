"""Whose language model answers a call's prompts: the client's, a configured endpoint's, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from server import llm as llms

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from framework.llm import LLM
    from framework.types import HttpRequest, HttpResponse
    from server.config import Settings
    from spiders.hub import Hub

__all__ = ["LanguageModels"]


class LanguageModels:
    """Chooses by the table of `server.llm.resolve`; an endpoint is asked through the crawler."""

    def __init__(self, settings: Settings, hub: Callable[[], Awaitable[Hub]]) -> None:
        self._settings = settings
        self._hub = hub

    @property
    def configured(self) -> bool:
        """Whether an endpoint is set up."""
        return llms.configured(self._settings)

    def resolution(self, *, sampling: bool, client: bool) -> llms.Resolution:
        """Tell whose model would answer."""
        return llms.resolve(
            sampling=sampling,
            client=client,
            api=self.configured,
            skip_client=self._settings.skip_ide_sampling,
        )

    def chosen(self, client: LLM | None, *, sampling: bool) -> LLM | None:
        """Return the model that answers, `client` being the caller's own, or None."""
        resolution = self.resolution(sampling=sampling, client=client is not None)
        if resolution == "client":
            return client
        return self._endpoint() if resolution == "api" else None

    def _endpoint(self) -> LLM:
        given = self._settings
        return llms.EndpointLLM(
            base_url=given.llm_base_url or "",
            model=given.llm_name or "",
            key=given.llm_api_key,
            timeout=given.llm_timeout_ms / 1000,
            send=self._send,
        )

    async def _send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        hub = await self._hub()
        place = urlsplit(request.url).netloc
        meta = {"configured": place, "retry": False, "replay": False}
        return await hub.fetch(request, timeout=timeout, meta=meta)
