"""A search the whole way: MCP → spec → SOCKS5 with a password → TLS → parse → consensus → MCP."""

from __future__ import annotations

import ipaddress
import ssl
from typing import TYPE_CHECKING, Any

import pytest
import trustme
from mcp import Client

from framework.spec.catalogue import Catalogue
from framework.types import HttpResponse, Query
from server.app import Application
from server.config import Environment
from server.requests import SearchRequest
from server.surface import build
from spiders.recordings import Recordings
from spiders.replay import ReplayProxy
from tests.support.site import Reply, Site, hang

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    from framework.types import HttpRequest

    Answer = Callable[[HttpRequest], HttpResponse | None]

THREE = ("bing", "duckduckgo", "brave")
HOSTS = {"www.bing.com", "html.duckduckgo.com", "search.brave.com"}


@pytest.fixture(scope="module")
def recordings() -> Recordings:
    catalogue = Catalogue()
    return Recordings(one for name in THREE for one in catalogue.fixtures(name))


@pytest.fixture
async def proxy(recordings: Recordings) -> AsyncIterator[ReplayProxy]:
    async with ReplayProxy(users={"ann": "s3cret"}, answer=recordings) as proxy:
        yield proxy


def application(proxy: ReplayProxy, folder: Path, **more: str) -> Application:
    assert proxy.ca is not None
    ca_file = folder / "ca.pem"
    proxy.ca.cert_pem.write_to_path(str(ca_file))
    values = {
        "CONSILIENCE_PROXY": proxy.url("socks5h", "ann", "s3cret"),
        "CONSILIENCE_CA_FILE": str(ca_file),
        "CONSILIENCE_STATE_DIR": str(folder / "state"),
        **more,
    }
    environment = Environment(values)
    return Application.create(environment=environment)


def names_only(proxy: ReplayProxy) -> set[str]:
    hosts = {str(connection.host) for connection in proxy.log}
    for host in hosts:
        with pytest.raises(ValueError, match="does not appear"):
            ipaddress.ip_address(host)
    return hosts


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_mcp_over_a_proxy_with_a_password(
    proxy: ReplayProxy, tmp_path: Path, mode: Any
) -> None:
    surface = build(application(proxy, tmp_path))

    async with Client(surface, mode=mode) as client:
        answer = await client.call_tool("web_search", {"query": "javascript tutorial"})

    data = answer.structured_content
    assert not answer.is_error
    assert data is not None
    assert [engine["verdict"] for engine in data["engines"]] == ["ok", "ok", "ok"]
    voters = {vote["engine"] for row in data["results"] for vote in row["votes"]}
    assert voters == set(THREE)
    assert any(len(row["votes"]) == 3 for row in data["results"])
    assert names_only(proxy) == HOSTS
    assert {connection.user for connection in proxy.log} == {"ann"}
    assert len(proxy.served) == 3


async def test_a_dead_proxy_is_never_gone_around(tmp_path: Path) -> None:
    async with ReplayProxy(users={"ann": "s3cret"}, answer=lambda _: None) as proxy:
        app = application(proxy, tmp_path)
    surface = build(app)

    async with Client(surface) as client:
        answer = await client.call_tool("web_search", {"query": "javascript", "timeout": 5})

    assert answer.is_error
    assert answer.structured_content is not None
    error = answer.structured_content["error"]
    assert error["code"] == "proxy_unavailable"
    assert error["retryable"]
    assert all(name in error["message"] for name in THREE)
    assert "s3cret" not in error["message"]


SPEC = """\
schema: 1
id: {id}
name: {id}
kind: web
status: experimental
request: {{url: "https://{id}.example/find", query: {{q: "{{{{ query }}}}"}}}}
response: {{format: html, rows: {{each: li}}, fields: {{title: a, url: "a::attr(href)"}}}}
fetch: {{mode: http, proxy: {proxy}}}
"""
BODIES = {
    "good.example": b'<ul><li><a href="https://good.example/page">A good page</a></ul>',
    "huge.example": b"x" * (10 * 1024 * 1024),
    "broken.example": b"<ul><li><a href='javascript:alert(1)'>good</a></ul>",
    "changed.example": b"<p>A new layout</p>",
}


def answer(request: HttpRequest) -> HttpResponse | None:
    host = request.url.split("/")[2]
    headers = (("Content-Type", "text/html"),)
    return HttpResponse(url=request.url, body=BODIES[host], headers=headers)


async def test_one_hangs_one_is_huge_one_is_broken_and_the_others_rows_arrive(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "engines"
    folder.mkdir()
    for name in ("good", "huge", "broken", "changed"):
        (folder / f"{name}.yaml").write_text(SPEC.format(id=name, proxy="default"))
    (folder / "hanging.yaml").write_text(SPEC.format(id="hanging", proxy="hole"))
    (folder / "spoiled.yaml").write_text("schema: 1\nid: spoiled\n")
    ca = trustme.CA()
    certificate = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("hanging.example").configure_cert(certificate)
    async with (
        ReplayProxy(users={"ann": "s3cret"}, answer=answer, ca=ca) as proxy,
        Site({"/find": Reply(stream=hang)}, tls=certificate) as site,
        ReplayProxy(hosts={"hanging.example": ("127.0.0.1", site.port)}) as hole,
    ):
        pools = tmp_path / "pools.yaml"
        pools.write_text(f"pools:\n  hole: {{members: ['{hole.url('socks5h')}']}}\n")
        app = application(
            proxy,
            tmp_path,
            CONSILIENCE_ENGINES_DIR=str(folder),
            CONSILIENCE_PROXIES=str(pools),
        )
        engines = ("good", "hanging", "huge", "broken", "changed", "spoiled")
        async with app:
            request = SearchRequest(query=Query(text="good page"), engines=engines, timeout=4)
            found = await app.search(request)

    assert [row.url for row in found.results] == ["https://good.example/page"]
    said = {report.id: report for report in found.engines}
    assert {name: report.verdict.value for name, report in said.items()} == {
        "good": "ok",
        "hanging": "timeout",
        "huge": "error",
        "broken": "changed",
        "changed": "changed",
        "spoiled": "disabled",
    }
    assert all(report.detail for name, report in said.items() if name != "good")
    assert "bytes" in said["huge"].detail
