"""What the engines with an API are asked, as their documentation has it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest
import yaml

from framework.spec.catalogue import Catalogue
from framework.spec.context import Variables
from framework.types import Query, TimeRange

if TYPE_CHECKING:
    from framework.spec.compiler import Engine
    from framework.types import HttpRequest

TEXT = "city bees"
NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Ask:
    """An engine's address, the names of its query and key, and what an input changes."""

    url: str
    text: str = ""
    key: str = ""
    page_two: dict[str, object] = field(default_factory=dict)
    week: dict[str, object] = field(default_factory=dict)
    since: dict[str, object] = field(default_factory=dict)
    region: dict[str, object] = field(default_factory=dict)
    site: dict[str, object] = field(default_factory=dict)


TABLE = Path(__file__).with_name("requests_api.yaml")
ASKS = {name: Ask(**ask) for name, ask in yaml.safe_load(TABLE.read_text("utf-8")).items()}

CHANGES = {
    "week": Query(text=TEXT, time=TimeRange.WEEK),
    "since": Query(text=TEXT, since="2026-01-31"),
    "region": Query(text=TEXT, region="de-DE", language="de"),
    "site": Query(text=TEXT, include_domains=("a.example",)),
}

#: What the recorded first page makes the next request carry, where the answer announces it.
CURSORS = {
    "biorxiv": {"cursorMark": "AoIIP4AAACg5MDAwMDAwMw=="},
    "bluesky": {"cursor": "25"},
    "europe-pmc": {"cursorMark": "AoIIP4AAACg5MDAwMDAwMw=="},
    "hugging-face-datasets": {"cursor": "eyJfaWQiOiI2In0="},
    "hugging-face-models": {"cursor": "eyJfaWQiOiI2In0="},
    "reddit": {"after": "t3_ex3"},
    "wiby": {"o": "12"},
    "youtube-api": {"pageToken": "CBkQAA"},
}


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    """The engines that come with the program."""
    return Catalogue()


def planned(engine: Engine, query: Query = Query(text=TEXT), page: int = 1) -> HttpRequest:  # noqa: B008
    """Plan a page with a key, settings, a cursor and a fixed clock; a first hop goes first."""
    variables = Variables(
        keys=dict.fromkeys(engine.keys, "KEY"),
        settings={
            name: "https://instance.example" if name == "base" else "SETTING"
            for name in engine.settings
        },
        cursor={getattr(engine.spec.paging, "send_as", "unused"): "CURSOR"} if page > 1 else {},
        now=NOW,
    )
    if engine.steps:
        return engine.plan_step(engine.steps[0], query, page, variables)
    return engine.plan(query, page, variables)


def parts(request: HttpRequest) -> dict[str, object]:
    """Return parameters, body and headers by name; a repeated parameter is joined."""
    found: dict[str, object] = {}
    for name, value in parse_qsl(urlsplit(request.url).query, keep_blank_values=True):
        found[name] = f"{found[name]}|{value}" if name in found else value
    return found | (json.loads(request.body) if request.body else {}) | dict(request.headers)


def changes(engine: Engine, query: Query, page: int = 1) -> dict[str, object]:
    """Return what differs from the plain first page."""
    plain = parts(planned(engine))
    asked = parts(planned(engine, query, page))
    return {name: value for name, value in asked.items() if plain.get(name) != value}


@pytest.mark.parametrize("name", ASKS)
def test_first_page_goes_to_the_documented_address(catalogue: Catalogue, name: str) -> None:
    request = planned(catalogue.get(name))
    assert urlsplit(request.url)._replace(query="").geturl() == ASKS[name].url
    if ASKS[name].text:
        assert TEXT in str(parts(request)[ASKS[name].text])


@pytest.mark.parametrize("name", ASKS)
def test_key_travels_in_the_documented_place_only(catalogue: Catalogue, name: str) -> None:
    request = planned(catalogue.get(name))
    places = [part for part, value in parts(request).items() if "KEY" in str(value).split()]
    assert places == ([ASKS[name].key] if ASKS[name].key else [])


@pytest.mark.parametrize("name", [name for name, ask in ASKS.items() if ask.page_two])
def test_second_page(catalogue: Catalogue, name: str) -> None:
    assert changes(catalogue.get(name), Query(text=TEXT), page=2) == ASKS[name].page_two


@pytest.mark.parametrize("name", CURSORS)
def test_next_page_carries_the_cursor_of_the_page_before(catalogue: Catalogue, name: str) -> None:
    engine = catalogue.get(name)
    recorded = {fixture.case: fixture for fixture in catalogue.fixtures(name)}
    query = Query(text=recorded["ok"].meta.query)
    following = engine.read(recorded["ok"].response, 1, query).next
    assert following is not None
    request = engine.plan_next(query, following, Variables(keys=dict.fromkeys(engine.keys, "KEY")))
    assert request is not None
    assert CURSORS[name].items() <= parts(request).items()
    assert engine.read(recorded["no-results"].response, 1, query).next is None


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("name", ASKS)
def test_input_changes_what_is_documented_and_nothing_else(
    catalogue: Catalogue, name: str, change: str
) -> None:
    assert changes(catalogue.get(name), CHANGES[change]) == getattr(ASKS[name], change)


def test_every_engine_with_an_official_api_is_in_the_table(catalogue: Catalogue) -> None:
    official = {engine.id for engine in catalogue.engines() if engine.spec.about.official_api}
    assert official <= set(ASKS)
