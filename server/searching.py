"""Asking engines: which ones, each by the rules of its policy, and what their answers teach."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError, NotFoundError
from framework.merge import filtering
from framework.merge.search import Member, fan_out
from framework.spec.context import Variables
from framework.spec.environment import setting_values
from framework.types import Kind, Status, Verdict
from middlewares.policy import cooldown_spans
from server.engine_state import engine_state
from server.requests import Filtered

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from framework.llm import LLM
    from framework.merge.search import OnReport
    from framework.spec.catalogue import Catalogue
    from framework.types import EngineReport, Next, Page, Query, Row, SearchAnswer
    from server.choices import Choices
    from server.engine_state import EngineState
    from server.metrics import Metrics
    from server.requests import SearchRequest
    from server.stores import Stores
    from spiders.hub import Hub

__all__ = ["Searching", "filtered"]


class Searching:
    """Searches over one catalogue; `live` is False where recordings answer."""

    def __init__(
        self,
        catalogue: Catalogue,
        values: Mapping[str, str],
        *,
        hub: Callable[[], Awaitable[Hub]],
        stores: Stores,
        choices: Choices,
        metrics: Metrics,
        live: bool,
    ) -> None:
        self._catalogue = catalogue
        self._values = values
        self._hub = hub
        self._stores = stores
        self._choices = choices
        self._metrics = metrics
        self._live = live

    async def search(
        self, request: SearchRequest, caller: str, on_report: OnReport | None = None
    ) -> SearchAnswer:
        """Ask several engines at once and merge what they answer within the deadline.

        Raises:
            NotFoundError: for an engine that does not exist.
            NoAnswerError: when not one engine answered, with each one's reason.
        """
        hub = await self._hub()
        members = [self._member(name) for name in self._chosen(request, caller)]

        async def ask(member: Member, query: Query, after: Next | None) -> Page:
            return await self._ask(hub, member.id, query, after, request.timeout)

        def heard(report: EngineReport, rows: tuple[Row, ...]) -> None:
            self._heard(report)
            if on_report is not None:
                on_report(report, rows)

        return await fan_out(
            members, request.query, ask, deadline=request.timeout, guard=self._live, on_report=heard
        )

    async def _ask(
        self, hub: Hub, name: str, query: Query, after: Next | None, timeout: float
    ) -> Page:
        engine = self._catalogue.get(name)
        limit = min(timeout, engine.limits.timeout or timeout)

        async def attempt(keys: Mapping[str, str]) -> Page:
            given = keys if self._live else dict.fromkeys(engine.keys, "replay")
            settings = setting_values(engine.spec, self._values)
            variables = Variables(keys=given, settings=settings, now=datetime.now(UTC))
            return await hub.search_engine(engine, query, after, variables=variables, timeout=limit)

        policy = self._stores.policy
        return await policy.consult(engine, attempt, deadline=limit, is_page=after is not None)

    def _member(self, name: str) -> Member:
        entry = self._catalogue.entry(name)
        if entry.engine is None:
            return Member(id=name, disabled=entry.disabled({}))
        policy = self._stores.policy
        rest = policy.rest(name)
        return Member(
            id=name,
            index=entry.engine.index,
            weight=entry.engine.weight,
            official=entry.engine.spec.about.official_api,
            disabled=entry.disabled(self._values) if self._live else "",
            rest=policy.remaining(name),
            rest_reason=f"rests after {rest.verdict}" if rest else "",
        )

    def _heard(self, report: EngineReport) -> None:
        self._metrics.engine(report)
        policy = self._stores.policy
        engine = self._catalogue.entry(report.id).engine
        if engine and report.verdict is Verdict.UNRELATED and policy.enabled:
            spans = cooldown_spans(engine)
            policy.cooldown.note(report.id, report.verdict, spans=spans, reason=report.detail)

    def _chosen(self, request: SearchRequest, caller: str) -> tuple[str, ...]:
        if request.engines:
            return self._choices.known(request.engines)
        if request.query.kind is Kind.WEB:
            return self._choices.engines(caller)
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

    def engine_states(self) -> tuple[EngineState, ...]:
        """Return every engine, usable or not, in the order of their ids."""
        cooldown = self._stores.policy.cooldown
        rests = {rest.subject: rest.until for rest in cooldown.all()}
        return tuple(
            engine_state(entry, self._values, rests.get(entry.id), cooldown.history(entry.id))
            for entry in self._catalogue.entries()
        )


async def filtered(answer: SearchAnswer, llm: LLM) -> tuple[SearchAnswer, Filtered]:
    """Let a model drop rows that do not serve the query; where it fails all stay, with a remark."""
    try:
        reply = await llm.complete(filtering.prompt(answer.query.text, answer.results))
        rows = filtering.kept(reply.text, answer.results)
    except (ConsilienceError, filtering.FilterError) as error:
        return answer, Filtered(remark=f"Not filtered: {error}.")
    return replace(answer, results=rows), Filtered(done=True)
