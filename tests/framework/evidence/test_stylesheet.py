"""What styles hide."""

from __future__ import annotations

import pytest

from framework.evidence.stylesheet import MAX_ALIKE, Element, declarations, laid, read_sheets


def _element(tag: str = "p", identity: str = "", *classes: str) -> Element:
    return Element(tag, identity, frozenset(classes), frozenset())


@pytest.mark.parametrize(
    ("style", "reason"),
    [
        ("display: none", "display:none"),
        ("DISPLAY:NONE !important", "display:none"),
        ("opacity: 0", "opacity"),
        ("opacity: 2%", "opacity"),
        ("font-size: 0.1em", "font-size"),
        ("font: 0/0 a", "font-size"),
        ("text-indent: -9999px", "off-screen"),
        ("inset: 0 auto auto -9000px", "off-screen"),
        ("transform: translateX(-2000px)", "transform"),
        ("clip: rect(0 0 0 0)", "clip"),
        ("clip-path: circle(0)", "clip"),
        ("width: 1px; height: 1px; overflow: hidden", "zero size"),
        ("color: transparent", "transparent text"),
        ("color: rgba(0, 0, 0, 0)", "transparent text"),
        ("z-index: -3", "behind the page"),
        ("display: block", ""),
        ("left: 20px; opacity: 0.9; font-size: 14px", ""),
        ("width: 1px", ""),
        (";;: x; y", ""),
    ],
)
def test_declarations(style: str, reason: str) -> None:
    assert declarations(style).reason == reason


def test_colours_are_read_in_every_notation() -> None:
    for value in ("#fff", "#ffffff", "white", "rgb(255, 255, 255)", "rgb(255 255 255 / 80%)"):
        assert declarations(f"color: {value}").colour == (255, 255, 255)


@pytest.mark.parametrize(
    ("css", "hidden"),
    [
        ("p { display: none }", True),
        (".a.b { display: none }", True),
        ("#x { display: none }", True),
        ("div .a { display: none }", True),
        ("div > .a, h1 { display: none }", True),
        ("nav .a { display: none }", False),
        (".a.c { display: none }", False),
        ("p { display: none } .a { display: block }", False),
        ("@media print { p { display: none } }", False),
        ("@media (min-width: 1px) { p { display: none } }", True),
        ("/* p { display: none } */", False),
        ("p:hover { display: none }", False),
        ("{{{ p ;; }", False),
    ],
)
def test_rules(css: str, hidden: bool) -> None:
    sheet = read_sheets([css])
    style = laid(sheet.matching(_element("p", "x", "a", "b")), [_element("body"), _element("div")])
    assert bool(style.reason) is hidden


def test_rules_of_one_kind_are_bounded() -> None:
    sheet = read_sheets(["".join(f"i.k{n} p {{display:none}}" for n in range(1_000))])
    assert len(sheet.rules["p"]) == MAX_ALIKE


@pytest.mark.parametrize(
    ("css", "reason"),
    [
        ("@media screen { .a { display: none } } .b { opacity: 0 }", "display:none"),
        ("}} .a { display: none }", "display:none"),
        ("@charset 'x'; .a { display: none }", "display:none"),
        (".a { display: none", ""),
        (".a } display: none }", ""),
        ("{ { .a { display: none } } {", "display:none"),
    ],
)
def test_blocks_are_found_in_any_order_of_braces(css: str, reason: str) -> None:
    assert laid(read_sheets([css]).matching(_element("p", "", "a")), []).reason == reason
