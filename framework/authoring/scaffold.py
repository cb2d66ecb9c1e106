"""A new engine's files: its YAML and a first recorded answer, as texts to be written."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from framework.authoring.asking import request_of
from framework.authoring.yamltext import render
from framework.errors import InvalidInputError
from framework.spec.compiler import compile_text
from framework.spec.documents import Document
from framework.spec.fixtures import as_data
from framework.types import Kind, Query, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.authoring.draft import Draft
    from framework.types import HttpResponse, Page

__all__ = ["NewEngine", "case_files", "extension", "scaffold"]

_MODELINE = "# yaml-language-server: $schema=../engine-v1.json\n"
_ID = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEngine:
    """An engine file's text, what it reads from the page that it was made for, and its case."""

    id: str
    text: str
    page: Page
    case: str = "ok"


def scaffold(
    draft: Draft,
    response: HttpResponse,
    *,
    id: str,  # noqa: A002 - the key's name in the file
    address: str,
    query: str,
    name: str = "",
    kind: Kind = Kind.WEB,
) -> NewEngine:
    """Return a new engine made of a draft and of the address that asked for the page.

    The file is experimental, compiles, and reads the page. Raises InvalidInputError for an id
    that is none, for an address without the query, and where the draft reads nothing.
    """
    if not _ID.fullmatch(id):
        raise InvalidInputError(
            f"id: {id!r} is not allowed", hint="lower-case letters, digits and single hyphens"
        )
    text = _MODELINE + _render(_data(draft, id, name, kind, address, query))
    engine = compile_text(text, f"{id}.yaml")
    page = engine.read(response, query=Query(text=query))
    if page.verdict is not Verdict.OK:
        raise InvalidInputError(
            f"the proposal reads nothing from the page: {page.verdict} {page.detail}",
            hint="save the page as the server sent it, scripts not run",
        )
    rows = max(1, round(len(page.rows) * 0.6))
    text += f"tests:\n  - {{case: ok, expect: ok, rows: {rows}}}\n"
    return NewEngine(id=id, text=text, page=page)


def _data(
    draft: Draft, name: str, title: str, kind: Kind, address: str, query: str
) -> list[dict[str, object]]:
    """Return the file's parts; an empty line stands between them."""
    request, paging = request_of(address, query)
    parts = urlsplit(address)
    api = draft.format != "html"
    site = {"site": f"{parts.scheme}://{parts.hostname}", "official_api": api}
    head: dict[str, object] = {
        "schema": 1,
        "id": name,
        "name": title or name.replace("-", " ").title(),
        "about": site,
        "kind": kind.value,
        "status": "experimental",
    }
    asking: list[dict[str, object]] = [{"request": request}]
    if paging is not None:
        asking.append({"paging": paging})
    verdicts: list[object] = [{"rate_limited": {"status": 429}}, {"blocked": {"status": 403}}]
    behave: dict[str, object] = {} if api else {"fetch": {"mode": "impersonate"}}
    behave["limits"] = {"rate": "1/2s", "timeout": "10s"}
    return [head, *asking, {"verdicts": verdicts}, {"response": draft.response()}, behave]


def _render(parts: list[dict[str, object]]) -> str:
    return "\n\n".join(render(part) for part in parts) + "\n"


def extension(response: HttpResponse) -> str:
    """Return the ending of a recorded answer's file: html, json or xml."""
    document = Document(response)
    if document.looks_json:
        return "json"
    feed = response.body.lstrip()[:5] == b"<?xml" and not document.looks_html
    return "xml" if feed else "html"


def case_files(
    response: HttpResponse,
    page: Page,
    *,
    query: str,
    date: str = "",
    number: int = 1,
    taken: Mapping[str, str] | None = None,
    step: str = "",
) -> dict[str, bytes]:
    """Return the files of a recorded case by name: the answer, what is known, what is read.

    The answer is taken as it is: redact it before.
    """
    kept = {
        name: value
        for name, value in response.headers
        if name.lower() in {"content-type", "retry-after", "date"}
        or name.lower().startswith(("x-ratelimit", "ratelimit"))
    }
    meta: dict[str, object] = {"source": "recording", "query": query}
    if date:
        meta["date"] = date
    meta |= {"status": response.status, "url": response.url}
    if response.hops:
        meta["hops"] = list(response.hops)
    if number > 1:
        meta["page"] = number
    if step:
        meta["step"] = step
    if kept:
        meta["headers"] = kept
    expected = as_data(page)
    if taken is not None:
        expected = {"verdict": page.verdict.value, "taken": dict(taken)}
    return {
        f"response.{extension(response)}": response.body,
        "meta.yaml": (render(meta) + "\n").encode(),
        "expected.json": (json.dumps(expected, ensure_ascii=False, indent=1) + "\n").encode(),
    }
