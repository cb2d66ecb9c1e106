"""From the address of a search to the asking half of an engine file."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, unquote, urlsplit

from framework.errors import InvalidInputError
from framework.merge.hosts import fold
from framework.merge.tracking import is_tracking

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["asked", "id_of", "request_of"]

#: Names that the parameter with the query has, the commonest first.
_QUERIES = (
    "q", "query", "p", "s", "search", "text", "k", "wd", "word", "term", "terms", "keyword",
    "keywords", "searchterm", "search_query", "srsearch", "qs", "question",
)  # fmt: skip
_PAGES = ("page", "pageno", "pagenum", "page_number", "paged", "pg", "b_page")
_OFFSETS = ("start", "offset", "first", "from", "skip", "b")
_SIZES = ("count", "num", "limit", "size", "per_page", "rows", "hits", "max_results", "n")
_MARK = "{{ query }}"


def asked(address: str) -> str:
    """Return the query that an address asks, or nothing where it cannot be told."""
    sent = dict(parse_qsl(urlsplit(address).query))
    return next((sent[name] for name in _QUERIES if sent.get(name)), "")


def id_of(address: str) -> str:
    """Return an id for the engine at an address: the name of its site."""
    labels = (urlsplit(address).hostname or "engine").split(".")
    short = len(labels) > 2 and len(labels[-2]) <= 3 and len(labels[-1]) == 2
    name = labels[-3] if short else labels[-2] if len(labels) > 1 else labels[0]
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") or "engine"


def request_of(address: str, query: str) -> tuple[dict[str, object], dict[str, object] | None]:
    """Return the `request` and, where the address shows one, the `paging` of an engine file.

    An address without any parameter gets the commonest one, `q`, to be looked over.
    Raises InvalidInputError for an address that is not https or does not hold the query.
    """
    parts = urlsplit(address)
    if parts.scheme != "https" or not parts.hostname:
        raise InvalidInputError(
            f"--url: {address!r} is no https address", hint="copy it from a search in a browser"
        )
    sent = dict(parse_qsl(parts.query, keep_blank_values=True))
    held = _holder(sent, query)
    path = parts.path or "/"
    in_path = held is None and query and query in unquote(path)
    if not (sent or in_path or query):
        return {"url": f"https://{parts.netloc}{path}", "query": {_QUERIES[0]: _MARK}}, None
    if held is None and not in_path:
        raise InvalidInputError(
            f"--url: {address!r} does not hold the query",
            hint="name it with --query as it stands in the address",
        )
    if in_path:
        path = unquote(path).replace(query, _MARK)
    paging = _paging(sent)
    host = fold(parts.hostname)
    kept = {n: v for n, v in sent.items() if n == held or not is_tracking(n, v, host)}
    values = {name: _value(name, value, held, paging) for name, value in kept.items()}
    port = f":{parts.port}" if parts.port else ""
    request: dict[str, object] = {"url": f"https://{parts.hostname}{port}{path}"}
    if values:
        request["query"] = values
    return request, paging


def _holder(sent: Mapping[str, str], query: str) -> str | None:
    equal = [name for name, value in sent.items() if query and value == query]
    known = [name for name in _QUERIES if sent.get(name)]
    return next(iter(equal), None) or (None if query else next(iter(known), None))


def _value(name: str, value: str, held: str | None, paging: Mapping[str, object] | None) -> str:
    if name == held:
        return _MARK
    if paging is not None and name in _PAGES and paging["by"] == "page":
        return "{{ page }}"
    if paging is not None and name in _OFFSETS and paging["by"] == "offset":
        return "{{ offset }}"
    return re.sub(r"\{\{|\{%|\{#", "", value)


def _paging(sent: Mapping[str, str]) -> dict[str, object] | None:
    size = next((int(sent[n]) for n in _SIZES if sent.get(n, "").isdecimal()), 10)
    if any(sent.get(name, "").isdecimal() for name in _PAGES):
        return {"by": "page", "size": size}
    for name in _OFFSETS:
        if sent.get(name, "").isdecimal():
            first = int(sent[name]) % size
            return {"by": "offset", "size": size, "first": first}
    return None
