"""Options that every command of a sort has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import typer

from server.cli.commands import app

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.command import Run

#: Servers fetch for others: a time limit comes with each call.
_SERVERS = {"mcp", "serve"}
#: Scrapy reads the arguments of these itself.
_SCRAPY = {"crawl", "spiders"}
_OFFLINE = {
    *("read", "install", "init", "cache stats", "cache clear", "models list", "models check"),
    *("engines list", "engines check", "engines read", "engines schema", "engines heal"),
    *("engines migrate", "inspect list", "inspect show", "inspect call"),
}


def commands(group: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Click's own classes, which Typer brings along without types."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, f"{before}{name} ")
        else:
            yield before + name, command


#: What these options are for is another thing in each command that has them.
_OWN_MEANING = {"--query", "--url", "--check", "--output", "--apply"}
#: Their time limit is for something else than a search or a page.
_OWN_LIMIT = {"deep", "models fetch", "inspect list", "inspect show", "inspect call"}


def found() -> dict[str, set[str]]:
    return {
        name: {option for parameter in command.params for option in parameter.opts}
        for name, command in commands(typer.main.get_command(app))
    }


@pytest.mark.parametrize("name", sorted(set(found()) - _OFFLINE - _SCRAPY))
def test_every_command_that_fetches_has_the_options_of_fetching(name: str) -> None:
    wanted = {"--proxy", "--timeout", "--debug", "--debug-file"}
    assert found()[name] >= (wanted - {"--timeout"} if name in _SERVERS else wanted)


def test_an_option_says_the_same_in_every_command() -> None:
    said: dict[str, dict[str, list[str]]] = {}
    for name, command in commands(typer.main.get_command(app)):
        for parameter in command.params:
            option = parameter.opts[0]
            if option.startswith("--") and not (option == "--timeout" and name in _OWN_LIMIT):
                said.setdefault(option, {}).setdefault(parameter.help, []).append(name)

    assert {option for option, texts in said.items() if len(texts) > 1} == _OWN_MEANING


def test_every_option_has_help() -> None:
    for name, command in commands(typer.main.get_command(app)):
        assert [one.opts for one in command.params if not one.help] == [], name


def test_no_other_command_has_a_proxy() -> None:
    assert not [name for name in _OFFLINE if "--proxy" in found()[name]]


@pytest.mark.parametrize(
    "words",
    [
        ("keys",),
        ("proxies",),
        ("engines", "doctor", "mojeek"),
        ("engines", "report", "mojeek", "-o", "report.html"),
        ("engines", "try", "mojeek", "cats", "--replay"),
        ("engines", "record", "mojeek", "tried", "cats", "--replay"),
        ("engines", "new", "--url", "https://127.0.0.1:9/?q=cats"),
        ("search", "cats", "--replay"),
        ("json", "http://127.0.0.1:9/"),
    ],
    ids=" ".join,
)
def test_a_debug_file_is_written_where_it_is_asked_for(
    run: Run, words: tuple[str, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run(*words, "--debug", "--debug-file", "said.log", "--timeout", "5")

    assert done.code in {0, 1}, done.error
    assert (tmp_path / "said.log").exists()
