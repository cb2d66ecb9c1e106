"""`consilience inspect` looks at a server over HTTP and as a subprocess."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from framework.errors import InvalidInputError
from server.explorer import Target, arguments_of
from tests.support.command import runner
from tests.support.http_server import served

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.command import Run

SCHEMA: dict[str, Any] = {
    "properties": {
        "query": {"type": "string"},
        "max_results": {"type": "integer"},
        "engines": {"type": "array"},
        "sampling": {"type": "boolean"},
    }
}
SERVER = [sys.executable, "-c", "from server.cli import main; main()"]


@pytest.mark.parametrize(
    ("pairs", "whole", "expected"),
    [
        (["query=42"], None, {"query": "42"}),
        (["query=a=b"], None, {"query": "a=b"}),
        (["max_results=3", "sampling=true"], None, {"max_results": 3, "sampling": True}),
        (["engines=bing,brave"], None, {"engines": ["bing", "brave"]}),
        (['engines=["bing"]'], None, {"engines": ["bing"]}),
        (["engines=bing"], None, {"engines": ["bing"]}),
        (["query=x"], '{"query": "y", "page": 2}', {"query": "x", "page": 2}),
        (["unknown=word"], None, {"unknown": "word"}),
    ],
)
def test_arguments(pairs: list[str], whole: str | None, expected: dict[str, object]) -> None:
    assert arguments_of(SCHEMA, pairs, whole) == expected


@pytest.mark.parametrize(
    ("pairs", "whole"), [(["query"], None), (["=a"], None), ([], "[1]"), ([], "{")]
)
def test_wrong_arguments_are_refused(pairs: list[str], whole: str | None) -> None:
    with pytest.raises(InvalidInputError):
        arguments_of(SCHEMA, pairs, whole)


@pytest.mark.parametrize("given", [{}, {"url": "http://a.example/mcp", "command": ("x",)}])
def test_one_server_is_named(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInputError):
        Target(**given)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    environment = {"CONSILIENCE_TOKEN": "a-token-for-tests"}
    with served(
        "--replay", state=tmp_path_factory.mktemp("state"), environment=environment
    ) as server:
        yield f"{server.url}/mcp"


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    return runner(capsys, monkeypatch, tmp_path)


def test_over_http_with_a_token(url: str) -> None:
    words = ("inspect", "list", "--url", url, "--token", "a-token-for-tests", "--json")
    done = subprocess.run([*SERVER, *words], capture_output=True, text=True, timeout=90, check=True)

    listed = json.loads(done.stdout)
    assert listed["server"]["name"] == "consilience"
    assert listed["tools"][0]["name"] == "web_search"
    assert "consilience://engines" in listed["resources"]


def test_without_the_token_it_fails_in_one_sentence(run: Run, url: str) -> None:
    done = run("inspect", "list", "--url", url)

    assert (done.code, done.out) == (1, "")
    assert done.error.startswith("consilience: ")
    assert "Traceback" not in done.error


def test_a_call_of_a_subprocess(run: Run) -> None:
    done = run(
        "inspect", "call", "web_search", "-a", "query=javascript", "-a", "engines=bing", "--json",
        "--", *SERVER, "mcp", "--replay",
    )  # fmt: skip

    assert done.code == 0
    assert len(json.loads(done.out)["structuredContent"]["results"]) > 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["web_serch"], "web_search"),
        (["web_search", "-a", "query="], "query"),
        (["web_search", "-a", "query"], "key=value"),
    ],
)
def test_a_call_that_fails_ends_with_1(
    run: Run, url: str, arguments: list[str], words: str
) -> None:
    done = run("inspect", "call", *arguments, "--url", url, "--token", "a-token-for-tests")

    assert done.code == 1
    assert words in done.error
    assert "Traceback" not in done.error


def test_a_program_that_is_not_there_is_one_sentence(run: Run) -> None:
    done = run("inspect", "list", "--", "./no-such-program")

    assert done.code == 1
    assert done.error.startswith("consilience: ./no-such-program: No such file or directory; ")


def test_a_subprocess_has_the_settings_of_who_starts_it(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CONSILIENCE_TOOLS", "get_engines")
    done = run("inspect", "list", "--json", "--", *SERVER, "mcp", "--replay")

    assert [tool["name"] for tool in json.loads(done.out)["tools"]] == ["get_engines"]
