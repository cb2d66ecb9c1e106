"""The composition root: one object that holds everything a running service needs."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import importlib
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from framework.errors import ConsilienceError, InvalidInputError, NotFoundError
from framework.merge import filtering
from framework.merge.search import Member, fan_out
from framework.spec import catalogue as catalogues
from framework.spec.context import Variables
from framework.spec.environment import setting_values
from framework.spec.folders import engine_folders
from framework.types import Kind, SearchAnswer, Status, Verdict
from middlewares.cache import Cache
from middlewares.policy import EnginePolicy, cooldown_spans
from middlewares.proxy import proxies_from
from middlewares.state import STATE_FILE, StateDatabase
from server import llm as llms
from server import logs
from server.config import Environment, Settings, load
from server.deep_runs import DeepRuns
from server.downloads import Downloads
from server.engine_state import engine_state
from server.memory import keep_memory
from server.metrics import Metrics
from server.pages import Pages, checked_url
from server.preferences import Preferences
from server.readers import READERS, Ask, RemoteReaders
from server.requests import Filtered, SearchRequest
from server.rounds import Rounds
from server.wiring import crawler_settings, model_store, state_dir

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Coroutine, Mapping
    from pathlib import Path
    from types import TracebackType

    from framework.evidence.models import ModelStore
    from framework.llm import LLM
    from framework.merge.search import OnReport
    from framework.spec.catalogue import Catalogue
    from framework.types import (
        EngineReport,
        HttpRequest,
        HttpResponse,
        Next,
        Page,
        Query,
        Row,
    )
    from server.engine_state import EngineState
    from server.pages import Fetched, PageRequest
    from server.tools.base import Call
    from spiders.hub import Hub

__all__ = ["Application"]

#: Failures of a page that a remote reader may not share.
_UNREADABLE = frozenset({"blocked", "http_status", "render_failed", "timeout", "download_failed"})

_PAGE_SECONDS = 3600.0


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
        self.settings = settings
        self.environment = environment
        self.replay = replay
        self.catalogue: Catalogue = catalogues.Catalogue(
            engine_folders(settings.engines_dir, environment.values), replay
        )
        self.proxies = proxies_from(
            environment.values,
            proxy=settings.proxy,
            pools_file=settings.proxies_file,
            allow_direct=settings.allow_direct,
        )
        self.metrics = Metrics()
        self._policy: EnginePolicy | None = None
        self._preferences: Preferences | None = None
        self._rounds: Rounds | None = None
        self._reports: Downloads | None = None
        self._deep_runs: DeepRuns | None = None
        self._pages: Downloads | None = None
        self._models: ModelStore | None = None
        self._cache: Cache | None = None
        self._reader: Pages | None = None
        self._readers: RemoteReaders | None = None
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
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.wait([self._opening])
            self._opening = None
        await self._stack.aclose()
        self._preferences = self._rounds = self._reports = self._pages = None
        self._deep_runs = None
        self._reader = self._readers = None
        if self._cache is not None:
            self._cache.close()
            self._cache = None
        if self._policy is not None:
            self._policy.state.close()
            self._policy = None

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
        """Ask several engines at once and merge what they answer within the deadline.

        Raises:
            NotFoundError: for an engine that does not exist.
            NoAnswerError: when not one engine answered, with each one's reason.
        """
        hub = await self.hub()
        members = [self._member(name) for name in self._chosen(request, caller)]

        async def ask(member: Member, query: Query, after: Next | None) -> Page:
            return await self._ask(hub, member.id, query, after, request.timeout)

        def heard(report: EngineReport, rows: tuple[Row, ...]) -> None:
            self._heard(report)
            if on_report is not None:
                on_report(report, rows)

        return await fan_out(
            members,
            request.query,
            ask,
            deadline=request.timeout,
            guard=self.replay is None,
            on_report=heard,
        )

    async def _ask(
        self, hub: Hub, name: str, query: Query, after: Next | None, timeout: float
    ) -> Page:
        engine = self.catalogue.get(name)
        limit = min(timeout, engine.limits.timeout or timeout)

        async def attempt(keys: Mapping[str, str]) -> Page:
            given = keys if self.replay is None else dict.fromkeys(engine.keys, "replay")
            settings = setting_values(engine.spec, self.environment.values)
            variables = Variables(keys=given, settings=settings, now=datetime.now(UTC))
            return await hub.search_engine(engine, query, after, variables=variables, timeout=limit)

        return await self.policy.consult(engine, attempt, deadline=limit, is_page=after is not None)

    def _member(self, name: str) -> Member:
        entry = self.catalogue.entry(name)
        if entry.engine is None:
            return Member(id=name, disabled=entry.disabled({}))
        rest = self.policy.rest(name)
        return Member(
            id=name,
            index=entry.engine.index,
            weight=entry.engine.weight,
            official=entry.engine.spec.about.official_api,
            disabled="" if self.replay else entry.disabled(self.environment.values),
            rest=self.policy.remaining(name),
            rest_reason=f"rests after {rest.verdict}" if rest else "",
        )

    def _heard(self, report: EngineReport) -> None:
        self.metrics.engine(report)
        engine = self.catalogue.entry(report.id).engine
        if engine and report.verdict is Verdict.UNRELATED and self.policy.enabled:
            spans = cooldown_spans(engine)
            self.policy.cooldown.note(report.id, report.verdict, spans=spans, reason=report.detail)

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
        return await _filter(answer, llm)

    def _chosen(self, request: SearchRequest, caller: str) -> tuple[str, ...]:
        if request.engines:
            return self._known(request.engines)
        if request.query.kind is Kind.WEB:
            return self.default_engines(caller)
        found = tuple(
            state.id
            for state in self.engine_states()
            if state.kind is request.query.kind
            and not state.disabled
            and state.status is not Status.DEPRECATED
        )
        if not found:
            raise NotFoundError(
                f"no engine of kind {request.query.kind.value!r} can be asked",
                hint="get_engines shows which need a key",
            )
        return found

    def _known(self, ids: tuple[str, ...]) -> tuple[str, ...]:
        for name in ids:
            self.catalogue.entry(name)
        return tuple(dict.fromkeys(ids))

    # Engines and preferences

    def engine_states(self) -> tuple[EngineState, ...]:
        """Return every engine, usable or not, in the order of their ids."""
        values = self.environment.values
        rests = {rest.subject: rest.until for rest in self.policy.cooldown.all()}
        return tuple(
            engine_state(entry, values, rests.get(entry.id), self.policy.cooldown.history(entry.id))
            for entry in self.catalogue.entries()
        )

    @property
    def policy(self) -> EnginePolicy:
        """The rests, pace and keys of engines; its state database is opened at first use."""
        if self._policy is None:
            kept = self.replay is None or self.settings.state_dir is not None
            path = state_dir(self.settings) / STATE_FILE if kept else None
            self._policy = EnginePolicy.create(
                StateDatabase(path), self.environment.values, enabled=self.replay is None
            )
        return self._policy

    @property
    def preferences(self) -> Preferences:
        """What callers chose; opened at first use."""
        if self._preferences is None:
            self._preferences = Preferences(self.policy.state)
        return self._preferences

    @property
    def rounds(self) -> Rounds:
        """What calls keep between their rounds; opened at first use."""
        if self._rounds is None:
            self._rounds = Rounds(self.policy.state)
        return self._rounds

    @property
    def reports(self) -> Downloads:
        """Reports that can be fetched for a while; opened at first use."""
        if self._reports is None:
            seconds = self.settings.deep_retention_minutes * 60
            self._reports = Downloads(self.policy.state, seconds)
        return self._reports

    @property
    def deep_runs(self) -> DeepRuns:
        """Research runs that are under way; opened at first use."""
        if self._deep_runs is None:
            self._deep_runs = DeepRuns(self.policy.state, self.models)
        return self._deep_runs

    @property
    def pages(self) -> Downloads:
        """Fetched pages as Markdown, by fingerprint; opened at first use."""
        if self._pages is None:
            self._pages = Downloads(self.policy.state, _PAGE_SECONDS, shelf="page")
        return self._pages

    def default_engines(self, caller: str) -> tuple[str, ...]:
        """Return the engines that a caller's searches ask, those that still exist."""
        kept = self.preferences.get(caller, "engines")
        chosen = tuple(map(str, kept)) if isinstance(kept, list) else ()
        known = {entry.id for entry in self.catalogue.entries()}
        usable = tuple(name for name in chosen if name in known)
        return usable or self._known(self.settings.default_engines)

    def set_default_engines(self, caller: str, engines: tuple[str, ...]) -> None:
        """Keep a caller's default engines; raises NotFoundError for an unknown one."""
        self.preferences.set(caller, "engines", list(self._known(engines)))

    def sampling(self, caller: str) -> bool:
        """Whether a language model may take part in a caller's calls."""
        kept = self.preferences.get(caller, "sampling")
        return kept if isinstance(kept, bool) else self.settings.sampling

    def set_sampling(self, caller: str, enabled: bool) -> None:
        """Keep a caller's choice."""
        self.preferences.set(caller, "sampling", enabled)

    # Pages

    async def read_page(
        self, request: PageRequest, reader: str = "local", query: str | None = None, chunks: int = 5
    ) -> Fetched:
        """Fetch and read a page, locally or by a remote reader.

        `auto` reads locally, and where the page is blocked or cannot be read asks the first remote
        reader that has a key. Raises what `Pages.fetch` and `RemoteReaders.read` raise.
        """
        if reader in READERS:
            ask = Ask(checked_url(request.url), query, chunks)
            return await self._remote_readers.read(reader, ask, request.timeout)
        try:
            return await self.page_service.fetch(request)
        except ConsilienceError as error:
            remote = self._remote_readers.configured() if reader == "auto" else ()
            if not remote or request.render == "always" or error.code not in _UNREADABLE:
                raise
            ask = Ask(checked_url(request.url), query, chunks)
            return await self._remote_readers.read(remote[0], ask, request.timeout)

    async def fetch_page(self, request: PageRequest) -> HttpResponse:
        """Fetch an address without reading it as a page; raises what `Pages.answer` raises."""
        return await self.page_service.answer(request)

    @property
    def page_service(self) -> Pages:
        """Who fetches and reads pages."""
        if self._reader is None:
            self._reader = Pages(self.hub, self.page_cache, self.policy)
        return self._reader

    @property
    def page_cache(self) -> Cache:
        """The cache of pages; opened at first use."""
        if self._cache is None:
            folder = self.settings.cache_dir or state_dir(self.settings)
            self._cache = Cache(None if self.replay else folder / "pages.db")
        return self._cache

    @property
    def _remote_readers(self) -> RemoteReaders:
        if self._readers is None:
            values, state = self.environment.values, self.policy.state
            self._readers = RemoteReaders(self._send, values, state)
        return self._readers

    # Models for evidence

    @property
    def models(self) -> ModelStore:
        """The models that rank and judge passages; each is loaded when it is first needed."""
        if self._models is None:
            self._models = model_store(self)
        return self._models

    # Language models

    @property
    def llm_configured(self) -> bool:
        """Whether an endpoint is set up."""
        return llms.configured(self.settings)

    def resolution(self, caller: str, *, client: bool) -> llms.Resolution:
        """Tell whose model would answer this caller's prompts."""
        return llms.resolve(
            sampling=self.sampling(caller),
            client=client,
            api=self.llm_configured,
            skip_client=self.settings.skip_ide_sampling,
        )

    def llm(self, call: Call, *, sampling: bool) -> LLM | None:
        """Return the model that answers this call's prompts, or None."""
        resolution = llms.resolve(
            sampling=sampling,
            client=call.client_llm is not None,
            api=self.llm_configured,
            skip_client=self.settings.skip_ide_sampling,
        )
        if resolution == "client":
            return call.client_llm
        return self._endpoint() if resolution == "api" else None

    def _endpoint(self) -> LLM:
        given = self.settings
        return llms.EndpointLLM(
            base_url=given.llm_base_url or "",
            model=given.llm_name or "",
            key=given.llm_api_key,
            timeout=given.llm_timeout_ms / 1000,
            send=self._send_to_llm,
        )

    async def _send_to_llm(self, request: HttpRequest, timeout: float) -> HttpResponse:
        hub = await self.hub()
        place = urlsplit(request.url).netloc
        meta = {"configured": place, "retry": False, "replay": False}
        return await hub.fetch(request, timeout=timeout, meta=meta)

    async def _send(self, request: HttpRequest, timeout: float) -> HttpResponse:
        hub = await self.hub()
        return await hub.fetch(request, timeout=timeout)


async def _in_full(work: Coroutine[None, None, object]) -> None:
    """Do work to its end even when cancelled: a half-open crawler would leave sockets behind."""
    task = asyncio.ensure_future(work)
    try:
        await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


async def _filter(answer: SearchAnswer, llm: LLM) -> tuple[SearchAnswer, Filtered]:
    try:
        reply = await llm.complete(filtering.prompt(answer.query.text, answer.results))
        rows = filtering.kept(reply.text, answer.results)
    except (ConsilienceError, filtering.FilterError) as error:
        return answer, Filtered(remark=f"Not filtered: {error}.")
    return replace(answer, results=rows), Filtered(done=True)
