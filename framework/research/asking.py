"""Asking a model: several questions at once, answers of one shape, one repair for a broken one."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from pydantic import BaseModel, ValidationError

from framework.errors import ConsilienceError
from framework.llm import Completion, Prompt
from framework.reading.tokens import estimate
from framework.research.state import Usage

if TYPE_CHECKING:
    from collections.abc import Sequence

    from framework.llm import LLM

__all__ = ["Asked", "BatchLLM", "Question", "ask", "ask_all"]

_AT_ONCE = 4

R = TypeVar("R", bound=BaseModel)


@runtime_checkable
class BatchLLM(Protocol):
    """A model that answers several prompts in one exchange, where `batches` says so."""

    @property
    def batches(self) -> bool:
        """Whether an exchange with it is dear, so that prompts should go together."""

    async def complete_all(self, prompts: Sequence[Prompt]) -> list[Completion]:
        """Answer all prompts, in order."""


@dataclass(frozen=True, slots=True)
class Question:
    """A prompt and the shape of its answer (None: plain text)."""

    prompt: Prompt
    shape: type[BaseModel] | None = None


@dataclass(frozen=True, slots=True)
class Asked:
    """The answers in order, each a value of its shape, a text or a failure, and what they took."""

    answers: tuple[BaseModel | str | ConsilienceError, ...]
    usage: Usage = field(default_factory=Usage)
    exchanges: int = 0

    def of(self, at: int, shape: type[R]) -> R | None:
        """Return an answer if it has that shape."""
        answer = self.answers[at]
        return answer if isinstance(answer, shape) else None

    @property
    def failures(self) -> tuple[str, ...]:
        """What went wrong, as sentences."""
        return tuple(str(one) for one in self.answers if isinstance(one, ConsilienceError))


async def ask_all(llm: LLM, prompts: Sequence[Prompt]) -> list[Completion | ConsilienceError]:
    """Answer prompts: in one exchange where the model offers it, else four at a time.

    A failure takes the place of its answer. Other exceptions (a client's model that must answer
    first) pass through.
    """
    if isinstance(llm, BatchLLM) and llm.batches:
        try:
            return [*await llm.complete_all(prompts)]
        except ConsilienceError as error:
            return [error] * len(prompts)
    room = asyncio.Semaphore(_AT_ONCE)

    async def one(prompt: Prompt) -> Completion | ConsilienceError:
        async with room:
            try:
                return await llm.complete(prompt)
            except ConsilienceError as error:
                return error

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(prompt)) for prompt in prompts]
    except BaseExceptionGroup as raised:
        raise raised.exceptions[0] from None
    return [task.result() for task in tasks]


async def ask(llm: LLM, questions: Sequence[Question], *, repair: bool = True) -> Asked:
    """Ask questions; an answer that is not of its shape is asked for once more, with the reason.

    `repair` False spares that second exchange.
    """
    if not questions:
        return Asked(())
    replies = await ask_all(llm, [question.prompt for question in questions])
    usage = _usage([question.prompt for question in questions], replies)
    read = [_read(question, reply) for question, reply in zip(questions, replies, strict=True)]
    broken = [at for at, answer in enumerate(read) if isinstance(answer, _Broken)]
    exchanges = 1
    if broken and repair:
        again = [_repair(questions[at].prompt, _broken(read[at]).reason) for at in broken]
        second = await ask_all(llm, again)
        usage = usage.plus(_usage(again, second))
        exchanges = 2
        for at, reply in zip(broken, second, strict=True):
            read[at] = _read(questions[at], reply)
    return Asked(tuple(_final(answer) for answer in read), usage, exchanges)


@dataclass(frozen=True, slots=True)
class _Broken:
    reason: str


_Answer = BaseModel | str | ConsilienceError | _Broken


def _broken(answer: _Answer) -> _Broken:
    return answer if isinstance(answer, _Broken) else _Broken("")


def _final(answer: _Answer) -> BaseModel | str | ConsilienceError:
    if isinstance(answer, _Broken):
        return ConsilienceError(
            f"the model's answer was not usable: {answer.reason}", code="llm_unusable"
        )
    return answer


def _read(question: Question, reply: Completion | ConsilienceError) -> _Answer:
    if isinstance(reply, ConsilienceError):
        return reply
    if question.shape is None:
        return reply.text.strip() or _Broken("it was empty")
    try:
        return question.shape.model_validate(json.loads(_unfenced(reply.text)))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        return _Broken(f"{place}: {first['msg']}" if place else first["msg"])
    except (ValueError, RecursionError) as error:
        return _Broken(f"it is no JSON ({type(error).__name__})")


def _unfenced(text: str) -> str:
    stripped = text.strip()
    if stripped.startswith("```") and stripped.endswith("```") and "\n" in stripped:
        return stripped.partition("\n")[2].removesuffix("```").strip()
    return stripped


def _repair(prompt: Prompt, reason: str) -> Prompt:
    remark = f"Your last answer could not be used: {reason}. Answer again, in the form asked for."
    return replace(prompt, user=f"{prompt.user}\n\n{remark}")


def _usage(prompts: Sequence[Prompt], replies: Sequence[Completion | ConsilienceError]) -> Usage:
    total = Usage()
    for prompt, reply in zip(prompts, replies, strict=True):
        if isinstance(reply, Completion):
            total = total.plus(_of_one(prompt, reply))
    return total


def _of_one(prompt: Prompt, reply: Completion) -> Usage:
    counted = reply.prompt_tokens > 0
    return Usage(
        calls=1,
        prompt_tokens=reply.prompt_tokens if counted else estimate(prompt.system + prompt.user),
        completion_tokens=reply.completion_tokens if counted else estimate(reply.text),
        estimated=not counted,
        model=reply.model,
    )
