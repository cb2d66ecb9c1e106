"""The browser's session: a cookie that proves a token without holding it."""

from __future__ import annotations

import hashlib
import hmac
import time
from typing import TYPE_CHECKING
from urllib.parse import urlencode, urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "COOKIE",
    "LIFETIME",
    "caller_of_cookie",
    "caller_of_token",
    "issue",
    "login_address",
    "way_back",
]

COOKIE = "consilience_session"
#: How long a session lasts, in seconds.
LIFETIME = 7 * 24 * 3600


#: Pages that signing in may lead to.
_PAGES = frozenset({"/", "/page", "/status"})


def login_address(path: str, query: str) -> str:
    """Return the address of the login form that leads back to a page after it."""
    asked = f"{path}?{query}" if query else path
    return "/login" if asked == "/" else f"/login?{urlencode({'to': asked})}"


def way_back(asked: str) -> str:
    """Return where to go after signing in: the page asked for if it is one of ours, else `/`."""
    try:
        parts = urlsplit(asked)
    except ValueError:
        return "/"
    ours = asked.startswith("/") and not parts.netloc and parts.path in _PAGES
    return asked if ours else "/"


def issue(token: str, now: float | None = None) -> str:
    """Return a session's value: when it ends, and a proof that its maker knew the token."""
    end = str(int((time.time() if now is None else now) + LIFETIME))
    return f"{end}.{_proof(token, end)}"


def caller_of_cookie(
    tokens: Mapping[str, str], value: str | None, now: float | None = None
) -> str | None:
    """Return the name whose token a session proves, or None; a changed token ends its sessions."""
    end, _, proof = (value or "").partition(".")
    if not end.isascii() or not end.isdecimal() or not proof.isascii():
        return None
    if int(end[:20]) < (time.time() if now is None else now):
        return None
    names = [
        name for name, token in tokens.items() if hmac.compare_digest(_proof(token, end), proof)
    ]
    return names[0] if names else None


def caller_of_token(tokens: Mapping[str, str], given: str) -> str | None:
    """Return the name that a token belongs to, or None, comparing all in constant time."""
    names = [
        name
        for name, token in tokens.items()
        if hmac.compare_digest(token.encode(), given.strip().encode(errors="replace"))
    ]
    return names[0] if names else None


def _proof(token: str, end: str) -> str:
    key = token.encode()
    return hmac.new(key, f"consilience browser session {end}".encode(), hashlib.sha256).hexdigest()
