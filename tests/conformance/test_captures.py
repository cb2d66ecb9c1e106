"""Every engine file against real recorded pages: verdicts, rows, order, addresses, texts."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING

import pytest

from framework.types import Verdict
from tests.conformance.recordings import Recording, engine, engine_of, plain, recordings

if TYPE_CHECKING:
    from framework.types import Row

pytestmark = pytest.mark.shared

ALL = recordings()
RESULTS = [item for item in ALL if item.kind == "results"]
OTHERS = [item for item in ALL if item.kind != "results"]


def _id(item: Recording) -> str:
    return item.path.rsplit(".", 1)[0]


@pytest.mark.parametrize("recording", RESULTS, ids=_id)
def test_reads_the_rows_that_a_person_sees(recording: Recording) -> None:
    found = engine_of(recording)
    page = found.read(recording.response(found))
    wanted = recording.expected

    assert page.verdict is Verdict.OK, page.detail
    assert [row.rank for row in page.rows] == [int(row["rank"]) for row in wanted]
    if not recording.stubbed:
        assert [row.url for row in page.rows] == [row["url"] for row in wanted]
    assert _unequal(page.rows, wanted, "title", recording) == 0
    assert _unequal(page.rows, wanted, "snippet", recording) <= 0.1 * len(wanted)


@pytest.mark.skipif(not RESULTS, reason="real recordings (../shared) are not part of this clone")
def test_snippets_are_right_over_all_recordings() -> None:
    """Single abstracts differ by the spaces between their headings, which the reader keeps."""
    wrong = total = 0
    for recording in RESULTS:
        found = engine_of(recording)
        wanted = recording.expected
        rows = found.read(recording.response(found)).rows
        wrong += _unequal(rows, wanted, "snippet", recording)
        total += len(wanted)

    assert total > 150
    assert wrong <= 0.03 * total


def _unequal(
    rows: tuple[Row, ...], wanted: list[dict[str, str]], field: str, recording: Recording
) -> int:
    pairs = [
        (
            plain(str(getattr(row, field, None)), stubbed=recording.stubbed),
            plain(expected[field], stubbed=recording.stubbed),
        )
        for row, expected in zip_longest(rows, wanted)
    ]
    wrong = [pair for pair in pairs if pair[0] != pair[1]]
    for read, expected in wrong:
        print(f"{field}\n  read     {read}\n  expected {expected}")  # noqa: T201
    return len(wrong)


@pytest.mark.parametrize("recording", RESULTS, ids=_id)
def test_optional_fields_alone_may_be_missing(recording: Recording) -> None:
    found = engine_of(recording)
    page = found.read(recording.response(found))

    assert page.drift == 0
    assert page.dropped == 0


@pytest.mark.parametrize("recording", OTHERS, ids=_id)
def test_calls_a_page_without_rows_what_it_is(recording: Recording) -> None:
    found = engine_of(recording)
    page = found.read(recording.response(found))

    assert page.verdict is recording.verdict, page.detail
    assert page.rows == ()


@pytest.mark.parametrize("recording", [r for r in OTHERS if r.path.endswith(".html")], ids=_id)
def test_a_block_that_comes_with_status_200_is_still_one(recording: Recording) -> None:
    found = engine_of(recording)

    assert found.read(recording.response(found, status=200)).verdict is recording.verdict


@pytest.mark.parametrize(
    "path", sorted({item.path for item in recordings(every=True) if item.folder == "pubmed"})
)
def test_pubmed_ids_come_from_its_first_hop(path: str) -> None:
    pubmed = engine("pubmed")
    recording = next(item for item in recordings(every=True) if item.path == path)
    taken = pubmed.take(pubmed.steps[0], recording.response(pubmed))

    if recording.kind == "results":
        assert isinstance(taken, dict)
        assert all(part.isdigit() for value in taken.values() for part in value.split(","))
    else:
        assert not isinstance(taken, dict)
        assert taken.verdict is Verdict.EMPTY
