"""Nobody calls who should not: names, origins, tokens."""

from __future__ import annotations

import pytest
from starlette.datastructures import Headers

from framework.errors import InvalidInputError
from server.config import Environment, load
from server.http.security import (
    Access,
    caller_of,
    host_refusal,
    is_loopback,
    origin_refusal,
)

OPEN = Access()
TOKENS = Access(tokens={"ann": "a-long-token", "bob": "b-long-token"})
SHARED = Access(hosts=frozenset({"search.example"}), origins=frozenset({"https://app.example"}))


def access(**values: str) -> Access:
    return Access.of(load(Environment(values)))


@pytest.mark.parametrize(
    ("host", "allowed"),
    [
        ("127.0.0.1:3000", True),
        ("localhost", True),
        ("LOCALHOST:9", True),
        ("[::1]:3000", True),
        ("evil.example", False),
        ("127.0.0.1.evil.example", False),
        ("localhost@evil.example", False),
        ("", False),
        ("[", False),
        ("0.0.0.0", False),
    ],
)
def test_hosts(host: str, allowed: bool) -> None:
    assert (host_refusal(OPEN, Headers({"host": host})) is None) is allowed


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"origin": "http://127.0.0.1:3000"}, True),
        ({"origin": "http://127.0.0.1:3001"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://["}, False),
        ({"sec-fetch-site": "same-origin"}, True),
        ({"sec-fetch-site": "none"}, True),
        ({"sec-fetch-site": "cross-site"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        ({"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}, False),
        (
            {
                "sec-fetch-site": "same-site",
                "sec-fetch-mode": "navigate",
                "sec-fetch-dest": "document",
            },
            True,
        ),
    ],
)
def test_origins(headers: dict[str, str], allowed: bool) -> None:
    given = Headers({"host": "127.0.0.1:3000", **headers})

    assert (origin_refusal(OPEN, given) is None) is allowed


def test_a_named_origin_may_call() -> None:
    headers = Headers({"host": "search.example", "origin": "https://APP.example"})

    assert origin_refusal(SHARED, headers) is None


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("Bearer a-long-token", "ann"),
        ("bearer b-long-token", "bob"),
        ("Bearer a-long-toke", None),
        ("Bearer ", None),
        ("Basic a-long-token", None),
        ("a-long-token", None),
        ("", None),
        ("Bearer ä", None),
    ],
)
def test_tokens(value: str, name: str | None) -> None:
    assert caller_of(TOKENS, Headers({"authorization": value})) == name


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("192.168.1.1", False),
        ("::", False),
        ("example.org", False),
    ],
)
def test_loopback(host: str, expected: bool) -> None:
    assert is_loopback(host) is expected


def test_loopback_needs_no_token() -> None:
    assert access().tokens == {}


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ({}, "CONSILIENCE_TOKEN"),
        ({"CONSILIENCE_TOKEN": "a-long-token"}, "--allow-host"),
        ({"CONSILIENCE_ALLOW_HOSTS": "search.example"}, "CONSILIENCE_TOKEN"),
    ],
)
def test_beyond_loopback_a_token_and_a_name_are_needed(values: dict[str, str], word: str) -> None:
    with pytest.raises(InvalidInputError, match=word):
        access(CONSILIENCE_HOST="0.0.0.0", **values)


def test_the_public_address_is_a_name() -> None:
    given = access(
        CONSILIENCE_HOST="0.0.0.0",
        CONSILIENCE_TOKEN="a-long-token",
        PUBLIC_URL="https://search.example/base",
    )

    assert host_refusal(given, Headers({"host": "search.example"})) is None


def test_tokens_are_not_in_the_repr() -> None:
    assert "long-token" not in repr(TOKENS)
