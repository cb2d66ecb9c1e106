"""Which language model answers: the client's own, a configured endpoint, or none."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from framework.errors import ConsilienceError, UnavailableError
from framework.llm import Completion, Prompt
from framework.types import HttpRequest, HttpResponse

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from server.config import Settings

    Send = Callable[[HttpRequest, float], Awaitable[HttpResponse]]

__all__ = ["EndpointLLM", "Resolution", "configured", "resolve"]

Resolution = Literal["client", "api", "none"]

ATTEMPTS = 3
_RETRY_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504})
_LONGEST_PAUSE = 20.0


def resolve(*, sampling: bool, client: bool, api: bool, skip_client: bool) -> Resolution:
    """Decide who answers.

    The client's model comes first, unless it is to be skipped and an endpoint can stand in;
    nothing answers while sampling is off.
    """
    if not sampling:
        return "none"
    if client and not (skip_client and api):
        return "client"
    return "api" if api else "none"


def configured(settings: Settings) -> bool:
    """Whether an endpoint is set up: an address and a model's name."""
    return bool(settings.llm_base_url and settings.llm_name)


@dataclass(frozen=True, slots=True)
class EndpointLLM:
    """An OpenAI-compatible chat endpoint, asked through `send` (request, seconds).

    Transient failures are tried up to three times within the time-out of each; JSON schemas are
    passed as `response_format` and, where the server refuses that, as words.
    """

    base_url: str
    model: str
    send: Send
    key: str | None = field(default=None, repr=False)
    timeout: float = 30.0
    pauses: tuple[float, float] = (0.5, 2.0)

    async def complete(self, prompt: Prompt) -> Completion:
        """Answer one prompt.

        Raises:
            UnavailableError: no usable answer after all attempts.
            ConsilienceError: the endpoint refused the request (code `llm_refused`).
        """
        body = _chat(self.model, prompt)
        response = await self._attempts(body)
        if response.status in (400, 422) and "response_format" in body:
            response = await self._attempts(_chat(self.model, prompt, as_words=True))
        if response.status >= 400:
            raise ConsilienceError(
                f"the language model at {self.base_url} answered status {response.status}",
                code="llm_refused",
                hint="check LLM_BASE_URL, LLM_NAME and LLM_API_KEY",
            )
        return _completion(response, self.base_url)

    async def _attempts(self, body: dict[str, object]) -> HttpResponse:
        reason = ""
        for attempt in range(ATTEMPTS):
            if attempt:
                await asyncio.sleep(self.pauses[attempt - 1])
            try:
                response = await self.send(self._request(body), self.timeout)
            except ConsilienceError as error:
                reason = str(error)
                continue
            if response.status not in _RETRY_STATUS:
                return response
            reason = f"status {response.status}"
            await _wait(response)
        raise UnavailableError(
            f"the language model at {self.base_url} failed {ATTEMPTS} times, at last: {reason}",
            code="llm_unavailable",
        )

    def _request(self, body: dict[str, object]) -> HttpRequest:
        headers = [("Content-Type", "application/json"), ("Accept", "application/json")]
        if self.key:
            headers.append(("Authorization", f"Bearer {self.key}"))
        return HttpRequest(
            url=f"{self.base_url.rstrip('/')}/chat/completions",
            method="POST",
            headers=tuple(headers),
            body=json.dumps(body, ensure_ascii=False).encode(),
        )


async def _wait(response: HttpResponse) -> None:
    given = response.header("Retry-After") or ""
    if given.isdigit():
        await asyncio.sleep(min(int(given), _LONGEST_PAUSE))


def _chat(model: str, prompt: Prompt, *, as_words: bool = False) -> dict[str, object]:
    system = prompt.system
    body: dict[str, object] = {
        "model": model,
        "max_tokens": prompt.max_tokens,
        "temperature": prompt.temperature,
    }
    if prompt.schema is not None and as_words:
        system += f"\nThe answer must be JSON of this schema: {json.dumps(prompt.schema)}"
    elif prompt.schema is not None:
        body["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "schema": prompt.schema},
        }
    body["messages"] = [
        {"role": "system", "content": system},
        {"role": "user", "content": prompt.user},
    ]
    return body


def _completion(response: HttpResponse, base_url: str) -> Completion:
    try:
        data = json.loads(response.body)
        text = data["choices"][0]["message"]["content"]
        usage = data.get("usage") or {}
        if not isinstance(text, str):
            raise TypeError("content is no text")
        return Completion(
            text=text,
            model=str(data.get("model", "")),
            prompt_tokens=int(usage.get("prompt_tokens") or 0),
            completion_tokens=int(usage.get("completion_tokens") or 0),
        )
    except (ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
        raise UnavailableError(
            f"the language model at {base_url} answered something that is no chat completion",
            code="llm_unusable",
        ) from error
