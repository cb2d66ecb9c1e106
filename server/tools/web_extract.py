"""The tool `web_extract`: fields of a page, each with the words that it was taken from."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from framework.evidence import extract
from server.pages import PageRequest
from server.tools.base import Arguments, Call, Output, Reply, Tool, untrusted

if TYPE_CHECKING:
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
    """Where a value comes from: json_ld, microdata, metadata, table or text."""

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


async def _run(app: Application, given: ExtractArguments, call: Call) -> Reply[ExtractOutput]:
    request = PageRequest(url=given.url, render=given.render, timeout=given.timeout)
    fetched = await app.read_page(request)
    found = await asyncio.to_thread(extract.extract, fetched.document, given.schema_, given.query)
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
    )
    return Reply(_render(data), data)


def _render(data: ExtractOutput) -> str:
    lines = [f"{one.path} ({one.source}): {one.quote[:200]}" for one in data.evidence]
    parts = [untrusted("\n".join(lines) or "Nothing was found.", data.url)]
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
