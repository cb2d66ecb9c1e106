"""Every engine file against its own fixtures: verdict, rows, extras, exactly as written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from framework.merge.canonical import canonical
from framework.spec.check import check_engine
from framework.spec.fixtures import Fixture, as_data, load_fixture
from framework.types import Query, Verdict
from tests.conformance.recordings import ENGINES, ROOT, engine

if TYPE_CHECKING:
    from pathlib import Path

FIXTURES = ROOT / "fixtures"
NAMES = sorted(path.stem for path in ENGINES.glob("*.yaml"))
CASES = sorted(path.parent for path in FIXTURES.glob("*/*/meta.yaml"))


def _id(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _load(path: Path) -> Fixture:
    return load_fixture(path, engine(path.parent.name).spec.request.url)


@pytest.mark.parametrize("path", CASES, ids=_id)
def test_reads_exactly_what_is_written_down(path: Path) -> None:
    found, fixture = engine(path.parent.name), _load(path)
    assert fixture.expected is not None
    if fixture.meta.step is None:
        page = found.read(fixture.response, fixture.meta.page, Query(text=fixture.meta.query))
        assert as_data(page) == {"results": [], **fixture.expected}, page.detail
        return
    taken = found.take(fixture.meta.step, fixture.response)
    verdict = Verdict.OK if isinstance(taken, dict) else taken.verdict
    assert verdict.value == fixture.expected["verdict"]
    assert taken == fixture.expected.get("taken", taken)


@pytest.mark.parametrize("name", NAMES)
def test_the_check_that_authors_run_is_content(name: str) -> None:
    report = check_engine(ENGINES / f"{name}.yaml", FIXTURES)

    assert report.ok, "\n".join(map(str, report.problems))


@pytest.mark.parametrize("name", NAMES)
def test_declared_tests_hold_and_name_every_fixture(name: str) -> None:
    spec = engine(name).spec
    folders = {path.name for path in CASES if path.parent.name == name}
    assert folders == {test.case for test in spec.tests} | {
        folder for folder in folders if _load(FIXTURES / name / folder).meta.step
    }
    for test in spec.tests:
        fixture = _load(FIXTURES / name / test.case)
        expected = fixture.expected or {}
        rows = expected.get("results", [])
        assert expected["verdict"] == test.expect.value
        assert isinstance(rows, list)
        assert len(rows) >= (test.rows or 0)


@pytest.mark.parametrize("path", CASES, ids=_id)
def test_half_a_page_is_never_an_exception(path: Path) -> None:
    found, fixture = engine(path.parent.name), _load(path)
    response = fixture.response
    for size in (0, 1, len(response.body) // 3, len(response.body) // 2):
        page = found.read(
            type(response)(
                url=response.url, status=200, headers=response.headers, body=response.body[:size]
            )
        )
        assert (page.verdict is Verdict.OK) == bool(page.rows)


#: Engines that draw on somebody else's index; consensus must not count them as a second voice.
LINEAGES = [
    ("bing", "bing"),
    ("duckduckgo", "bing"),
    ("duckduckgo-lite", "bing"),
    ("yahoo", "bing"),
    ("qwant", "bing"),
    ("google", "google"),
    ("startpage", "google"),
    ("ecosia", "google"),
    ("google-cse", "google"),
    ("brave", "brave"),
    ("brave-api", "brave"),
    ("mojeek", "mojeek"),
    ("yandex", "yandex"),
    ("baidu", "baidu"),
]


@pytest.mark.parametrize(("name", "index"), LINEAGES)
def test_index_lineage(name: str, index: str) -> None:
    assert engine(name).index == index


def test_fixtures_of_the_default_engines_agree_on_pages() -> None:
    found: dict[str, set[str]] = {}
    for name in ("bing", "duckduckgo", "brave", "mojeek", "startpage"):
        page = engine(name).read(_load(FIXTURES / name / "ok").response)
        for row in page.rows:
            found.setdefault(canonical(row.url), set()).add(engine(name).index)

    assert sum(len(indexes) >= 3 for indexes in found.values()) >= 5
