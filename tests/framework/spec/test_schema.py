"""The JSON Schema that editors use."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from jsonschema import Draft202012Validator

from framework.spec.catalogue import packaged, packaged_schema
from framework.spec.schema import NAME, json_schema, render_schema
from framework.spec.source import Node, load_file, load_text
from tests.support.specs import GOOD, spec_text

if TYPE_CHECKING:
    from pathlib import Path


def data(node: Node | None) -> object:
    """Return a node's value with its nulls, which `plain` leaves out."""
    if node is None:
        return None
    if isinstance(node.value, dict):
        return {key: data(item) for key, item in node.value.items()}
    return [data(item) for item in node.value] if isinstance(node.value, list) else node.value


@pytest.fixture(scope="module")
def validator() -> Draft202012Validator:
    return Draft202012Validator(json_schema())


def faults(validator: Draft202012Validator, text: str) -> list[str]:
    root = load_text(text, "x.yaml").root
    return [error.json_path for error in validator.iter_errors(data(root))]


def test_the_committed_schema_is_that_of_the_models() -> None:
    assert packaged_schema().read_text() == render_schema(), (
        "write it again: consilience engines schema > engine-v1.json"
    )


def test_it_is_a_schema() -> None:
    schema = json.loads(render_schema())
    Draft202012Validator.check_schema(schema)
    assert schema["$id"] == NAME


def test_every_packaged_engine_is_valid(validator: Draft202012Validator) -> None:
    paths = sorted(packaged().glob("*.yaml"))
    found = [(path.stem, list(validator.iter_errors(data(load_file(path).root)))) for path in paths]
    assert [(name, errors) for name, errors in found if errors] == []


def test_every_packaged_engine_names_the_schema() -> None:
    line = f"# yaml-language-server: $schema=../{NAME}"
    paths = sorted(packaged().glob("*.yaml"))
    assert [path.stem for path in paths if path.read_text().split("\n", 1)[0] != line] == []


@pytest.mark.shared
def test_the_examples_of_the_language_are_valid(
    validator: Draft202012Validator, shared: Path
) -> None:
    blocks = (shared / "language.md").read_text().split("```yaml\n")[1:]
    texts = [
        block.split("```")[0] for block in blocks if block.startswith("# yaml-language-server")
    ]
    assert len(texts) == 4
    assert [faults(validator, text) for text in texts] == [[], [], [], []]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(GOOD, id="good"),
        pytest.param("schema: 1\nid: x\nextends: y\n", id="child"),
        pytest.param("schema: 1\nid: x\nextends: y\npaging: {size: 100}\n", id="child-paging"),
        pytest.param(
            "schema: 1\nid: x\nextends: y\npaging: null\nrequest: {query: {a: null}}\n"
            "response: {rows: {drop: null}, fields: {source: {css: a}, snippet: null}}\n",
            id="child-that-deletes",
        ),
    ],
)
def test_good_files_are_valid(validator: Draft202012Validator, text: str) -> None:
    assert faults(validator, text) == []


@pytest.mark.parametrize(
    ("text", "path"),
    [
        pytest.param(GOOD.replace("kind: web\n", ""), "$", id="missing-key"),
        pytest.param("id: x\nextends: y\n", "$", id="child-without-schema"),
        pytest.param(spec_text(limit="{}"), "$", id="unknown-key"),
        pytest.param(spec_text(paging="{size: 100}"), "$.paging", id="paging-without-its-kind"),
        pytest.param(spec_text(paging="{by: page, next: a}"), "$.paging", id="paging-of-two-kinds"),
        pytest.param(spec_text(kind="webb"), "$.kind", id="kind"),
        pytest.param(spec_text(limits="{timeout: 8}"), "$.limits", id="span"),
        pytest.param(spec_text(verdicts="- blokced: {status: 1}\n"), "$.verdicts", id="verdict"),
        pytest.param(spec_text(verdicts="- blocked: {css: a, url: b}\n"), "$.verdicts", id="two"),
        pytest.param(GOOD.replace("title:", "titel:"), "$.response", id="field"),
        pytest.param(GOOD.replace("title: h2 a", "title: {do: []}"), "$.response", id="no-source"),
        pytest.param(
            GOOD.replace("title: h2 a", "title: {css: a, do: [upcase]}"), "$.response", id="filter"
        ),
        pytest.param(
            GOOD.replace("title: h2 a", "title: {css: a, do: [match]}"), "$.response", id="bare"
        ),
    ],
)
def test_bad_files_are_not_valid(validator: Draft202012Validator, text: str, path: str) -> None:
    found = faults(validator, text)
    assert found
    assert all(item.startswith(path) for item in found)
