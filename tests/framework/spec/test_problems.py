"""Problems as text, JSON and CI annotations."""

from __future__ import annotations

import json

import pytest

from framework.spec.problems import (
    CODES,
    File,
    Mark,
    Problem,
    SpecProblemsError,
    problem,
    render_annotations,
    render_json,
    render_text,
    suggest,
)

_FILE = File("engines.d/x.yaml", ("id: x", "\tlimit: 3", "long: value, here"))


def test_text_has_place_line_caret_and_hint() -> None:
    item = problem(Mark(_FILE, 1, 5, 1), "E103", "id", "is wrong", "write y")
    assert render_text([item]) == (
        "engines.d/x.yaml:1:5: id: is wrong [E103]\n     1 | id: x\n       |     ^\n  hint: write y"
    )


def test_the_caret_keeps_tabs_and_stays_on_its_line() -> None:
    item = problem(Mark(_FILE, 2, 2, 99), "E101", "", "unknown", "")
    assert render_text([item]).splitlines()[-1] == "       | \t^^^^^^^^"


def test_problems_are_sorted_by_place() -> None:
    places = [(3, 1), (1, 5), (1, 2)]
    items = [problem(Mark(_FILE, line, column), "E103", "", "x", "") for line, column in places]
    heads = [line for line in render_text(items).splitlines() if line.startswith("engines.d")]
    assert [head.split(":")[1:3] for head in heads] == [["1", "2"], ["1", "5"], ["3", "1"]]


def test_json_has_every_part() -> None:
    item = problem(Mark(_FILE, 1, 5, 1), "E103", "id", "is wrong", "write y")
    assert json.loads(render_json([item])) == [
        {
            "file": "engines.d/x.yaml",
            "line": 1,
            "column": 5,
            "width": 1,
            "code": "E103",
            "path": "id",
            "message": "is wrong",
            "hint": "write y",
            "severity": "error",
            "source": "id: x",
        }
    ]


def test_annotations_escape_what_their_form_needs() -> None:
    item = problem(Mark(File("a,b:c.yaml"), 3, 1, 2), "W101", "limits", "100%\nold", "new")
    assert render_annotations([item]) == (
        "::warning file=a%2Cb%3Ac.yaml,line=3,col=1,endColumn=3,title=W101"
        "::limits: 100%25%0Aold%0Ahint: new"
    )


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        pytest.param("limit", 'did you mean "limits"? allowed: limits, tests', id="near"),
        pytest.param("LIMITS", 'did you mean "limits"? allowed: limits, tests', id="case"),
        pytest.param("zebra", "allowed: limits, tests", id="far"),
    ],
)
def test_suggestions_offer_the_nearest_name(word: str, expected: str) -> None:
    assert suggest(word, ["limits", "tests"]) == expected


def test_a_mark_is_narrowed_to_a_word_on_its_line() -> None:
    mark = Mark(_FILE, 3, 7, 11).narrowed("here")
    assert (mark.column, mark.width) == (14, 4)
    assert Mark(_FILE, 3, 7).narrowed("absent") == Mark(_FILE, 3, 7)
    assert Mark(_FILE, 99).source == ""


def test_the_error_carries_all_problems_and_shows_the_first() -> None:
    items = [problem(Mark(_FILE, line), "E103", "id", "is wrong", "write y") for line in (1, 2)]
    error = SpecProblemsError(items)
    assert error.problems == tuple(items)
    assert str(error) == "engines.d/x.yaml:1:1: id: is wrong; write y (and 1 more)"
    assert error.code == "invalid_spec"


def test_the_letter_of_a_code_is_its_severity() -> None:
    made: list[Problem] = [problem(Mark(_FILE), code, "", "x", "") for code in CODES]
    assert all((item.severity == "warning") == item.code.startswith("W") for item in made)


@pytest.mark.parametrize(
    ("names", "hint"),
    [
        pytest.param(["bing", "brave"], 'did you mean "bing"? known: bing, brave', id="few"),
        pytest.param(["x", "y"], "known: x, y", id="few-and-none-near"),
        pytest.param([], "known: nothing", id="none"),
        pytest.param(
            ["bing", "binge", *(f"x{n}" for n in range(90))],
            'did you mean "bing" or "binge"?',
            id="many",
        ),
        pytest.param(
            [f"x{n}" for n in range(90)],
            "known: x0, x1, x2, x3, x4, x5, x6, x7, x8, x9, … (90 in all)",
            id="many-and-none-near",
        ),
    ],
)
def test_an_unknown_name_is_answered_with_the_nearest(names: list[str], hint: str) -> None:
    assert suggest("bingg", names, "known") == hint
