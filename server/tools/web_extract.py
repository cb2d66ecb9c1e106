"""The tool `web_extract`: fields of a page, each with the words that it was taken from."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from framework.evidence import assisted, extract
from framework.research.asking import Question, ask
from server.pages import PageRequest
from server.tools.base import Arguments, Call, Output, Reply, Tool, untrusted

if TYPE_CHECKING:
    from framework.evidence.extract import Extraction
    from framework.reading.document import Document
    from server.app import Application

__all__ = ["TOOL", "ExtractArguments", "ExtractOutput"]


class ExtractArguments(Arguments):
    """The page and the wanted fields."""

    url: str = Field(min_length=1, max_length=4_000)
    schema_: dict[str, Any] = Field(
        alias="schema", min_length=1, description="JSON Schema, or an example of the object"
    )
    query: str = Field(default="", max_length=2_000, description="Which item, if there are many")
    render: Literal["never", "auto", "always"] = "auto"
    timeout: float = Field(default=20, ge=1, le=60, description="Seconds")


class FoundOutput(BaseModel):
    """Where a value comes from: json_ld, microdata, metadata, table, text or model."""

    path: str
    quote: str
    source: str
    confidence: float


class ExtractOutput(Output):
    """The data, valid against the schema or absent; nothing is invented."""

    url: str = ""
    data: dict[str, Any] | None = None
    evidence: tuple[FoundOutput, ...] = ()
    unfilled: tuple[str, ...] = ()
    method: str = ""


async def _run(app: Application, given: ExtractArguments, call: Call) -> Reply[ExtractOutput]:
    request = PageRequest(url=given.url, render=given.render, timeout=given.timeout)
    fetched = await app.read_page(request)
    found = await asyncio.to_thread(extract.extract, fetched.document, given.schema_, given.query)
    found, method = await _helped(app, given, call, fetched.document, found)
    data = ExtractOutput(
        url=fetched.response.url,
        data=found.data,
        evidence=tuple(
            FoundOutput(
                path=one.path, quote=one.quote, source=one.source, confidence=one.confidence
            )
            for one in found.evidence
        ),
        unfilled=found.unfilled,
        method=method,
    )
    return Reply(_render(data), data)


async def _helped(
    app: Application, given: ExtractArguments, call: Call, document: Document, found: Extraction
) -> tuple[Extraction, str]:
    """Where sampling is on, let a model look for what is unfilled; say how it went."""
    fields = assisted.wanted(given.schema_, found.unfilled)
    if not fields or not app.sampling(call.caller):
        return found, "page"
    llm = app.llm(call, sampling=True)
    if llm is None:
        return found, "page; no language model is available"
    question = Question(assisted.prompt(document, fields, given.query), assisted.Answer)
    asked = await ask(llm, [question])
    answer = asked.of(0, assisted.Answer)
    if answer is None:
        return found, f"page; {asked.failures[0]}"
    helped = assisted.places(document, fields, answer)
    more = await asyncio.to_thread(
        extract.extract, document, given.schema_, given.query, helped=helped
    )
    filled = sum(one.source == "model" for one in more.evidence)
    return more, f"page; model: {filled} of {len(fields)} missing fields, word for word on the page"


def _render(data: ExtractOutput) -> str:
    lines = [f"{one.path} ({one.source}): {one.quote[:200]}" for one in data.evidence]
    parts = [untrusted("\n".join(lines) or "Nothing was found.", data.url)]
    if data.method not in ("", "page"):
        parts.append(f"Method: {data.method}")
    if data.unfilled:
        parts.append(f"Not on the page: {', '.join(data.unfilled)}")
    return "\n".join(parts)


TOOL = Tool(
    name="web_extract",
    title="Extract fields",
    description=(
        "Fill a JSON Schema (or an example object) from a page: from its structured data, "
        "tables and labelled text. Every value comes with its quote; what is missing is unfilled."
    ),
    arguments=ExtractArguments,
    output=ExtractOutput,
    run=_run,
)
