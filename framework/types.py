"""The shared vocabulary: values that every other module speaks and that import nothing of ours."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "EngineReport",
    "FetchMode",
    "FieldValue",
    "HttpRequest",
    "HttpResponse",
    "Kind",
    "Next",
    "Page",
    "Query",
    "Result",
    "Row",
    "SafeSearch",
    "SearchAnswer",
    "Status",
    "TimeRange",
    "Verdict",
    "Vote",
]

#: A typed value of a row: text, number, truth or a list of texts.
FieldValue = str | int | float | bool | tuple[str, ...]

_EMPTY: Mapping[str, FieldValue] = MappingProxyType({})


class Verdict(StrEnum):
    """What an engine's answer was; one closed list for specs, rests, keys, tests and reports."""

    OK = "ok"
    EMPTY = "empty"
    CHANGED = "changed"
    CAPTCHA = "captcha"
    CONSENT = "consent"
    BLOCKED = "blocked"
    RATE_LIMITED = "rate_limited"
    QUOTA = "quota"
    UNAUTHORISED = "unauthorised"
    UNRELATED = "unrelated"
    TIMEOUT = "timeout"
    ERROR = "error"
    PROXY_UNAVAILABLE = "proxy_unavailable"
    BLOCKED_ADDRESS = "blocked_address"
    RESTING = "resting"
    DISABLED = "disabled"


class Kind(StrEnum):
    """What sort of thing an engine finds."""

    WEB = "web"
    NEWS = "news"
    IMAGES = "images"
    VIDEOS = "videos"
    PAPERS = "papers"
    CODE = "code"
    DATA = "data"
    REFERENCE = "reference"
    FILES = "files"
    MAP = "map"
    SOCIAL = "social"


class Status(StrEnum):
    """How far an engine's file can be relied on."""

    EXPERIMENTAL = "experimental"
    STABLE = "stable"
    DEPRECATED = "deprecated"


class SafeSearch(StrEnum):
    """How strictly adult results are filtered."""

    OFF = "off"
    MODERATE = "moderate"
    STRICT = "strict"


class TimeRange(StrEnum):
    """How recent results must be."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"
    YEAR = "year"


class FetchMode(StrEnum):
    """How a request leaves: a minimal client, a browser's handshake, or a real browser."""

    HTTP = "http"
    IMPERSONATE = "impersonate"
    RENDER = "render"


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One question to one or several engines.

    `region` is a BCP 47 tag such as `de-DE`; `language` its language part alone; `since` an
    ISO date (YYYY-MM-DD) that results must not be older than; `max_results` counts merged results.
    """

    text: str
    kind: Kind = Kind.WEB
    page: int = 1
    region: str | None = None
    language: str | None = None
    time: TimeRange | None = None
    since: str | None = None
    safe: SafeSearch | None = None
    include_domains: tuple[str, ...] = ()
    exclude_domains: tuple[str, ...] = ()
    max_results: int = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A request as data; header names keep their spelling, the body is already encoded.

    `repeatable` says that a POST may be sent again after a failure, as a GET always may.
    """

    url: str
    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    cookies: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    repeatable: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpResponse:
    """An answer as data: `url` is the final address, `hops` every address before it, in order."""

    url: str
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    hops: tuple[str, ...] = ()

    def header(self, name: str) -> str | None:
        """Return the first header of that name, case ignored, or None."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)

    def cookie(self, name: str) -> str | None:
        """Return the value that a Set-Cookie header gives the cookie of that name, or None."""
        for key, value in self.headers:
            left, _, rest = value.partition("=")
            if key.lower() == "set-cookie" and left.strip() == name:
                return rest.partition(";")[0].strip()
        return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One hit as an engine gave it; `rank` counts from 1 and goes on over pages.

    `fields` holds everything beyond title, address and snippet: `published`, `thumbnail`,
    `authors` and the fields of the row's kind.
    """

    title: str
    url: str
    snippet: str = ""
    rank: int = 1
    fields: Mapping[str, FieldValue] = field(default_factory=lambda: _EMPTY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Next:
    """How the following page is asked for: a ready request, or variables to plan it with."""

    page: int
    request: HttpRequest | None = None
    session: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What one answer of an engine says.

    `drift` is the share (0 to 1) of non-optional fields that did not match over all rows;
    `dropped` counts rows that lacked a title or an address; `detail` says why the verdict fell,
    `retry_after` in how many seconds another try makes sense, where that is known.
    """

    verdict: Verdict
    rows: tuple[Row, ...] = ()
    extras: Mapping[str, FieldValue] = field(default_factory=lambda: _EMPTY)
    next: Next | None = None
    drift: float = 0.0
    dropped: int = 0
    detail: str = ""
    retry_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Vote:
    """One engine's say for one page: its best rank there, its index lineage and its weight."""

    engine: str
    rank: int
    index: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One merged page; `key` is its identity (never shown), `url` the best vote's own address."""

    key: str
    rank: int
    title: str
    url: str
    snippet: str
    score: float
    votes: tuple[Vote, ...]
    fields: Mapping[str, FieldValue] = field(default_factory=lambda: _EMPTY)

    @property
    def indexes(self) -> tuple[str, ...]:
        """The distinct index lineages behind the votes, sorted."""
        return tuple(sorted({vote.index for vote in self.votes}))


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineReport:
    """What happened to one engine in one search; `retry_after` is in seconds."""

    id: str
    verdict: Verdict
    rows: int = 0
    elapsed_ms: int = 0
    retry_after: float | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchAnswer:
    """Merged results with a report per engine; `next_page` is None where nothing follows."""

    query: Query
    results: tuple[Result, ...]
    engines: tuple[EngineReport, ...]
    total: int = 0
    next_page: int | None = None
    answers: tuple[str, ...] = ()
    corrections: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
