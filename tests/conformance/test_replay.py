"""Every engine answers from the packaged recordings, whatever it is asked."""

from __future__ import annotations

import pytest

from framework.spec.context import Variables
from framework.types import Query, Verdict
from spiders.engine import SAMPLE
from spiders.recordings import Recordings, recorded_in
from tests.conformance.recordings import ENGINES, ROOT, engine

RECORDED = recorded_in(ROOT / "fixtures")
#: As a crawl over recordings asks, and as a search over them does.
ANSWERS = {"crawl": Recordings(RECORDED, exact=True), "search": Recordings(RECORDED)}


@pytest.mark.parametrize("way", ANSWERS)
@pytest.mark.parametrize("query", [SAMPLE, Query(text="mountain hut")], ids=["sample", "other"])
@pytest.mark.parametrize("name", sorted(path.stem for path in ENGINES.glob("*.yaml")))
def test_rows_come_from_the_packaged_recordings(name: str, query: Query, way: str) -> None:
    found = engine(name)
    steps = {step.id: dict.fromkeys(step.take, "1") for step in found.spec.session}
    variables = Variables(
        keys={name: "k" for name, key in found.keys.items() if not key.optional},
        settings={n: s.default or "https://own.example" for n, s in found.settings.items()},
        session=steps,
    )

    response = ANSWERS[way](found.plan(query, 1, variables))

    assert response is not None
    assert found.read(response, 1, query).verdict is Verdict.OK
