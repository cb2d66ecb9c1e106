"""Asking an engine through the hub: the whole way through proxy and TLS to recordings."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from framework.spec.context import Variables
from framework.types import HttpRequest, HttpResponse, Query, Verdict
from spiders.bootstrap import Sessions
from spiders.hub import Hub
from spiders.replay import Fault, ReplayProxy
from tests.spiders.conftest import LOOPBACK
from tests.support.engines import FORM, PLAIN, TOKEN, engine, record, rows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

    Answer = Callable[[HttpRequest], HttpResponse | None]

QUERY = Query(text="cats & dogs")


class Around:
    """A hub whose requests go through a replay proxy that answers by a function."""

    def __init__(self, hub: Hub, proxy: ReplayProxy) -> None:
        self.hub = hub
        self.proxy = proxy

    def answers(self, answer: Answer) -> None:
        self.proxy.answer = answer

    @property
    def url(self) -> str:
        return self.proxy.url("socks5h")


@pytest.fixture
async def around(tmp_path: Path) -> AsyncIterator[Around]:
    async with ReplayProxy(answer=lambda request: None) as proxy:
        assert proxy.ca is not None
        proxy.ca.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
        async with Hub({**LOOPBACK, "CONSILIENCE_CA_FILE": tmp_path / "ca.pem"}) as hub:
            yield Around(hub, proxy)


def html(text: str, status: int = 200, **headers: str) -> HttpResponse:
    pairs = (("Content-Type", "text/html; charset=utf-8"), *headers.items())
    return HttpResponse(url="", status=status, headers=pairs, body=text.encode())


async def test_a_search_returns_ranked_rows(around: Around) -> None:
    around.answers(lambda request: html(rows("one", "two")))
    page = await around.hub.search_engine(engine(), QUERY, proxy=around.url)
    assert page.verdict is Verdict.OK
    assert [(row.rank, row.title) for row in page.rows] == [(1, "One"), (2, "Two")]
    assert around.proxy.served[0].url == "https://plain.example/search?q=cats+%26+dogs"
    assert around.proxy.log[0].host == "plain.example"


async def test_the_next_page_goes_on_where_the_first_ended(around: Around) -> None:
    around.answers(lambda request: html(rows("one", "two")))
    first = await around.hub.search_engine(engine(), QUERY, proxy=around.url)
    second = await around.hub.search_engine(engine(), QUERY, first.next, proxy=around.url)
    assert [row.rank for row in second.rows] == [3, 4]
    assert around.proxy.served[1].url.endswith("&first=3")


async def test_a_page_may_be_asked_for_by_its_number(around: Around) -> None:
    around.answers(lambda request: html(rows("one", "two")))
    page = await around.hub.search_engine(engine(), replace(QUERY, page=3), proxy=around.url)
    assert [row.rank for row in page.rows] == [5, 6]
    assert len(around.proxy.served) == 1


NEXT = '<form id="next" action="/html" method="post"><input name="s" value="10"></form>'


async def test_a_chained_page_is_reached_from_the_first(around: Around) -> None:
    around.answers(lambda request: html(rows("one", "two", extra=NEXT)))
    page = await around.hub.search_engine(engine(FORM), replace(QUERY, page=3), proxy=around.url)
    assert [row.rank for row in page.rows] == [5, 6]
    assert [request.body for request in around.proxy.served] == [b"q=cats+%26+dogs", *[b"s=10"] * 2]


async def test_a_chain_that_ends_early_is_empty(around: Around) -> None:
    around.answers(lambda request: html(rows("one", "two")))
    page = await around.hub.search_engine(engine(FORM), replace(QUERY, page=2), proxy=around.url)
    assert page.verdict is Verdict.EMPTY


def token_site(request: HttpRequest) -> HttpResponse:
    if request.url.endswith("app.js"):
        return HttpResponse(url="", body=b'var KEY = "s3cret";')
    return html(rows("one") if "k=s3cret" in request.url else "<p>no key</p>")


async def test_a_session_step_is_made_once_per_proxy(around: Around) -> None:
    around.answers(token_site)
    for text in ("cats", "dogs"):
        page = await around.hub.search_engine(engine(TOKEN), Query(text=text), proxy=around.url)
        assert page.verdict is Verdict.OK
    paths = [request.url.partition("?")[0] for request in around.proxy.served]
    assert paths == [
        "https://token.example/app.js",
        "https://token.example/search",
        "https://token.example/search",
    ]


async def test_a_session_step_that_yields_nothing_ends_the_search(around: Around) -> None:
    around.answers(lambda request: html("<p>moved</p>"))
    page = await around.hub.search_engine(engine(TOKEN), QUERY, proxy=around.url)
    assert page.verdict is Verdict.CHANGED
    assert len(around.proxy.served) == 1


async def test_a_block_on_a_session_step_keeps_its_verdict(around: Around) -> None:
    around.answers(lambda request: html('<div id="captcha">'))
    page = await around.hub.search_engine(engine(TOKEN), QUERY, proxy=around.url)
    assert page.verdict is Verdict.CAPTCHA


async def test_stale_session_values_are_forgotten(around: Around) -> None:
    around.answers(lambda r: token_site(r) if r.url.endswith(".js") else html("<p>?</p>"))
    for _ in range(2):
        page = await around.hub.search_engine(engine(TOKEN), QUERY, proxy=around.url)
        assert page.verdict is Verdict.CHANGED
    assert sum(request.url.endswith("app.js") for request in around.proxy.served) == 2


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (html('<div id="captcha">'), Verdict.CAPTCHA),
        (html("", 403), Verdict.BLOCKED),
        (html("", 429), Verdict.RATE_LIMITED),
        (html("", 500), Verdict.ERROR),
        (html("", 303, Location="https://elsewhere.example/"), Verdict.EMPTY),
        (html("<p>new layout</p>"), Verdict.CHANGED),
        (html("x" * 6_000_000), Verdict.ERROR),
    ],
    ids=["captcha", "403", "429", "500", "303", "layout", "6 MB"],
)
async def test_every_answer_has_its_verdict(
    around: Around, answer: HttpResponse, verdict: Verdict
) -> None:
    around.answers(lambda request: answer)
    page = await around.hub.search_engine(engine(), QUERY, proxy=around.url)
    assert (page.verdict, page.rows) == (verdict, ())
    # Only a transient failure that no verdict names is tried again.
    assert len(around.proxy.served) == (3 if answer.status == 500 else 1)


@pytest.mark.parametrize(
    ("fault", "verdict"),
    [
        (Fault.HANG, Verdict.PROXY_UNAVAILABLE),
        (Fault.CLOSE, Verdict.PROXY_UNAVAILABLE),
        (Fault.REFUSE, Verdict.ERROR),
    ],
)
async def test_a_failed_request_has_its_verdict(
    around: Around, fault: Fault, verdict: Verdict
) -> None:
    around.proxy.fault = fault
    page = await around.hub.search_engine(engine(), QUERY, proxy=around.url, timeout=2)
    assert page.verdict is verdict
    assert page.detail


async def test_an_engine_without_its_key_is_disabled(around: Around) -> None:
    keyed = PLAIN.replace("request:\n", "keys: {api: {env: NO_SUCH_KEY}}\nrequest:\n").replace(
        'q: "{{ query }}"', 'q: "{{ query }}", key: "{{ keys.api }}"'
    )
    page = await around.hub.search_engine(engine(keyed), QUERY, proxy=around.url)
    assert page.verdict is Verdict.DISABLED
    assert not around.proxy.log
    around.answers(lambda request: html(rows("one")))
    given = Variables(keys={"api": "k1"})
    page = await around.hub.search_engine(engine(keyed), QUERY, variables=given, proxy=around.url)
    assert page.verdict is Verdict.OK


MIRRORED = PLAIN.replace(
    "  query:", "  mirrors: ['https://two.example/', 'https://three.example/']\n  query:"
)


@pytest.mark.parametrize(
    ("unwell", "asked", "verdict"),
    [
        ([], ["plain"], Verdict.OK),
        (["plain"], ["plain", "two"], Verdict.OK),
        (["plain", "two"], ["plain", "two", "three"], Verdict.OK),
        (["plain", "two", "three"], ["plain", "two", "three"], Verdict.ERROR),
    ],
    ids=["well", "first", "first-two", "all"],
)
async def test_mirrors_are_asked_where_the_address_fails(
    around: Around, unwell: list[str], asked: list[str], verdict: Verdict
) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        name = request.url.removeprefix("https://").partition(".")[0]
        return html(rows(name), 501 if name in unwell else 200)

    around.answers(answer)
    page = await around.hub.search_engine(engine(MIRRORED), QUERY, proxy=around.url)
    assert page.verdict is verdict
    hosts = [
        request.url.removeprefix("https://").partition(".")[0] for request in around.proxy.served
    ]
    assert hosts == asked
    assert all("/search?q=cats+%26+dogs" in request.url for request in around.proxy.served)


async def test_a_block_is_not_tried_again_at_a_mirror(around: Around) -> None:
    around.answers(lambda request: html('<div id="captcha">'))
    page = await around.hub.search_engine(engine(MIRRORED), QUERY, proxy=around.url)
    assert page.verdict is Verdict.CAPTCHA
    assert len(around.proxy.served) == 1


async def test_a_mirror_stands_in_for_an_address_that_cannot_be_reached(around: Around) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        if "plain.example" in request.url:
            raise ConnectionResetError  # the connection ends without an answer
        return html(rows("one"))

    around.answers(answer)
    page = await around.hub.search_engine(engine(MIRRORED), QUERY, proxy=around.url)
    assert page.verdict is Verdict.OK


async def test_a_large_answer_is_read_beside_the_loop(around: Around) -> None:
    text = rows("one", extra="<p>" + "words " * 400_000)
    around.answers(lambda request: html(text))
    page = await around.hub.search_engine(engine(), QUERY, proxy=around.url)
    assert [row.title for row in page.rows] == ["One"]


async def test_a_cancelled_search_ends_its_transfer(around: Around) -> None:
    around.proxy.fault = Fault.HANG
    search = asyncio.ensure_future(around.hub.search_engine(engine(), QUERY, proxy=around.url))
    while not (around.proxy.log and around.proxy.log[0].outcome == "hang"):  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search


async def test_sessions_are_remembered_for_their_time() -> None:
    now = [0.0]
    sessions = Sessions(clock=lambda: now[0])
    asked: list[str] = []

    async def send(request: HttpRequest) -> HttpResponse:
        asked.append(request.url)
        return token_site(request)

    for moment in (0.0, 3599.0, 3601.0):
        now[0] = moment
        await sessions.fill(engine(TOKEN), QUERY, 1, Variables(), send, "")
    await sessions.fill(engine(TOKEN), QUERY, 1, Variables(), send, "another proxy")
    assert len(asked) == 3


async def test_a_hub_can_answer_from_a_folder(tmp_path: Path) -> None:
    record(tmp_path, "plain", "ok", "https://plain.example/search?q=x", rows("one", "two"))
    async with Hub({"REPLAY": str(tmp_path)}) as hub:
        page = await hub.search_engine(engine(), QUERY)
    assert [row.title for row in page.rows] == ["One", "Two"]
