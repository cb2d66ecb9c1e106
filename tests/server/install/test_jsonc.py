"""JSON with comments is edited in place: only the change changes."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.errors import InvalidInputError
from server.install.jsonc import parse, remove, set_member

SETTINGS = """\
// my settings
{
    /* look */
    "theme": "dark", // at night
    "context_servers": {
        // the old one
        "other": {"command": "x", "args": ["a, b", "{"]},
    },
    "url": "https://a.example//b",
}
"""
VALUE = {"command": "consilience", "args": ["mcp"]}


def test_a_member_is_added_and_everything_else_stays() -> None:
    after = set_member(SETTINGS, ("context_servers",), "consilience", VALUE)

    kept = [line for line in after.splitlines() if line in SETTINGS.splitlines()]
    assert kept == SETTINGS.splitlines()
    read = parse(after).value
    assert isinstance(read, dict)
    assert read["context_servers"] == {
        "other": {"command": "x", "args": ["a, b", "{"]},
        "consilience": VALUE,
    }
    assert read["url"] == "https://a.example//b"


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "{ }\n",
        '{"a": 1}',
        '{"a": 1,}',
        '{\n\t"a": {}\n}\n',
        '{"mcpServers": {}}',
        '{"mcpServers": {"o": 1}}',
        '{"mcpServers": {"o": 1 /* , */}}',
        '{"mcpServers": {"o": [1, 2,], }, "z": null}',
        '{"mcpServers": {"consilience": {"command": "old", "args": [1]}, "z": 1}}',
        '\ufeff{"a": "\\u00e9\\"//"}',
    ],
)
def test_setting_and_removing_come_back(text: str) -> None:
    before = parse(text).value
    assert isinstance(before, dict)
    after = set_member(text, ("mcpServers",), "consilience", VALUE)
    read = parse(after).value

    assert isinstance(read, dict)
    assert read == {
        **before,
        "mcpServers": {**before.get("mcpServers", {}), "consilience": VALUE},
    }
    assert set_member(after, ("mcpServers",), "consilience", VALUE) == after

    left = parse(remove(after, ("mcpServers",), "consilience")).value
    others = {k: v for k, v in before.get("mcpServers", {}).items() if k != "consilience"}
    assert left == {**before, "mcpServers": others}


def test_removing_restores_the_text_that_adding_found() -> None:
    added = set_member(SETTINGS, ("context_servers",), "consilience", VALUE)

    assert parse(remove(added, ("context_servers",), "consilience")).value == parse(SETTINGS).value
    assert "// the old one" in remove(added, ("context_servers",), "consilience")


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("{", 1),
        ('{"a": 1\n"b": 2}', 2),
        ('{"a": tru}', 1),
        ("{} {}", 1),
        ('{\n\n"a": 1, /* never closed }', 3),
        ("{1: 2}", 1),
        ('{"a": "\n"}', 1),
        ("[" * 500, 1),
    ],
)
def test_what_is_no_json_is_refused_with_its_line(text: str, line: int) -> None:
    with pytest.raises(InvalidInputError, match=f"^line {line}: "):
        parse(text)


@pytest.mark.parametrize("text", ["[]", "3", '{"mcpServers": []}', '{"mcpServers": "x"}'])
def test_what_is_no_object_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="no object"):
        set_member(text, ("mcpServers",), "a", 1)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.sampled_from([None, 0, 2, "\t"]))
def test_any_object_keeps_its_members(members: dict[str, object], indent: int | str | None) -> None:
    text = json.dumps(members, indent=indent)
    members.pop("servers", None)
    if "servers" not in json.loads(text):
        after = set_member(text, ("servers",), "consilience", VALUE)

        assert json.loads(after) == {**members, "servers": {"consilience": VALUE}}
        assert json.loads(remove(after, ("servers",), "consilience")) == {**members, "servers": {}}


@given(st.text(alphabet='{}[]",:/*\\ \n1at', max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(InvalidInputError):
        node = parse(text)

        assert 0 <= node.start < node.end <= len(text)
