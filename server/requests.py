"""What the service is asked, as values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from framework.types import Query

__all__ = ["Filtered", "SearchRequest"]


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One search: the query, the engines (None: the caller's own), the deadline in seconds."""

    query: Query
    engines: tuple[str, ...] | None = None
    timeout: float = 10.0


@dataclass(frozen=True, slots=True)
class Filtered:
    """Whether a model dropped rows, and if it could not, why."""

    done: bool = False
    remark: str = ""
