"""Where an answer leads, and what the next hop takes along."""

from __future__ import annotations

import pytest
from scrapy import Request
from scrapy.http import HtmlResponse, Response

from middlewares.redirects import followed, target


@pytest.mark.parametrize(
    ("location", "expected"),
    [
        ("/b", "https://a.example/b"),
        ("b", "https://a.example/x/b"),
        ("//b.example/", "https://b.example/"),
        ("?q=1", "https://a.example/x/y?q=1"),
        ("https://b.example/é", "https://b.example/é"),
        (" /b ", "https://a.example/b"),
    ],
)
def test_a_location_is_made_absolute(location: str, expected: str) -> None:
    headers = {"Location": location.encode()}
    answer = Response("https://a.example/x/y", status=302, headers=headers)
    assert target(answer) == expected


def test_a_latin1_location_is_read() -> None:
    answer = Response("https://a.example/", status=301, headers={"Location": b"/\xe9"})
    assert target(answer) == "https://a.example/é"


@pytest.mark.parametrize("status", [200, 300, 304, 404])
def test_other_answers_lead_nowhere(status: int) -> None:
    answer = Response("https://a.example/", status=status, headers={"Location": "/b"})
    assert target(answer) is None


def test_the_fragment_is_inherited() -> None:
    answer = Response("https://a.example/x#part", status=302, headers={"Location": "/b"})
    assert target(answer) == "https://a.example/b#part"


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("0; url=/b", "https://a.example/b"),
        ("5;URL='https://b.example/'", "https://b.example/"),
        ("11; url=/late", None),
        ("0; url=https://a.example/x", None),
        ("30", None),
    ],
)
def test_an_html_refresh(content: str, expected: str | None) -> None:
    body = f'<html><head><meta http-equiv="Refresh" content="{content}">'.encode()
    answer = HtmlResponse("https://a.example/x", body=body)
    assert target(answer, refresh=True) == expected
    assert target(answer) is None
    assert target(Response("https://a.example/x", body=body), refresh=True) is None


def test_a_page_without_refresh_leads_nowhere() -> None:
    assert target(HtmlResponse("https://a.example/", body=b"<p>x"), refresh=True) is None


SECRET = {"Authorization": "Bearer s", "X-Key": "s", "Cookie": "c=s", "Accept-Language": "de"}


def test_the_same_origin_keeps_its_headers() -> None:
    request = Request("https://a.example/", headers=SECRET, meta={"hops": ["https://z/"]})
    following = followed(request, 302, "https://a.example/b")
    assert following.headers.get("Authorization") == b"Bearer s"
    assert following.headers.get("Cookie") is None
    assert following.meta["hops"] == ["https://z/", "https://a.example/"]


@pytest.mark.parametrize(
    "url", ["https://b.example/", "http://a.example/", "https://a.example:8443/"]
)
def test_another_origin_gets_none_that_could_be_secret(url: str) -> None:
    following = followed(Request("https://a.example/", headers=SECRET), 302, url)
    assert following.headers.to_unicode_dict() == {"Accept-Language": "de"}


@pytest.mark.parametrize(
    ("status", "method", "kept"),
    [(302, "POST", False), (303, "PUT", False), (307, "POST", True), (302, "HEAD", True)],
)
def test_methods_and_bodies(status: int, method: str, kept: bool) -> None:
    headers = {"Content-Type": "text/plain"}
    request = Request("https://a.example/", method=method, body=b"b", headers=headers)
    following = followed(request, status, "https://a.example/b")
    assert following.method == (method if kept else "GET")
    assert following.body == (b"b" if kept else b"")
    assert (following.headers.get("Content-Type") is not None) == kept
