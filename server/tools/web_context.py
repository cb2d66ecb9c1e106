"""The tool `web_context`: the passages of a page that serve a task, with their exact places."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, Field

from framework.evidence import context
from framework.evidence.injection import mark
from server.pages import PageRequest
from server.tools.base import Arguments, Call, Output, Reply, Tool, untrusted
from server.tools.facts import safety_of, structured_of

if TYPE_CHECKING:
    from framework.evidence.context import Context, Evidence
    from server.app import Application
    from server.pages import Fetched

__all__ = ["TOOL", "ContextArguments", "ContextOutput", "EvidenceOutput", "evidence_line"]


class ContextArguments(Arguments):
    """Which page, and what for."""

    url: str = Field(min_length=1, max_length=4_000)
    task: str = Field(min_length=1, max_length=2_000, description="What you want to know")
    max_tokens: int = Field(default=1_800, ge=200, le=20_000)
    min_score: float = Field(default=0.0, ge=0, le=1)
    rerank: bool = True
    render: Literal["never", "auto", "always"] = "auto"
    timeout: float = Field(default=20, ge=1, le=60, description="Seconds")


class CapsuleOutput(BaseModel):
    """The page in a few lines."""

    tldr: tuple[str, ...]
    top_sections: tuple[str, ...]
    highlight_chunk_ids: tuple[str, ...]


class EvidenceOutput(BaseModel):
    """A passage with its place; offsets count in the page's Markdown."""

    id: str
    score: float
    score_breakdown: dict[str, float]
    text: str
    section_path: tuple[str, ...]
    char_start: int
    char_end: int
    dom_path: str
    text_fragment_url: str
    matched_terms: tuple[str, ...]
    tokens: int


class ConfidenceOutput(BaseModel):
    """How sure it is that the passages answer the task, and why."""

    level: str
    score: float
    reasons: tuple[str, ...]
    suggestion: str | None = None


class RankingOutput(BaseModel):
    """Which methods ranked."""

    methods: tuple[str, ...]
    total: int
    selected: int


class SavedOutput(BaseModel):
    """o200k tokens of the page, of what is returned, and the difference."""

    raw: int
    returned: int
    saved: int


class ContextOutput(Output):
    """What the page says for the task."""

    url: str = ""
    title: str | None = None
    task: str = ""
    capsule: CapsuleOutput | None = None
    evidence_chunks: tuple[EvidenceOutput, ...] = ()
    retrieval_confidence: ConfidenceOutput | None = None
    structured_data: dict[str, Any] | None = None
    safety: dict[str, Any] | None = None
    ranking: RankingOutput | None = None
    tokens: SavedOutput | None = None
    fingerprint: str | None = None


async def _run(app: Application, given: ContextArguments, call: Call) -> Reply[ContextOutput]:
    request = PageRequest(url=given.url, render=given.render, timeout=given.timeout)
    fetched = await app.read_page(request)
    built = await asyncio.to_thread(
        context.build,
        fetched.document,
        given.task,
        max_tokens=given.max_tokens,
        min_score=given.min_score,
        rerank=given.rerank,
        store=app.models,
    )
    data = _data(fetched, built)
    return Reply(_render(data), data)


def _data(fetched: Fetched, built: Context) -> ContextOutput:
    return ContextOutput(
        url=fetched.response.url,
        title=fetched.document.title,
        task=built.task,
        capsule=CapsuleOutput.model_validate(asdict(built.capsule)),
        evidence_chunks=tuple(evidence_data(one) for one in built.evidence_chunks),
        retrieval_confidence=ConfidenceOutput.model_validate(asdict(built.retrieval_confidence)),
        structured_data=structured_of(fetched.document),
        safety=safety_of(fetched.safety),
        ranking=RankingOutput.model_validate(asdict(built.ranking)),
        tokens=SavedOutput.model_validate(asdict(built.tokens)),
        fingerprint=fetched.document.fingerprint,
    )


def evidence_data(one: Evidence) -> EvidenceOutput:
    """Return a passage as data."""
    return EvidenceOutput(
        id=one.id,
        score=one.score,
        score_breakdown=dict(one.score_breakdown),
        text=one.text,
        section_path=one.section_path,
        char_start=one.char_start,
        char_end=one.char_end,
        dom_path=one.dom_path,
        text_fragment_url=one.text_fragment_url,
        matched_terms=one.matched_terms,
        tokens=one.tokens,
    )


def evidence_line(one: EvidenceOutput) -> str:
    """Write a passage for a model: its place, then its words, dangerous ones marked."""
    place = " > ".join(one.section_path[-2:])
    return f"[{one.id} · {one.score:.2f}{f' · {place}' if place else ''}]\n{mark(one.text)}"


def _render(data: ContextOutput) -> str:
    passages = "\n\n".join(evidence_line(one) for one in data.evidence_chunks)
    parts = [untrusted(passages or "No passage speaks of the task.", data.url)]
    sure = data.retrieval_confidence
    if sure is not None:
        reasons = f" ({', '.join(sure.reasons)})" if sure.reasons else ""
        parts.append(f"Confidence: {sure.level}{reasons}")
        if sure.suggestion:
            parts.append(sure.suggestion)
    if data.safety and data.safety["risk"] != "low":
        parts.append(f"Caution: {data.safety['risk']} risk of instructions aimed at you.")
    return "\n".join(parts)


TOOL = Tool(
    name="web_context",
    title="Evidence from a page",
    description=(
        "Read one page for a task: only the passages that serve it, ranked, within a token "
        "budget, each with its exact place and a link to it, plus how sure that is."
    ),
    arguments=ContextArguments,
    output=ContextOutput,
    run=_run,
)
