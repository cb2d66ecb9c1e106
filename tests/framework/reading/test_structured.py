"""Data for machines: JSON-LD as it is damaged in the wild, microdata, OpenGraph."""

from __future__ import annotations

import pytest

from framework.reading import read

URL = "https://site.test/p"
LD = '<script type="application/ld+json">{}</script><p>text</p>'

DAMAGED = {
    "plain": '{"@type": "Product", "name": "Lamp"}',
    "list": '[{"@type": "Product", "name": "Lamp"}]',
    "graph": '{"@context": "https://schema.org", "@graph": [{"@type": "Product", "name": "Lamp"}]}',
    "trailing comma": '{"@type": "Product", "name": "Lamp",}',
    "cdata": '//<![CDATA[\n{"@type": "Product", "name": "Lamp"}\n//]]>',
    "html comment": '<!-- {"@type": "Product", "name": "Lamp"} -->',
    "line break in a text": '{"@type": "Product", "name": "Lamp", "description": "one\ntwo"}',
    "semicolon": '{"@type": "Product", "name": "Lamp"};',
}


@pytest.mark.parametrize("source", DAMAGED.values(), ids=DAMAGED.keys())
def test_json_ld_is_read(source: str) -> None:
    items = read(LD.format(source).encode(), URL).structured.json_ld
    assert [item["name"] for item in items] == ["Lamp"]


@pytest.mark.parametrize("source", ["", "nothing", "{", "[" * 100_000, '"text"', "null"])
def test_what_is_no_json_gives_nothing(source: str) -> None:
    assert read(LD.format(source).encode(), URL).structured.json_ld == ()


def test_microdata_is_nested_as_on_the_page() -> None:
    page = (
        '<div itemscope itemtype="https://schema.org/Product"><h2 itemprop="name">Lamp</h2>'
        '<div itemprop="offers" itemscope itemtype="https://schema.org/Offer"><meta '
        'itemprop="price" content="9.50">'
        '<link itemprop="availability" href="https://schema.org/InStock"></div>'
        '<span itemprop="color">red</span><span itemprop="color">blue</span></div>'
    )
    (item,) = read(page.encode(), URL).structured.microdata
    assert item["@type"] == "Product"
    assert item["name"] == "Lamp"
    assert item["color"] == ["red", "blue"]
    assert item["offers"] == {
        "@type": "Offer",
        "price": "9.50",
        "availability": "https://schema.org/InStock",
    }


def test_rdfa_is_read_like_microdata() -> None:
    page = (
        '<div vocab="https://schema.org/" typeof="Product"><h2 property="name">Lamp</h2><div '
        'property="schema:offers" typeof="schema:Offer"><meta property="price" content="9.50">'
        '</div><span property="color">red</span></div>'
    )
    (item,) = read(page.encode(), URL).structured.microdata
    assert item == {
        "@type": "Product",
        "name": "Lamp",
        "offers": {"@type": "Offer", "price": "9.50"},
        "color": "red",
    }


def test_opengraph_properties() -> None:
    page = (
        '<head><meta property="og:type" content="article"><meta '
        'property="product:price:amount" content="9"></head><p>x</p>'
    )
    assert read(page.encode(), URL).structured.opengraph == {
        "og:type": "article",
        "product:price:amount": "9",
    }


def test_other_documents_have_none() -> None:
    assert read(b'{"a": 1}', URL, {"Content-Type": "application/json"}).structured.json_ld == ()
