"""A model's help in filling a schema: asked for what is missing, believed only word for word."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from framework.evidence import assisted
from framework.evidence.extract import extract

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from framework.reading import Document
    from framework.reading.document import Json

BODY = """<h1>The lamp Aurora</h1><dl><dt>Colour</dt><dd>red</dd></dl>
<p>We let it go for 1.249,90 euros since the 4th of October 2019, in oak, walnut and ash.</p>
<p>Whoever wants a lamp for children finds none here.</p>"""
WANTED: dict[str, Json] = {
    "colour": "",
    "cost": 0.0,
    "since": "2000-01-01",
    "woods": [""],
    "maker": {"guild": "", "town": ""},
    "parts": [{"number": 0}],
}


@pytest.fixture
def lamp(page: Callable[..., Document]) -> Document:
    return page(BODY)


def answer(*fields: Mapping[str, object]) -> assisted.Answer:
    return assisted.Answer.model_validate({"fields": fields})


def filled(document: Document, *fields: Mapping[str, object]) -> Json:
    first = extract(document, WANTED)
    asked = assisted.wanted(WANTED, first.unfilled)
    found = assisted.places(document, asked, answer(*fields))
    return extract(document, WANTED, helped=found).data


COST = "We let it go for 1.249,90 euros"


def test_only_what_is_missing_is_asked_for(lamp: Document) -> None:
    first = extract(lamp, WANTED)
    asked = assisted.wanted(WANTED, first.unfilled)
    assert first.data == {"colour": "red"}
    assert set(asked) == {"cost", "since", "woods", "maker.guild", "maker.town"}


def test_the_page_is_quoted_data_and_the_prompt_is_the_same_each_time(lamp: Document) -> None:
    asked = assisted.wanted(WANTED, ["cost"])
    prompt = assisted.prompt(lamp, asked, "Aurora")
    assert prompt == assisted.prompt(lamp, asked, "Aurora")
    assert json.dumps(lamp.markdown, ensure_ascii=False) in prompt.user
    assert '"path": "cost"' in prompt.user
    assert '"path": "since"' not in prompt.user


def test_values_are_read_from_the_words_of_the_page(lamp: Document) -> None:
    assert filled(
        lamp,
        {"path": "cost", "value": "1.249,90 euros", "quote": COST},
        {"path": "since", "value": "4th of October 2019", "quote": "the 4th of October 2019"},
        {"path": "woods", "value": ["oak", "walnut", "ash"], "quote": "in oak, walnut and ash"},
    ) == {
        "colour": "red",
        "cost": 1249.9,
        "since": "2019-10-04",
        "woods": ["oak", "walnut", "ash"],
    }


@pytest.mark.parametrize(
    "given",
    [
        pytest.param(
            {"path": "cost", "value": "900 euros", "quote": "for 900 euros"}, id="invented"
        ),
        pytest.param({"path": "cost", "value": "900", "quote": COST}, id="not in the quote"),
        pytest.param({"path": "cost", "value": "249", "quote": COST[:24]}, id="torn"),
        pytest.param({"path": "cost", "value": "", "quote": COST}, id="empty"),
        pytest.param({"path": "cost", "value": "euros", "quote": COST}, id="wrong type"),
        pytest.param({"path": "price", "value": "1.249,90", "quote": COST}, id="unknown path"),
        pytest.param({"path": "colour", "value": "oak", "quote": "in oak"}, id="filled already"),
        pytest.param(
            {"path": "woods", "value": ["oak", "teak"], "quote": "in oak, walnut and ash"}, id="one"
        ),
    ],
)
def test_what_the_page_does_not_say_stays_unfilled(
    lamp: Document, given: Mapping[str, object]
) -> None:
    assert filled(lamp, given) == {"colour": "red"}


def test_evidence_names_the_model_and_the_words_of_the_page(lamp: Document) -> None:
    asked = assisted.wanted(WANTED, ["cost"])
    given = answer({"path": "cost", "value": "1 249,90", "quote": "we LET it go, for 1 249 90"})
    found = extract(lamp, WANTED, helped=assisted.places(lamp, asked, given))
    (one,) = (one for one in found.evidence if one.source == "model")
    assert (one.path, one.quote, one.confidence) == ("cost", "We let it go for 1.249,90", 0.5)


def test_a_nested_object_that_lacks_what_it_needs_leaves_no_evidence(
    page: Callable[..., Document],
) -> None:
    document = page("<h1>Lamp</h1><p>Town: Halle</p>")
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {
            "maker": {
                "type": "object",
                "properties": {"town": {"type": "string"}, "guild": {"type": "string"}},
                "required": ["guild"],
            }
        },
    }
    found = extract(document, schema)
    assert found.data is None
    assert found.evidence == ()
    assert set(found.unfilled) == {"maker.town", "maker.guild"}
