"""Agreement and contradiction between statements, and the weighing of whole sources."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from framework.evidence.agreement import Statement, cluster, relate, statements
from framework.evidence.models import ModelStore
from framework.evidence.research import weigh
from framework.reading.tokens import count

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from framework.evidence.chunks import Source

NONE = ModelStore(records=())
LAKE = "The lake in the valley is 40 metres deep."


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        pytest.param(LAKE, LAKE, "agreement", id="same"),
        pytest.param(
            LAKE, "The lake in the valley is 90 metres deep.", "contradiction", id="number"
        ),
        pytest.param(LAKE, "Trains to the coast leave every hour.", "neither", id="other matter"),
        pytest.param(
            "The mine was opened in 1880.",
            "The mine was opened in 1902.",
            "contradiction",
            id="year",
        ),
        pytest.param(
            "Swimming in the lake is not allowed.",
            "Swimming in the lake is allowed.",
            "contradiction",
            id="negation",
        ),
    ],
)
def test_relations(one: str, other: str, kind: str) -> None:
    assert relate(one, other, NONE).kind == kind
    assert relate(other, one, NONE).kind == kind


def test_clusters_name_supporters_and_opponents() -> None:
    items = [
        Statement(0, "a", LAKE),
        Statement(1, "b", LAKE),
        Statement(2, "c", "The lake in the valley is 90 metres deep."),
    ]
    found, method = cluster(items, NONE)
    assert method == "nli in both directions (lexical)"
    assert found[0].supporters == (0, 1)
    assert found[0].opponents == (2,)
    assert found[1].supporters == (2,)


def test_statements_of_one_source_are_not_compared() -> None:
    found, method = cluster([Statement(0, "a", LAKE), Statement(0, "b", LAKE)], NONE)
    assert len(found) == 2
    assert method == "none needed"


def test_statements_are_full_sentences() -> None:
    assert [s.text for s in statements(0, "c", f"{LAKE} Yes. - Short item")] == [LAKE]


def test_contradiction_never_raises_agreement(source: Callable[..., Source]) -> None:
    sources = [
        source(LAKE, url="https://a.example/"),
        source("The lake in the valley is 90 metres deep.", url="https://b.example/"),
    ]
    found = weigh(sources, "how deep is the lake in the valley", store=NONE)
    assert all(item.agreement_count == 1 for item in found.ranked_evidence)
    assert found.agreement.score == 0.0
    assert {found.contradictions[0].a.url, found.contradictions[0].b.url} == {
        "https://a.example/",
        "https://b.example/",
    }
    assert "number" in found.contradictions[0].reason


def test_agreeing_sources_are_counted(source: Callable[..., Source]) -> None:
    urls = ("https://a.example/", "https://b.example/", "https://c.example/")
    sources = [
        *(
            source(f"{LAKE} {extra}", url=url)
            for url, extra in zip(urls, ("", "It is cold."), strict=False)
        ),
        source("Our shop sells boots and tents for the valley.", url=urls[2]),
    ]
    found = weigh(sources, "how deep is the lake", store=NONE)
    assert found.ranked_evidence[0].agreement_count == 2
    assert found.contradictions == ()
    assert found.agreement.score > 0


def test_budget_holds_over_all_sources(source: Callable[..., Source]) -> None:
    sources = [
        source(
            *(f"Fact {n}.{k}: the lake has {n * 7 + k} islands and {k} ports." for k in range(30))
        )
        for n in range(4)
    ]
    found = weigh(sources, "how many islands has the lake", max_tokens=120, store=NONE)
    assert found.token_budget.returned <= 120
    assert count("\n\n".join(f.evidence.text for f in found.ranked_evidence)) <= 120


def test_no_sources_give_no_evidence() -> None:
    assert weigh([], "anything", store=NONE).ranked_evidence == ()


def _share(shared: Path, store: ModelStore) -> float:
    lines = (shared / "evals/nli.jsonl").read_text("utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    pairs = [
        r for r in rows if r["source"].startswith("hand-written") and r["label"] == "contradiction"
    ]
    kinds = [relate(r["premise"], r["hypothesis"], store).kind for r in pairs]
    return kinds.count("agreement") / len(kinds)


def test_recorded_contradictions_are_no_agreement(shared: Path) -> None:
    assert _share(shared, NONE) <= 0.05


@pytest.mark.slow
def test_recorded_contradictions_are_no_agreement_with_models(
    shared: Path, small: ModelStore
) -> None:
    assert _share(shared, small) <= 0.05
