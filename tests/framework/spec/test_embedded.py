"""JSON that is hidden in a page."""

from __future__ import annotations

import pytest

from framework.spec.embedded import compile_embedded
from framework.spec.model import Embedded
from framework.spec.selectors import SelectorError
from tests.support.answers import document

PAGE = """<!doctype html><html><head>
<script>var a = "__DATA__ = nothing";</script>
<script>window.__DATA__ = {"rows": [{"t": "a };"}]};</script>
<script id="next" type="application/json">{"props": {"n": 1}}</script>
<script>var text = "{\\"rows\\": [2]}";</script>
<script>var loose = {"a": 1,};</script>
<div id="app" data-state='{"n": 5}'></div></html>"""


@pytest.mark.parametrize(
    ("embedded", "data"),
    [
        ({"after": "__DATA__ = ", "before": ";</script>"}, {"rows": [{"t": "a };"}]}),
        ({"after": "__DATA__ ="}, {"rows": [{"t": "a };"}]}),
        ({"css": "script#next"}, {"props": {"n": 1}}),
        ({"css": "script", "after": "__DATA__ = "}, {"rows": [{"t": "a };"}]}),
        ({"css": "#app::attr(data-state)"}, {"n": 5}),
        ({"after": "var text = "}, {"rows": [2]}),
        ({"after": "var loose = ", "before": ";</script>"}, None),
        ({"after": "absent"}, None),
        ({"css": ".absent"}, None),
        ({"css": "script#next", "after": "zzz"}, None),
    ],
    ids=[
        "both",
        "after",
        "element",
        "element-and-after",
        "attribute",
        "string",
        "loose",
        "absent",
        "none",
        "wrong",
    ],
)
def test_finds(embedded: dict[str, str], data: object) -> None:
    find = compile_embedded(Embedded.model_validate(embedded))
    assert find is not None
    assert find(document(PAGE)) == data


def test_nothing_is_embedded() -> None:
    assert compile_embedded(None) is None


@pytest.mark.parametrize("body", ["", "x" * 1_000, "k=" * 5_000, "k=" + "[" * 100_000], ids=repr)
def test_is_total(body: str) -> None:
    find = compile_embedded(Embedded(after="k="))
    assert find is not None
    assert find(document(body)) is None


def test_a_selector_that_does_not_compile() -> None:
    with pytest.raises(SelectorError):
        compile_embedded(Embedded(css="a["))


def test_what_before_bounds_need_not_end_where_json_does() -> None:
    find = compile_embedded(Embedded(after="d(", before=");"))
    assert find is not None
    assert find(document('<script>d( {"a": 1} );</script>')) == {"a": 1}
