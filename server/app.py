"""The composition root: one object that holds everything a running service needs."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
from typing import TYPE_CHECKING

import anyio

from framework.errors import InvalidInputError
from framework.spec import catalogue as catalogues
from framework.spec.folders import engine_folders
from framework.types import SearchAnswer
from middlewares.proxy import proxies_from
from server import logs
from server.choices import Choices
from server.config import Environment, Settings, load
from server.deep_runs import DeepRuns
from server.language_models import LanguageModels
from server.memory import keep_memory
from server.metrics import Metrics
from server.page_reading import PageReading
from server.part_metrics import PartMetrics
from server.requests import Filtered, SearchRequest
from server.searching import Searching, filtered
from server.stores import Stores
from server.wiring import crawler_settings, model_store, state_dir

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine
    from pathlib import Path
    from types import TracebackType

    from framework.evidence.models import ModelStore
    from framework.llm import LLM
    from framework.merge.search import OnReport
    from framework.spec.catalogue import Catalogue
    from framework.types import EngineReport, HttpResponse, Row
    from middlewares.cache import Cache
    from middlewares.policy import EnginePolicy
    from server.downloads import Downloads
    from server.engine_state import EngineState
    from server.llm import Resolution
    from server.pages import Fetched, PageRequest, Pages
    from server.rounds import Rounds
    from server.tools.base import Call
    from spiders.hub import Hub

__all__ = ["Application"]

#: Seconds in which the crawler, its connections and browsers must be closed.
_CLOSING = 10.0


class Application:
    """A service over one catalogue of engines and one crawler; an async context manager.

    Opening it returns at once: the crawler starts behind it, and calls wait for it.
    """

    def __init__(
        self,
        settings: Settings,
        environment: Environment,
        *,
        replay: Path | None = None,
        watch: bool = False,
    ) -> None:
        values, live = environment.values, replay is None
        self.settings = settings
        self.environment = environment
        self.replay = replay
        self.catalogue: Catalogue = catalogues.Catalogue(
            engine_folders(settings.engines_dir, values), replay
        )
        self.proxies = proxies_from(
            values,
            proxy=settings.proxy,
            pools_file=settings.proxies_file,
            allow_direct=settings.allow_direct,
        )
        self.metrics = Metrics()
        self.stores = Stores(settings, values, live=live)
        self.metrics.registry.register(PartMetrics(self.stores, self.proxies.pools))
        self._choices = Choices(settings, self.catalogue, self.stores)
        self._searching = Searching(
            self.catalogue,
            values,
            hub=self.hub,
            stores=self.stores,
            choices=self._choices,
            metrics=self.metrics,
            live=live,
        )
        self._reading = PageReading(self.hub, self.stores, values)
        self._language_models = LanguageModels(settings, self.hub)
        self._deep_runs: DeepRuns | None = None
        self._models: ModelStore | None = None
        self._stack = contextlib.AsyncExitStack()
        self._opening: asyncio.Task[Hub] | None = None
        self._watch = watch
        self._stop = asyncio.Event()

    @classmethod
    def create(
        cls,
        settings: Settings | None = None,
        environment: Environment | None = None,
        *,
        replay: bool | Path = False,
        watch: bool = False,
    ) -> Application:
        """Build an application from the process's environment where nothing else is given.

        `replay` True answers from the packaged recordings, a path from recordings there. With
        `watch` engine files are read again as they change.
        """
        environment = environment or Environment.read()
        folder = catalogues.packaged_fixtures() if replay is True else (replay or None)
        if folder is not None and not folder.is_dir():
            raise InvalidInputError(f"{folder}: no such folder of recordings")
        settings = settings or load(environment)
        logs.configure(settings, state_dir(settings))
        return cls(settings, environment, replay=folder, watch=watch)

    async def __aenter__(self) -> Application:
        keep_memory()
        self._opening = asyncio.create_task(self._open(), name="open the crawler")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        # Where a client has left, all around is being cancelled: the closing itself is not.
        with anyio.move_on_after(_CLOSING, shield=True):
            if self._opening is not None:
                self._opening.cancel()
                await asyncio.wait([self._opening])
                self._opening = None
            await self._stack.aclose()
        self._deep_runs = None
        self._reading.close()
        self.stores.close()

    async def _open(self) -> Hub:
        await asyncio.to_thread(importlib.import_module, "spiders.hub")
        from spiders.hub import Hub

        for warning in self.proxies.warnings if self.replay is None else ():
            logs.announce(self.settings, f"warning: {warning}")
        hub = Hub(crawler_settings(self))
        await _in_full(self._stack.enter_async_context(hub))
        if self._watch:
            await self._stack.enter_async_context(self._following())
            gc.freeze()  # a server's modules and engines stay: the collector passes them over
        return hub

    @contextlib.asynccontextmanager
    async def _following(self) -> AsyncIterator[None]:
        from server.reload import follow

        self._stop.clear()
        task = asyncio.create_task(follow(self.catalogue, self._stop), name="follow engine files")
        try:
            yield
        finally:
            self._stop.set()
            await task

    async def hub(self) -> Hub:
        """Return the crawler once it is ready."""
        if self._opening is None:
            raise RuntimeError("the application is not open; use it inside `async with`")
        return await asyncio.shield(self._opening)

    # Searching

    async def search(
        self, request: SearchRequest, caller: str = "default", on_report: OnReport | None = None
    ) -> SearchAnswer:
        """Ask several engines at once; raises what `Searching.search` raises."""
        return await self._searching.search(request, caller, on_report)

    async def filtered_search(
        self, request: SearchRequest, call: Call, sampling: bool | None
    ) -> tuple[SearchAnswer, Filtered]:
        """Search, and where sampling is on let a model drop rows; it can only remove them."""
        asked: list[str] = []

        def heard(report: EngineReport, rows: tuple[Row, ...]) -> None:
            asked.append(report.id)
            call.note(len(asked), None, f"{report.id}: {report.verdict}, {len(rows)} rows")

        answer = await call.once(
            "search", SearchAnswer, lambda: self.search(request, call.caller, heard)
        )
        wanted = self.sampling(call.caller) if sampling is None else sampling
        if not wanted or not answer.results:
            return answer, Filtered()
        llm = self.llm(call, sampling=True)
        if llm is None:
            return answer, Filtered(remark="Not filtered: no language model is available.")
        return await filtered(answer, llm)

    def engine_states(self) -> tuple[EngineState, ...]:
        """Return every engine, usable or not, in the order of their ids."""
        return self._searching.engine_states()

    # What is kept

    @property
    def policy(self) -> EnginePolicy:
        """The rests, pace and keys of engines; its state database is opened at first use."""
        return self.stores.policy

    @property
    def rounds(self) -> Rounds:
        """What calls keep between their rounds; opened at first use."""
        return self.stores.rounds

    @property
    def reports(self) -> Downloads:
        """Reports that can be fetched for a while; opened at first use."""
        return self.stores.reports

    @property
    def pages(self) -> Downloads:
        """Fetched pages as Markdown, by fingerprint; opened at first use."""
        return self.stores.pages

    @property
    def page_cache(self) -> Cache:
        """The cache of pages; opened at first use."""
        return self.stores.page_cache

    @property
    def deep_runs(self) -> DeepRuns:
        """Research runs that are under way; opened at first use."""
        if self._deep_runs is None:
            self._deep_runs = DeepRuns(self.policy.state, self.models)
        return self._deep_runs

    # What callers chose

    def default_engines(self, caller: str) -> tuple[str, ...]:
        """Return the engines that a caller's searches ask, those that still exist."""
        return self._choices.engines(caller)

    def set_default_engines(self, caller: str, engines: tuple[str, ...]) -> None:
        """Keep a caller's default engines; raises NotFoundError for an unknown one."""
        self._choices.set_engines(caller, engines)

    def sampling(self, caller: str) -> bool:
        """Whether a language model may take part in a caller's calls."""
        return self._choices.sampling(caller)

    def set_sampling(self, caller: str, enabled: bool) -> None:
        """Keep a caller's choice."""
        self._choices.set_sampling(caller, enabled)

    # Pages

    async def read_page(
        self, request: PageRequest, reader: str = "local", query: str | None = None, chunks: int = 5
    ) -> Fetched:
        """Fetch and read a page, locally or remotely; raises what `PageReading.read` raises."""
        return await self._reading.read(request, reader, query, chunks)

    async def fetch_page(self, request: PageRequest) -> HttpResponse:
        """Fetch an address without reading it as a page; raises what `Pages.answer` raises."""
        return await self.page_service.answer(request)

    @property
    def page_service(self) -> Pages:
        """Who fetches and reads pages."""
        return self._reading.local

    # Models

    @property
    def models(self) -> ModelStore:
        """The models that rank and judge passages; each is loaded when it is first needed."""
        if self._models is None:
            self._models = model_store(self)
        return self._models

    @property
    def llm_configured(self) -> bool:
        """Whether an endpoint of a language model is set up."""
        return self._language_models.configured

    def resolution(self, caller: str, *, client: bool) -> Resolution:
        """Tell whose language model would answer this caller's prompts."""
        return self._language_models.resolution(sampling=self.sampling(caller), client=client)

    def llm(self, call: Call, *, sampling: bool) -> LLM | None:
        """Return the language model that answers this call's prompts, or None."""
        return self._language_models.chosen(call.client_llm, sampling=sampling)


async def _in_full(work: Coroutine[None, None, object]) -> None:
    """Do work to its end even when cancelled: a half-open crawler would leave sockets behind."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise
