"""`scrapy crawl` by the rules of the service: mirrors, rests, the pace, failures, being stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from framework.types import HttpRequest, HttpResponse, Verdict
from middlewares.cooldown import Cooldown
from middlewares.state import STATE_FILE, StateDatabase
from spiders.replay import Fault, ReplayProxy
from tests.support.crawling import Crawls
from tests.support.engines import PLAIN, TOKEN, record, rows, write_engine

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

#: Believed whatever the rows are about.
OFFICIAL = ("kind: web\n", "kind: web\nabout: {official_api: true}\n")
MIRRORED = PLAIN.replace(
    "  query:", "  mirrors: ['https://two.example/', 'https://three.example/']\n  query:"
)
OTHER = PLAIN.replace("id: plain", "id: other").replace("plain.example", "other.example")


def html(text: str, status: int = 200, **headers: str) -> HttpResponse:
    pairs = (("Content-Type", "text/html; charset=utf-8"), *headers.items())
    return HttpResponse(url="", status=status, headers=pairs, body=text.encode())


@pytest.fixture
async def crawls(tmp_path: Path) -> AsyncIterator[Crawls]:
    for text in (MIRRORED, OTHER, TOKEN):
        write_engine(tmp_path / "engines.d", text.replace(*OFFICIAL))
    async with ReplayProxy(answer=lambda request: html(rows("one"))) as proxy:
        yield Crawls(tmp_path, proxy)


def hosts(crawls: Crawls) -> list[str]:
    return [
        str(urlsplit(request.url).hostname).partition(".")[0] for request in crawls.proxy.served
    ]


def queries(crawls: Crawls) -> list[str]:
    return [parse_qs(urlsplit(request.url).query)["q"][0] for request in crawls.proxy.served]


@pytest.mark.parametrize(
    ("unwell", "asked", "error"),
    [
        ([], ["plain"], None),
        (["plain"], ["plain", "two"], None),
        (["plain", "two"], ["plain", "two", "three"], None),
        (["plain", "two", "three"], ["plain", "two", "three"], "error"),
    ],
    ids=["well", "first", "first-two", "all"],
)
@pytest.mark.parametrize("spider", ["plain", "consensus"])
async def test_mirrors_are_asked_where_the_address_fails(
    crawls: Crawls, spider: str, unwell: list[str], asked: list[str], error: str | None
) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        name = request.url.removeprefix("https://").partition(".")[0]
        return html(rows(name), 501 if name in unwell else 200)

    crawls.proxy.answer = answer
    given = {"engines": "plain"} if spider == "consensus" else {}
    (item,) = await crawls.run(spider, None, queries=crawls.ask("cats & dogs"), **given)
    assert hosts(crawls) == asked
    assert set(queries(crawls)) == {"cats & dogs"}
    assert item.get("error") == error
    if not error:
        assert item["title"] == asked[-1].title()


async def test_the_next_page_is_asked_at_a_mirror_as_well(crawls: Crawls) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        name = request.url.removeprefix("https://").partition(".")[0]
        return html(rows(name, "more"), 501 if name == "plain" else 200)

    crawls.proxy.answer = answer
    items = await crawls.run("plain", query="cats", pages="2")
    assert [item["page"] for item in items] == [1, 1, 2, 2]
    assert hosts(crawls) == ["plain", "two", "plain", "two"]


async def test_a_mirror_stands_in_for_an_address_that_cannot_be_reached(crawls: Crawls) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        if "plain.example" in request.url:
            raise ConnectionResetError  # the connection ends without an answer
        return html(rows("one"))

    crawls.proxy.answer = answer
    assert [item["title"] for item in await crawls.run("plain", query="cats")] == ["One"]


async def test_a_block_is_not_tried_again_at_a_mirror(crawls: Crawls) -> None:
    crawls.proxy.answer = lambda request: html('<div id="captcha">')
    (item,) = await crawls.run("plain", queries=crawls.ask("cats"))
    assert (item["error"], hosts(crawls)) == ("captcha", ["plain"])


async def test_an_engine_rests_after_a_block_and_the_rest_is_asked_later(crawls: Crawls) -> None:
    asked = 0

    def answer(request: HttpRequest) -> HttpResponse:
        nonlocal asked
        asked += 1
        return html(rows("one") if asked == 1 else '<div id="captcha">')

    crawls.proxy.answer = answer
    changes = {"CONCURRENT_REQUESTS": 1, "JOBDIR": str(crawls.folder / "job")}
    texts = [f"q{number}" for number in range(5)]
    items = await crawls.run("plain", changes, queries=crawls.ask(*texts))
    told = [item.get("error", "row") for item in items]
    assert sorted(told) == ["captcha", "resting", "resting", "resting", "row"]
    assert len(crawls.proxy.served) == 2
    rests = [item for item in items if item.get("error") == "resting"]
    assert all(3500 < item["retry_after"] <= 3600 for item in rests)
    assert {item["detail"] for item in rests} == {"rests after captcha"}

    with StateDatabase(crawls.folder / "state" / STATE_FILE) as state:
        cooldown = Cooldown(state)
        rest = cooldown.resting("plain")
        assert rest is not None
        assert rest.verdict is Verdict.CAPTCHA
        assert cooldown.history("plain") == {Verdict.OK: 1, Verdict.CAPTCHA: 1}
        cooldown.clear("plain")
    crawls.proxy.answer = lambda request: html(rows("two"))
    later = await crawls.run("plain", changes, queries=crawls.ask(*texts))
    assert sorted(item["query"] for item in later) == sorted(item["query"] for item in rests)


async def test_one_engines_rest_does_not_keep_the_others_waiting(crawls: Crawls) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        blocked = "plain.example" in request.url
        return html('<div id="captcha">' if blocked else rows("one"))

    crawls.proxy.answer = answer
    await crawls.run("plain", query="cats")
    items = await crawls.run("consensus", engines="plain,other", queries=crawls.ask("a", "b"))
    errors = [item for item in items if "error" in item]
    assert [(item["engine"], item["error"]) for item in errors] == [("plain", "resting")] * 2
    assert sorted(item["query"] for item in items if "votes" in item) == ["a", "b"]
    assert hosts(crawls) == ["plain", "other", "other"]


async def test_a_short_wait_that_the_server_asks_for_is_kept(crawls: Crawls) -> None:
    limited = True

    def answer(request: HttpRequest) -> HttpResponse:
        nonlocal limited
        if limited:
            limited = False
            return HttpResponse(url="", status=429, headers=(("Retry-After", "1"),))
        return html(rows("one"))

    crawls.proxy.answer = answer
    changes = {"CONCURRENT_REQUESTS": 1}
    items = await crawls.run("plain", changes, queries=crawls.ask("a", "b"))
    assert [item.get("error", "row") for item in items] == ["rate_limited", "row"]


async def test_strangers_results_are_kept_out_and_rest_the_engine(crawls: Crawls) -> None:
    write_engine(crawls.folder / "engines.d", PLAIN)
    crawls.proxy.answer = lambda request: html(rows("weather", "football"))
    changes = {"CONCURRENT_REQUESTS": 1}
    items = await crawls.run("plain", changes, queries=crawls.ask("tides", "moon"))
    assert [item["error"] for item in items] == ["unrelated", "resting"]
    assert items[0]["detail"] == "2 rows kept out: none shares a word with the query"
    assert 590 < items[0]["retry_after"] <= 600


async def test_a_session_step_is_made_once_for_all_questions(crawls: Crawls) -> None:
    def answer(request: HttpRequest) -> HttpResponse:
        if request.url.endswith("app.js"):
            return HttpResponse(url="", body=b'KEY = "k"')
        return html(rows("one") if "k=k" in request.url else '<div id="captcha">')

    crawls.proxy.answer = answer
    changes = {"CONCURRENT_REQUESTS": 1}
    items = await crawls.run("token", changes, queries=crawls.ask("a", "b", "c"))
    assert [item["title"] for item in items] == ["One"] * 3
    assert [request.url.endswith("app.js") for request in crawls.proxy.served].count(True) == 1


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault.HANG, "proxy_unavailable"),
        (Fault.CLOSE, "proxy_unavailable"),
        (Fault.REFUSE, "error"),
    ],
)
async def test_a_failed_request_is_told_by_its_verdict(
    crawls: Crawls, fault: Fault, error: str
) -> None:
    text = PLAIN.replace("timeout: 5s", "timeout: 1s")
    write_engine(crawls.folder / "engines.d", text)
    crawls.proxy.fault = fault
    (item,) = await crawls.run("plain", queries=crawls.ask("cats"))
    assert item["error"] == error
    assert item["detail"]


async def test_recordings_know_no_rest(crawls: Crawls, tmp_path: Path) -> None:
    tapes = tmp_path / "tapes"
    record(tapes, "plain", "captcha", "https://plain.example/search?q=x", '<div id="captcha">')
    changes = {"REPLAY": str(tapes), "CONSILIENCE_PROXY_POLICY": None}
    items = await crawls.run("plain", changes, queries=crawls.ask("x", "x "))
    assert [item["error"] for item in items] == ["captcha"] * 2
    assert not (crawls.folder / "state").exists()
