"""`extends`: deep merge, lists replaced, null deletes, every node keeps its file."""

from __future__ import annotations

import pytest

from framework.spec.inherit import Inherited, resolve
from framework.spec.source import Source, load_text, plain
from tests.support.specs import GOOD, compiled, problems


def merged(child: str, **parents: str) -> Inherited:
    def find(name: str) -> Source | None:
        return load_text(parents[name], f"{name}.yaml") if name in parents else None

    return resolve(load_text(child, "child.yaml"), find)


def values(child: str, **parents: str) -> object:
    result = merged(child, **parents)
    assert result.root is not None
    assert result.problems == []
    return plain(result.root)


@pytest.mark.parametrize(
    ("parent", "child", "expected"),
    [
        pytest.param("{m: {a: 1, b: 2}}", "{m: {b: 3}}", {"m": {"a": 1, "b": 3}}, id="maps-merge"),
        pytest.param("{l: [1, 2]}", "{l: [3]}", {"l": [3]}, id="lists-are-replaced"),
        pytest.param("{m: {a: 1, b: 2}}", "{m: {a: null}}", {"m": {"b": 2}}, id="null-deletes"),
        pytest.param("{m: {a: 1}}", "{m: null}", {}, id="null-deletes-a-map"),
        pytest.param("{a: 1}", "{b: null}", {"a": 1}, id="null-deletes-nothing"),
        pytest.param("{a: 1}", "{a: {b: 2}}", {"a": {"b": 2}}, id="map-replaces-scalar"),
        pytest.param(
            "{id: p, status: stable, tests: [{case: x}], replaced_by: z, name: P}",
            "{id: c}",
            {"id": "c", "name": "P"},
            id="id-status-and-tests-are-never-inherited",
        ),
        pytest.param(
            "{response: {fields: {url: {css: a, do: [strip]}}}}",
            "{response: {fields: {url: {jmes: url}}}}",
            {"response": {"fields": {"url": {"jmes": "url"}}}},
            id="a-pick-with-its-own-source-replaces-the-pick",
        ),
        pytest.param(
            "{response: {fields: {url: {css: a}}}}",
            "{response: {fields: {url: {optional: true}}}}",
            {"response": {"fields": {"url": {"css": "a", "optional": True}}}},
            id="a-pick-without-a-source-completes-the-pick",
        ),
        pytest.param(
            "{response: {rows: {each: a, drop: {css: b}}}}",
            "{response: {rows: {drop: {not: {css: c}}}}}",
            {"response": {"rows": {"each": "a", "drop": {"not": {"css": "c"}}}}},
            id="a-condition-is-replaced",
        ),
        pytest.param(
            "{paging: {by: offset, size: 10, first: 1}}",
            "{paging: {by: page}}",
            {"paging": {"by": "page"}},
            id="another-kind-of-paging-replaces",
        ),
        pytest.param(
            "{paging: {by: page, size: 10}}",
            "{paging: {by: page, max: 3}}",
            {"paging": {"by": "page", "size": 10, "max": 3}},
            id="the-same-kind-of-paging-completes",
        ),
        pytest.param(
            "{request: {query: {css: 1}}}",
            "{request: {query: {text: 2}}}",
            {"request": {"query": {"css": 1, "text": 2}}},
            id="parameters-with-names-of-sources-merge",
        ),
    ],
)
def test_merge(parent: str, child: str, expected: dict[str, object]) -> None:
    text = child.replace("{", "{extends: p, ", 1)
    assert values(text, p=parent) == {"extends": "p", **expected}


def test_a_chain_is_laid_from_the_root_down() -> None:
    result = merged(
        "{id: a, extends: b, x: 1}", b="{extends: c, x: 2, y: 2}", c="{x: 3, y: 3, z: 3}"
    )
    assert result.parents == ("b", "c")
    assert result.root is not None
    assert plain(result.root) == {"id": "a", "extends": "b", "x": 1, "y": 2, "z": 3}


@pytest.mark.parametrize(
    ("child", "parents", "code", "words"),
    [
        pytest.param("{id: a, extends: zz}", {}, "E401", "not there", id="missing"),
        pytest.param("{id: a, extends: b}", {"b": "x: ["}, "E401", "its own", id="broken"),
        pytest.param("{id: a, extends: a}", {}, "E402", "a → a", id="itself"),
        pytest.param(
            "{id: a, extends: b}",
            {"b": "{extends: c}", "c": "{extends: b}"},
            "E402",
            "b → c → b",
            id="cycle",
        ),
        pytest.param(
            "{id: a, extends: b}",
            {"b": "{extends: c}", "c": "{extends: d}", "d": "{extends: e}", "e": "{x: 1}"},
            "E402",
            "more than 3",
            id="four-parents",
        ),
    ],
)
def test_bad_chains(child: str, parents: dict[str, str], code: str, words: str) -> None:
    (found,) = merged(child, **parents).problems
    assert (found.code, found.path) == (code, "extends")
    assert words in found.message


def test_three_parents_are_allowed() -> None:
    result = merged("{id: a, extends: b}", b="{extends: c}", c="{extends: d}", d="{x: 1}")
    assert result.problems == []
    assert result.parents == ("b", "c", "d")


def test_a_problem_points_to_the_file_it_stands_in() -> None:
    parent = GOOD.replace("id: plain", "id: parent").replace("h2 a\n", "h2 >\n")
    found = problems("schema: 1\nid: plain\nextends: parent\nlimit: 3\n", {"parent": parent})
    places = {(item.file, item.line, item.path) for item in found}
    assert ("plain.yaml", 4, "limit") in places
    assert ("parent.yaml", 20, "response.fields.title") in places


def test_the_index_is_that_of_the_root_of_the_chain() -> None:
    parent = GOOD.replace("id: plain", "id: parent")
    child = compiled("schema: 1\nid: plain\nextends: parent\n", {"parent": parent}).engine
    assert child is not None
    assert (child.id, child.index, child.parents) == ("plain", "parent", ("parent",))


def test_a_declared_index_is_inherited() -> None:
    parent = GOOD.replace("id: plain", "id: parent").replace("kind:", "about: {index: bing}\nkind:")
    child = compiled("schema: 1\nid: plain\nextends: parent\n", {"parent": parent}).engine
    assert child is not None
    assert child.index == "bing"
