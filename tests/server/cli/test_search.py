"""`consilience search` over recordings."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from framework.merge.consensus import score
from framework.types import Vote

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.command import Run


def test_a_table_with_votes_and_a_line_for_each_engine(run: Run) -> None:
    done = run("search", "javascript tutorial", "--replay")

    assert done.code == 0
    assert "bing#1 duckduckgo#1 brave#1" in done.out
    for engine in ("bing", "duckduckgo", "brave"):
        assert f"{engine}: ok, " in done.out
    assert "recordings" in done.error


def test_json_holds_everything_and_scores_can_be_recomputed(run: Run) -> None:
    answer = json.loads(run("search", "javascript tutorial", "--replay", "--json").out)

    assert answer["query"] == "javascript tutorial"
    for row in answer["results"]:
        votes = tuple(Vote(**vote) for vote in row["votes"])
        assert row["score"] == pytest.approx(score(votes), abs=1e-6)
    assert [row["rank"] for row in answer["results"]] == list(range(1, len(answer["results"]) + 1))


def test_explain_shows_the_reckoning(run: Run) -> None:
    done = run("search", "javascript", "--replay", "--explain", "--max-results", "1")

    assert "lineage" in done.out
    assert "4" in done.out


def test_named_engines_alone_are_asked(run: Run) -> None:
    answer = json.loads(run("search", "x", "--replay", "--json", "--engines", "brave").out)

    assert [engine["id"] for engine in answer["engines"]] == ["brave"]


def test_domains_are_kept_out(run: Run) -> None:
    words = ("--replay", "--json", "--exclude-domains", "codetutor.example")
    answer = json.loads(run("search", "javascript", *words).out)

    assert answer["results"]
    assert all("codetutor.example" not in row["url"] for row in answer["results"])


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("search", "x", "--replay", "--engines", "bingo"), 1, "bing"),
        (("search", "", "--replay"), 1, "query"),
        (("search", "x", "--max-results", "51"), 2, "--max-results"),
        (("search", "x", "--safe", "never"), 2, "never"),
        (("search", "x", "--start-published-date", "soon", "--replay"), 1, "date"),
        (("search", "x", "--replay-dir", "/nowhere/at/all"), 1, "/nowhere/at/all"),
        (("search", "x", "--proxy", "gopher://a:1"), 1, "--proxy"),
        (("serch", "x"), 2, "search"),
        (("search",), 2, "query"),
    ],
)
def test_wrong_input_is_one_sentence(
    run: Run, words: tuple[str, ...], code: int, reason: str
) -> None:
    done = run(*words)

    assert done.code == code
    assert reason in done.error
    assert "Traceback" not in done.error
    assert done.out == ""


def test_recordings_of_an_own_folder(run: Run, root: Path) -> None:
    done = run("search", "x", "--replay-dir", str(root / "fixtures"), "--engines", "mojeek")

    assert "mojeek: ok" in done.out


def test_a_dead_proxy_says_why_for_each_engine(run: Run) -> None:
    done = run("search", "x", "--proxy", "socks5h://ann:s3cret@127.0.0.1:9", "--timeout", "5")

    assert done.code == 1
    assert "bing, duckduckgo, brave proxy_unavailable" in done.error
    assert done.error.count("proxy_unavailable") == 1
    assert "s3cret" not in done.error


@pytest.fixture
def opened_addresses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A browser that writes the addresses it is to open into a file."""
    seen, program = tmp_path / "seen", tmp_path / "browser"
    program.write_text(f'#!/bin/sh\necho "$1" >> "{seen}"\n', encoding="utf-8")
    program.chmod(0o700)
    monkeypatch.setenv("BROWSER", str(program))
    monkeypatch.setattr("webbrowser._tryorder", None)
    monkeypatch.setattr("webbrowser._browsers", {})
    return seen


def test_a_result_is_opened_in_the_browser(run: Run, opened_addresses: Path) -> None:
    done = run("search", "javascript tutorial", "--replay", "--open", "2")

    assert done.code == 0
    assert opened_addresses.read_text(encoding="utf-8").startswith("https://learnjs.example/")


def test_what_is_not_there_is_not_opened(run: Run, opened_addresses: Path) -> None:
    done = run("search", "javascript tutorial", "--replay", "--max-results", "2", "--open", "3")

    assert done.code == 1
    assert "--open 3: there are 2 results" in done.error
    assert not opened_addresses.exists()
