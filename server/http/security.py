"""Who may call over HTTP: host names, origins, browsers' fetch metadata, bearer tokens.

All checks stand before every route. On loopback without a token any page in a browser could
otherwise reach the server, by a rebound name or by a form.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import JSONResponse, RedirectResponse

from framework.errors import InvalidInputError
from server.web.sessions import COOKIE, caller_of_cookie, caller_of_token, login_address

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.responses import Response
    from starlette.types import ASGIApp, Receive, Scope, Send

    from server.config import Settings

__all__ = ["CALLER", "Access", "Gate", "Refusal", "is_loopback"]

#: Where the gate leaves the caller's name in the ASGI scope; absent for tokenless callers.
CALLER = "consilience.caller"

#: Stands for every origin.
ANY = "*"

_LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "::1"})
_OPEN_PATHS = frozenset({"/healthz", "/login", "/style.css", "/icon.svg"})
#: Where a browser's session stands for a token; elsewhere only the token itself counts.
_SESSION_PATHS = frozenset({"/", "/page", "/logout", "/status"})
_SAFE_SITES = frozenset({"same-origin", "none"})


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a request is not served: a status, a code and a sentence."""

    status: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Access:
    """Who may call; `hosts` and `origins` in lower case, `tokens` by the caller's name."""

    hosts: frozenset[str] = _LOOPBACK_NAMES
    origins: frozenset[str] = frozenset()
    tokens: Mapping[str, str] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, settings: Settings) -> Access:
        """Derive the rules from the settings.

        Raises:
            InvalidInputError: the server would listen beyond loopback without a token or a name,
                or let any web page call it without a token.
        """
        tokens = dict(settings.tokens)
        if settings.token:
            tokens.setdefault("default", settings.token)
        names = {name.lower() for name in settings.allow_hosts}
        public = urlsplit(settings.public_url or "").hostname
        if public:
            names.add(public)
        if not is_loopback(settings.host):
            _require(tokens, names, settings.host)
        origins = frozenset(origin.lower().rstrip("/") for origin in _origins(settings))
        if ANY in origins and not tokens:
            raise InvalidInputError(
                "refusing to let every web page call this server without a token",
                hint="set CONSILIENCE_TOKEN, or name the origins with --allow-origin",
            )
        return cls(hosts=frozenset(names | _LOOPBACK_NAMES), origins=origins, tokens=tokens)


def _origins(settings: Settings) -> tuple[str, ...]:
    return settings.cors_origin or ((ANY,) if settings.enable_cors else ())


def _require(tokens: Mapping[str, str], names: set[str], host: str) -> None:
    if not tokens:
        raise InvalidInputError(
            f"refusing to listen on {host} without a token: anybody could search through you",
            hint="set CONSILIENCE_TOKEN, or listen on 127.0.0.1",
        )
    if not names:
        raise InvalidInputError(
            f"refusing to listen on {host} without the names it may be called by",
            hint="name them with --allow-host or CONSILIENCE_ALLOW_HOSTS",
        )


def is_loopback(host: str) -> bool:
    """Whether a listening address is reachable from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def host_refusal(access: Access, headers: Headers) -> Refusal | None:
    """Refuse a Host that is not ours: the sign of a rebound name."""
    name = _host_name(headers.get("host", ""))
    if name in access.hosts:
        return None
    return Refusal(421, "unknown_host", f"this server is not called {name[:80]!r}")


def _host_name(value: str) -> str:
    try:
        return urlsplit(f"//{value}").hostname or ""
    except ValueError:
        return ""


def origin_refusal(access: Access, headers: Headers) -> Refusal | None:
    """Refuse other sites' pages: by Origin, or where it is absent by Sec-Fetch-Site."""
    origin = headers.get("origin")
    if origin is not None:
        if {origin.lower(), ANY} & access.origins or _own(origin, headers.get("host", "")):
            return None
        return Refusal(403, "foreign_origin", f"origin {origin[:80]!r} may not call this server")
    site = headers.get("sec-fetch-site")
    navigation = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") in {
        "document",
        "empty",
    }
    if site is None or site in _SAFE_SITES or (navigation and site != "cross-site"):
        return None
    return Refusal(403, "foreign_site", "pages of other sites may not call this server")


def _own(origin: str, host: str) -> bool:
    try:
        parts = urlsplit(origin.lower())
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and parts.netloc == host.lower()


def caller_of(access: Access, headers: Headers) -> str | None:
    """Return the name whose token the request bears, comparing all in constant time."""
    scheme, _, given = headers.get("authorization", "").partition(" ")
    return caller_of_token(access.tokens, given) if scheme.lower() == "bearer" else None


class Gate:
    """ASGI middleware that lets a request pass, or answers why not."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check one request; other kinds of ASGI traffic pass."""
        if scope["type"] == "http":
            refused = self._check(scope, Headers(scope=scope))
            if refused is not None:
                await _response(refused, scope)(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _check(self, scope: Scope, headers: Headers) -> Refusal | None:
        refused = host_refusal(self._access, headers) or origin_refusal(self._access, headers)
        if refused is not None or not self._access.tokens:
            return refused
        if scope["method"] == "OPTIONS" or scope["path"] in _OPEN_PATHS:
            return None
        caller = caller_of(self._access, headers) or self._browser(scope)
        if caller is None:
            return Refusal(401, "invalid_token", "a valid bearer token is required")
        scope[CALLER] = caller
        return None

    def _browser(self, scope: Scope) -> str | None:
        if scope["path"] not in _SESSION_PATHS:
            return None
        return caller_of_cookie(self._access.tokens, HTTPConnection(scope).cookies.get(COOKIE))


def _response(refused: Refusal, scope: Scope) -> Response:
    if refused.status == 401 and scope["path"] in _SESSION_PATHS and _is_page_load(scope):
        login = login_address(scope["path"], scope["query_string"].decode("latin-1"))
        return RedirectResponse(login, 303, {"Cache-Control": "no-store"})
    headers = {"Cache-Control": "no-store"}
    if refused.status == 401:
        headers["WWW-Authenticate"] = 'Bearer error="invalid_token"'
    body = {"error": {"code": refused.code, "message": refused.message, "retryable": False}}
    return JSONResponse(body, refused.status, headers)


def _is_page_load(scope: Scope) -> bool:
    return "text/html" in Headers(scope=scope).get("accept", "")
