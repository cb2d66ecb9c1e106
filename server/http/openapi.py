"""The OpenAPI description of the plain HTTP side."""

from __future__ import annotations

from typing import Any

from server import tools
from server.schemas import input_schema
from server.version import VERSION

__all__ = ["document"]

_TEXT = {"type": "string"}
_SEARCH: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("q", _TEXT, "What to look for."),
    ("format", {"enum": ["json"], "default": "json"}, "The shape of the answer."),
    ("pageno", {"type": "integer", "minimum": 1, "maximum": 10}, "The page of results."),
    ("language", _TEXT, "For example de; all for any."),
    ("time_range", {"enum": ["day", "week", "month", "year"]}, "Not older than this."),
    ("safesearch", {"enum": ["0", "1", "2"]}, "Off, moderate, strict."),
    ("categories", _TEXT, "general, news, images, videos, science, it and so on."),
    ("engines", _TEXT, "Engine ids, comma-separated."),
)
_ROW = {
    "type": "object",
    "properties": {
        "title": _TEXT,
        "url": _TEXT,
        "content": _TEXT,
        "engine": _TEXT,
        "engines": {"type": "array", "items": _TEXT},
        "positions": {"type": "array", "items": {"type": "integer"}},
        "score": {"type": "number"},
        "category": _TEXT,
        "publishedDate": _TEXT,
        "thumbnail": _TEXT,
    },
    "required": ["title", "url", "content", "engine", "engines", "positions", "score", "category"],
}
_TEXTS = {"type": "array", "items": _TEXT}
_ANSWER = {
    "type": "object",
    "properties": {
        "query": _TEXT,
        "number_of_results": {"type": "integer"},
        "results": {"type": "array", "items": {"$ref": "#/components/schemas/Result"}},
        "answers": _TEXTS,
        "corrections": _TEXTS,
        "infoboxes": {"type": "array", "items": {"type": "object"}},
        "suggestions": _TEXTS,
        "unresponsive_engines": {"type": "array", "items": _TEXTS},
    },
    "required": ["query", "number_of_results", "results", "unresponsive_engines"],
}


def document(base: str) -> dict[str, Any]:
    """Return the description of a server that is reached at `base`."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Consilience",
            "version": VERSION,
            "description": "Search and reading over plain HTTP; agents use MCP at /mcp.",
        },
        "servers": [{"url": base}],
        "security": [{}, {"bearer": []}],
        "paths": _paths(),
        "components": {
            "schemas": {"Result": _ROW, "SearchAnswer": _ANSWER},
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _paths() -> dict[str, Any]:
    answer = {"$ref": "#/components/schemas/SearchAnswer"}
    paths = {
        "/search": _get("Search", [_query(*part) for part in _SEARCH], "application/json", answer),
        "/healthz": _get("Is it alive?", [], "application/json", {"type": "object"}),
        "/metrics": _get("Figures for Prometheus", [], "text/plain", _TEXT),
        "/status": _get("How every engine does, as a page", [], "text/html", _TEXT),
        "/download/{id}": _get("Fetch a report", [_path("id")], "text/markdown", _TEXT),
    }
    fetch = next((tool for tool in tools.ALL if tool.name == "web_fetch"), None)
    if fetch is not None:
        schema: dict[str, Any] = input_schema(fetch.arguments)
        given = [_query(name, part, "") for name, part in schema["properties"].items()]
        paths["/read"] = _get("Read a page", given, "text/markdown", _TEXT)
    return paths


def _query(name: str, schema: dict[str, Any], text: str) -> dict[str, Any]:
    required = name == "q"
    given = {"name": name, "in": "query", "required": required, "schema": schema}
    return {**given, "description": text} if text else given


def _path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": _TEXT}


def _get(summary: str, given: list[dict[str, Any]], media: str, schema: object) -> dict[str, Any]:
    return {
        "get": {
            "summary": summary,
            "parameters": given,
            "responses": {
                "200": {"description": "fine", "content": {media: {"schema": schema}}},
                "4XX": {"description": "refused; `error` says why"},
                "503": {"description": "nothing answered; `error` says why"},
            },
        }
    }
