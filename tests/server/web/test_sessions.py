"""Sessions of browsers, and who they let in."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest

from server.web.sessions import (
    COOKIE,
    LIFETIME,
    caller_of_cookie,
    caller_of_token,
    issue,
    login_address,
    way_back,
)

if TYPE_CHECKING:
    from collections.abc import Callable

TOKENS = {"ann": "ann-has-a-token", "bob": "bob-has-a-token"}


def test_a_session_names_its_caller_until_it_ends() -> None:
    value = issue(TOKENS["bob"], now=1_000)

    assert caller_of_cookie(TOKENS, value, now=1_000 + LIFETIME) == "bob"
    assert caller_of_cookie(TOKENS, value, now=1_001 + LIFETIME) is None


def test_a_changed_token_ends_its_sessions() -> None:
    value = issue(TOKENS["bob"])

    assert caller_of_cookie({**TOKENS, "bob": "another-token"}, value) is None


@pytest.mark.parametrize(
    "spoil",
    [
        lambda value: "",
        lambda value: "x",
        lambda value: "." + value,
        lambda value: "9" + value,
        lambda value: value[:-1],
        lambda value: value + "0",
        lambda value: "²" + value,
        lambda value: value + "é",
        lambda value: "9" * 5_000 + value,
    ],
    ids=["none", "word", "no-end", "longer", "short", "long", "digit", "letter", "huge"],
)
def test_a_spoilt_session_names_nobody(spoil: Callable[[str], str]) -> None:
    assert caller_of_cookie(TOKENS, spoil(issue(TOKENS["ann"]))) is None


def test_tokens_are_told_apart() -> None:
    assert caller_of_token(TOKENS, " bob-has-a-token\n") == "bob"
    assert caller_of_token(TOKENS, "bob") is None
    assert caller_of_token(TOKENS, "\ud800é") is None


@pytest.mark.parametrize("asked", ["/", "/?q=a&page=2", "/page?url=https://a.example/", "/status"])
def test_signing_in_leads_back_to_what_was_asked_for(asked: str) -> None:
    path, _, query = asked.partition("?")
    given = parse_qs(urlsplit(login_address(path, query)).query)

    assert way_back(given.get("to", [""])[0]) == asked


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "https://evil.example/",
        "//evil.example/",
        "///evil.example/",
        "/\\evil.example",
        "\\evil.example",
        " //evil.example/",
        "/\t/evil.example/",
        "javascript:alert(1)",
        "//[::1",
        "/logout",
        "/mcp",
        "?q=a",
    ],
)
def test_signing_in_leads_nowhere_else(asked: str) -> None:
    assert way_back(asked) == "/"


@pytest.mark.asyncio(loop_scope="module")
class TestGate:
    async def test_a_session_opens_the_page_but_not_the_api(self, guarded_url: str) -> None:
        async with httpx2.AsyncClient(base_url=guarded_url, timeout=60) as http:
            http.cookies.set(COOKIE, issue(TOKENS["ann"]), domain="127.0.0.1")
            found = {path: (await http.get(path)).status_code for path in ("/", "/status")}
            shut = {path: (await http.get(path)).status_code for path in ("/metrics", "/read")}
            mcp = await http.post("/mcp", json={})

        assert found == {"/": 200, "/status": 200}
        assert shut == {"/metrics": 401, "/read": 401}
        assert mcp.status_code == 401

    @pytest.mark.parametrize("origin", ["https://evil.example", "null"])
    async def test_other_sites_cannot_sign_in_or_out(self, guarded_url: str, origin: str) -> None:
        async with httpx2.AsyncClient(base_url=guarded_url, timeout=60) as http:
            http.cookies.set(COOKIE, issue(TOKENS["ann"]), domain="127.0.0.1")
            for path in ("/login", "/logout"):
                data = {"token": TOKENS["ann"]}
                answer = await http.post(path, data=data, headers={"Origin": origin})
                assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)

    async def test_programs_are_told_and_browsers_are_led(self, guarded_url: str) -> None:
        async with httpx2.AsyncClient(base_url=guarded_url, timeout=60) as http:
            told = await http.get("/")
            led = await http.get("/", headers={"Accept": "text/html,*/*"})

        assert told.status_code == 401
        assert (led.status_code, led.headers["location"]) == (303, "/login")

    @pytest.mark.parametrize("path", ["/", "/login", "/?q=tides", "/page?url=x"])
    async def test_every_page_is_strict_about_what_it_loads(self, page_url: str, path: str) -> None:
        async with httpx2.AsyncClient(base_url=page_url, timeout=60) as http:
            answer = await http.get(path)

        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
