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


_SWITCH: dict[str, bool] = {
    "1": True, "true": True, "yes": True, "on": True,
    "0": False, "false": False, "no": False, "off": False, "": False,
}  # fmt: skip

Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
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

    model_config = ConfigDict(frozen=True, extra="forbid")

    engines_dir: Paths = ()
    state_dir: Path | None = None
    default_engines: Names = ("bing", "duckduckgo", "brave")
    enable_proxy: Switch = False
    socks5_proxy: str | None = Field(default=None, repr=False)
    https_proxy: str | None = Field(default=None, repr=False)
    http_proxy: str | None = Field(default=None, repr=False)
    proxy: str | None = Field(default=None, repr=False)
    proxies_file: Path | None = None
    allow_direct: Names = ()
    allow_networks: Networks = ()
    ca_file: Path | None = None
    robots: Literal["obey", "warn", "off"] | None = None
    models_dir: Path | None = None
    log: LogLevel = "error"
    chrome_path: Path | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=3000, ge=0, le=65_535)
    public_url: str | None = None
    enable_cors: Switch = False
    cors_origin: Names = ()
    allow_hosts: Names = ()
    token: str | None = Field(default=None, min_length=8, repr=False)
    tokens: Tokens = Field(default_factory=dict, repr=False)
    tools: Names = ()
    sampling: Switch = False
    skip_ide_sampling: Switch = False
    llm_base_url: str | None = None
    llm_api_key: str | None = Field(default=None, repr=False)
    llm_name: str | None = None
    llm_timeout_ms: int = Field(default=30_000, ge=100, le=600_000)
    deep_max_loops: int = Field(default=20, ge=1, le=50)
    deep_results_per_engine: int = Field(default=5, ge=1, le=20)
    deep_saturation: float = Field(default=0.6, ge=0, le=1)
    deep_max_citation_urls: int = Field(default=10, ge=-1, le=50)
    deep_retention_minutes: float = Field(default=10, gt=0, le=1_440)
    debug_terminal: Switch = False
    debug_file: DebugFile = None
    rerank: Switch = True
    nli: Switch = True
    embeddings: Switch = True
    cache_dir: Path | None = None
    render_timeout: float = Field(default=30, gt=0, le=300)
    render_concurrency: int = Field(default=2, ge=1, le=16)
    render_requests: int = Field(default=100, ge=1, le=10_000)
    render_network_bytes: int = Field(default=33_554_432, ge=1)
    render_html_bytes: int = Field(default=8_388_608, ge=1)


#: Which variables feed a field, the strongest first; the later ones are the predecessors' names.
NAMES: dict[str, tuple[str, ...]] = {
    "engines_dir": ("CONSILIENCE_ENGINES_DIR",),
    "state_dir": ("CONSILIENCE_STATE_DIR",),
    "default_engines": ("CONSILIENCE_ENGINES", "DEFAULT_SEARCH_ENGINES"),
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
