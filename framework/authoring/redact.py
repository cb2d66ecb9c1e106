"""Recorded answers without what belongs to a person: keys, tokens, cookies, addresses."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

from framework.errors import InvalidInputError
from framework.spec.check import secret_strings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from framework.types import HttpResponse

__all__ = ["Redacted", "redact", "refuse_secrets"]

_SECRET_NAMES = re.compile(
    r"(?i)(?:^|[-_.])(?:api[-_]?key|key|apikey|token|secret|password|passwd|pwd|auth|sid|session"
    r"|sessionid|csrf|signature|sig|appid|client[-_]?id|jwt|code)$"
)
_DROPPED_HEADERS = re.compile(
    r"(?i)(?:set-cookie2?|cookie|authorization|proxy-.*|x-api-key|x-subscription-token|via"
    r"|x-forwarded-.*|forwarded|x-real-ip|cf-.*|x-request-id|x-amz.*|server-timing|etag|report-to"
    r"|nel|alt-svc|x-client-ip)"
)
_MAIL = re.compile(r"\b[\w.+-]{1,64}@(?:[\w-]{1,63}\.){1,4}[A-Za-z]{2,24}\b")
_IPV4 = re.compile(
    r"(?<![\d.\w-])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w-]|\.\d)"
)
_IPV6 = re.compile(
    r"(?<![\w:.])(?:(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}"
    r"|(?:[0-9a-fA-F]{1,4}:){2,6}(?::[0-9a-fA-F]{1,4}){1,4}"
    r"|[23][0-9a-fA-F]{3}::(?:[0-9a-fA-F]{1,4}:){0,5}[0-9a-fA-F]{1,4})(?![\w:]|\.\d)"
)
_JWT = re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*")
_BEARER = re.compile(r"(?i)\b(Bearer|Basic)\s+[\w.~+/=-]{12,}")
#: `name: "value"` and `name=value` in scripts, JSON and links, where the name says what it is.
_ASSIGNED = re.compile(
    r"(?i)((?<![a-z0-9])(?:[a-z0-9_-]*(?:api[-_]?key|apikey|access[-_]?token|auth[-_]?token"
    r"|csrf[-_]?token|xsrf[-_]?token|session[-_]?id|client[-_]?secret|subscription[-_]?token"
    r"|password))[\"']?\s*[:=]\s*[\"']?)([\w.~+/=-]{8,})"
)

#: What stands in the place of what was taken out.
MAIL = "someone@example.org"
ADDRESS_V4 = "192.0.2.1"
ADDRESS_V6 = "2001:db8::1"
REDACTED = "redacted"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """An answer that may be kept, with how often each sort of thing was taken out."""

    response: HttpResponse
    counts: tuple[tuple[str, int], ...]


def redact(response: HttpResponse, known: Iterable[str] = ()) -> Redacted:
    """Return an answer without keys, tokens, cookies, e-mail and IP addresses.

    `known` are secrets of the operator: wherever they stand, also escaped, they are taken out.
    The text around stays as it is, so that the same rows are read.
    """
    counts: dict[str, int] = {}
    text = response.body.decode("utf-8", "surrogateescape")
    for name, change in _changes([secret for secret in known if len(secret) >= 4]):
        text, count = change(text)
        if count:
            counts[name] = counts.get(name, 0) + count
    headers = tuple(
        (name, _text(value, known))
        for name, value in response.headers
        if not _DROPPED_HEADERS.fullmatch(name)
    )
    dropped = len(response.headers) - len(headers)
    if dropped:
        counts["headers"] = dropped
    cleaned = replace(
        response,
        url=_url(response.url, known),
        hops=tuple(_url(hop, known) for hop in response.hops),
        headers=headers,
        body=text.encode("utf-8", "surrogateescape"),
    )
    return Redacted(response=cleaned, counts=tuple(sorted(counts.items())))


def refuse_secrets(files: dict[str, bytes], known: Iterable[str] = ()) -> None:
    """Raise InvalidInputError where a file still holds a known secret or what looks like a key."""
    for name, data in files.items():
        text = data.decode("utf-8", "replace")
        if any(secret in text for secret in known if len(secret) >= 4):
            raise InvalidInputError(
                f"{name} still holds one of your keys, so nothing was saved",
                code="secret_found",
                hint="take it out of the page by hand",
            )
        for line, shown in secret_strings(text):
            raise InvalidInputError(
                f'{name}:{line}: "{shown}…" looks like a key, so nothing was saved',
                code="secret_found",
                hint="take it out of the page by hand",
            )


def _changes(known: list[str]) -> Iterable[tuple[str, Callable[[str], tuple[str, int]]]]:
    spellings = {s for secret in known for s in (secret, quote(secret, safe=""))}
    if spellings:
        ordered = sorted(spellings, key=len, reverse=True)
        yield "keys", _replacing(re.compile("|".join(map(re.escape, ordered))), REDACTED)
    yield "tokens", _replacing(_JWT, REDACTED)
    yield "tokens", _replacing(_BEARER, rf"\1 {REDACTED}")
    yield "tokens", _replacing(_ASSIGNED, rf"\1{REDACTED}")
    yield "mail addresses", _replacing(_MAIL, MAIL)
    yield "IP addresses", _replacing(_IPV4, ADDRESS_V4)
    yield "IP addresses", _replacing(_IPV6, ADDRESS_V6)


def _replacing(pattern: re.Pattern[str], by: str) -> Callable[[str], tuple[str, int]]:
    return lambda text: pattern.subn(by, text)


def _text(text: str, known: Iterable[str]) -> str:
    for _, change in _changes([secret for secret in known if len(secret) >= 4]):
        text, _count = change(text)
    return text


def _url(url: str, known: Iterable[str]) -> str:
    parts = urlsplit(url)
    pairs = [
        (name, REDACTED if _SECRET_NAMES.search(name) else value)
        for name, value in parse_qsl(parts.query, keep_blank_values=True)
    ]
    plain = all(not _SECRET_NAMES.search(name) for name, _ in pairs)
    query = parts.query if plain else urlencode(pairs)
    host = parts.netloc.rpartition("@")[2]
    return _text(parts._replace(netloc=host, query=query, fragment="").geturl(), known)
