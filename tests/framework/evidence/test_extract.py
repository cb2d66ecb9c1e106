"""Schemas filled from pages: typed, with quotes, never invented."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from framework.errors import InvalidInputError
from framework.evidence.extract import extract
from framework.evidence.values import convert, currency, parse_date

if TYPE_CHECKING:
    from collections.abc import Callable

    from framework.reading import Document
    from framework.reading.document import Json

PRODUCT = {
    "@context": "https://schema.org",
    "@type": "Product",
    "name": "Copper pan",
    "brand": {"@type": "Brand", "name": "Halm"},
    "offers": {
        "price": "1.249,90",
        "priceCurrency": "EUR",
        "availability": "https://schema.org/InStock",
    },
    "aggregateRating": {"ratingValue": "4.6", "reviewCount": "2.310"},
}
HEAD = f'<script type="application/ld+json">{json.dumps(PRODUCT)}</script>'
BODY = """<h1>Copper pan</h1><dl><dt>Diameter</dt><dd>24 cm</dd><dt>Made in</dt><dd>Spain</dd></dl>
<p>Weight: 1,8 kg</p><table><tr><th>Size</th><th>Price</th></tr><tr><td>small</td><td>€ 90</td></tr>
<tr><td>large</td><td>€ 120</td></tr></table>
<h2>Features</h2><ul><li>oven proof</li><li>lid</li></ul>
<p>First sold: 4 October 2019</p>"""


@pytest.fixture
def pan(page: Callable[..., Document]) -> Document:
    return page(BODY, head=HEAD)


def test_example_is_filled_with_types(pan: Document) -> None:
    wanted: dict[str, Json] = {
        "name": "", "brand": "", "price": 0.0, "currency": "", "inStock": True, "reviewCount": 0,
        "diameter": "", "weight": 0.0, "features": [""], "first_sold": "2000-01-01",
    }  # fmt: skip
    found = extract(pan, wanted)
    assert found.data == {
        "name": "Copper pan", "brand": "Halm", "price": 1249.9, "currency": "EUR", "inStock": True,
        "reviewCount": 2310, "diameter": "24 cm", "weight": 1.8, "features": ["oven proof", "lid"],
        "first_sold": "2019-10-04",
    }  # fmt: skip
    assert found.unfilled == ()


def test_every_value_has_its_words(pan: Document) -> None:
    found = extract(pan, {"name": "", "weight": 0.0, "made_in": ""})
    assert [(f.path, f.source) for f in found.evidence] == [
        ("name", "json_ld"),
        ("weight", "text"),
        ("made_in", "text"),
    ]
    assert found.evidence[1].quote == "Weight: 1,8 kg"


def test_table_rows_fill_an_array_of_objects(pan: Document) -> None:
    found = extract(pan, {"sizes": [{"size": "", "price": 0.0}]})
    assert found.data == {
        "sizes": [{"size": "small", "price": 90.0}, {"size": "large", "price": 120.0}]
    }
    assert found.evidence[0].quote == "small | € 90"


def test_what_is_not_there_is_unfilled(pan: Document) -> None:
    found = extract(pan, {"name": "", "warranty": "", "battery": {"capacity": 0}})
    assert found.data == {"name": "Copper pan"}
    assert found.unfilled == ("warranty", "battery.capacity")


def test_missing_required_field_leaves_no_data(pan: Document) -> None:
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {"name": {"type": "string"}, "warranty": {"type": "string"}},
        "required": ["warranty"],
    }
    assert extract(pan, schema).data is None


def test_json_schema_with_nested_object_and_enum(pan: Document) -> None:
    schema: dict[str, Json] = {
        "type": "object",
        "properties": {
            "offers": {
                "type": "object",
                "properties": {
                    "price": {"type": "number"},
                    "currency": {"type": "string", "enum": ["USD", "EUR"]},
                },
            }
        },
    }
    assert extract(pan, schema).data == {"offers": {"price": 1249.9, "currency": "EUR"}}


def test_microdata_is_read(page: Callable[..., Document]) -> None:
    item = (
        '<div itemscope itemtype="https://schema.org/Event"><h1 itemprop="name">Spring fair</h1>'
        '<time itemprop="startDate" datetime="2026-04-11">11 April</time></div>'
    )
    found = extract(page(item), {"name": "", "startDate": "2000-01-01"})
    assert found.data == {"name": "Spring fair", "startDate": "2026-04-11"}
    assert {f.source for f in found.evidence} == {"microdata"}


def test_query_prefers_what_speaks_of_it(page: Callable[..., Document]) -> None:
    items = [{"@type": "Product", "name": n, "price": p} for n, p in (("Cup", "5"), ("Jug", "9"))]
    head = f'<script type="application/ld+json">{json.dumps(items)}</script>'
    assert extract(page("<p>Shop</p>", head=head), {"price": 0}, "jug").data == {"price": 9}


def test_a_page_without_any_of_it_gives_nothing(page: Callable[..., Document]) -> None:
    found = extract(page("<p>Only a few plain words.</p>"), {"price": 0.0, "sku": ""})
    assert found.data is None
    assert found.unfilled == ("price", "sku")


@pytest.mark.parametrize("schema", [{}, {"type": "array", "items": {"type": "string"}}])
def test_schemas_that_describe_no_object_are_refused(
    pan: Document, schema: dict[str, Json]
) -> None:
    with pytest.raises(InvalidInputError, match="schema"):
        extract(pan, schema)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2024-3-9", "2024-03-09"),
        ("9 March 2024", "2024-03-09"),
        ("March 9th, 2024", "2024-03-09"),
        ("9. März 2024", "2024-03-09"),
        ("9 de marzo de 2024", "2024-03-09"),
        ("09.03.2024", "2024-03-09"),
        ("25/12/2023", "2023-12-25"),
        ("12/25/2023", "2023-12-25"),
        ("2024年3月9日", "2024-03-09"),
        ("03/04/2024", None),
        ("31 February 2024", None),
        ("soon", None),
    ],
)
def test_dates(text: str, iso: str | None) -> None:
    assert parse_date(text) == iso


@pytest.mark.parametrize(
    ("value", "schema", "name", "typed"),
    [
        ("1.234,50 €", {"type": "number"}, "price", 1234.5),
        ("$2.5 million", {"type": "number"}, "budget", 2_500_000.0),
        ("3.5", {"type": "integer"}, "count", None),
        ("12.345", {"type": "integer"}, "count", 12345),
        ("Ja", {"type": "boolean"}, "flag", True),
        ("sold out", {"type": "boolean"}, "stock", False),
        ("perhaps", {"type": "boolean"}, "flag", None),
        ("/a/b", {"type": "string", "format": "uri"}, "x", "https://s.example/a/b"),
        ("£12", {"type": "string"}, "currency", "GBP"),
        ("  two  words ", {"type": "string"}, "x", "two words"),
        ("no digits", {"type": "number"}, "x", None),
        (True, {"type": "number"}, "x", None),
        ({"name": "Inner"}, {"type": "string"}, "x", "Inner"),
        (["first", "second"], {"type": "string"}, "x", "first"),
        (None, {"type": "string"}, "x", None),
    ],
)
def test_values_are_typed(value: Json, schema: dict[str, Json], name: str, typed: Json) -> None:
    assert convert(value, schema, "https://s.example/p", name) == typed


def test_currency_of_nothing() -> None:
    assert currency("twelve") is None


PRICED = '<script type="application/ld+json">' + json.dumps(PRODUCT) + "</script>"


@pytest.mark.parametrize(
    "field",
    [
        pytest.param({"anyOf": [{"type": "number"}, {"type": "null"}]}, id="anyOf"),
        pytest.param({"oneOf": [{"type": "null"}, {"$ref": "#/$defs/money"}]}, id="oneOf"),
        pytest.param({"$ref": "#/$defs/money"}, id="reference"),
        pytest.param({"allOf": [{"type": "number"}, {"minimum": 1}]}, id="allOf"),
        pytest.param({"type": ["null", "number"]}, id="types"),
    ],
)
def test_alternatives_and_references_are_followed(
    page: Callable[..., Document], field: dict[str, Json]
) -> None:
    schema: dict[str, Json] = {
        "type": "object",
        "$defs": {"money": {"type": "number"}},
        "properties": {"price": field},
    }
    assert extract(page("<p>Copper.</p>", head=PRICED), schema).data == {"price": 1249.9}


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        pytest.param({"$ref": "#/$defs/none"}, "#/$defs/none", id="nowhere"),
        pytest.param({"$ref": "https://a.example/s.json"}, "a.example", id="elsewhere"),
        pytest.param(
            {"$ref": "#/$defs/a", "$defs": {"a": {"properties": {"b": {"$ref": "#/$defs/a"}}}}},
            "itself",
            id="circle",
        ),
    ],
)
def test_references_that_lead_nowhere_are_refused(
    pan: Document, schema: dict[str, Json], said: str
) -> None:
    with pytest.raises(InvalidInputError, match=said.replace("$", r"\$")):
        extract(pan, schema)


def test_a_schema_that_grows_without_end_is_refused(pan: Document) -> None:
    parts: dict[str, Json] = {
        f"d{n}": {"properties": {k: {"$ref": f"#/$defs/d{n + 1}"} for k in "abcd"}}
        for n in range(30)
    }
    with pytest.raises(InvalidInputError, match="200 fields"):
        extract(pan, {"$ref": "#/$defs/d0", "$defs": {**parts, "d30": {"type": "string"}}})


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ({"minimum": 1000}, True),
        ({"minimum": 2000}, False),
        ({"exclusiveMaximum": 1249.9}, False),
        ({"maximum": 1249.9}, True),
        ({"multipleOf": 0.1}, True),
        ({"multipleOf": 7}, False),
        ({"const": 1249.9}, True),
        ({"const": 3}, False),
        ({"minLength": 50}, True),
    ],
)
def test_a_number_out_of_its_bounds_is_no_value(
    page: Callable[..., Document], rule: dict[str, Json], kept: bool
) -> None:
    schema: dict[str, Json] = {"properties": {"price": {"type": "number", **rule}}}
    found = extract(page("<p>Copper.</p>", head=PRICED), schema)
    assert (found.data, found.unfilled) == (({"price": 1249.9}, ()) if kept else (None, ("price",)))


@pytest.mark.parametrize(
    ("rule", "kept"),
    [
        ({"pattern": "^Copper"}, True),
        ({"pattern": "^copper"}, False),
        ({"pattern": "(unclosed"}, True),
        ({"maxLength": 3}, False),
        ({"minLength": 10, "maximum": 3}, True),
    ],
)
def test_a_text_that_its_field_does_not_allow_is_no_value(
    page: Callable[..., Document], rule: dict[str, Json], kept: bool
) -> None:
    schema: dict[str, Json] = {"properties": {"brand": {"type": "string"}, "name": rule}}
    found = extract(page("<p>Copper.</p>", head=PRICED), schema)
    assert found.data == ({"brand": "Halm", "name": "Copper pan"} if kept else {"brand": "Halm"})


@pytest.mark.parametrize(
    ("rule", "expected"),
    [
        ({}, ["oven proof", "lid", "lid"]),
        ({"uniqueItems": True}, ["oven proof", "lid"]),
        ({"maxItems": 1}, ["oven proof"]),
        ({"minItems": 4}, None),
    ],
)
def test_a_list_keeps_its_limits(
    page: Callable[..., Document], rule: dict[str, Json], expected: list[str] | None
) -> None:
    document = page("<h2>Features</h2><ul><li>oven proof</li><li>lid</li><li>lid</li></ul>")
    schema: dict[str, Json] = {"properties": {"features": {"type": "array", **rule}}}
    found = extract(document, schema)
    assert (found.data or {}).get("features") == expected


def test_rows_of_a_table_keep_the_limits_with_their_evidence(pan: Document) -> None:
    part: dict[str, Json] = {
        "properties": {"size": {"type": "string"}, "price": {"type": "number"}},
        "required": ["price"],
    }
    schema: dict[str, Json] = {
        "properties": {"sizes": {"type": "array", "items": part, "maxItems": 1}}
    }
    found = extract(pan, schema)
    assert found.data == {"sizes": [{"size": "small", "price": 90.0}]}
    assert [one.path for one in found.evidence] == ["sizes[0]"]
