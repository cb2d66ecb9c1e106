"""Asking one engine for one page: session steps, plan, transfer, verdict, rows.

The service and `scrapy crawl` both go through here; they differ only in how a request is sent.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from framework.errors import UnavailableError
from framework.spec.templates import MissingValueError
from framework.types import Page, Verdict
from spiders.refusals import refusal

if TYPE_CHECKING:
    from framework.spec.compiler import Engine
    from framework.spec.context import Variables
    from framework.types import HttpRequest, HttpResponse, Next, Query
    from spiders.bootstrap import Send, Sessions

__all__ = ["Asking", "ask", "planned"]

#: Verdicts after which remembered session values may be what is wrong.
_STALE = frozenset({Verdict.CHANGED, Verdict.BLOCKED, Verdict.UNAUTHORISED, Verdict.CAPTCHA})
#: Failures that no other address of the engine can mend.
_EVERYWHERE = frozenset({"proxy_unavailable", "blocked_address", "robots_refused", "timeout"})
#: Bytes from which an answer takes longer to read than others should wait.
_LARGE = 1024 * 1024
#: Paging by which a page is reached only from the page before it.
_CHAINED = ("link", "form", "token")


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """One engine and one question, with what the operator gives; `proxy` names the way out."""

    engine: Engine
    query: Query
    variables: Variables
    sessions: Sessions
    proxy: str = ""


async def ask(asking: Asking, send: Send, after: Next | None = None) -> Page:
    """Return one page: that of the query, or the one that `after` announces.

    A page that can only be reached from the one before is reached from the first. Where the
    engine's address fails, its mirrors are asked in their order. An engine whose key or setting
    is not there is `disabled`. Raises what `send` raises.
    """
    if after is None and asking.query.page > 1 and _is_chained(asking.engine):
        return await _walk(asking, send)
    for mirror in range(len(asking.engine.spec.request.mirrors)):
        try:
            page = await _ask(_mirrored(asking, mirror), send, after)
        except UnavailableError as error:
            if error.code in _EVERYWHERE:
                raise
        else:
            if page.verdict is not Verdict.ERROR:
                return page
    return await _ask(_mirrored(asking, len(asking.engine.spec.request.mirrors)), send, after)


def _mirrored(asking: Asking, mirror: int) -> Asking:
    """The same question to the engine's address (0) or to one of its mirrors."""
    if not mirror:
        return asking
    return replace(asking, variables=replace(asking.variables, mirror=mirror))


async def _ask(asking: Asking, send: Send, after: Next | None) -> Page:
    page = after.page if after else asking.query.page
    request = await planned(asking, send, after)
    if isinstance(request, Page):
        return request
    response = await send(request)
    read = await _read(asking, response, page)
    result = refusal(asking.engine, read, response, asking.variables.keys)
    if result.verdict in _STALE:
        asking.sessions.forget(asking.engine)
    return result


async def _read(asking: Asking, response: HttpResponse, page: int) -> Page:
    """Read an answer; a large one beside the loop, so that nobody else waits for it."""
    if len(response.body) <= _LARGE:
        return asking.engine.read(response, page, asking.query)
    return await asyncio.to_thread(asking.engine.read, response, page, asking.query)


async def planned(asking: Asking, send: Send, after: Next | None = None) -> HttpRequest | Page:
    """Return the search request after its session steps, or a page that says why there is none."""
    engine, query = asking.engine, asking.query
    page = after.page if after else query.page
    try:
        variables = await asking.sessions.fill(
            engine, query, page, asking.variables, send, asking.proxy
        )
        if isinstance(variables, Page):
            return variables
        if after is None:
            return engine.plan(query, page, variables)
        following = engine.plan_next(query, after, variables)
    except MissingValueError as error:
        return Page(verdict=Verdict.DISABLED, detail=str(error))
    return following or Page(
        verdict=Verdict.EMPTY, detail="the next page would leave the engine's sites"
    )


def _is_chained(engine: Engine) -> bool:
    return engine.spec.paging is not None and engine.spec.paging.by in _CHAINED


async def _walk(asking: Asking, send: Send) -> Page:
    first = replace(asking, query=replace(asking.query, page=1))
    page = await ask(first, send)
    for number in range(2, asking.query.page + 1):
        if page.verdict is not Verdict.OK:
            return page
        if page.next is None or page.next.page != number:
            return Page(verdict=Verdict.EMPTY, detail=f"there is no page {number}")
        page = await ask(first, send, page.next)
    return page
