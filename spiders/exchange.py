"""Between the framework's requests and responses and Scrapy's."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from scrapy import Request

from framework.headers import decoded
from framework.types import HttpResponse
from spiders.bootstrap import query_key

if TYPE_CHECKING:
    from collections.abc import Mapping

    from scrapy.http import Response

    from framework.spec.compiler import Engine
    from framework.spec.context import Variables
    from framework.types import HttpRequest, Query

__all__ = ["ANSWER_CAP", "PAGE_CAP", "engine_meta", "http_response", "scrapy_request"]

#: Decoded bytes that a page may have.
PAGE_CAP = 8 * 1024 * 1024
#: Decoded bytes that an engine's answer may have.
ANSWER_CAP = 5 * 1024 * 1024
#: Seconds for an engine that states no limit of its own.
_TIMEOUT = 10.0
_OPERATORS = re.compile(r"\{\{-?\s*settings\.(\w+)")


def scrapy_request(request: HttpRequest, meta: Mapping[str, object]) -> Request:
    """Return the framework's request as Scrapy's, never filtered as a duplicate."""
    facts = {**meta, "safe": True} if request.repeatable else dict(meta)
    return Request(
        request.url,
        method=request.method,
        headers=list(request.headers),
        cookies=[{"name": name, "value": value} for name, value in request.cookies],
        body=request.body,
        meta=facts,
        dont_filter=True,
    )


def http_response(response: Response) -> HttpResponse:
    """Return Scrapy's response as the framework's, with the hops that led to it."""
    hops = response.meta.get("hops", ()) if response.request is not None else ()
    return HttpResponse(
        url=response.url,
        status=response.status,
        headers=decoded(response.headers.items()),
        body=response.body,
        hops=tuple(hops),
    )


def engine_meta(
    engine: Engine, query: Query, variables: Variables, proxy: str | None = None
) -> dict[str, object]:
    """Return what the middlewares and handlers must know about an engine's request.

    The cookie jar belongs to this engine, proxy and question alone, or to all of its questions
    where the file says `sticky: engine`; the slot is the engine's. An instance of the operator's
    own, named in a setting, passes the guard by being configured.
    """
    shared = engine.fetch.sticky == "engine"
    return {
        "fetch": engine.fetch.mode,
        "judge": engine,
        "jar": (engine.id, proxy, None if shared else query_key(query)),
        "robots": engine.fetch.robots,
        "keyed": bool(variables.keys),
        "configured": _configured(engine, variables),
        "download_slot": engine.id,
        "download_timeout": engine.limits.timeout or _TIMEOUT,
        "download_maxsize": ANSWER_CAP,
    }


def _configured(engine: Engine, variables: Variables) -> str | None:
    """The host and port of the setting with which the engine's address begins, if it does."""
    found = _OPERATORS.match(engine.spec.request.url)
    return urlsplit(variables.settings.get(found[1], "")).netloc or None if found else None
