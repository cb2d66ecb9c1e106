"""The proxy policy: precedence, exceptions, and that nothing leaves without its proxy."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest
from scrapy import Request
from scrapy.http import Response
from scrapy.utils.test import get_crawler

from framework.errors import InvalidInputError, UnavailableError
from middlewares.handlers.failures import ProxyUnavailableError
from middlewares.pools import Member, Pool
from middlewares.proxy import Proxies, ProxyMiddleware, proxies_from
from tests.support.clock import Clock

if TYPE_CHECKING:
    from pathlib import Path

A, B = "socks5h://a.test:1080", "socks5h://b.test:1080"


def policy(*urls: str, allow_direct: tuple[str, ...] = (), **pools: Pool) -> Proxies:
    named = dict(pools)
    if urls:
        named["default"] = Pool("default", [Member(url) for url in urls], clock=Clock())
    return Proxies(named, frozenset(allow_direct))


@dataclass
class Fetch:
    proxy: str = "default"
    sticky: str | None = None


@dataclass
class Engine:
    id: str = "bing"
    fetch: Fetch = field(default_factory=Fetch)


ON = {"ENABLE_PROXY": "true"}
SOCKS = {"SOCKS5_PROXY": "gate.test:1"}
HTTPS = {"HTTPS_PROXY": "http://tls.test:2"}
HTTP = {"HTTP_PROXY": "http://plain.test:3"}


@pytest.mark.parametrize(
    ("environ", "option", "expected"),
    [
        ({}, None, None),
        ({**SOCKS, **HTTPS, **HTTP}, None, None),
        ({**ON, **SOCKS, **HTTPS, **HTTP}, None, "socks5h://gate.test:1"),
        ({**ON, **HTTPS, **HTTP}, None, "http://tls.test:2"),
        ({**ON, **HTTP}, None, "http://plain.test:3"),
        ({**ON, "http_proxy": "plain.test:3"}, None, "http://plain.test:3"),
        ({"CONSILIENCE_ENABLE_PROXY": "1", **HTTP}, None, "http://plain.test:3"),
        ({"ENABLE_PROXY": "false", **HTTP}, None, None),
        ({**ON, **SOCKS}, "socks5://option.test:9", "socks5h://option.test:9"),
    ],
)
def test_precedence(environ: dict[str, str], option: str | None, expected: str | None) -> None:
    assert proxies_from(environ, proxy=option).route() == expected


def test_the_pools_file_goes_before_the_environment_and_the_option_before_both(
    tmp_path: Path,
) -> None:
    file = tmp_path / "proxies.yaml"
    file.write_text("pools: {default: {members: [http://file.test:1]}}")
    environ = {**ON, **SOCKS}
    assert proxies_from(environ, pools_file=file).route() == "http://file.test:1"
    option = proxies_from(environ, pools_file=file, proxy="http://option.test:1")
    assert option.route() == "http://option.test:1"


def test_enabled_without_an_address_is_an_error() -> None:
    with pytest.raises(InvalidInputError, match="SOCKS5_PROXY, HTTPS_PROXY, HTTP_PROXY"):
        proxies_from(ON)


@pytest.mark.parametrize("name", ["HTTP_PROXY", "ALL_PROXY", "https_proxy"])
def test_a_proxy_that_is_set_but_not_enabled_is_warned_of(name: str) -> None:
    (warning,) = proxies_from({name: "http://me:secret@x.test:1"}).warnings
    assert "ENABLE_PROXY" in warning
    assert "secret" not in warning
    assert proxies_from({**ON, **HTTP}).warnings == ()


@pytest.mark.parametrize(
    ("proxies", "wanted", "engine", "expected"),
    [
        (policy(), "default", "bing", None),
        (policy(), "direct", "bing", None),
        (policy(A), "default", "bing", A),
        (policy(A), "direct", "bing", A),
        (policy(A, allow_direct=("bing",)), "direct", "bing", None),
        (policy(A, allow_direct=("bing",)), "direct", "brave", A),
        (policy(A, allow_direct=("bing",)), "direct", "", A),
        (policy(A, tor=Pool("tor", [Member(B)])), "tor", "bing", B),
        (policy(tor=Pool("tor", [Member(B)])), "default", "bing", None),
    ],
)
def test_which_way_out(proxies: Proxies, wanted: str, engine: str, expected: str | None) -> None:
    assert proxies.route(wanted, engine=engine) == expected


@pytest.mark.parametrize("proxies", [policy(), policy(A)])
def test_a_pool_that_does_not_exist_never_means_direct(proxies: Proxies) -> None:
    with pytest.raises(UnavailableError, match="no proxy pool 'tor'") as caught:
        proxies.route("tor", engine="bing")
    assert caught.value.code == "proxy_unavailable"
    assert not caught.value.retryable


def test_sticky_engines_keep_their_proxy() -> None:
    proxies = policy(A, B)
    by_engine = {proxies.route_engine("x", Fetch(sticky="engine"), str(n)) for n in range(20)}
    assert len(by_engine) == 1
    by_query = [proxies.route_engine("x", Fetch(sticky="query"), str(n)) for n in range(20)]
    again = [proxies.route_engine("x", Fetch(sticky="query"), str(n)) for n in range(20)]
    assert by_query == again
    assert set(by_query) == {A, B}


def routed(middleware: ProxyMiddleware, **meta: object) -> Request:
    request = Request("https://site.test/", meta=meta)
    middleware.process_request(request)
    return request


def test_a_request_that_names_no_proxy_gets_the_operators() -> None:
    middleware = ProxyMiddleware(policy(A))
    for meta in ({}, {"proxy": None}, {"proxy": ""}, {"judge": Engine(fetch=Fetch("direct"))}):
        assert routed(middleware, **meta).meta["proxy"] == A
    assert routed(middleware, proxy="http://own.test:1").meta["proxy"] == "http://own.test:1"


def test_cookies_never_move_to_another_proxy() -> None:
    middleware = ProxyMiddleware(policy(A))
    request = routed(middleware, judge=Engine(), jar=("bing", None, "q"))
    assert request.meta["jar"] == ("bing", A, "q")


def test_a_retry_goes_through_another_member() -> None:
    middleware = ProxyMiddleware(policy(A, B))
    assert routed(middleware, tried=(A,)).meta["proxy"] == B
    assert routed(middleware, tried=(B,)).meta["proxy"] == A


def test_a_proxy_that_the_caller_names_is_kept() -> None:
    middleware = ProxyMiddleware(policy(A, B))
    assert routed(middleware, proxy=A).meta["routed"] is False
    assert routed(middleware, proxy=A, routed=True).meta["routed"] is True
    assert routed(middleware, proxy="http://own.test:1").meta["routed"] is False


def test_failures_of_the_proxy_bench_it_and_of_the_site_do_not() -> None:
    proxies = policy(A)
    middleware = ProxyMiddleware(proxies)
    request = routed(middleware)
    middleware.process_exception(request, TimeoutError())
    assert proxies.route() == A
    middleware.process_exception(request, ProxyUnavailableError("refuses the password"))
    with pytest.raises(UnavailableError, match="refuses the password"):
        middleware.process_request(Request("https://site.test/"))


def test_an_answer_heals_the_proxy() -> None:
    proxies = policy(A)
    middleware = ProxyMiddleware(proxies)
    request = routed(middleware)
    middleware.process_exception(request, ProxyUnavailableError("hung up"))
    response = Response("https://site.test/")
    assert middleware.process_response(request, response) is response
    assert proxies.route() == A
    assert middleware.process_response(Request("https://site.test/"), response) is response


def test_a_proxy_is_blamed_where_another_gets_through() -> None:
    proxies = policy(A, B)
    middleware = ProxyMiddleware(proxies)
    request = routed(middleware, tried=(A,), suspects=(A,))
    middleware.process_response(request, Response("https://site.test/"))
    assert [report.failures for report in proxies.pools["default"].reports()] == [1, 0]
    lone = ProxyMiddleware(policy(A))
    again = routed(lone, tried=(A,), suspects=(A,))
    lone.process_response(again, Response("https://site.test/"))
    assert lone.proxies.route() == A


def test_the_policy_is_the_settings_or_the_environments(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "CONSILIENCE_PROXY"):
        monkeypatch.delenv(name, raising=False)
    given = policy(A)
    crawler = get_crawler(settings_dict={"CONSILIENCE_PROXY_POLICY": given})
    assert ProxyMiddleware.from_crawler(crawler).proxies is given
    monkeypatch.setenv("ENABLE_PROXY", "1")
    monkeypatch.setenv("SOCKS5_PROXY", "gate.test:1")
    monkeypatch.setenv("CONSILIENCE_ALLOW_DIRECT", "arxiv, pubmed")
    proxies = ProxyMiddleware.from_crawler(get_crawler()).proxies
    assert proxies.route() == "socks5h://gate.test:1"
    assert proxies.route(engine="pubmed") is None
    option = get_crawler(settings_dict={"CONSILIENCE_PROXY": "http://option.test:1"})
    assert ProxyMiddleware.from_crawler(option).proxies.route() == "http://option.test:1"
