"""What the project asks of a language model, whoever serves it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["LLM", "Completion", "Prompt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """One question to a model; equal prompts are equal values, so answers can be kept by them.

    `user` carries text from the web only as quoted data. `schema`, where given, is the JSON Schema
    that the answer must follow; a server that cannot enforce it gets it as words.
    """

    system: str
    user: str
    max_tokens: int = 1_000
    temperature: float = 0.0
    schema: Mapping[str, object] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """A model's answer; token counts are 0 where its server does not tell them."""

    text: str
    model: str = ""
    prompt_tokens: int = 0
    completion_tokens: int = 0


class LLM(Protocol):
    """Anything that answers prompts.

    Raises:
        ConsilienceError: when no answer can be had, with a code that says whether to retry.
    """

    async def complete(self, prompt: Prompt) -> Completion:
        """Answer one prompt."""
        ...
