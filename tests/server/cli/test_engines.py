"""`consilience engines list|check|read|schema`."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.specs import RETIRED

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command import Run

FIVE_MISTAKES = """\
schema: 1
id: spoiled
name: Spoiled
kind: web
status: experimental
request:
  url: http://{{ region }}.spoiled.example/search
  query: {q: "{{ qurey }}"}
response:
  format: html
  rows: {each: "li:contains('x')"}
  fields: {title: a, url: "a::attr(href)", snipet: p}
limit: {rate: 1/2s}
"""


@pytest.fixture
def spoiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "engines.d"
    folder.mkdir()
    (folder / "spoiled.yaml").write_text(FIVE_MISTAKES)
    monkeypatch.setenv("CONSILIENCE_ENGINES_DIR", str(folder))
    return folder


def test_the_packaged_engines_are_all_fine(run: Run) -> None:
    done = run("engines", "check")

    assert (done.code, done.error) == (0, "")
    assert "all fine" in done.out


def test_every_mistake_is_printed_with_its_place_and_a_hint(run: Run, spoiled: Path) -> None:
    done = run("engines", "check", "spoiled", "--json")
    problems = json.loads(done.out)[0]["problems"]
    errors = [one for one in problems if one["severity"] == "error"]

    assert done.code == 1
    assert [one["line"] for one in errors] == sorted(one["line"] for one in errors)
    assert {one["line"] for one in errors} == {7, 8, 11, 12, 13}
    assert all(one["column"] > 0 and one["hint"] for one in errors)


def test_the_text_points_at_the_place(run: Run, spoiled: Path) -> None:
    done = run("engines", "check", "spoiled")

    assert 'did you mean "query"' in done.out
    assert 'did you mean "limits"' in done.out
    assert "^" in done.out


def test_annotations_for_ci(run: Run, spoiled: Path) -> None:
    done = run("engines", "check", "spoiled", "--annotations")

    assert done.out.startswith("::error file=")


def test_a_broken_file_does_not_stop_the_others(run: Run, spoiled: Path) -> None:
    answer = json.loads(run("search", "x", "--replay", "--json").out)
    listed = {one["id"]: one for one in json.loads(run("engines", "list", "--json").out)}

    assert [engine["verdict"] for engine in answer["engines"]] == ["ok", "ok", "ok"]
    assert listed["spoiled"]["problems"]
    assert listed["bing"]["problems"] == []


def test_engines_without_a_key_say_which_variable(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("BRAVE_API_KEYS", "BRAVE_API_KEY", "BRAVE_SEARCH_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    listed = {one["id"]: one for one in json.loads(run("engines", "list", "--json").out)}

    assert "BRAVE_API_KEY" in listed["brave-api"]["disabled"]
    assert listed["bing"]["disabled"] == ""


def test_a_deprecated_engine_names_the_one_to_use(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "retired.yaml").write_text(RETIRED)
    monkeypatch.setenv("CONSILIENCE_ENGINES_DIR", str(tmp_path))

    rows = [row.split() for row in run("engines", "list").out.splitlines()]
    listed = {one["id"]: one for one in json.loads(run("engines", "list", "--json").out)}

    assert ["retired", "web", "retired", "deprecated:", "use", "bing"] in rows
    assert (listed["retired"]["replaced_by"], listed["bing"]["replaced_by"]) == ("bing", None)


def test_read_a_saved_answer(run: Run, root: Path) -> None:
    file = root / "fixtures" / "bing" / "ok" / "response.html"
    done = run("engines", "read", "bing", str(file), "--query", "javascript tutorial", "--json")
    data = json.loads(done.out)

    assert data["verdict"] == "ok"
    assert data["results"][0].keys() >= {"rank", "title", "url", "snippet"}


def test_rows_about_something_else_are_told(run: Run, root: Path) -> None:
    file = root / "fixtures" / "bing" / "ok" / "response.html"
    url = "https://www.bing.com/search?q=medieval+falconry"
    data = json.loads(run("engines", "read", "bing", str(file), "--url", url, "--json").out)

    assert data["verdict"] == "unrelated"


def test_status_and_headers_count(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "answer.html"
    file.write_text("<p>slow down</p>")
    words = ("--status", "429", "--header", "Retry-After: 30", "--json")
    data = json.loads(run("engines", "read", "brave", str(file), *words).out)

    assert data["verdict"] in {"rate_limited", "captcha", "blocked"}
    assert data["results"] == []


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("engines", "check", "bingo"), "bing"),
        (("engines", "read", "bingo", "x"), "bing"),
        (("engines", "read", "bing", "/no/such/file"), "/no/such/file"),
        (("engines", "read", "bing", "-", "--header", "nonsense"), "nonsense"),
    ],
)
def test_wrong_input_is_one_sentence(run: Run, words: tuple[str, ...], reason: str) -> None:
    done = run(*words)

    assert done.code == 1
    assert reason in done.error
    assert "Traceback" not in done.error


def test_the_schema_is_the_committed_one(run: Run, root: Path) -> None:
    printed = json.loads(run("engines", "schema").out)

    assert printed == json.loads((root / "engine-v1.json").read_text())


def test_files_are_looked_at_without_loading_what_answers_questions() -> None:
    loaded = subprocess.run(
        [sys.executable, "-c", "import server.cli.engine_files, sys; print(*sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    ).stdout.split()

    assert "framework.spec.catalogue" in loaded
    assert not {"server.app", "scrapy", "mcp", "starlette"}.intersection(loaded)
