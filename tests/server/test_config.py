"""Settings: what feeds them, and what a wrong value says."""

from __future__ import annotations

import ipaddress
from pathlib import Path

import pytest

from framework.errors import InvalidInputError
from server.config import NAMES, Environment, Settings, load


def settings(**values: str) -> Settings:
    return load(Environment(values))


def test_defaults_are_the_predecessors() -> None:
    given = settings()

    assert given.port == 3000
    assert given.deep_saturation == 0.6
    assert given.llm_timeout_ms == 30_000
    assert given.deep_retention_minutes == 10
    assert given.default_engines == ("bing", "duckduckgo", "brave")


def test_every_field_has_a_variable() -> None:
    assert set(NAMES) == set(Settings.model_fields)


def test_a_variable_feeds_one_field_only() -> None:
    names = [name for group in NAMES.values() for name in group]

    assert len(names) == len(set(names))


@pytest.mark.parametrize(
    ("values", "field", "expected"),
    [
        ({"DEFAULT_SEARCH_ENGINES": "bing, brave"}, "default_engines", ("bing", "brave")),
        ({"CONSILIENCE_ENGINES": "a", "DEFAULT_SEARCH_ENGINES": "b"}, "default_engines", ("a",)),
        ({"WEBFETCH_SEARCH_PROVIDER": "exa"}, "default_engines", ("exa",)),
        (
            {"WEBFETCH_SEARCH_PROVIDER": "auto"},
            "default_engines",
            ("bing", "duckduckgo", "brave"),
        ),
        ({"ENABLE_PROXY": "true"}, "enable_proxy", True),
        ({"ENABLE_PROXY": "0"}, "enable_proxy", False),
        (
            {"CONSILIENCE_ALLOW_NETWORKS": "10.0.0.0/8,::1"},
            "allow_networks",
            (ipaddress.ip_network("10.0.0.0/8"), ipaddress.ip_network("::1/128")),
        ),
        (
            {"CONSILIENCE_TOKENS": "ann:aaaaaaaa,bob:bbbbbbbb"},
            "tokens",
            {"ann": "aaaaaaaa", "bob": "bbbbbbbb"},
        ),
        ({"WRITE_DEBUG_FILE": "true"}, "debug_file", True),
        ({"WRITE_DEBUG_FILE": "/tmp/x.log"}, "debug_file", Path("/tmp/x.log")),
        ({"WEBFETCH_CHROME_PATH": "/usr/bin/chromium"}, "chrome_path", Path("/usr/bin/chromium")),
        ({"SOME_STRANGERS_NAME": "x"}, "port", 3000),
    ],
    ids=[
        "list", "own name first", "provider", "auto", "true", "zero", "networks", "tokens",
        "debug switch", "debug path", "predecessor", "stranger",
    ],
)  # fmt: skip
def test_values(values: dict[str, str], field: str, expected: object) -> None:
    assert getattr(settings(**values), field) == expected


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"PORT": "eighty"}, ["PORT", "integer", "'eighty'"]),
        ({"CONSILIENCE_PORT": "70000"}, ["CONSILIENCE_PORT", "65535", "'70000'"]),
        ({"CONSILIENCE_ROBOTS": "maybe"}, ["CONSILIENCE_ROBOTS", "'obey', 'warn' or 'off'"]),
        ({"CONSILIENCE_ALLOW_NETWORKS": "10.0.0.0/99"}, ["CONSILIENCE_ALLOW_NETWORKS"]),
        ({"CONSILIENCE_TOKENS": "ann"}, ["CONSILIENCE_TOKENS", "name:token"]),
        ({"ENABLE_PROXY": "perhaps"}, ["ENABLE_PROXY", "boolean", "'perhaps'"]),
    ],
    ids=["word for a number", "range", "choice", "network", "tokens", "switch"],
)
def test_a_wrong_value_names_variable_problem_and_value(
    values: dict[str, str], words: list[str]
) -> None:
    with pytest.raises(InvalidInputError) as caught:
        settings(**values)

    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize("name", ["CONSILIENCE_TOKEN", "CONSILIENCE_TOKENS"])
def test_a_wrong_secret_is_not_shown(name: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        settings(**{name: "hunter2"})

    assert "hunter2" not in str(caught.value)


def test_options_win_over_variables() -> None:
    given = load(Environment({"PORT": "1000"}), port=2000, proxy=None)

    assert given.port == 2000


def test_an_option_is_named_as_an_option() -> None:
    with pytest.raises(InvalidInputError, match=r"^--port: "):
        load(Environment({}), port=-1)


def test_secrets_are_not_in_the_repr() -> None:
    shown = repr(settings(CONSILIENCE_TOKEN="tok-secret", LLM_API_KEY="key-secret"))

    assert "secret" not in shown


def test_a_dotenv_file_lies_under_the_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / ".env").write_text("PORT=1111\nPUBLIC_URL=https://a.example\nEMPTY=\n")
    monkeypatch.setenv("PORT", "2222")
    monkeypatch.delenv("PUBLIC_URL", raising=False)

    values = Environment.read(tmp_path).values

    assert values["PORT"] == "2222"
    assert values["PUBLIC_URL"] == "https://a.example"
    assert "EMPTY" not in values


def test_a_strangers_unreadable_dotenv_does_not_break_a_start(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"\xff\xfe\x00binary\x80")

    assert Environment.read(tmp_path).values


def test_a_dotenv_folder_does_not_break_a_start(tmp_path: Path) -> None:
    (tmp_path / ".env").mkdir()

    assert Environment.read(tmp_path).values
