"""Key pools in `scrapy crawl`, against a scripted server: one test a rule, as for the service."""

from __future__ import annotations

import json
import re
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from framework.types import HttpRequest, HttpResponse, Verdict
from middlewares.keys import KeyPool
from middlewares.state import STATE_FILE, StateDatabase
from spiders.replay import ReplayProxy
from tests.support.crawling import Crawls
from tests.support.engines import PLAIN, rows, write_engine

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from middlewares.keys import KeyReport

#: The key stands in the address, a header and a cookie: wherever a crawl could write it down.
KEYED = """\
schema: 1
id: keyed
name: Keyed
kind: web
about: {official_api: true}
keys: {main: {env: [KEYED_API_KEYS, KEYED_API_KEY]}}
request:
  url: https://keyed.example/search
  query: {q: "{{ query }}", page: "{{ page }}", key: "{{ keys.main }}"}
  headers: {X-Api-Key: "{{ keys.main }}"}
  cookies: {token: "{{ keys.main }}"}
paging: {by: page, size: 1, max: 5}
verdicts:
  - rate_limited: {status: [429]}
  - quota: {status: [432, 433]}
  - unauthorised: {status: [401, 403]}
  - error: {jmes: error}
  - empty: {jmes: "results == `[]`"}
response:
  format: json
  rows: {each: "results[]"}
  fields: {title: title, url: url}
limits: {timeout: 5s}
"""
KEYS = ("zq7Kp4-one", "zq7Kp4-two", "zq7Kp4-three")
ONE, TWO, THREE = KEYS
HOUR = 3600.0


def found(title: str) -> HttpResponse:
    row = {"title": title, "url": f"https://{title}.example/"}
    body = {"results": [row], "next": f"https://keyed.example/search?q=next&key={ONE}"}
    return HttpResponse(url="", body=json.dumps(body).encode())


def refused(status: int, wait: int | None = None) -> HttpResponse:
    headers = () if wait is None else (("Retry-After", str(wait)),)
    return HttpResponse(url="", status=status, headers=headers, body=b"{}")


@dataclass
class Server:
    """Answers by key; a list is answered from its front, its last entry for ever."""

    script: dict[str, list[HttpResponse]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        key = parse_qs(urlsplit(request.url).query)["key"][0]
        headers = {name.lower(): value for name, value in request.headers}
        assert (headers["x-api-key"], headers["cookie"]) == (key, f"token={key}")
        self.asked.append(key)
        answers = self.script.get(key) or [found("page")]
        return answers.pop(0) if len(answers) > 1 else answers[0]


class Keyed(Crawls):
    """Crawls of the keyed engine; `server` is whom it asks."""

    @property
    def server(self) -> Server:
        assert isinstance(self.proxy.answer, Server)
        return self.proxy.answer

    def answers(self, **script: list[HttpResponse]) -> Server:
        self.proxy.answer = Server({f"zq7Kp4-{name}": given for name, given in script.items()})
        return self.server

    def keys(self) -> tuple[KeyReport, ...]:
        """What the service would say about the keys after the crawl."""
        with StateDatabase(self.folder / "state" / STATE_FILE) as state:
            return KeyPool("KEYED_API_KEYS KEYED_API_KEY", KEYS, state).reports()


@pytest.fixture
async def crawls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Keyed]:
    write_engine(tmp_path / "engines.d", KEYED)
    official = PLAIN.replace("kind: web\n", "kind: web\nabout: {official_api: true}\n")
    write_engine(tmp_path / "engines.d", official)
    monkeypatch.setenv("KEYED_API_KEYS", f"{ONE}, {TWO}")
    monkeypatch.setenv("KEYED_API_KEY", THREE)
    async with ReplayProxy(answer=Server()) as proxy:
        yield Keyed(tmp_path, proxy)


#: The same engine, each page naming the next one.
CHAINED = KEYED.replace(
    "paging: {by: page, size: 1, max: 5}", "paging: {by: link, next: {jmes: next}, size: 1, max: 5}"
).replace(', page: "{{ page }}"', "")
#: The same engine, its file saying nothing about refusals.
SILENT = re.sub(r"  - (rate_limited|quota|unauthorised): .*\n", "", KEYED)


@pytest.mark.parametrize("text", [KEYED, SILENT], ids=["declared", "silent"])
@pytest.mark.parametrize("status", [429, 432, 433, 401, 403])
async def test_a_refused_key_gives_way_to_the_next_within_the_call(
    crawls: Keyed, status: int, text: str
) -> None:
    write_engine(crawls.folder / "engines.d", text)
    server = crawls.answers(one=[refused(status)])
    items = await crawls.run("keyed", query="cats")
    assert [item["title"] for item in items] == ["page"]
    assert server.asked == [ONE, TWO]


async def test_a_declared_verdict_means_its_own_condition_and_nothing_else(crawls: Keyed) -> None:
    text = KEYED.replace("unauthorised: {status: [401, 403]}", "unauthorised: {jmes: bad_key}")
    write_engine(crawls.folder / "engines.d", text)
    server = crawls.answers(one=[refused(403)])
    (item,) = await crawls.run("keyed", queries=crawls.ask("cats"))
    assert (item["error"], item["detail"]) == ("error", "HTTP status 403")
    assert server.asked == [ONE]


@pytest.mark.parametrize(
    ("answer", "verdict", "seconds"),
    [
        (refused(429), Verdict.RATE_LIMITED, 60.0),
        (refused(429, 7 * 60), Verdict.RATE_LIMITED, 7 * 60.0),
        (refused(432), Verdict.QUOTA, 6 * HOUR),
        (refused(401), Verdict.UNAUTHORISED, 24 * HOUR),
    ],
    ids=["429", "retry-after", "quota", "invalid"],
)
async def test_the_service_sees_how_long_a_crawls_key_rests(
    crawls: Keyed, answer: HttpResponse, verdict: Verdict, seconds: float
) -> None:
    before = time.time()
    crawls.answers(one=[answer])
    await crawls.run("keyed", query="cats")
    report = crawls.keys()[0]
    assert (report.verdict, report.uses) == (verdict, 1)
    assert report.until is not None
    assert before + seconds <= report.until <= time.time() + seconds


async def test_a_resting_key_is_asked_neither_by_this_crawl_nor_by_the_next(crawls: Keyed) -> None:
    server = crawls.answers(one=[refused(432)])
    await crawls.run("keyed", {"CONCURRENT_REQUESTS": 1}, queries=crawls.ask("cats", "dogs"))
    assert server.asked == [ONE, TWO, TWO]
    await crawls.run("keyed", query="birds")
    assert server.asked == [ONE, TWO, TWO, TWO]


async def test_the_next_page_goes_on_with_the_next_key(crawls: Keyed) -> None:
    server = crawls.answers(one=[found("first"), refused(432)])
    items = await crawls.run("keyed", query="cats", pages="2")
    assert [(item["page"], item["title"]) for item in items] == [(1, "first"), (2, "page")]
    assert server.asked == [ONE, ONE, TWO]


@pytest.mark.parametrize("status", [400, 500])
async def test_other_errors_burn_no_key(crawls: Keyed, status: int) -> None:
    server = crawls.answers(one=[refused(status)])
    items = await crawls.run("keyed", queries=crawls.ask("cats"))
    assert [item["error"] for item in items] == ["error"]
    assert set(server.asked) == {ONE}
    assert crawls.keys()[0].verdict is None


async def test_a_lone_key_with_a_short_limit_is_waited_for(
    crawls: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEYED_API_KEYS", ONE)
    monkeypatch.delenv("KEYED_API_KEY")
    server = crawls.answers(one=[refused(429, 1), found("after")])
    items = await crawls.run("keyed", query="cats")
    assert [item["title"] for item in items] == ["after"]
    assert server.asked == [ONE, ONE]


async def test_an_exhausted_pool_lists_each_reason_by_number(crawls: Keyed) -> None:
    server = crawls.answers(one=[refused(429, 400)], two=[refused(433)], three=[refused(403)])
    (item,) = await crawls.run("keyed", queries=crawls.ask("cats"))
    assert item["error"] == "unauthorised"
    assert re.fullmatch(
        r"key 1 rate_limited, free in (400|39\d) s; key 2 quota, free in 21[56]\d\d s; "
        r"key 3 unauthorised, free in 86[34]\d\d s",
        item["detail"],
    )
    assert 390 < item["retry_after"] <= 400
    assert server.asked == [*KEYS]


async def test_where_all_rest_the_first_to_be_free_is_tried(crawls: Keyed) -> None:
    crawls.answers(one=[refused(433)], two=[refused(429, 400)], three=[refused(403)])
    await crawls.run("keyed", query="cats")
    server = crawls.answers()
    items = await crawls.run("keyed", query="dogs")
    assert [item["title"] for item in items] == ["page"]
    assert server.asked == [TWO]


async def test_a_retired_key_is_never_used_again(crawls: Keyed) -> None:
    text = KEYED.replace("KEYED_API_KEY]", "KEYED_API_KEY], retire_on: [unauthorised]")
    write_engine(crawls.folder / "engines.d", text)
    crawls.answers(**{key.removeprefix("zq7Kp4-"): [refused(401)] for key in KEYS})
    await crawls.run("keyed", query="cats")
    server = crawls.answers()
    (item,) = await crawls.run("keyed", queries=crawls.ask("dogs"))
    assert item["error"] == "unauthorised"
    assert item["detail"].count("retired") == 3
    assert server.asked == []


async def test_keys_take_turns_where_the_file_says_so(crawls: Keyed) -> None:
    text = KEYED.replace("KEYED_API_KEY]", "KEYED_API_KEY], rotate: round-robin")
    write_engine(crawls.folder / "engines.d", text)
    server = crawls.answers()
    queries = crawls.ask("a", "b", "c", "d")
    await crawls.run("keyed", {"CONCURRENT_REQUESTS": 1}, queries=queries)
    assert server.asked == [ONE, TWO, THREE, ONE]


async def test_the_files_rate_is_each_keys_own(crawls: Keyed) -> None:
    write_engine(
        crawls.folder / "engines.d",
        KEYED.replace("timeout: 5s", "timeout: 5s, rate: 1/1h").replace(
            "KEYED_API_KEY]", "KEYED_API_KEY], rotate: round-robin"
        ),
    )
    server = crawls.answers()
    items = await crawls.run("keyed", queries=crawls.ask("a", "b", "c"))
    assert len(items) == 3
    assert sorted(server.asked) == sorted(KEYS)


async def test_an_engine_without_a_key_is_disabled_and_asked_once_it_has_one(
    crawls: Keyed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KEYED_API_KEYS")
    monkeypatch.delenv("KEYED_API_KEY")
    server, job = crawls.answers(), {"JOBDIR": str(crawls.folder / "job")}
    (item,) = await crawls.run("keyed", job, queries=crawls.ask("cats"))
    assert (item["error"], server.asked) == ("disabled", [])
    assert "KEYED_API_KEYS" in item["detail"]
    monkeypatch.setenv("KEYED_API_KEYS", ONE)
    (item,) = await crawls.run("keyed", job, queries=crawls.ask("cats"))
    assert (item["title"], server.asked) == ("page", [ONE])


STEPPED = KEYED.replace(
    "request:\n  url",
    """session:
  - id: login
    request: {url: "https://keyed.example/login", query: {key: "{{ keys.main }}"}}
    format: json
    take: {token: {jmes: token}}
    ttl: 1h
    scope: engine
request:
  url""",
).replace(
    """key: "{{ keys.main }}"}
  headers: {X""",
    """key: "{{ session.login.token }}"}
  headers: {X""",
)


@pytest.mark.parametrize("refuses", ["login", "search"])
async def test_a_session_belongs_to_the_key_that_it_was_made_with(
    crawls: Keyed, refuses: str
) -> None:
    write_engine(crawls.folder / "engines.d", STEPPED)
    asked: list[tuple[str, str]] = []

    def answer(request: HttpRequest) -> HttpResponse:
        parts = urlsplit(request.url)
        key = parse_qs(parts.query)["key"][0]
        asked.append((parts.path.strip("/"), key))
        if parts.path == f"/{refuses}" and key.endswith("one"):
            return refused(429, 300)
        token = json.dumps({"token": f"made-with-{key}"}).encode()
        return HttpResponse(url="", body=token) if parts.path == "/login" else found("page")

    crawls.proxy.answer = answer
    changes = {"CONCURRENT_REQUESTS": 1}
    items = await crawls.run("keyed", changes, queries=crawls.ask("cats", "dogs"))
    assert [item["title"] for item in items] == ["page", "page"]
    first = (
        [("login", ONE)] if refuses == "login" else [("login", ONE), ("search", f"made-with-{ONE}")]
    )
    made = ("search", f"made-with-{TWO}")
    assert asked == [*first, ("login", TWO), made, made]
    assert 200 < (crawls.keys()[0].until or 0) - time.time() <= 300


async def test_the_consensus_rotates_keys_as_well(crawls: Keyed) -> None:
    server = crawls.answers(one=[refused(432)])

    def answer(request: HttpRequest) -> HttpResponse:
        if "keyed.example" in request.url:
            return server(request)
        return HttpResponse(url="", headers=(("Content-Type", "text/html"),), body=PAGE)

    crawls.proxy.answer = answer
    items = await crawls.run("consensus", engines="plain,keyed", query="cats")
    assert [vote["engine"] for vote in items[0]["votes"]] == ["plain", "keyed"]
    assert server.asked == [ONE, TWO]


PAGE = rows("page").encode()


async def test_no_key_is_written_anywhere(
    crawls: Keyed, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    """Stopped with requests under way and waiting, refused, failed and answered ones."""
    caplog.set_level("DEBUG")
    crawls.answers(one=[refused(432)], two=[found("a"), refused(500), found("b")])
    job = {"JOBDIR": str(crawls.folder / "job"), "CLOSESPIDER_ITEMCOUNT": 12}
    debug = {"LOG_LEVEL": "DEBUG", "SCHEDULER_DEBUG": True, "CONCURRENT_REQUESTS": 2}
    queries = crawls.ask(*(f"question {number}" for number in range(40)))
    await crawls.run("keyed", {**job, **debug}, queries=queries, pages="3")
    assert 12 <= len(crawls.server.asked) < 100

    printed = "".join(capfd.readouterr()) + caplog.text
    assert "answered" in printed
    assert "zq7Kp4" not in printed
    files = [path for path in crawls.folder.rglob("*") if path.is_file()]
    assert {"questions.done", STATE_FILE, "out.jsonl"} <= {path.name for path in files}
    assert not [path for path in files if b"zq7Kp4" in path.read_bytes()]


async def test_a_stopped_crawl_asks_the_rest_and_nothing_twice(crawls: Keyed) -> None:
    texts = [f"q{number}" for number in range(30)]
    server = crawls.answers()
    job = {"JOBDIR": str(crawls.folder / "job")}
    queries = crawls.ask(*texts)
    first = await crawls.run("keyed", {**job, "CLOSESPIDER_ITEMCOUNT": 5}, queries=queries)
    assert 5 <= len(first) < 30
    then = await crawls.run("keyed", job, queries=queries)
    assert sorted(item["query"] for item in (*first, *then)) == sorted(texts)
    assert len(server.asked) == 30


@pytest.mark.parametrize("text", [KEYED, CHAINED], ids=["numbered", "chained"])
async def test_a_stopped_crawl_goes_on_with_the_next_page(crawls: Keyed, text: str) -> None:
    write_engine(crawls.folder / "engines.d", text)
    crawls.answers()
    job = {"JOBDIR": str(crawls.folder / "job")}
    queries = crawls.ask(*(f"q{number}" for number in range(6)))
    kept = []
    for _ in range(8):
        kept += await crawls.run(
            "keyed", {**job, "CLOSESPIDER_ITEMCOUNT": 2}, queries=queries, pages="3"
        )
    rows = [(item["query"], item["page"], item["rank"]) for item in kept]
    assert sorted(rows) == [(f"q{q}", page, page) for q in range(6) for page in (1, 2, 3)]


async def test_many_questions_at_once_share_the_keys(crawls: Keyed) -> None:
    """A key that is refused while others are under way with it costs each of them one try."""
    server = crawls.answers(one=[found("a"), refused(432)])
    texts = [f"q{number}" for number in range(20)]
    items = await crawls.run("keyed", queries=crawls.ask(*texts))
    assert sorted(item["query"] for item in items if "error" not in item) == sorted(texts)
    assert server.asked.count(ONE) <= 1 + 4
