"""What a tool is: the one description that MCP, the command line and HTTP are made from."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Generic, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError, WithJsonSchema

from framework.errors import ConsilienceError, InvalidInputError
from server.tools.argument_errors import sentence

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from framework.llm import LLM
    from server.app import Application

__all__ = [
    "Arguments",
    "Call",
    "Error",
    "ErrorInfo",
    "NoArguments",
    "Once",
    "Output",
    "Reply",
    "Tool",
    "parse",
    "untrusted",
]


class Arguments(BaseModel):
    """Base of every tool's arguments: unknown names are refused, values are not coerced oddly."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class NoArguments(Arguments):
    """No arguments."""


class ErrorInfo(BaseModel):
    """A failure that a program can act on; `retry_after` is in seconds."""

    code: str
    message: str
    retryable: bool = False
    retry_after: float | None = None


#: An error whose schema is kept short, since every tool's answer has one.
Error = Annotated[
    ErrorInfo | None,
    WithJsonSchema({"type": "object", "description": "code, message, retryable, retry_after"}),
]


class Output(BaseModel):
    """Base of every tool's structured answer; `error` is set, and nothing else, when it failed."""

    error: Error = None


T = TypeVar("T")
A = TypeVar("A", bound=Arguments)
O = TypeVar("O", bound=Output)  # noqa: E741


@dataclass(frozen=True, slots=True)
class Reply(Generic[O]):
    """A tool's answer: compact Markdown for a model, everything as data, JPEG images if any."""

    text: str
    data: O
    images: tuple[bytes, ...] = ()


async def _silent(_done: float, _total: float | None, _message: str) -> None:
    return None


def _unheard(_done: float, _total: float | None, _message: str) -> None:
    return None


class Once(Protocol):
    """Does a step of a call once, however often the call is repeated for its client's model."""

    async def __call__(self, step: str, kind: type[T], work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` gives, or what it gave in an earlier round; `kind` is its type."""


async def _again(step: str, kind: type[T], work: Callable[[], Awaitable[T]]) -> T:
    return await work()


@dataclass(frozen=True, slots=True)
class Call:
    """Who calls, how to tell them of progress (done, total, message), and their model if any.

    `note` is `progress` for code that cannot wait. Work that comes before a question to
    `client_llm` goes through `once`.
    """

    caller: str = "default"
    progress: Callable[[float, float | None, str], Awaitable[None]] = field(default=_silent)
    client_llm: LLM | None = None
    note: Callable[[float, float | None, str], None] = field(default=_unheard)
    once: Once = field(default=_again)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[A, O]):
    """One tool of the contract; `run` raises ConsilienceError for what a user can act on."""

    name: str
    title: str
    description: str
    arguments: type[A]
    output: type[O]
    run: Callable[[Application, A, Call], Awaitable[Reply[O]]]
    read_only: bool = True
    open_world: bool = True


def parse(tool: Tool[A, O], given: Mapping[str, object]) -> A:
    """Check a call's arguments.

    Raises:
        InvalidInputError: one sentence that names the argument, what is allowed and the value.
    """
    try:
        return tool.arguments.model_validate(dict(given))
    except ValidationError as error:
        problems = error.errors(include_url=False)
        raise InvalidInputError(
            "; ".join(sentence(problem, tool.arguments) for problem in problems[:5]),
            code="invalid_arguments",
        ) from None


def failure(error: ConsilienceError) -> ErrorInfo:
    """Turn an expected failure into its machine-readable form."""
    return ErrorInfo(
        code=error.code,
        message=str(error),
        retryable=error.retryable,
        retry_after=error.retry_after,
    )


def untrusted(text: str, source: str) -> str:
    """Wrap text from the web so that a model can tell it from instructions.

    The closing tag carries a random id, so that the text cannot close the wrapper itself.
    """
    mark = secrets.token_hex(4)
    shown = source.replace('"', "%22").replace("<", "%3C").replace(">", "%3E")
    return f'<untrusted source="{shown}" id="{mark}">\n{text}\n</untrusted id="{mark}">'
