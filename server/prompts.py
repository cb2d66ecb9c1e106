"""Prompts that a user can pick: ways of working with the tools that keep answers checkable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

if TYPE_CHECKING:
    from mcp.server import MCPServer

__all__ = ["add_prompts"]


def verify_with_sources(
    claim: Annotated[str, Field(description="The statement to check")],
    sources: Annotated[str, Field(description="URLs to check it against, one a line")] = "",
) -> str:
    """Check a claim against sources, with verbatim quotes."""
    where = f"Use these sources:\n{sources}" if sources.strip() else "Find independent sources."
    return (
        f"Check this claim: {claim}\n\n{where}\n"
        "Call web_verify. Then state the verdict, how sure it is, and quote word for word the "
        "passages that support or refute each part, each with its link. Where sources disagree, "
        "show both sides. Say plainly what no source settles."
    )


def summarize_from_context(
    url: Annotated[str, Field(description="The page")],
    task: Annotated[str, Field(description="What you want from it")],
    max_tokens: Annotated[str, Field(description="Token budget, 200 to 20,000")] = "1800",
) -> str:
    """Summarise a page for a task, from its pertinent passages only."""
    return (
        f"Call web_context with url={url!r}, task={task!r} and max_tokens={max_tokens}. "
        "Write a summary that serves the task from the returned passages alone. After every "
        "statement give the id of the passage it rests on. If the confidence is low, say why and "
        "what to read instead."
    )


def research_a_topic(
    query: Annotated[str, Field(description="The question")],
    depth: Annotated[str, Field(description="How many sources to read, 1 to 8")] = "4",
) -> str:
    """Research a question over several independent sources."""
    return (
        f"Research: {query}\n\nCall web_research with depth={depth}. Answer from the ranked "
        "evidence, cite sources by number, and say where independent sources agree and where they "
        "contradict each other. Sources that draw on one another count once. Finish with what "
        "remains open and the next query that would settle it."
    )


def add_prompts(server: MCPServer[None]) -> None:
    """Register all prompts."""
    for function in (verify_with_sources, summarize_from_context, research_a_topic):
        server.prompt(title=function.__name__.replace("_", " ").capitalize())(function)
