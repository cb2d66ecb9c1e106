"""What a refusal says beyond its verdict: whose it is, and when to ask again."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from framework.types import Verdict
from framework.waits import retry_after

if TYPE_CHECKING:
    from collections.abc import Mapping

    from framework.spec.compiler import Engine
    from framework.types import HttpResponse, Page

__all__ = ["refusal"]

#: How interfaces refuse a key by the bare status.
_STATUSES: Mapping[int, Verdict] = {
    401: Verdict.UNAUTHORISED,
    403: Verdict.UNAUTHORISED,
    429: Verdict.RATE_LIMITED,
    432: Verdict.QUOTA,
    433: Verdict.QUOTA,
}


def refusal(engine: Engine, page: Page, response: HttpResponse, keys: Mapping[str, str]) -> Page:
    """Return the page with what the answer's status and headers say about asking again.

    Where a key was sent, an error with a status by which keys are refused is that refusal, unless
    the file declares such a verdict itself: then it means what its condition says, nothing else.
    """
    if page.verdict in {Verdict.OK, Verdict.EMPTY}:
        return page
    if page.verdict is Verdict.ERROR and keys:
        page = replace(page, verdict=_of_key(engine, response.status))
    wait = retry_after(response, datetime.now(UTC), engine.limits.cooldown.from_)
    return page if wait is None else replace(page, retry_after=wait)


def _of_key(engine: Engine, status: int) -> Verdict:
    verdict = _STATUSES.get(status, Verdict.ERROR)
    declared = {rule.verdict for rule in engine.spec.verdicts}
    return Verdict.ERROR if verdict in declared else verdict
