"""One question to one engine with everything that went over the wire, for trying and recording."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from spiders.asking import Asking, ask
from spiders.bootstrap import Sessions
from spiders.exchange import ANSWER_CAP, engine_meta

if TYPE_CHECKING:
    from framework.spec.compiler import Engine
    from framework.spec.context import Variables
    from framework.types import HttpRequest, HttpResponse, Page, Query
    from spiders.hub import Hub

__all__ = ["Exchange", "Trial", "try_engine"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """A request and its answer; `step` names the session step, empty for the search itself."""

    request: HttpRequest
    response: HttpResponse
    step: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What one question came to: the page that was read, and every exchange in its order."""

    page: Page
    exchanges: tuple[Exchange, ...] = ()

    @property
    def answer(self) -> HttpResponse | None:
        """The answer that the page was read from, or None where there was none."""
        last = self.exchanges[-1] if self.exchanges else None
        return last.response if last is not None and not last.step else None


async def try_engine(
    hub: Hub, engine: Engine, query: Query, variables: Variables, timeout: float
) -> Trial:
    """Ask an engine one question with fresh sessions; `timeout` is in seconds for each request.

    Raises UnavailableError where a request gets no answer.
    """
    exchanges: list[Exchange] = []
    meta = engine_meta(engine, query, variables)
    addresses = {step.request.url: step.id for step in engine.spec.session}

    async def send(request: HttpRequest) -> HttpResponse:
        response = await hub.fetch(
            request,
            mode=engine.fetch.mode,
            timeout=timeout,
            maxsize=ANSWER_CAP,
            jar=("trial", engine.id, id(exchanges)),
            judge=engine,
            meta={name: meta[name] for name in ("download_slot", "configured")},
        )
        left = [step.id for step in engine.steps if step.id not in {e.step for e in exchanges}]
        step = left[0] if left and _is_step(request, addresses) else ""
        exchanges.append(Exchange(request=request, response=response, step=step))
        return response

    asking = Asking(engine=engine, query=query, variables=variables, sessions=Sessions())
    page = await ask(asking, send)
    return Trial(page=page, exchanges=tuple(exchanges))


def _is_step(request: HttpRequest, addresses: dict[str, str]) -> bool:
    path = request.url.partition("?")[0]
    return any(path == url.partition("?")[0] or "{{" in url for url in addresses)
