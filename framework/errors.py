"""Every error a user can meet: a stable code, what happened, and what to do next."""

from __future__ import annotations

__all__ = [
    "ConsilienceError",
    "InvalidInputError",
    "NotFoundError",
    "SpecError",
    "UnavailableError",
]


class ConsilienceError(Exception):
    """Base of all expected failures; shown to the user as one sentence, never as a traceback.

    `code` is stable and machine-readable, `retryable` says whether the same call may succeed
    later, `retry_after` in how many seconds.
    """

    code = "error"
    retryable = False

    def __init__(
        self,
        message: str,
        *,
        code: str | None = None,
        hint: str = "",
        retryable: bool | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.retry_after = retry_after
        if code is not None:
            self.code = code
        if retryable is not None:
            self.retryable = retryable

    def __str__(self) -> str:
        return f"{self.message}; {self.hint}" if self.hint else self.message


class InvalidInputError(ConsilienceError):
    """An argument or setting is wrong; raised before anything is sent, fix the input."""

    code = "invalid_input"


class NotFoundError(ConsilienceError):
    """A named thing does not exist; the message offers the nearest names."""

    code = "not_found"


class SpecError(ConsilienceError):
    """An engine file has problems; raised by the compiler, which keeps them in `problems`."""

    code = "invalid_spec"


class UnavailableError(ConsilienceError):
    """Nothing answered in time or everything rests; the same call may work later."""

    code = "unavailable"
    retryable = True
