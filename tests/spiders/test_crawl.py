"""`scrapy crawl` over engine files, from recordings: items, pages, merged results, mistakes."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from framework.errors import InvalidInputError
from framework.spec.catalogue import Catalogue
from framework.types import Row
from spiders.engine import checkable, engine_spider
from spiders.loader import EngineLoader, engine_folders
from spiders.pipelines import row_of
from tests.support.crawling import crawl as run_crawl
from tests.support.engines import FORM, PLAIN, TOKEN, engine, record, rows, write_engine
from tests.support.site import Reply, Seen, Site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.site import Routes

OTHER = PLAIN.replace("id: plain", "id: other").replace("plain.example", "other.example")
BROKEN = PLAIN.replace("id: plain", "id: broken").replace("format: html", "format: nonsense")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with engines and recordings of them."""
    engines, tapes = tmp_path / "engines.d", tmp_path / "tapes"
    for text in (PLAIN, OTHER, TOKEN, FORM):
        write_engine(engines, text)
    (engines / "broken.yaml").write_text(BROKEN)
    plain, other = "https://plain.example/search", "https://other.example/search"
    record(tapes, "plain", "ok", f"{plain}?q=x", rows("one", "two"))
    record(tapes, "plain", "ok-page-2", f"{plain}?q=x&first=3", rows("two", "three"))
    record(tapes, "plain", "captcha", f"{plain}?q=robots", '<div id="captcha">')
    record(tapes, "other", "ok", f"{other}?q=x", rows("two", "four"))
    record(tapes, "token", "session-script", "https://token.example/app.js", 'KEY = "k"')
    record(tapes, "token", "ok", "https://token.example/search?q=x", rows("five"))
    return tmp_path


def arguments_for(project: Path) -> dict[str, object]:
    return {
        "CONSILIENCE_ENGINES_DIR": [str(project / "engines.d")],
        "REPLAY": str(project / "tapes"),
    }


async def crawl(
    project: Path, name: str, changes: dict[str, object] | None = None, **arguments: str
) -> list[dict[str, Any]]:
    given = arguments_for(project) if changes is None else changes
    state = {"CONSILIENCE_STATE_DIR": str(project / "state")}
    return await run_crawl(project / "out.jsonl", name, {**state, **given}, **arguments)


async def test_items_are_rows(project: Path) -> None:
    items = await crawl(project, "plain", query="cats")
    assert items[0] == {
        "engine": "plain",
        "query": "cats",
        "page": 1,
        "rank": 1,
        "title": "One",
        "url": "https://one.example/",
        "snippet": "about one",
    }
    assert [item["rank"] for item in items] == [1, 2]


async def test_pages_and_a_file_of_questions(project: Path) -> None:
    (project / "queries.txt").write_text("cats\n\ndogs\n", encoding="utf-8")
    items = await crawl(project, "plain", queries=str(project / "queries.txt"), pages="2")
    found = sorted((item["query"], item["page"], item["rank"]) for item in items)
    assert found == [(text, 1 + (n > 2), n) for text in ("cats", "dogs") for n in (1, 2, 3, 4)]


async def test_a_session_step_goes_first(project: Path) -> None:
    assert [item["title"] for item in await crawl(project, "token", query="cats")] == ["Five"]


async def test_a_block_is_a_warning_not_an_item(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("WARNING")
    assert await crawl(project, "plain", query="robots") == []
    assert "plain: captcha" in caplog.text


async def test_a_crawl_of_many_questions_tells_the_failed_ones(project: Path) -> None:
    (project / "queries.txt").write_text("cats\nrobots\n", encoding="utf-8")
    items = await crawl(project, "plain", queries=str(project / "queries.txt"))
    failed = [item for item in items if "error" in item]
    assert [(item["query"], item["error"]) for item in failed] == [("robots", "captcha")]
    assert {item["query"] for item in items} == {"cats", "robots"}


async def test_a_failed_transfer_is_told_as_well(project: Path) -> None:
    (project / "queries.txt").write_text("cats\n", encoding="utf-8")
    arguments = {**arguments_for(project), "REPLAY": None, "CONSILIENCE_PROXY_POLICY": None}
    items = await crawl(project, "plain", arguments, queries=str(project / "queries.txt"))
    assert [item["query"] for item in items] == ["cats"]
    assert items[0]["error"] != "ok"


async def test_a_crawl_goes_on_where_the_last_one_stopped(project: Path) -> None:
    file, job = project / "queries.txt", {"JOBDIR": str(project / "job")}
    file.write_text("cats\nrobots\n", encoding="utf-8")
    changes = {**arguments_for(project), **job}
    await crawl(project, "plain", changes, queries=str(file))
    file.write_text("cats\nrobots\ndogs\n", encoding="utf-8")
    items = await crawl(project, "plain", changes, queries=str(file))
    assert {item["query"] for item in items} == {"dogs"}


async def test_errors_pass_the_pipelines_of_the_consensus(project: Path) -> None:
    (project / "queries.txt").write_text("cats\nrobots\n", encoding="utf-8")
    items = await crawl(
        project, "consensus", engines="plain,other", queries=str(project / "queries.txt")
    )
    assert [item["engine"] for item in items if "error" in item] == ["plain"]
    assert any("votes" in item for item in items)


async def test_consensus_merges_in_the_pipelines(project: Path) -> None:
    items = await crawl(project, "consensus", engines="plain,other", query="cats", pages="2")
    assert [item["title"] for item in items] == ["Two", "One", "Four", "Three"]
    assert items[0]["rank"] == 1
    assert [vote["engine"] for vote in items[0]["votes"]] == ["plain", "other"]
    # 1/2 from one index and 1/1 from the other, times two indexes.
    assert items[0]["score"] == pytest.approx(3.0)


async def test_pages_become_items(project: Path) -> None:
    article = "<title>Bees</title><main><h1>Bees</h1><p>They <b>dance</b> to tell.</p></main>"
    kind = {"Content-Type": "text/html"}
    routes: Routes = {
        "/bees": Reply(200, kind, article.encode()),
        "/robots.txt": Reply(body=b"User-agent: *\nDisallow: /secret"),
        "/secret": Reply(body=b"secret"),
    }
    async with Site(routes) as site:
        urls = [site.url("/bees"), site.url("/secret"), "http://127.0.0.1:1/"]
        (project / "urls.txt").write_text("\n".join(urls), encoding="utf-8")
        changes: dict[str, object] = {"CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.0/8"]}
        items = await crawl(project, "page", changes, urls=str(project / "urls.txt"))
    by_url = {item["url"]: item for item in items}
    assert by_url[urls[0]]["title"] == "Bees"
    assert "They **dance** to tell." in by_url[urls[0]]["content"]
    assert by_url[urls[1]]["error"] == "robots_refused"
    assert by_url[urls[2]]["error"] == "connection_refused"


async def test_no_site_is_asked_for_more_than_six_pages_at_once(project: Path) -> None:
    """Held until another site has sent ten pages, each a tenth of a second after the last."""
    gate, held, other = asyncio.Event(), 0, 0

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal held
        held += 1
        await gate.wait()

    def quick(seen: Seen) -> Reply:
        nonlocal other
        other += 1
        if other == 10:
            gate.set()
        return Reply(body=b"quick")

    slow = {f"/{number}": Reply(stream=late) for number in range(10)}
    fast = {f"/{number}": quick for number in range(10)}
    async with Site({**slow}) as one, Site({**fast}) as two:
        sites = (one.url, lambda path: two.url(path, host="localhost"))
        urls = [url(f"/{number}") for number in range(10) for url in sites]
        (project / "urls.txt").write_text("\n".join(urls), encoding="utf-8")
        changes: dict[str, object] = {
            "CONSILIENCE_ALLOW_NETWORKS": ["127.0.0.0/8"],
            "CONSILIENCE_ROBOTS": "off",
        }
        crawling = asyncio.ensure_future(
            crawl(project, "page", changes, urls=str(project / "urls.txt"))
        )
        await gate.wait()
        assert held == 6
        items = await crawling
    assert len(items) == 20
    assert not [item for item in items if "error" in item]


def test_a_broken_file_does_not_hide_the_others(project: Path) -> None:
    loader = EngineLoader(Catalogue(project / "engines.d"))
    assert loader.list() == ["form", "other", "plain", "token", "consensus", "page"]
    with pytest.raises(KeyError, match=r"broken\.yaml:\d+:\d+"):
        loader.load("broken")
    with pytest.raises(KeyError, match='did you mean "plain"'):
        loader.load("plian")


def test_folders_of_engines(tmp_path: Path) -> None:
    def found(named: list[str], **environ: str) -> list[str]:
        return [path.name for path in engine_folders(named, environ, tmp_path)]

    assert found([]) == ["engines.d"]
    assert found(["a"]) == ["a", "engines.d"]
    assert found([], CONSILIENCE_ENGINES_DIR="b") == ["b", "engines.d"]
    (tmp_path / "engines.d").mkdir()
    assert engine_folders([], {}, tmp_path)[0] == tmp_path / "engines.d"


def test_an_item_becomes_a_row_again() -> None:
    item = {"engine": "e", "query": "q", "page": 1, "rank": 2, "title": "T", "url": "https://u/"}
    assert row_of({**item, "authors": ["A", "B"]}) == Row(
        title="T", url="https://u/", rank=2, fields={"authors": ("A", "B")}
    )


def test_a_spider_carries_its_engines_concurrency_and_contract() -> None:
    spider = engine_spider(engine(PLAIN.replace("timeout: 5s", "timeout: 5s, concurrency: 2")))
    assert spider.name == "plain"
    assert spider.custom_settings == {"CONCURRENT_REQUESTS": 2}
    assert "@engine" in str(spider.parse.__doc__)
    assert checkable(engine(TOKEN))
    keyed = PLAIN.replace("request:\n", "keys: {api: {env: NO_SUCH_KEY}}\nrequest:\n", 1)
    assert not checkable(engine(keyed))


def scrapy(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    engines = f"CONSILIENCE_ENGINES_DIR={project / 'engines.d'}"
    extra = () if arguments[0] == "list" else ("-s", f"REPLAY={project / 'tapes'}")
    return subprocess.run(
        [sys.executable, "-m", "scrapy", *arguments, "-s", engines, *extra],
        check=False,
        capture_output=True,
        text=True,
        timeout=60,
    )


def test_the_command_lists_and_checks(project: Path) -> None:
    listed = scrapy(project, "list")
    assert {"plain", "consensus"} <= set(listed.stdout.split())
    checked = scrapy(project, "check", "plain")
    assert checked.returncode == 0, checked.stderr
    assert "OK" in checked.stderr


def test_a_mistake_is_one_sentence(project: Path) -> None:
    """Of each mistake there is a test in `test_commands.py`, without a process."""
    result = scrapy(project, "crawl", "plain", "-a", "query=x", "-a", "colour=red")
    assert result.returncode == 2
    assert "unknown argument 'colour'" in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("plain", {"query": "x", "pages": "0"}, "pages must be a number from 1 to 100"),
        ("plain", {"query": "x", "time": "soon"}, "'soon' is not a valid TimeRange"),
        ("plain", {"queries": "/no/such"}, "/no/such cannot be read"),
        ("consensus", {"query": "x", "engines": "nix"}, "no engine 'nix'"),
        ("consensus", {"query": "x", "engines": ","}, "no engine is named"),
        ("page", {"url": "ftp://x"}, "is no http or https address"),
        ("page", {"urls": "/no/such"}, "/no/such cannot be read"),
        ("page", {"url": "http://x", "format": "pdf"}, "format must be one of markdown"),
    ],
)
def test_arguments_are_checked(
    project: Path, name: str, arguments: dict[str, str], message: str
) -> None:
    spider = EngineLoader(Catalogue(project / "engines.d")).load(name)
    with pytest.raises(InvalidInputError, match=message):
        spider(**arguments)
