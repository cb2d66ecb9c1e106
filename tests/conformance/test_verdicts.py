"""What holds for every engine file without a recording: statuses mean what the file says."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.types import HttpResponse
from tests.conformance.recordings import ENGINES, engine

if TYPE_CHECKING:
    from collections.abc import Iterator

    from framework.spec.model import Condition


def _statuses(condition: Condition) -> Iterator[int]:
    """The statuses that make a condition true by themselves."""
    if condition.status is not None:
        yield from condition.status
    for part in condition.any or ():
        yield from _statuses(part)


NAMED = [
    pytest.param(path.stem, status, rule.verdict, id=f"{path.stem}-{status}")
    for path in sorted(ENGINES.glob("*.yaml"))
    for rule in engine(path.stem).spec.verdicts
    for status in _statuses(rule.when)
]


@pytest.mark.parametrize(("name", "status", "verdict"), NAMED)
def test_a_status_that_the_file_names_has_its_verdict(name: str, status: int, verdict: str) -> None:
    bare = HttpResponse(url="https://engine.example/", status=status)

    page = engine(name).read(bare)

    assert page.verdict == verdict, page.detail
    assert page.rows == ()
