"""Headers as they come over the wire, and as the framework reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["decoded"]


def decoded(headers: Iterable[tuple[bytes, Iterable[bytes]]]) -> tuple[tuple[str, str], ...]:
    """Return headers with all their values as pairs of text, in their order; never raises.

    Every byte is one character (ISO-8859-1, as RFC 9110 section 5.5 has it).
    """
    return tuple(
        (name.decode("latin-1"), value.decode("latin-1"))
        for name, values in headers
        for value in values
    )
