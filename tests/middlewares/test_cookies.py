"""Cookie jars: apart from each other, bounded, and without any look-up elsewhere."""

from __future__ import annotations

import sys

from scrapy import Request
from scrapy.http import Response

from middlewares.cookies import CookiesMiddleware, JarShelf


def visit(middleware: CookiesMiddleware, url: str, jar: object, **options: object) -> bytes | None:
    request = Request(url, meta={"jar": jar}, **options)  # type: ignore[arg-type]
    middleware.process_request(request)
    return request.headers.get("Cookie")


def receive(middleware: CookiesMiddleware, url: str, jar: object, cookie: str) -> None:
    request = Request(url, meta={"jar": jar})
    middleware.process_response(request, Response(url, headers={"Set-Cookie": cookie}))


def test_a_cookie_goes_back_to_its_site_and_jar_only() -> None:
    cookies = CookiesMiddleware()
    receive(cookies, "https://a.example/x", "one", "k=v; Path=/; Secure")
    assert visit(cookies, "https://a.example/y", "one") == b"k=v"
    assert visit(cookies, "https://b.example/y", "one") is None
    assert visit(cookies, "http://a.example/y", "one") is None
    assert visit(cookies, "https://a.example/y", "two") is None
    assert visit(cookies, "https://a.example/y", None) is None


def test_a_site_cannot_set_cookies_for_another() -> None:
    cookies = CookiesMiddleware()
    receive(cookies, "https://a.example/", "one", "k=v; Domain=b.example")
    receive(cookies, "https://a.example/", "one", "k=v; Domain=example")
    assert visit(cookies, "https://b.example/", "one") is None


def test_a_requests_own_cookies_win() -> None:
    cookies = CookiesMiddleware()
    receive(cookies, "https://a.example/", "one", "k=old")
    sent = visit(cookies, "https://a.example/", "one", cookies={"k": "new", "n": "1"})
    assert sent == b"k=new; n=1"
    plain = visit(cookies, "https://a.example/", None, headers={"Cookie": "h=1"})
    assert plain == b"h=1"


def test_a_request_without_a_jar_keeps_nothing() -> None:
    cookies = CookiesMiddleware()
    receive(cookies, "https://a.example/", None, "k=v")
    assert len(cookies.shelf) == 0


def test_old_jars_are_forgotten() -> None:
    shelf = JarShelf(limit=2)
    first = shelf.jar("a")
    shelf.jar("b")
    assert shelf.jar("a") is first
    shelf.jar("c")
    assert len(shelf) == 2
    assert shelf.jar("a") is first


def test_no_list_of_suffixes_is_downloaded() -> None:
    assert "scrapy.downloadermiddlewares.cookies" not in sys.modules
