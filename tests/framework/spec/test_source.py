"""Engine files as marked trees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.spec.source import MAX_BYTES, MAX_DEPTH, Source, load_file, load_text, plain

if TYPE_CHECKING:
    from pathlib import Path


def value(text: str) -> object:
    source = load_text(text, "x.yaml")
    assert source.root is not None, source.problems
    return plain(source.root)


def codes(source: Source) -> list[tuple[str, int, int]]:
    assert [str(item) for item in source.problems if not item.hint] == []
    return [(item.code, item.line, item.column) for item in source.problems]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("off", "off", id="off"),
        pytest.param("no", "no", id="no"),
        pytest.param("yes", "yes", id="yes"),
        pytest.param("true", True, id="true"),
        pytest.param("False", False, id="false"),
        pytest.param("2026-01-31", "2026-01-31", id="date"),
        pytest.param("12:30", "12:30", id="sexagesimal"),
        pytest.param("1_000", "1_000", id="underscore"),
        pytest.param("010", 10, id="leading-zero"),
        pytest.param("0o17", 15, id="octal"),
        pytest.param("0xff", 255, id="hexadecimal"),
        pytest.param("-3", -3, id="negative"),
        pytest.param("1.5e3", 1500.0, id="float"),
        pytest.param(".inf", ".inf", id="infinity-is-text"),
        pytest.param("'1'", "1", id="quoted-number"),
        pytest.param('"null"', "null", id="quoted-null"),
        pytest.param("99999999999999999999", "99999999999999999999", id="huge-number-is-text"),
    ],
)
def test_scalars_follow_the_core_schema_of_yaml_1_2(text: str, expected: object) -> None:
    assert value(f"a: {text}") == {"a": expected}


@pytest.mark.parametrize("text", ["", "~", "null", "Null", "NULL"])
def test_a_null_in_a_map_is_an_absent_key(text: str) -> None:
    assert value(f"a: {text}\nb: 1") == {"b": 1}


def test_keys_are_text_as_written() -> None:
    assert value("{off: off, 1: 2, true: x}") == {"off": "off", "1": 2, "true": "x"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a: &x 1", [("E004", 1, 4)], id="anchor"),
        pytest.param("a: *x", [("E004", 1, 4)], id="alias"),
        pytest.param("a: !!python/object:os.system x", [("E005", 1, 4)], id="tag"),
        pytest.param("a: !x [1]", [("E005", 1, 4)], id="tag-on-a-list"),
        pytest.param("&k a: 1", [("E004", 1, 1)], id="anchor-on-a-key"),
        pytest.param("*k : 1", [("E004", 1, 1)], id="alias-as-a-key"),
        pytest.param("a: 1\nb: 2\na: 3", [("E006", 3, 1)], id="duplicate-key"),
        pytest.param("a: {b: 1, b: 2}", [("E006", 1, 11)], id="duplicate-key-inside"),
        pytest.param("a: 1\n---\nb: 2", [("E007", 3, 1)], id="two-documents"),
        pytest.param("", [("E007", 1, 1)], id="empty"),
        pytest.param("# nothing\n", [("E007", 1, 1)], id="only-a-comment"),
        pytest.param("- a", [("E103", 1, 1)], id="a-list"),
        pytest.param("q: {{ query }}", [("E009", 1, 5)], id="unquoted-template"),
        pytest.param("? [a]\n: 1", [("E009", 1, 3)], id="list-as-a-key"),
        pytest.param("a:\n\tb: 1", [("E001", 2, 1)], id="tab"),
        pytest.param("a: b: c", [("E001", 1, 5)], id="colon-in-a-value"),
        pytest.param("a: @x", [("E001", 1, 4)], id="reserved-character"),
        pytest.param("a: 'x", [("E001", 1, 6)], id="open-quote"),
        pytest.param('a: "\\d"', [("E001", 1, 5)], id="unknown-escape"),
        pytest.param("a: \x01", [("E001", 1, 1)], id="control-character"),
        pytest.param("a: " + "[" * (MAX_DEPTH + 5), [("E003", 1, 36)], id="too-deep"),
    ],
)
def test_what_is_refused_has_a_place(text: str, expected: list[tuple[str, int, int]]) -> None:
    source = load_text(text, "x.yaml")
    assert codes(source) == expected
    assert source.root is None


def test_all_refusals_of_a_file_are_told_at_once() -> None:
    source = load_text("a: &x 1\nb: *x\nc: !!str d\na: 3\n", "x.yaml")
    assert [code for code, _, _ in codes(source)] == ["E004", "E004", "E005", "E006"]


def test_an_alias_bomb_is_refused_without_being_expanded() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]" for i in range(1, 9)]
    source = load_text("\n".join(lines), "bomb.yaml")
    assert source.root is None
    assert {code for code, _, _ in codes(source)} == {"E004"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        pytest.param("<!DOCTYPE html><html>", "download the raw file", id="doctype"),
        pytest.param("\ufeff\n <html lang=en>", "download the raw file", id="bom-and-space"),
        pytest.param("<?xml version='1.0'?>", "download the raw file", id="xml"),
        pytest.param("a:\n\tb: 1", "spaces", id="tab"),
        pytest.param('a: "\\d"', "single quotes", id="escape"),
        pytest.param("q: {{ query }}", "quote a value", id="template"),
        pytest.param("a: 1\na: 2", "first on line 1", id="duplicate"),
    ],
)
def test_hints_say_how_to_mend_it(text: str, words: str) -> None:
    assert words in load_text(text, "x.yaml").problems[0].hint


def test_a_web_page_saved_as_yaml_is_recognised() -> None:
    assert codes(load_text("<!doctype html>\n<title>x</title>", "x.yaml")) == [("E002", 1, 1)]


def test_files_over_64_kib_are_refused() -> None:
    assert load_text("a: " + "x" * (MAX_BYTES - 3), "x.yaml").root is not None
    assert codes(load_text("a: " + "x" * (MAX_BYTES - 2), "x.yaml")) == [("E003", 1, 1)]


def test_bytes_that_are_not_utf8_are_refused_with_their_line() -> None:
    assert codes(load_text(b"a: 1\nb: \xff", "x.yaml")) == [("E008", 2, 1)]


def test_a_byte_order_mark_is_ignored() -> None:
    assert value("\ufeffa: 1") == {"a": 1}


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    source = load_file(tmp_path / "gone.yaml")
    assert source.root is None
    assert "cannot be read" in source.problems[0].message


def test_marks_point_to_keys_and_values() -> None:
    source = load_text("a:\n  b: [1, 'two']\n", "x.yaml")
    assert source.root is not None
    a = source.root.child("a")
    assert a is not None
    b = a.child("b")
    assert b is not None
    assert b.key is not None
    two = b.child(1)
    assert two is not None
    assert (b.key.line, b.key.column, b.key.width) == (2, 3, 1)
    assert (two.mark.line, two.mark.column, two.mark.width) == (2, 10, 5)
    assert b.child(2) is None
    assert two.child("x") is None


@given(st.binary(max_size=300))
def test_any_bytes_give_a_tree_or_problems(data: bytes) -> None:
    source = load_text(data, "x.yaml")
    assert (source.root is None) == bool(source.problems)
    assert all(item.hint for item in source.problems)


_YAML = st.text(alphabet="ab:- \n\t[]{},\"'#&*!|>%@`?01\\", max_size=80)


@given(_YAML)
def test_any_text_gives_a_tree_or_problems(text: str) -> None:
    source = load_text(text, "x.yaml")
    assert (source.root is None) == bool(source.problems)
    assert all(item.hint for item in source.problems)
