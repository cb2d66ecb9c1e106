"""The routes of the browser page: search at `/`, a reader at `/page`, signing in and out."""

from __future__ import annotations

import asyncio
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlencode

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from framework.errors import ConsilienceError, InvalidInputError
from framework.evidence import context
from framework.merge.search import NoAnswerError
from framework.types import Kind, TimeRange
from server.http.responses import not_found, status_of
from server.http.security import CALLER
from server.pages import PageRequest
from server.requests import SearchRequest
from server.tools import web_search
from server.tools.base import parse
from server.version import VERSION
from server.web import views
from server.web.sessions import COOKIE, LIFETIME, caller_of_token, issue, way_back

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request

    from framework.evidence.context import Context
    from server.app import Application
    from server.http.security import Access
    from server.pages import Fetched

__all__ = ["HEADERS", "missing", "routes"]

#: Nothing but our own style sheet is loaded, nothing runs, nobody frames it, nothing is told on.
HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Opener-Policy": "same-origin",
}

_FOLDER = Path(__file__).parent
_FIELDS = ("q", "kind", "time", "engines", "language", "page")
_EVIDENCE_TOKENS = 1_200
#: A wrong token costs this many seconds, so that guessing is slow.
_WRONG_TOKEN = 0.5


def routes(access: Access) -> list[Route]:
    """Return the page's routes; `access` says which tokens sign in."""

    async def login(request: Request) -> Response:
        if request.method == "GET":
            to = way_back(request.query_params.get("to", ""))
            return _page("login.html", request, wrong=False, to=to)
        form = parse_qs((await request.body()).decode(errors="replace"))
        token = "".join(form.get("token", [])).strip()
        to = way_back("".join(form.get("to", [])))
        if caller_of_token(access.tokens, token) is None:
            await asyncio.sleep(_WRONG_TOKEN)
            return _page("login.html", request, 401, wrong=True, to=to)
        answer = RedirectResponse(to, 303, HEADERS)
        answer.set_cookie(
            COOKIE,
            issue(token),
            max_age=LIFETIME,
            httponly=True,
            samesite="strict",
            secure=_is_secure(request),
        )
        return answer

    return [
        Route("/", _home),
        Route("/page", _read),
        Route("/login", login, methods=["GET", "POST"]),
        Route("/logout", _logout, methods=["POST"]),
        Route("/style.css", _style),
        Route("/icon.svg", _icon),
    ]


async def missing(request: Request, _error: Exception | None) -> Response:
    """Answer for an address that is not there: a page for a browser, else the error as JSON."""
    if "text/html" not in request.headers.get("accept", ""):
        return not_found(request, None)
    return _page("missing.html", request, 404, given=dict.fromkeys(_FIELDS, ""))


def _is_secure(request: Request) -> bool:
    app: Application = request.app.state.application
    public = app.settings.public_url or ""
    return request.url.scheme == "https" or public.startswith("https://")


async def _logout(request: Request) -> Response:
    answer = RedirectResponse("/login", 303, HEADERS)
    answer.delete_cookie(COOKIE, httponly=True, samesite="strict", secure=_is_secure(request))
    return answer


_ASSET_HEADERS = {"Cache-Control": "max-age=3600", "X-Content-Type-Options": "nosniff"}


async def _style(_request: Request) -> Response:
    return Response(_asset("style.css"), media_type="text/css", headers=_ASSET_HEADERS)


async def _icon(_request: Request) -> Response:
    return Response(_asset("icon.svg"), media_type="image/svg+xml", headers=_ASSET_HEADERS)


async def _home(request: Request) -> Response:
    given = {name: request.query_params.get(name, "").strip() for name in _FIELDS}
    app: Application = request.app.state.application
    if not given["q"]:
        engines = app.default_engines(_caller(request))
        return _page("home.html", request, given=given, engines=engines)
    try:
        answer = await app.search(_wanted(given), _caller(request))
    except NoAnswerError as error:
        problem = "Not one engine answered. Each one's reason stands below."
        found = views.reports(error.reports)
        return _page("results.html", request, 503, given=given, problem=problem, reports=found)
    except ConsilienceError as error:
        return _page(
            "results.html",
            request,
            status_of(error),
            given=given,
            problem=str(error),
        )
    return _page(
        "results.html",
        request,
        given=given,
        answer=answer,
        results=views.results(answer),
        reports=views.reports(answer.engines),
        unheard=views.unheard(answer.engines),
        earlier=_link(given, answer.query.page - 1) if answer.query.page > 1 else "",
        later=_link(given, answer.next_page) if answer.next_page else "",
    )


def _wanted(given: Mapping[str, str]) -> SearchRequest:
    if given["page"] and not given["page"].isdecimal():
        raise InvalidInputError(f"page: must be a whole number, not {given['page'][:40]!r}")
    engines = tuple(filter(None, map(str.strip, given["engines"].split(","))))
    arguments = {
        "query": given["q"],
        "kind": given["kind"],
        "time": given["time"],
        "language": given["language"],
        "page": int(given["page"] or 1),
        "engines": engines,
    }
    chosen = parse(web_search.TOOL, {key: value for key, value in arguments.items() if value})
    return SearchRequest(
        query=web_search.query_of(chosen), engines=chosen.engines, timeout=chosen.timeout
    )


def _link(given: Mapping[str, str], page: int) -> str:
    kept = {name: value for name, value in given.items() if value and name != "page"}
    return "/?" + urlencode({**kept, "page": page})


async def _read(request: Request) -> Response:
    url = request.query_params.get("url", "").strip()
    query = request.query_params.get("q", "").strip()[:2_000]
    given = {**dict.fromkeys(_FIELDS, ""), "q": query}
    app: Application = request.app.state.application
    try:
        fetched = await app.read_page(PageRequest(url=url))
        built = await _evidence(app, fetched, query)
    except ConsilienceError as error:
        facts = {"given": given, "url": views.address(url), "problem": str(error)}
        return _page("page.html", request, status_of(error), **facts)
    document = fetched.document
    parts, more = views.paragraphs(document)
    return _page(
        "page.html",
        request,
        given=given,
        url=views.address(fetched.response.url),
        document=document,
        fetched=fetched,
        safety=fetched.safety,
        built=built,
        passages=views.passages(built) if built else (),
        parts=parts,
        more=more,
    )


async def _evidence(app: Application, fetched: Fetched, query: str) -> Context | None:
    if not query:
        return None
    return await asyncio.to_thread(
        context.build, fetched.document, query, max_tokens=_EVIDENCE_TOKENS, store=app.models
    )


def _caller(request: Request) -> str:
    name = request.scope.get(CALLER)
    return name if isinstance(name, str) else "browser"


@cache
def _asset(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


@cache
def _templates() -> Environment:
    found = Environment(
        loader=FileSystemLoader(_FOLDER / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.globals |= {
        "kinds": [kind.value for kind in Kind],
        "times": [span.value for span in TimeRange],
        "version": VERSION,
    }
    return found


_DEFAULTS: Mapping[str, object] = {
    "problem": "",
    "answer": None,
    "results": (),
    "reports": (),
    "earlier": "",
    "later": "",
    "document": None,
}


def _page(template: str, request: Request, status: int = 200, **facts: object) -> Response:
    app: Application = request.app.state.application
    shown = {
        **_DEFAULTS,
        "recordings": app.replay is not None,
        "signed_in": CALLER in request.scope and COOKIE in request.cookies,
        **facts,
    }
    return HTMLResponse(_templates().get_template(template).render(shown), status, HEADERS)
