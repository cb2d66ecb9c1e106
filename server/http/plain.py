"""Plain HTTP beside MCP: a search in the JSON shape of SearXNG's API, and a page as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from starlette.responses import JSONResponse, PlainTextResponse, Response

from framework.errors import InvalidInputError, NotFoundError
from framework.merge.search import NoAnswerError
from framework.types import Kind
from server import tools
from server.http.openapi import document
from server.http.security import CALLER
from server.requests import SearchRequest
from server.tools import web_search
from server.tools.base import Call, parse

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from starlette.requests import Request

    from framework.types import EngineReport, Result, SearchAnswer
    from server.app import Application

__all__ = ["openapi", "read", "search", "searxng"]

_SAFE = {"0": "off", "1": "moderate", "2": "strict"}
#: What arguments of web_search are called in an address.
_NAMES = {"query": "q", "page": "pageno", "time": "time_range", "kind": "categories"}
_NAMED = re.compile(rf"(?:(?<=^)|(?<=; ))(?:{'|'.join(_NAMES)})(?=: )")
#: SearXNG's categories that have other names here.
_CATEGORIES = {
    "general": Kind.WEB,
    "it": Kind.CODE,
    "science": Kind.PAPERS,
    "social media": Kind.SOCIAL,
}
_ANSWERED = frozenset({"ok", "empty"})


async def search(request: Request) -> Response:
    """Answer `GET /search?q=…` as clients of SearXNG's API expect it."""
    app: Application = request.app.state.application
    given = _parsed(_arguments(request.query_params))
    wanted = SearchRequest(
        query=web_search.query_of(given), engines=given.engines, timeout=given.timeout
    )
    try:
        answer = await app.search(wanted, _caller(request))
    except NoAnswerError as error:
        body = {"error": str(error), "unresponsive_engines": _unresponsive(error.reports)}
        return JSONResponse(body, 503)
    return JSONResponse(searxng(answer, given.kind))


def _parsed(arguments: Mapping[str, object]) -> web_search.WebSearchArguments:
    """Check the arguments; what is wrong is called by the name that it has in the address."""
    try:
        return parse(web_search.TOOL, arguments)
    except InvalidInputError as error:
        said = _NAMED.sub(lambda name: _NAMES[name[0]], error.message)
        raise InvalidInputError(said, code=error.code) from None


def _arguments(query: Mapping[str, str]) -> dict[str, object]:
    if query.get("format", "json") != "json":
        raise InvalidInputError("format: only json is served here")
    found: dict[str, object | None] = {
        "query": query.get("q"),
        "page": _whole(query.get("pageno"), "pageno"),
        "language": _language(query.get("language")),
        "time": query.get("time_range") or None,
        "safe": _safe(query.get("safesearch")),
        "kind": _kind(query.get("categories")),
        "engines": tuple(_listed(query.get("engines"))) or None,
    }
    return {name: value for name, value in found.items() if value is not None}


def _whole(value: str | None, name: str) -> int | None:
    if not value:
        return None
    if not value.isdecimal():
        raise InvalidInputError(f"{name}: must be a whole number, not {value[:40]!r}")
    return int(value)


def _safe(value: str | None) -> str | None:
    if not value:
        return None
    if value not in _SAFE:
        raise InvalidInputError(f"safesearch: must be 0, 1 or 2, not {value[:40]!r}")
    return _SAFE[value]


def _language(value: str | None) -> str | None:
    return None if value in (None, "", "all", "auto") else value


def _kind(categories: str | None) -> Kind | None:
    names = [name.lower() for name in _listed(categories)]
    if not names:
        return None
    known = {kind.value: kind for kind in Kind} | _CATEGORIES
    found = next((known[name] for name in names if name in known), None)
    if found is None:
        raise InvalidInputError(f"categories: none of these is known here: {', '.join(names)[:80]}")
    return found


def _listed(value: str | None) -> list[str]:
    return [part.strip() for part in (value or "").split(",") if part.strip()]


def searxng(answer: SearchAnswer, kind: Kind) -> dict[str, Any]:
    """Turn a merged answer into the shape of SearXNG's JSON."""
    return {
        "query": answer.query.text,
        "number_of_results": answer.total,
        "results": [_result(row, kind) for row in answer.results],
        "answers": list(answer.answers),
        "corrections": list(answer.corrections),
        "infoboxes": [],
        "suggestions": list(answer.suggestions),
        "unresponsive_engines": _unresponsive(answer.engines),
    }


def _result(row: Result, kind: Kind) -> dict[str, Any]:
    optional = {
        "publishedDate": row.fields.get("published"),
        "thumbnail": row.fields.get("thumbnail"),
    }
    return {
        "title": row.title,
        "url": row.url,
        "content": row.snippet,
        "engine": row.votes[0].engine,
        "engines": [vote.engine for vote in row.votes],
        "positions": [vote.rank for vote in row.votes],
        "score": row.score,
        "category": "general" if kind is Kind.WEB else kind.value,
        **{name: value for name, value in optional.items() if value is not None},
    }


def _unresponsive(reports: Iterable[EngineReport]) -> list[list[str]]:
    return [
        [report.id, f"{report.verdict}: {report.detail}" if report.detail else str(report.verdict)]
        for report in reports
        if report.verdict.value not in _ANSWERED
    ]


async def read(request: Request) -> Response:
    """Answer `GET /read?url=…`: Markdown, or all of web_fetch's data where JSON is accepted."""
    known = {tool.name: tool for tool in tools.ALL}
    if "web_fetch" not in known:
        raise NotFoundError("reading is not part of this server")
    tool = known["web_fetch"]
    given = parse(tool, {**request.query_params})
    reply = await tool.run(request.app.state.application, given, Call(caller=_caller(request)))
    if "application/json" in request.headers.get("accept", ""):
        return JSONResponse(reply.data.model_dump(mode="json", exclude_none=True))
    text = getattr(reply.data, "content", None) or reply.text
    return PlainTextResponse(text, media_type="text/markdown")


async def openapi(request: Request) -> Response:
    """Answer with the description of these addresses."""
    return JSONResponse(document(str(request.base_url).rstrip("/")))


def _caller(request: Request) -> str:
    name = request.scope.get(CALLER)
    return name if isinstance(name, str) else "default"
