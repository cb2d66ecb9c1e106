"""Asking the model of the client that calls, in both protocol eras.

Handshake-era clients are asked in the middle of the call. Since 2026-07-28 a server cannot ask: it
hands its question back instead of a result, and the client repeats the call with the answer. The
code that asks is the same: an answer that is not there yet ends the round with `InputNeeded`, and
the repeated call finds it by the question itself. So questions must be equal from round to round.
"""

from __future__ import annotations

import hashlib
import json
import warnings
from typing import TYPE_CHECKING, Any

from mcp.types import (
    CreateMessageRequest,
    CreateMessageRequestParams,
    CreateMessageResult,
    InputRequiredResult,
    SamplingMessage,
    TextContent,
)
from mcp_types.version import is_version_at_least

from framework.errors import UnavailableError
from framework.llm import Completion, Prompt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server.mcpserver import Context

__all__ = ["ClientLLM", "InputNeeded", "can_sample", "has_rounds", "run_of"]

_STATELESS = "2026-07-28"


class InputNeeded(Exception):  # noqa: N818 - an instruction to the surface, not an error
    """Raised where the client must answer first; the surface sends `result` and ends the round."""

    def __init__(self, result: InputRequiredResult) -> None:
        super().__init__("the client's model must answer first")
        self.result = result


def can_sample(context: Context[Any, Any]) -> bool:
    """Whether this caller offers its model and can be asked."""
    offered = context.client_capabilities
    if offered is None or offered.sampling is None:
        return False
    return has_rounds(context) or context.session.can_send_request


def has_rounds(context: Context[Any, Any]) -> bool:
    """Whether a question to this client ends the call, to be repeated with the answer."""
    version = context.protocol_version
    return version is not None and is_version_at_least(version, _STATELESS)


class ClientLLM:
    """The caller's own model; answers of earlier rounds of the same call are kept.

    `run` names the call over all its rounds.
    """

    def __init__(self, context: Context[Any, Any], run: str | None = None) -> None:
        self._context = context
        self._run = run
        self._answers = {**_answers(context), **_arrived(context)}

    @property
    def batches(self) -> bool:
        """Whether every exchange ends a round of the call, so that prompts should go together."""
        return has_rounds(self._context)

    async def complete(self, prompt: Prompt) -> Completion:
        """Answer one prompt; raises `InputNeeded` or `UnavailableError`."""
        return (await self.complete_all([prompt]))[0]

    async def complete_all(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answer several prompts, in one round where the protocol has rounds."""
        if not has_rounds(self._context):
            return [await self._ask(prompt) for prompt in prompts]
        missing = {_key(p): p for p in prompts if _key(p) not in self._answers}
        if missing:
            raise InputNeeded(self._questions(missing))
        return [Completion(**self._answers[_key(prompt)]) for prompt in prompts]

    def _questions(self, missing: dict[str, Prompt]) -> InputRequiredResult:
        return InputRequiredResult(
            input_requests={
                key: CreateMessageRequest(params=_params(prompt)) for key, prompt in missing.items()
            },
            request_state=json.dumps({"answers": self._answers, "run": self._run}, sort_keys=True),
        )

    async def _ask(self, prompt: Prompt) -> Completion:
        params = _params(prompt)
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                asking = self._context.session.create_message(
                    params.messages,
                    max_tokens=params.max_tokens,
                    system_prompt=params.system_prompt,
                    temperature=params.temperature,
                    related_request_id=self._context.request_id,
                )
            result = await asking
        except Exception as error:
            raise UnavailableError(
                f"the client's model did not answer: {error}", code="llm_unavailable"
            ) from error
        return Completion(text=_text(result), model=result.model)


def _params(prompt: Prompt) -> CreateMessageRequestParams:
    system = prompt.system
    if prompt.schema is not None:
        system += f"\nThe answer must be JSON of this schema: {json.dumps(prompt.schema)}"
    content = TextContent(type="text", text=prompt.user)
    return CreateMessageRequestParams(
        messages=[SamplingMessage(role="user", content=content)],
        max_tokens=prompt.max_tokens,
        system_prompt=system,
        temperature=prompt.temperature,
    )


def _key(prompt: Prompt) -> str:
    asked = json.dumps(
        [prompt.system, prompt.user, prompt.max_tokens, prompt.temperature, prompt.schema],
        sort_keys=True,
    )
    return f"llm-{hashlib.sha256(asked.encode()).hexdigest()[:20]}"


def run_of(context: Context[Any, Any]) -> str | None:
    """Return the name of the call that this round belongs to, None in its first round."""
    run = _recorded(context.request_state).get("run")
    return run if isinstance(run, str) else None


def _answers(context: Context[Any, Any]) -> dict[str, dict[str, Any]]:
    answers = _recorded(context.request_state).get("answers")
    return answers if isinstance(answers, dict) else {}


def _recorded(state: str | None) -> dict[str, Any]:
    try:
        recorded = json.loads(state) if state else {}
    except ValueError:
        return {}
    return recorded if isinstance(recorded, dict) else {}


def _arrived(context: Context[Any, Any]) -> dict[str, dict[str, Any]]:
    return {
        key: {"text": _text(result), "model": result.model}
        for key, result in (context.input_responses or {}).items()
        if isinstance(result, CreateMessageResult)
    }


def _text(result: CreateMessageResult) -> str:
    return result.content.text if isinstance(result.content, TextContent) else ""
