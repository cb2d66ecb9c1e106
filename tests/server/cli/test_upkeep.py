"""`consilience keys`, `proxies`, `cache`, `models`, `init` and the program itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from framework.evidence import models
from server.version import VERSION
from tests.support.command import runner
from tests.support.tiny_model import write_model

if TYPE_CHECKING:
    from pathlib import Path

    from pytest_httpserver import HTTPServer

    from tests.support.command import Run

SECRET = "tvly-secret-0123456789"


def test_keys_are_counted_and_never_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    keys = f"{SECRET},{SECRET}-2"
    run = runner(capsys, monkeypatch, tmp_path, TAVILY_API_KEYS=keys, TAVILY_API_KEY=SECRET)
    rows = {row["engine"]: row for row in json.loads(run("keys", "--json").out)}
    table = run("keys")

    assert rows["tavily"]["keys"] == 2
    assert SECRET not in table.out + json.dumps(rows)


def test_no_keys_is_said(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    for name in list(os.environ):
        if name.endswith(("_KEY", "_KEYS", "_TOKEN", "_TOKENS")):
            monkeypatch.delenv(name)

    assert "No keys are set" in run("keys").out


def test_proxies_never_show_a_password(run: Run) -> None:
    done = run("proxies", "--proxy", "socks5h://ann:s3cret@gate.example:1080")

    assert "socks5h://gate.example:1080" in done.out
    assert "s3cret" not in done.out + done.error


def test_a_dead_proxy_fails_its_check(run: Run) -> None:
    done = run("proxies", "https://a.example/", "--check", "--proxy", "socks5h://127.0.0.1:9")

    assert done.code == 1
    assert "proxy_unavailable" in done.out


def test_a_proxy_that_is_set_but_not_enabled_is_mentioned(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("ENABLE_PROXY", raising=False)

    assert "HTTP_PROXY" in run("proxies").error


def test_the_cache_is_counted_and_cleared(run: Run) -> None:
    assert "0 pages" in run("cache", "stats").out
    assert json.loads(run("cache", "stats", "--json").out) == {"entries": 0, "size": 0}
    assert "0 pages removed" in run("cache", "clear").out


def test_models_are_listed_with_their_licence(run: Run) -> None:
    rows = json.loads(run("models", "list", "--json").out)

    assert {row["kind"] for row in rows} >= {"rerank", "nli"}
    assert all(row["licence"] for row in rows)


def test_models_are_checked_one_by_one(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = next(record for record in models.RECORDS if record.kind == "nli")
    folder = tmp_path / "models" / damaged.name
    folder.mkdir(parents=True)
    for file in damaged.hub:
        (folder / file.name).write_bytes(b"no model")
    monkeypatch.setenv("CONSILIENCE_MODELS_DIR", str(tmp_path / "models"))
    done = run("models", "check")
    said = dict(row.split(": ", 1) for row in done.out.splitlines())

    assert done.code == 1
    assert said.keys() == {record.name for record in models.RECORDS}
    assert said.pop(damaged.name) not in {"fine", "not found"}
    assert set(said.values()) <= {"fine", "not found"}


def test_models_are_fetched_from_a_hub_and_held_to_what_first_came(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, httpserver: HTTPServer
) -> None:
    record = next(r for r in models.RECORDS if r.kind == "nli" and not r.hub[0].sha256)
    origin = write_model(tmp_path / "origin", {"yes": (0.0, 9.0, 0.0)})
    for file in record.hub:
        body = (origin / file.name).read_bytes()
        httpserver.expect_request(f"/{record.name}/{file.name}").respond_with_data(body)
    monkeypatch.setenv("CONSILIENCE_MODELS_URL", httpserver.url_for("/"))
    monkeypatch.setenv("CONSILIENCE_MODELS_DIR", str(tmp_path / "models"))
    monkeypatch.setenv("CONSILIENCE_ALLOW_NETWORKS", "127.0.0.0/8")
    folder = tmp_path / "models" / record.name

    first = run("models", "fetch", record.name)
    assert (first.code, first.out) == (0, f"{record.name}: {folder}\n")
    assert f"{record.name}: fine" in run("models", "check").out

    (folder / "model.onnx").write_bytes(b"other")
    checked = run("models", "check")
    assert checked.code == 1
    assert f"{record.name}: model.onnx in {folder} changed since it came" in checked.out

    httpserver.clear()
    httpserver.expect_request(f"/{record.name}/model.onnx").respond_with_data(b"a new one")
    again = run("models", "fetch", record.name)
    assert again.code == 1
    assert "first came with" in again.error
    assert "Traceback" not in again.error


def test_an_unknown_model_is_refused(run: Run) -> None:
    done = run("models", "fetch", "gigantic")

    assert done.code == 1
    assert "known:" in done.error


def test_init_makes_a_folder_and_keeps_what_exists(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    first = run("init", str(folder))
    (folder / "scrapy.cfg").write_text("mine")
    second = run("init", str(folder))

    assert "wrote" in first.out
    assert "kept" in second.out
    assert (folder / "scrapy.cfg").read_text() == "mine"
    assert json.loads((folder / "engine-v1.json").read_text())


def test_init_where_nothing_can_be_written(run: Run, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    done = run("init", str(tmp_path / "file" / "deep"))

    assert done.code == 1
    assert "Traceback" not in done.error


def test_the_version_is_the_packages(run: Run) -> None:
    assert run("--version").out == f"consilience {VERSION}\n"


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_the_help_begins_with_search_and_says_how_to_start(run: Run, word: str) -> None:
    done = run(word)
    commands = done.out.partition("Commands:\n")[2]

    assert done.code == 0
    assert commands.split()[0] == "search"
    assert "..." not in commands
    assert 'consilience search "javascript tutorial" --replay' in done.out


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (("serch", "x"), "'search'"),
        (("engines", "lst"), "'list'"),
        (("search", "x", "--engine", "bing"), "--engines"),
        (("search", "x", "--replay", "--engines", "bng"), 'did you mean "bing"'),
    ],
    ids=["command", "subcommand", "option", "engine"],
)
def test_what_was_probably_meant_is_named(run: Run, words: tuple[str, ...], meant: str) -> None:
    done = run(*words)

    assert done.code in {1, 2}
    assert meant in done.error


def test_a_wrong_variable_is_one_sentence(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORT", "eighty")
    done = run("search", "x", "--replay")

    assert done.code == 1
    assert done.error.startswith("consilience: PORT: ")
