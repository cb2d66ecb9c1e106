"""What values and patterns of a file have in common: text of a value, RE2, JMESPath."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import jmespath
import re2
from jmespath.exceptions import JMESPathError

from framework.spec.linear import simple

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["Found", "check_jmes", "check_regex", "compile_search", "encodable", "text_of"]


class Found(Protocol):
    """A match."""

    def group(self, group: int, /) -> str | None:
        """Return what a group matched, None where it took no part."""
        ...  # pragma: no cover


def text_of(value: object) -> str | None:
    """Return the text of a value: numbers in digits, truth as `true`; None for structures."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else str(value)
    return _digits(value) if isinstance(value, int) else None


def _digits(value: int) -> str | None:
    return str(value) if abs(value) < 10**30 else None


def encodable(text: str) -> str:
    """Return text that RE2 can take: lone surrogates, which UTF-8 has not, replaced."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def check_regex(pattern: object) -> re2._Regexp:
    """Compile an RE2 pattern; raises ValueError with RE2's reason and a hint."""
    if not isinstance(pattern, str) or not pattern:
        raise ValueError("must be a regular expression")
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 8 << 20
    try:
        return re2.compile(pattern, options)
    except (re2.error, UnicodeEncodeError) as error:
        reason = error.args[0].decode() if isinstance(error.args[0], bytes) else str(error)
        raise ValueError(
            f"is not a valid RE2 expression: {reason} (RE2 has no look-around, no back-references)"
        ) from error


def compile_search(pattern: object) -> tuple[Callable[[str], Found | None], int]:
    """Return a search for an RE2 expression and its number of groups; raises as check_regex.

    The search is linear in the text and takes any text.
    """
    regex = check_regex(pattern)
    quick = simple(str(pattern))
    if quick is not None:
        return quick.search, quick.groups
    search = regex.search
    return lambda text: search(encodable(text)), regex.groups


def check_jmes(expression: object) -> jmespath.parser.ParsedResult:
    """Compile a JMESPath expression; raises ValueError with the reason."""
    if not isinstance(expression, str) or not expression.strip():
        raise ValueError("must be a JMESPath expression")
    try:
        return jmespath.compile(expression)
    except (JMESPathError, RecursionError) as error:
        reason = str(error).splitlines()[0] if str(error) else "nested too deeply"
        raise ValueError(f"is not a valid JMESPath expression: {reason}") from error
