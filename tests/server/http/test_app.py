"""The HTTP application on a real socket, over recordings."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Any

import httpx2
import pytest
import pytest_asyncio

from framework.types import Verdict
from server.app import Application
from server.config import Environment, Settings
from server.http.app import http_app
from server.http.limits import Limits
from server.http.security import Access
from server.selection import Selection
from server.surface import build
from tests.support.http_server import hosted
from tests.support.wire import call, current, legacy_session, message_of, post

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence
    from pathlib import Path

ANN = {"Authorization": "Bearer ann-has-a-token"}
BOB = {"Authorization": "Bearer bob-has-a-token"}
ORIGIN = "https://app.example"
TOKENS = {"ann": "ann-has-a-token", "bob": "bob-has-a-token"}


@contextlib.asynccontextmanager
async def opened(
    state: Path,
    access: Access | None = None,
    limits: Limits | None = None,
    tools: Sequence[str] = (),
    *,
    sessions: bool = True,
) -> AsyncIterator[tuple[httpx2.AsyncClient, Application]]:
    application = Application.create(Settings(state_dir=state), Environment({}), replay=True)
    surface = build(application, Selection(tools))
    app = http_app(surface, access or Access(), limits, sessions=sessions)
    async with hosted(app) as url, httpx2.AsyncClient(base_url=url, timeout=60) as http:
        yield http, application


pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def http(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx2.AsyncClient]:
    async with opened(tmp_path_factory.mktemp("open")) as (client, _):
        yield client


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def both(
    tmp_path_factory: pytest.TempPathFactory,
) -> AsyncIterator[tuple[httpx2.AsyncClient, Application]]:
    access = Access(tokens=TOKENS, origins=frozenset({ORIGIN}))
    async with opened(tmp_path_factory.mktemp("guarded"), access) as both:
        yield both


@pytest.fixture
def guarded(both: tuple[httpx2.AsyncClient, Application]) -> httpx2.AsyncClient:
    both[0].headers.pop("Authorization", None)
    return both[0]


ROUTES = (
    "/mcp",
    "/search?q=a",
    "/read?url=https://a.example",
    "/metrics",
    "/status",
    "/openapi.json",
)


@pytest.mark.parametrize("route", [*ROUTES, "/healthz", "/download/x", "/nowhere"])
@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "rebound.example"}, 421),
        ({"Origin": "https://evil.example"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
    ],
    ids=["host", "origin", "fetch-site"],
)
async def test_every_route_refuses_other_sites(
    http: httpx2.AsyncClient, route: str, headers: dict[str, str], status: int
) -> None:
    answer = await http.get(route, headers=headers)

    assert answer.status_code == status
    assert answer.json()["error"]["code"]


@pytest.mark.parametrize("route", [*ROUTES, "/download/x", "/nowhere"])
async def test_every_route_but_healthz_wants_the_token(
    guarded: httpx2.AsyncClient, route: str
) -> None:
    refused = await guarded.get(route, headers={"Authorization": "Bearer wrong"})

    assert refused.status_code == 401
    assert "Bearer" in refused.headers["www-authenticate"]
    assert (await guarded.get("/healthz")).json()["status"] == "ok"


async def test_a_search_in_the_shape_of_searxng(http: httpx2.AsyncClient) -> None:
    answer = await http.get(
        "/search", params={"q": "javascript tutorial", "format": "json", "engines": "bing,brave"}
    )
    body = answer.json()

    assert answer.status_code == 200
    assert body["query"] == "javascript tutorial"
    assert body["number_of_results"] >= len(body["results"]) > 3
    first = body["results"][0]
    assert {"title", "url", "content", "engine", "score", "category"} <= first.keys()
    assert first["engines"] == ["bing", "brave"]
    assert first["positions"] == [1, 1]
    assert first["engine"] in first["engines"]
    assert body["unresponsive_engines"] == []
    assert {"answers", "corrections", "infoboxes", "suggestions"} <= body.keys()


@pytest.mark.parametrize(
    ("query", "word"),
    [
        ({}, "q: this argument is required"),
        ({"q": "a", "pageno": "x"}, "pageno: must be a whole number, not 'x'"),
        ({"q": "a", "pageno": "11"}, "pageno: must be less than or equal to 10"),
        ({"q": "a", "safesearch": "7"}, "safesearch: must be 0, 1 or 2, not '7'"),
        ({"q": "a", "format": "rss"}, "format"),
        ({"q": "a", "categories": "cooking"}, "cooking"),
        ({"q": "a", "time_range": "hour", "pageno": "0"}, "time_range: must be 'day'"),
    ],
)
async def test_a_wrong_search_says_what_is_wrong(
    http: httpx2.AsyncClient, query: dict[str, str], word: str
) -> None:
    answer = await http.get("/search", params=query)

    assert answer.status_code == 400
    assert word in answer.json()["error"]["message"]


async def test_an_unknown_engine_is_not_found(http: httpx2.AsyncClient) -> None:
    answer = await http.get("/search", params={"q": "a", "engines": "bingo"})

    assert answer.status_code == 404
    assert "bing" in answer.json()["error"]["message"]


async def test_openapi_describes_the_routes(http: httpx2.AsyncClient) -> None:
    document = (await http.get("/openapi.json")).json()

    assert document["openapi"].startswith("3.")
    assert {"/search", "/healthz", "/metrics", "/download/{id}"} <= document["paths"].keys()
    names = [given["name"] for given in document["paths"]["/search"]["get"]["parameters"]]
    assert names[:3] == ["q", "format", "pageno"]


async def test_the_status_page_shows_every_engine(http: httpx2.AsyncClient) -> None:
    answer = await http.get("/status")

    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/html")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert 'id="bing"' in answer.text


async def test_metrics_know_the_last_week(tmp_path: Path) -> None:
    async with opened(tmp_path) as (http, application):
        application.policy.cooldown.note("bing", Verdict.CAPTCHA)
        text = (await http.get("/metrics")).text

    assert 'consilience_engine_week_answers{engine="bing",verdict="captcha"} 1.0' in text
    assert 'consilience_engine_rest_seconds{engine="bing",verdict="captcha"} 3' in text


async def test_metrics_count_calls_and_verdicts(http: httpx2.AsyncClient) -> None:
    await call(http, "web_search", query="javascript", engines=["ecosia"])
    await call(http, "web_search", query="javascript", limit=3)
    text = (await http.get("/metrics")).text

    assert 'consilience_tool_calls_total{outcome="ok",tool="web_search"} 1.0' in text
    assert 'consilience_tool_calls_total{outcome="invalid_arguments",tool="web_search"} 1.0' in text
    assert 'consilience_engine_answers_total{engine="ecosia",verdict="ok"} 1.0' in text
    assert "consilience_tool_calls_in_flight 0.0" in text
    assert 'consilience_http_requests_total{route="/mcp",status="200"}' in text
    assert "/nowhere" not in text


async def test_a_handshake_client_has_a_session_that_ends(http: httpx2.AsyncClient) -> None:
    headers = await legacy_session(http)
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}

    answer = await http.post("/mcp", json=listing, headers=headers)
    assert message_of(answer)["result"]["tools"][0]["name"] == "web_search"
    assert (await http.delete("/mcp", headers=headers)).status_code == 200
    assert (await http.post("/mcp", json=listing, headers=headers)).status_code == 404


async def test_without_sessions_a_handshake_client_is_served_as_well(tmp_path: Path) -> None:
    async with opened(tmp_path, sessions=False) as (http, _):
        headers = await legacy_session(http)
        listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        answer = await http.post("/mcp", json=listing, headers=headers)

    assert "Mcp-Session-Id" not in headers
    assert message_of(answer)["result"]["tools"]


async def test_a_session_belongs_to_its_token(guarded: httpx2.AsyncClient) -> None:
    guarded.headers.update(ANN)
    headers = await legacy_session(guarded)
    listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}

    stolen = await guarded.post("/mcp", json=listing, headers={**headers, **BOB})
    own = await guarded.post("/mcp", json=listing, headers=headers)

    assert (stolen.status_code, own.status_code) == (404, 200)


async def test_settings_belong_to_the_token_not_to_what_the_client_says(
    guarded: httpx2.AsyncClient,
) -> None:
    guarded.headers.update(ANN)
    await call(guarded, "set_engines", client="one", engines=["mojeek"])
    same = await call(guarded, "get_engines", client="two")
    guarded.headers.update(BOB)
    other = await call(guarded, "get_engines", client="one")

    assert same["structuredContent"]["default"] == ["mojeek"]
    assert other["structuredContent"]["default"] == ["bing", "duckduckgo", "brave"]


async def test_without_tokens_settings_belong_to_the_client(http: httpx2.AsyncClient) -> None:
    await call(http, "set_engines", client="one", engines=["mojeek"])
    one = await call(http, "get_engines", client="one")
    two = await call(http, "get_engines", client="two")

    assert one["structuredContent"]["default"] == ["mojeek"]
    assert two["structuredContent"]["default"] == ["bing", "duckduckgo", "brave"]


async def tool_names(http: httpx2.AsyncClient, path: str) -> list[str]:
    answer = await current(http, "tools/list", path)
    return [tool["name"] for tool in answer["result"]["tools"]]


async def test_a_connection_chooses_its_tools(http: httpx2.AsyncClient) -> None:
    assert await tool_names(http, "/mcp?tools=get_engines,web_search") == [
        "web_search",
        "get_engines",
    ]
    assert await tool_names(http, "/mcp?tools=compact") == ["web"]
    assert "web" not in await tool_names(http, "/mcp")


async def test_a_tool_that_was_not_chosen_is_unknown(http: httpx2.AsyncClient) -> None:
    answer = await current(
        http, "tools/call", "/mcp?tools=get_engines", name="web_search", arguments={"query": "a"}
    )

    assert answer["error"]["code"] == -32602


async def test_a_wrong_choice_is_refused_with_the_nearest(http: httpx2.AsyncClient) -> None:
    answer = await post(http, "tools/list", "/mcp?tools=web_serch")

    assert answer.status_code == 400
    assert "web_search" in answer.json()["error"]["message"]


async def test_a_connection_cannot_choose_what_the_operator_left_out(tmp_path: Path) -> None:
    async with opened(tmp_path, tools=("web_search", "get_engines")) as (http, _):
        refused = await post(http, "tools/list", "/mcp?tools=set_engines")
        narrowed = await tool_names(http, "/mcp?tools=get_engines")
        routed = await current(
            http,
            "tools/call",
            "/mcp?tools=compact",
            name="web",
            arguments={"operation": "set_engines", "input": {"engines": ["bing"]}},
        )

    assert refused.status_code == 400
    assert narrowed == ["get_engines"]
    assert routed["result"]["isError"]


async def test_a_report_is_downloaded_by_its_caller_only(
    both: tuple[httpx2.AsyncClient, Application], guarded: httpx2.AsyncClient
) -> None:
    kept = both[1].reports.put("ann", "report.md", b"# Found")
    own = await guarded.get(f"/download/{kept.id}", headers=ANN)
    other = await guarded.get(f"/download/{kept.id}", headers=BOB)
    missing = await guarded.get("/download/none", headers=ANN)

    assert (own.status_code, own.text) == (200, "# Found")
    assert own.headers["x-content-type-options"] == "nosniff"
    assert own.headers["cache-control"] == "private, no-store"
    assert 'filename="report.md"' in own.headers["content-disposition"]
    assert (other.status_code, missing.status_code) == (404, 404)


async def test_too_large_a_body_is_refused(tmp_path: Path) -> None:
    async with opened(tmp_path, limits=Limits(body=1_000)) as (http, _):
        declared = await http.post("/mcp", content=b"x" * 2_000)

        async def pieces() -> AsyncIterator[bytes]:
            for _ in range(20):
                yield b"x" * 100

        headers = {"Content-Type": "application/json", "Accept": "application/json, */*"}
        streamed = await http.post("/mcp", content=pieces(), headers=headers)

    assert (declared.status_code, streamed.status_code) == (413, 413)


async def test_too_many_requests_are_told_when_to_come_again(tmp_path: Path) -> None:
    async with opened(tmp_path, limits=Limits(per_minute=60, burst=2)) as (http, _):
        answers = [await http.get("/openapi.json") for _ in range(3)]

    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[-1].headers["retry-after"] == "1"


async def test_an_allowed_origin_gets_cors_and_a_preflight(guarded: httpx2.AsyncClient) -> None:
    asked = {
        "Origin": ORIGIN,
        "Access-Control-Request-Method": "POST",
        "Access-Control-Request-Headers": "authorization,mcp-method",
    }
    preflight = await guarded.options("/mcp", headers=asked)
    refused = await guarded.get("/search?q=a", headers={"Origin": ORIGIN})

    assert preflight.status_code == 200
    assert preflight.headers["access-control-allow-origin"] == ORIGIN
    assert refused.status_code == 401
    assert refused.headers["access-control-allow-origin"] == ORIGIN


async def test_unknown_addresses_and_methods_are_errors_as_json(http: httpx2.AsyncClient) -> None:
    missing, wrong = await http.get("/nowhere"), await http.post("/healthz")

    assert (missing.status_code, missing.json()["error"]["code"]) == (404, "not_found")
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (405, "method_not_allowed")


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"jsonrpc":"2.0"}', b"\xff\xfe"])
async def test_broken_bodies_are_refused_in_words(http: httpx2.AsyncClient, body: bytes) -> None:
    headers: dict[str, Any] = {
        "Content-Type": "application/json",
        "Accept": "application/json, text/event-stream",
    }
    for version in ("2026-07-28", "2025-11-25"):
        answer = await http.post(
            "/mcp", content=body, headers={**headers, "MCP-Protocol-Version": version}
        )

        assert 400 <= answer.status_code < 500
        assert "Traceback" not in answer.text
