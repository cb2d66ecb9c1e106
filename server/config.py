"""Settings: environment variables, a `.env` file and options, checked once at start."""

from __future__ import annotations

import ipaddress
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from framework.errors import InvalidInputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic_core import ErrorDetails

__all__ = ["NAMES", "Environment", "Settings", "load"]


def _listed(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


def _engines(value: object) -> object:
    """Leave out `auto`, by which a predecessor names no engine in particular."""
    listed = _listed(value)
    if not isinstance(listed, (tuple, list)):
        return listed
    return tuple(name for name in listed if name != "auto") or _DEFAULT_ENGINES


def _paths(value: object) -> object:
    return tuple(filter(None, value.split(os.pathsep))) if isinstance(value, str) else value


def _network(value: object) -> object:
    return tuple(ipaddress.ip_network(str(part), strict=False) for part in _as_tuple(value))


def _as_tuple(value: object) -> tuple[object, ...]:
    listed = _listed(value)
    return tuple(listed) if isinstance(listed, (tuple, list)) else (listed,)


def _switch(value: object) -> object:
    return _SWITCH.get(value.strip().lower(), value) if isinstance(value, str) else value


def _tokens(value: object) -> object:
    if not isinstance(value, str):
        return value
    pairs = [part.partition(":") for part in value.split(",") if part.strip()]
    if any(not name.strip() or not token.strip() for name, _, token in pairs):
        raise ValueError("each entry must be name:token")
    return {name.strip(): token.strip() for name, _, token in pairs}


_DEFAULT_ENGINES = ("bing", "duckduckgo", "brave")
_SWITCH: dict[str, bool] = {
    "1": True, "true": True, "yes": True, "on": True,
    "0": False, "false": False, "no": False, "off": False, "": False,
}  # fmt: skip

Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
EngineNames = Annotated[tuple[str, ...], BeforeValidator(_engines)]
Paths = Annotated[tuple[str, ...], BeforeValidator(_paths)]
Switch = Annotated[bool, BeforeValidator(_switch)]
Network = ipaddress.IPv4Network | ipaddress.IPv6Network
Networks = Annotated[tuple[Network, ...], BeforeValidator(_network)]
Tokens = Annotated[dict[str, str], BeforeValidator(_tokens)]
DebugFile = Annotated[Path | bool | None, BeforeValidator(_switch)]
LogLevel = Literal["off", "error", "info", "debug"]


class Settings(BaseModel):
    """All that an operator can set; the variable that feeds each field stands in `NAMES`.

    Spans are in seconds unless the name says otherwise, sizes in bytes.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)

    engines_dir: Paths = ()
    """Folders of engine files, separated as in PATH; default: `./engines.d`, then the packaged."""
    state_dir: Path | None = None
    """Folder of the state database: rests, keys, pace, callers' choices."""
    default_engines: EngineNames = _DEFAULT_ENGINES
    """Engines that are asked when a caller names none."""
    enable_proxy: Switch = False
    """Send everything through the proxy that the next three name, in this order."""
    socks5_proxy: str | None = Field(default=None, repr=False)
    """A SOCKS5 proxy."""
    https_proxy: str | None = Field(default=None, repr=False)
    """An HTTP proxy."""
    http_proxy: str | None = Field(default=None, repr=False)
    """An HTTP proxy, where HTTPS_PROXY is not set."""
    proxy: str | None = Field(default=None, repr=False)
    """The proxy that everything leaves by, whatever the others say."""
    proxies_file: Path | None = None
    """A YAML file of named proxy pools."""
    allow_direct: Names = ()
    """Engine ids that may bypass a configured proxy."""
    allow_networks: Networks = ()
    """Private networks (CIDR) that may be connected to; none by default."""
    ca_file: Path | None = None
    """Further certificate authorities to trust, in all fetch modes."""
    robots: Literal["obey", "warn", "off"] | None = None
    """What robots.txt means for pages; default: obey in crawls, warn for single pages."""
    models_dir: Path | None = None
    """Folder of models for evidence; default: `models` in the state folder."""
    models_download: Switch = False
    """Fetch a missing model from its hub when it is first needed."""
    models_url: str | None = None
    """A mirror to fetch models from, in place of their hub."""
    log: LogLevel = "error"
    """How much is logged to standard error."""
    chrome_path: Path | None = None
    """The Chromium that renders pages."""
    host: str = "127.0.0.1"
    """Address that `serve` listens on."""
    port: int = Field(default=3000, ge=0, le=65_535)
    """Port that `serve` listens on."""
    public_url: str | None = None
    """Address under which others reach this server; download links start with it."""
    enable_cors: Switch = False
    """Let pages of other origins call the server."""
    cors_origin: Names = ()
    """Origins that may call the server."""
    allow_hosts: Names = ()
    """Names that the server may be called by, beside loopback."""
    token: str | None = Field(default=None, min_length=8, repr=False)
    """The bearer token of the one caller."""
    tokens: Tokens = Field(default_factory=dict, repr=False)
    """Bearer tokens of several callers, as name:token."""
    tools: Names = ()
    """Tools that are published: names, or `compact` for the one-tool surface."""
    sampling: Switch = False
    """Let a language model take part in calls by default."""
    skip_ide_sampling: Switch = False
    """Prefer the endpoint below over the client's own model."""
    llm_base_url: str | None = None
    """An OpenAI-compatible endpoint."""
    llm_api_key: str | None = Field(default=None, repr=False)
    """Its key."""
    llm_name: str | None = None
    """Its model."""
    llm_timeout_ms: int = Field(default=30_000, ge=100, le=600_000)
    """How long one answer of it may take, in milliseconds."""
    llm_price_input: float | None = Field(default=None, ge=0)
    """What a million tokens of its prompts cost, in your currency; reports then tell the cost."""
    llm_price_output: float | None = Field(default=None, ge=0)
    """What a million tokens of its answers cost."""
    deep_max_loops: int = Field(default=20, ge=1, le=50)
    """Rounds of a deep search."""
    deep_results_per_engine: int = Field(default=5, ge=1, le=20)
    """Results that a deep search takes of each engine."""
    deep_saturation: float = Field(default=0.6, ge=0, le=1)
    """Share of a round's facts that were known already, from which it counts as saturated."""
    deep_max_citation_urls: int = Field(default=10, ge=-1, le=50)
    """Sources that a deep search cites; -1 is no limit."""
    deep_retention_minutes: float = Field(default=10, gt=0, le=1_440)
    """How long a report can be downloaded, in minutes."""
    debug_terminal: Switch = False
    """Log in detail to standard error."""
    debug_file: DebugFile = None
    """Log in detail to this file; `true` names one in the state folder."""
    rerank: Switch = True
    """Rank passages with a cross-encoder where one is there."""
    nli: Switch = True
    """Judge claims with a model where one is there."""
    embeddings: Switch = True
    """Use embeddings where a model is there."""
    cache_dir: Path | None = None
    """Folder of the page cache; default: the state folder."""
    cache_ttl: float = Field(default=300, ge=0, le=604_800)
    """Seconds that a page is used again unasked; after that the site is asked whether it holds."""
    search_gap: float = Field(default=0, ge=0, le=3_600)
    """Least seconds between two searches of one engine, whatever its file allows."""
    page_gap: float = Field(default=0, ge=0, le=3_600)
    """Least seconds between two further pages of one engine's searches."""
    render_timeout: float = Field(default=30, gt=0, le=300)
    """Seconds that rendering a page may take."""
    render_concurrency: int = Field(default=2, ge=1, le=16)
    """Pages that are rendered at once."""
    render_requests: int = Field(default=100, ge=1, le=10_000)
    """Requests that a rendered page may make."""
    render_network_bytes: int = Field(default=33_554_432, ge=1)
    """Bytes that a rendered page may load."""
    render_html_bytes: int = Field(default=8_388_608, ge=1)
    """Bytes of HTML that a rendered page may have."""


#: Which variables feed a field, the strongest first; the later ones are the predecessors' names.
NAMES: dict[str, tuple[str, ...]] = {
    "engines_dir": ("CONSILIENCE_ENGINES_DIR",),
    "state_dir": ("CONSILIENCE_STATE_DIR",),
    "default_engines": (
        "CONSILIENCE_ENGINES",
        "DEFAULT_SEARCH_ENGINES",
        "WEBFETCH_SEARCH_PROVIDER",
    ),
    "enable_proxy": ("CONSILIENCE_ENABLE_PROXY", "ENABLE_PROXY"),
    "socks5_proxy": ("SOCKS5_PROXY",),
    "https_proxy": ("HTTPS_PROXY",),
    "http_proxy": ("HTTP_PROXY",),
    "proxy": ("CONSILIENCE_PROXY",),
    "proxies_file": ("CONSILIENCE_PROXIES",),
    "allow_direct": ("CONSILIENCE_ALLOW_DIRECT",),
    "allow_networks": ("CONSILIENCE_ALLOW_NETWORKS",),
    "ca_file": ("CONSILIENCE_CA_FILE",),
    "robots": ("CONSILIENCE_ROBOTS",),
    "models_dir": ("CONSILIENCE_MODELS_DIR",),
    "models_download": ("CONSILIENCE_MODELS_DOWNLOAD",),
    "models_url": ("CONSILIENCE_MODELS_URL",),
    "log": ("CONSILIENCE_LOG", "WEBFETCH_MCP_LOG_LEVEL"),
    "chrome_path": ("CONSILIENCE_CHROME_PATH", "WEBFETCH_CHROME_PATH"),
    "host": ("CONSILIENCE_HOST",),
    "port": ("CONSILIENCE_PORT", "PORT"),
    "public_url": ("CONSILIENCE_PUBLIC_URL", "PUBLIC_URL"),
    "enable_cors": ("CONSILIENCE_ENABLE_CORS", "ENABLE_CORS"),
    "cors_origin": ("CONSILIENCE_CORS_ORIGIN", "CORS_ORIGIN"),
    "allow_hosts": ("CONSILIENCE_ALLOW_HOSTS",),
    "token": ("CONSILIENCE_TOKEN", "WEBFETCH_MCP_BEARER_TOKEN"),
    "tokens": ("CONSILIENCE_TOKENS",),
    "tools": ("CONSILIENCE_TOOLS", "WEBFETCH_MCP_TOOL_MODE"),
    "sampling": ("CONSILIENCE_SAMPLING", "SAMPLING"),
    "skip_ide_sampling": ("SKIP_IDE_SAMPLING",),
    "llm_base_url": ("LLM_BASE_URL",),
    "llm_api_key": ("LLM_API_KEY",),
    "llm_name": ("LLM_NAME",),
    "llm_timeout_ms": ("LLM_TIMEOUT_MS",),
    "llm_price_input": ("CONSILIENCE_LLM_PRICE_INPUT",),
    "llm_price_output": ("CONSILIENCE_LLM_PRICE_OUTPUT",),
    "deep_max_loops": ("DEEP_SEARCH_MAX_LOOPS",),
    "deep_results_per_engine": ("DEEP_SEARCH_RESULTS_PER_ENGINE",),
    "deep_saturation": ("DEEP_SEARCH_SATURATION_THRESHOLD",),
    "deep_max_citation_urls": ("DEEP_SEARCH_MAX_CITATION_URLS",),
    "deep_retention_minutes": ("DEEP_SEARCH_REPORT_RETENTION_MINUTES",),
    "debug_terminal": ("WRITE_DEBUG_TERMINAL",),
    "debug_file": ("WRITE_DEBUG_FILE",),
    "rerank": ("INTERNET_CONTEXT_MCP_RERANK",),
    "nli": ("INTERNET_CONTEXT_MCP_NLI",),
    "embeddings": ("INTERNET_CONTEXT_MCP_EMBEDDINGS",),
    "cache_dir": ("CONSILIENCE_CACHE_DIR", "INTERNET_CONTEXT_MCP_CACHE_DIR"),
    "cache_ttl": ("CONSILIENCE_CACHE_TTL",),
    "search_gap": ("CONSILIENCE_SEARCH_GAP",),
    "page_gap": ("CONSILIENCE_PAGE_GAP",),
    "render_timeout": ("WEBFETCH_RENDER_TIMEOUT",),
    "render_concurrency": ("WEBFETCH_RENDER_MAX_CONCURRENCY",),
    "render_requests": ("WEBFETCH_RENDER_MAX_REQUESTS",),
    "render_network_bytes": ("WEBFETCH_RENDER_MAX_NETWORK_BYTES",),
    "render_html_bytes": ("WEBFETCH_RENDER_MAX_HTML_BYTES",),
}

_SECRET = frozenset(name for name, field in Settings.model_fields.items() if not field.repr)


@dataclass(frozen=True, slots=True)
class Environment:
    """The process's variables over those of a `.env` file; empty ones count as absent."""

    values: Mapping[str, str]

    @classmethod
    def read(cls, folder: Path | None = None) -> Environment:
        """Read `.env` in `folder` (default: the working folder) and lay the process's over it.

        A `.env` that is not readable text is ignored: it may be a stranger's.
        """
        from dotenv import dotenv_values

        path = (folder or Path.cwd()) / ".env"
        try:
            file = dotenv_values(path) if path.is_file() else {}
        except (OSError, UnicodeDecodeError):
            file = {}
        merged = {**{k: v for k, v in file.items() if v is not None}, **os.environ}
        return cls({name: value for name, value in merged.items() if value != ""})

    def first(self, names: tuple[str, ...]) -> tuple[str, str] | None:
        """Return the first of `names` that is set, with its value."""
        return next(((name, self.values[name]) for name in names if name in self.values), None)


def load(environment: Environment, **overrides: object) -> Settings:
    """Build the settings; `overrides` (command-line options that are not None) win.

    Raises:
        InvalidInputError: naming the variable or option, what is wrong, and what is allowed.
    """
    found = {field: environment.first(names) for field, names in NAMES.items()}
    sources = {field: pair[0] for field, pair in found.items() if pair}
    values: dict[str, object] = {field: pair[1] for field, pair in found.items() if pair}
    given = {name: value for name, value in overrides.items() if value is not None}
    sources |= {name: "--" + name.replace("_", "-") for name in given}
    try:
        return Settings.model_validate({**values, **given})
    except ValidationError as error:
        raise InvalidInputError(_explain(error.errors()[0], sources)) from None


def _explain(error: ErrorDetails, sources: Mapping[str, str]) -> str:
    field = str(error["loc"][0])
    shown = "" if field in _SECRET else f" (given: {str(error['input'])[:60]!r})"
    message = error["msg"].removeprefix("Value error, ")
    return f"{sources.get(field, field)}: {message[0].lower()}{message[1:]}{shown}"
