"""What the modes share: proxies as URLs, caps, the kind of an answer, further authorities."""

from __future__ import annotations

from pathlib import Path

import pytest
import trustme
from scrapy import Request
from scrapy.http import HtmlResponse, Response, TextResponse

from middlewares.handlers.common import BodyBuffer, CaBundle, answer, proxy_of
from middlewares.handlers.failures import BodyTooLargeError, ProxyUnavailableError
from spiders.crawler import project_settings


def asked(proxy: str | None) -> Request:
    return Request("https://site.example/", meta={"proxy": proxy})


def test_a_proxy_hides_its_login() -> None:
    proxy = proxy_of(asked("socks5h://us%40er:p%3Ass@gate.example:1081"))
    assert proxy is not None
    assert (proxy.user, proxy.password, proxy.port) == ("us@er", "p:ss", 1081)
    assert proxy.is_socks
    assert "p:ss" not in f"{proxy} {proxy!r}"


@pytest.mark.parametrize(
    ("url", "port"), [("http://g", 80), ("https://g", 443), ("socks5://g", 1080)]
)
def test_ports_by_scheme(url: str, port: int) -> None:
    proxy = proxy_of(asked(url))
    assert proxy is not None
    assert proxy.port == port


@pytest.mark.parametrize("url", ["ftp://g", "g:1080", "http://", "http://g:x", "socks4://g"])
def test_what_is_no_proxy_is_refused(url: str) -> None:
    with pytest.raises(ProxyUnavailableError):
        proxy_of(asked(url))


def test_no_proxy_is_none() -> None:
    assert proxy_of(asked(None)) is None
    assert proxy_of(asked("")) is None


def test_a_body_has_its_cap() -> None:
    body = BodyBuffer(5)
    body.add(b"12345")
    assert body.join() == b"12345"
    with pytest.raises(BodyTooLargeError, match="5 bytes"):
        body.add(b"6")
    assert body.overflown
    assert BodyBuffer(0).fits(10**9)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("text/html; charset=utf-8", HtmlResponse),
        ("application/xhtml+xml", HtmlResponse),
        ("", HtmlResponse),
        ("application/json", TextResponse),
        ("text/plain", TextResponse),
        ("application/rss+xml", TextResponse),
        ("image/png", Response),
        ("application/pdf", Response),
    ],
)
def test_the_kind_of_an_answer(kind: str, expected: type[Response]) -> None:
    built = answer(
        asked(None),
        status=200,
        headers=[("Content-Type", kind), ("Content-Encoding", "gzip"), ("X-A", "1")],
        body=b"x",
        protocol="HTTP/1.1",
        peer="fe80::1%eth0",
    )
    assert type(built) is expected
    assert built.headers.get("Content-Encoding") is None
    assert str(built.ip_address) == "fe80::1"


def test_further_authorities_join_the_usual_ones(tmp_path: Path) -> None:
    assert CaBundle(project_settings()).path is None
    own = tmp_path / "ca.pem"
    trustme.CA().cert_pem.write_to_path(str(own))
    bundle = CaBundle(project_settings({"CONSILIENCE_CA_FILE": own}))
    assert bundle.path is not None
    text = Path(bundle.path).read_text(encoding="utf-8")
    assert own.read_text(encoding="utf-8") in text
    assert text.count("BEGIN CERTIFICATE") > 50
    bundle.remove()
    assert own.exists()
