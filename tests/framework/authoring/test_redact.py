"""Redaction: what belongs to a person or an operator never reaches a recording."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from framework.authoring.redact import redact, refuse_secrets
from framework.errors import InvalidInputError
from framework.spec.catalogue import Catalogue
from framework.types import HttpResponse

KEY = "k3y-of-the-operator"
TOKEN = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl"


def page(body: str, url: str = "https://a.example/s?q=x", **headers: str) -> HttpResponse:
    return HttpResponse(url=url, headers=tuple(headers.items()), body=body.encode())


@pytest.mark.parametrize(
    ("body", "gone"),
    [
        (f'{{"apiKey": "{KEY}"}}', KEY),
        (f"<a href='/s?key={KEY}'>", KEY),
        (f"token: {TOKEN}", TOKEN),
        ("Authorization: Bearer abcdef0123456789abcdef", "abcdef0123456789"),
        ('{"access_token":"0123456789abcdefgh"}', "0123456789abcdefgh"),
        ("mail me at jane.doe+x@mail.example.com now", "jane.doe"),
        ("your address is 203.0.113.77.", "203.0.113.77"),
        ("or 2001:db8:85a3:0:0:8a2e:370:7334 perhaps", "8a2e:370:7334"),
    ],
    ids=["key", "key in a link", "jwt", "bearer", "token", "mail", "IPv4", "IPv6"],
)
def test_it_is_taken_out_of_the_body(body: str, gone: str) -> None:
    cleaned = redact(page(body), (KEY,))

    assert gone not in cleaned.response.body.decode()
    assert sum(count for _, count in cleaned.counts) >= 1


def test_headers_and_addresses_are_cleaned() -> None:
    answer = HttpResponse(
        url=f"https://user:pw@a.example/s?q=x&api_key={KEY}&sid=123456#frag",
        headers=(
            ("Content-Type", "text/html"),
            ("Set-Cookie", "sid=secret"),
            ("X-Client-IP", "203.0.113.9"),
            ("Retry-After", "30"),
        ),
        hops=(f"https://a.example/?token={KEY}",),
    )
    cleaned = redact(answer).response

    assert cleaned.url == "https://a.example/s?q=x&api_key=redacted&sid=redacted"
    assert cleaned.headers == (("Content-Type", "text/html"), ("Retry-After", "30"))
    assert KEY not in cleaned.hops[0]


@pytest.mark.parametrize(
    "text",
    ["version 1.2.3.4.5", "10:30:15", "a@b", "std::vector<int>", "price: 12.50", "v1.10.0"],
)
def test_other_words_stay(text: str) -> None:
    assert redact(page(text)).response.body.decode() == text


@given(st.binary(max_size=200))
def test_any_bytes_survive(body: bytes) -> None:
    cleaned = redact(HttpResponse(url="https://a.example/", body=body)).response

    assert redact(cleaned).response.body == cleaned.body


def test_recordings_are_read_the_same_after_redaction() -> None:
    catalogue = Catalogue()
    for name in ("bing", "brave", "github", "arxiv"):
        engine = catalogue.get(name)
        for fixture in catalogue.fixtures(name):
            cleaned = redact(fixture.response).response
            assert engine.read(cleaned).rows == engine.read(fixture.response).rows


@pytest.mark.parametrize(
    "text",
    [f"x {KEY} y", "sk-live-0123456789abcdef0123", "AKIAABCDEFGHIJKLMNOP"],
    ids=["known", "shape of a key", "cloud key"],
)
def test_what_still_holds_a_key_is_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="so nothing was saved") as caught:
        refuse_secrets({"response.html": text.encode()}, (KEY,))
    assert KEY not in str(caught.value)
    assert caught.value.code == "secret_found"
