"""An engine's say on an answer before it is read: a telling redirect is not followed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from framework.headers import decoded
from framework.types import HttpResponse

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from framework.types import Verdict

__all__ = ["plain", "settles"]


class Judge(Protocol):
    """What a compiled engine offers: the first verdict whose condition holds."""

    def verdict(self, response: HttpResponse) -> Verdict | None:
        """Return the verdict of the engine's conditions, or None where none holds."""


def plain(response: Response, hops: tuple[str, ...] = ()) -> HttpResponse:
    """Return a Scrapy response as the framework's value."""
    return HttpResponse(
        url=response.url,
        status=response.status,
        headers=decoded(response.headers.items()),
        body=response.body,
        hops=hops,
    )


def settles(request: Request, response: Response) -> bool:
    """Whether the request's engine has a verdict for this answer, so that nothing is followed.

    The engine stands in `request.meta["judge"]`; requests without one are never settled.
    """
    judge: Judge | None = request.meta.get("judge")
    if judge is None:
        return False
    return judge.verdict(plain(response, tuple(request.meta.get("hops", ())))) is not None
