"""Edits of a file's text: what is not changed stays to the letter, what is reads back right."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.authoring.edits import has_path, set_value, unified
from framework.authoring.yamltext import inline, render
from framework.spec.source import load_text, plain

TEXT = """\
# first
id: x            # the name
response:
  rows: {each: "li.hit", drop: {css: .ad}}   # rows
  fields:
    title: h2 a
    url: [a, b]   # two
    snippet:
      - {css: p, optional: true}
      # the older layout
      - css: div
        remove: .ad
    published: {css: time}
verdicts:
  - empty: {all: [{css: .none}, {not: {css: "li.hit"}}]}
"""


def value(text: str) -> dict[str, object]:
    root = load_text(text, "x.yaml").root
    assert root is not None, text
    data = plain(root)
    assert isinstance(data, dict)
    return data


@pytest.mark.parametrize(
    ("path", "new"),
    [
        (("response", "rows", "each"), "li.hit, .card"),
        (("response", "rows", "keep"), {"css": "a"}),
        (("response", "fields", "title"), ["h2 a", ".t"]),
        (("response", "fields", "url"), ["c", "a", "b"]),
        (("response", "fields", "snippet"),
         [{"css": "p", "optional": True}, {"css": "div", "remove": ".ad"}, ".s"]),
        (("response", "fields", "published"), [{"css": "time"}, {"css": ".d"}]),
        (("response", "fields", "source"), ".src"),
        (("verdicts",), [{"empty": {"all": [{"css": ".none"}, {"not": {"css": "li.hit, .c"}}]}}]),
    ],
    ids=lambda item: ".".join(item) if isinstance(item, tuple) else "",
)  # fmt: skip
def test_one_value_changes_and_nothing_else(path: tuple[str, ...], new: object) -> None:
    changed = set_value(TEXT, path, new)
    wanted = value(TEXT)
    part: dict[str, object] = wanted
    for name in path[:-1]:
        inner = part[name]
        assert isinstance(inner, dict)
        part = inner
    part[path[-1]] = new

    assert value(changed) == wanted
    for comment in ("# first", "# the name", "# rows", "# two"):
        assert comment in changed


def test_the_same_value_changes_nothing() -> None:
    assert set_value(TEXT, ("response", "fields", "url"), ["a", "b"]) == TEXT


def test_what_has_no_place_is_told() -> None:
    with pytest.raises(KeyError, match=r"paging\.next"):
        set_value(TEXT, ("paging", "next"), "a")
    assert has_path(TEXT, ("response", "rows", "drop", "css"))
    assert not has_path(TEXT, ("response", "rows", "keep"))


def test_a_patch_names_the_file() -> None:
    patch = unified("a: 1\n", "a: 2\n", "engines.d/x.yaml")

    assert patch.startswith("--- a/engines.d/x.yaml\n+++ b/engines.d/x.yaml\n")
    assert "-a: 1\n+a: 2\n" in patch


_TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc")), max_size=30)
_VALUES = st.recursive(
    _TEXTS | st.booleans() | st.integers(-1000, 1000),
    lambda inner: (
        st.lists(inner, min_size=1, max_size=3)
        | st.dictionaries(
            st.from_regex(r"[a-z]{1,8}", fullmatch=True), inner, min_size=1, max_size=3
        )
    ),
    max_leaves=8,
)


@pytest.mark.untraced
@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), _VALUES, min_size=1))
def test_what_is_rendered_reads_back_the_same(data: dict[str, object]) -> None:
    assert value(render(data)) == data


@given(_VALUES)
def test_what_is_set_reads_back_the_same(new: object) -> None:
    assert (
        value(set_value(TEXT, ("response", "fields", "title"), new))["response"]["fields"][  # type: ignore[index]
            "title"
        ]
        == new
    )


def test_flow_style_is_plain_where_it_can_be() -> None:
    assert inline({"css": "a.b > c", "do": ["int"], "optional": True}) == (
        '{css: "a.b > c", do: [int], optional: true}'
    )
