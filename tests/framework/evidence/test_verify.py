"""Claims checked against sources."""

from __future__ import annotations

import csv
import gzip
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from framework.errors import InvalidInputError
from framework.evidence.chunks import Source
from framework.evidence.models import ModelStore
from framework.evidence.verify import verify
from framework.reading import read

if TYPE_CHECKING:
    from collections.abc import Callable

NONE = ModelStore(records=())
CLAIMS = Path(__file__).with_name("made_claims.tsv")
HALL = (
    "The concert hall was opened in March 1962. It has 1,800 seats and an organ with 60 stops.",
    "Smoking is not allowed in the building. Tickets are sold at the northern door.",
)


def _verdict(source: Callable[..., Source], claim: str) -> str:
    return verify(claim, [source(*HALL, title="Concert hall")], store=NONE).verdict


@pytest.mark.parametrize(
    ("claim", "verdicts"),
    [
        pytest.param("The concert hall was opened in March 1962.", {"supported"}, id="true"),
        pytest.param("The concert hall was opened in March 1971.", {"refuted"}, id="year"),
        pytest.param("The hall has 900 seats.", {"refuted", "unclear"}, id="number"),
        pytest.param("Smoking is allowed in the building.", {"refuted"}, id="negation"),
        pytest.param("Smoking is not allowed in the building.", {"supported"}, id="negated"),
        pytest.param("The hall serves excellent dumplings.", {"unclear"}, id="not said"),
        pytest.param("Paul Orm opened the hall in 1962.", {"unclear"}, id="name"),
    ],
)
def test_verdicts(source: Callable[..., Source], claim: str, verdicts: set[str]) -> None:
    assert _verdict(source, claim) in verdicts


def test_each_statement_has_its_verdict(source: Callable[..., Source]) -> None:
    claim = "The concert hall was opened in March 1962; smoking is allowed in the building."
    found = verify(claim, [source(*HALL, title="Concert hall")], store=NONE)
    assert [clause.verdict for clause in found.clauses] == ["supported", "refuted"]
    assert found.verdict == "mixed"


def test_sources_that_disagree_are_mixed(source: Callable[..., Source]) -> None:
    other = source("The concert hall was opened in March 1975.", url="https://other.example/")
    found = verify("The concert hall was opened in March 1962.", [source(*HALL), other], store=NONE)
    assert found.verdict == "mixed"
    assert [s.verdict for s in found.sources] == ["supported", "refuted"]
    assert "differs in: date" in found.reasons


def test_quotes_stand_in_the_source(source: Callable[..., Source]) -> None:
    hall = source(*HALL, title="Concert hall")
    quote = verify("The hall was opened in March 1962.", [hall], store=NONE).sources[0].quotes[0]
    assert hall.document.markdown[quote.char_start : quote.char_end] == quote.text
    assert quote.text_fragment_url.startswith("https://site.example/page#:~:text=")


def test_more_sources_of_one_mind_raise_confidence(source: Callable[..., Source]) -> None:
    claim = "The concert hall was opened in March 1962."
    one = verify(claim, [source(*HALL)], store=NONE)
    two = verify(claim, [source(*HALL), source(*HALL, url="https://b.example/")], store=NONE)
    assert two.confidence > one.confidence


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_go_by_is_unclear(source: Callable[..., Source], count: int) -> None:
    found = verify(
        "The moon is made of stone.", [source("Bread is baked here.")] * count, store=NONE
    )
    assert found.verdict == "unclear"
    assert found.confidence <= 0.4


def test_short_claims_are_refused() -> None:
    with pytest.raises(InvalidInputError, match="3 characters"):
        verify("ab", [])


def _made() -> list[dict[str, str]]:
    with CLAIMS.open(encoding="utf-8") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def _verdicts(shared: Path, store: ModelStore) -> list[tuple[bool, str]]:
    pages: dict[str, Source] = {}
    found = []
    for row in _made():
        key = row["page"]
        if key not in pages:
            path = next((shared / "pages/articles").glob(f"{key}*.html.gz"))
            document = read(gzip.decompress(path.read_bytes()), f"https://recorded.example/{key}")
            pages[key] = Source(document.url, document.title or "", document)
        verdict = verify(row["claim"], [pages[key]], store=store).verdict
        found.append((row["made"] == "true", verdict))
    return found


@pytest.mark.untraced
def test_made_claims_are_never_supported(shared: Path) -> None:
    found = _verdicts(shared, NONE)
    assert sum(not true for true, _ in found) == 50
    assert (False, "supported") not in found
    assert (True, "refuted") not in found
    assert found.count((True, "supported")) >= 10


@pytest.mark.untraced
@pytest.mark.slow
def test_made_claims_are_never_supported_with_models(shared: Path, small: ModelStore) -> None:
    found = _verdicts(shared, small)
    assert (False, "supported") not in found
    assert found.count((True, "supported")) >= 10
