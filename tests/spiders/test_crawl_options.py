"""`consilience crawl` as a process: the options of fetching, the operator's file, mistakes."""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from typing import TYPE_CHECKING
from unittest import mock

import pytest

from spiders.replay import ReplayProxy
from tests.support.command import runner
from tests.support.engines import write_engine
from tests.support.place import Place
from tests.support.site import Reply, Routes, Seen, Site, hang
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from tests.support.command import Run

KEY = "zq7Kp4-first-9f31c2"
KEYED = """\
schema: 1
id: keyed
name: Keyed
kind: web
about: {official_api: true}
keys: {main: {env: KEYED_API_KEY}}
settings: {base: {env: BASE_URL}}
request:
  url: "{{ settings.base }}/search"
  query: {q: "{{ query }}"}
  headers: {X-Api-Key: "{{ keys.main }}"}
verdicts: [{unauthorised: {status: 401}}]
response: {format: json, rows: {each: "results[]"}, fields: {title: title, url: url}}
limits: {timeout: 20s}
"""


def answer(seen: Seen) -> Reply:
    if seen.headers.get("x-api-key") != KEY:
        return Reply(401)
    return Reply(body=b'{"results": [{"title": "One", "url": "https://one.example/"}]}')


ROUTES: Routes = {"/search": answer, "/slow/search": Reply(stream=hang)}


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    write_engine(tmp_path / "engines.d", KEYED)
    async with Site({**ROUTES}) as site:
        yield Place(tmp_path, site, BASE_URL=site.url("").rstrip("/"), KEYED_API_KEY=KEY)


@pytest.fixture
def here(
    place: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Run]:
    """The command line in this process, in the same place."""
    with place.entered(), mock.patch.object(sys, "path", sys.path[:]):
        yield runner(capsys, monkeypatch, place.folder / "state")


def items(place: Place) -> list[dict[str, object]]:
    lines = (place.folder / "rows.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


ASK = ("crawl", "keyed", "-a", "query=cats", "-O", "rows.jsonl")


async def test_a_crawl_leaves_by_the_proxy_that_it_is_given(place: Place) -> None:
    place.environment["BASE_URL"] = f"http://site.example:{place.site.port}"
    hosts = {"site.example": ("127.0.0.1", place.site.port)}
    async with ReplayProxy(hosts=hosts, users={"ann": "s3cret"}) as proxy:
        url = proxy.url("socks5h", "ann", "s3cret")
        printed = await place.run(*ASK, "--proxy", url, expect=(0,))
    assert [entry.host for entry in proxy.log] == ["site.example"]
    assert [item["title"] for item in items(place)] == ["One"]
    assert "s3cret" not in printed


async def test_a_crawls_own_limit_ends_a_question(place: Place) -> None:
    place.environment["BASE_URL"] += "/slow"
    (place.folder / "queries.txt").write_text("cats", encoding="utf-8")
    ask = ("crawl", "keyed", "-a", "queries=queries.txt", "-O", "rows.jsonl")
    await place.run(*ask, "--timeout", "1", expect=(0,))
    (item,) = items(place)
    assert item["error"] == "timeout"
    assert "within 1 s" in str(item["detail"])


async def test_a_debug_file_takes_the_log(place: Place) -> None:
    printed = await place.run(*ASK, "--debug", "--debug-file", "said.log", expect=(0,))
    said = (place.folder / "said.log").read_text(encoding="utf-8")
    assert "keyed answered ok" in said
    assert "answered" not in printed
    assert KEY not in printed + said


async def test_the_operators_file_counts_but_never_names_code(place: Place) -> None:
    del place.environment["KEYED_API_KEY"]
    text = f"KEYED_API_KEY={KEY}\nSCRAPY_SETTINGS_MODULE=stranger\nSCRAPY_PROJECT=stranger\n"
    (place.folder / ".env").write_text(text, encoding="utf-8")
    await place.run(*ASK, expect=(0,))
    assert [item["title"] for item in items(place)] == ["One"]


@pytest.mark.parametrize("command", [ASK, ("search", "cats", "--engines", "keyed")])
async def test_a_proxy_that_is_set_but_not_used_is_mentioned_at_start(
    place: Place, command: tuple[str, ...]
) -> None:
    place.environment |= {
        "HTTPS_PROXY": "http://ann:s3cret@127.0.0.1:9",
        "CONSILIENCE_LOG": "error",
    }
    printed = await place.run(*command, expect=(0,))
    assert "HTTPS_PROXY is set but not used" in printed
    assert "s3cret" not in printed


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--timeout", "0"), "--timeout must be a number of seconds from 1 to 600, not '0'"),
        (("--timeout", "soon"), "not 'soon'"),
        (("-s", "CONSILIENCE_ROBOTS=maybe"), "must be one of obey, warn, off"),
        (("-s", "CONSILIENCE_ALLOW_NETWORKS=here"), "'here' does not appear to be"),
        (("-s", "CONSILIENCE_CA_FILE=none.pem"), "there is no file none.pem"),
        (("-s", "REPLAY=none"), "none holds no recordings"),
        (("-s", "CONSILIENCE_SEARCH_GAP=long"), "must be a number of seconds, not 'long'"),
        (("-s", "JOBDIR=/dev/null/x"), "JOBDIR: /dev/null/x: Not a directory"),
    ],
)
async def test_a_mistake_is_one_sentence(
    place: Place,
    here: Run,
    options: tuple[str, ...],
    message: str,
) -> None:
    done = here(*ASK, *options)
    assert done.code == 2
    assert message in done.out + done.error
    assert "Traceback" not in done.out + done.error
    assert not place.site.seen


async def test_a_process_that_mistakes_end_has_status_2(place: Place) -> None:
    printed = await place.run(*ASK, "--proxy", "gopher://x", expect=(2,))
    assert "--proxy: scheme 'gopher' is not supported" in printed
    assert not place.site.seen


async def test_a_crawl_that_is_interrupted_goes_on_where_it_was(place: Place) -> None:
    """Ctrl-C while questions are under way and waiting; then the same command again."""
    texts = [f"q{number}" for number in range(12)]
    (place.folder / "queries.txt").write_text("\n".join(texts), encoding="utf-8")
    gate, held = asyncio.Event(), 0

    async def late(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal held
        held += 1
        await gate.wait()
        writer.write(b'{"results": [{"title": "One", "url": "https://one.example/"}]}')

    def first_at_once(seen: Seen) -> Reply:
        return answer(seen) if len(place.site.seen) <= 3 else Reply(stream=late)

    place.site.routes["/search"] = first_at_once
    words = ("crawl", "keyed", "-a", "queries=queries.txt", "-o", "rows.jsonl", "-s", "JOBDIR=job")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", "from server.cli import main; main()"),
        *words,
        cwd=place.folder,
        env=place.environment,
        stdin=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    await eventually(lambda: held == 4, 60)
    process.send_signal(signal.SIGINT)
    assert process.stderr is not None
    async with asyncio.timeout(30):
        while b"Received SIGINT" not in await process.stderr.readline():
            pass
    gate.set()
    _, said = await process.communicate()
    assert b"Traceback" not in said, said.decode()
    kept = place.files()
    assert not [path for path, text in kept.items() if KEY in text]
    assert {item["query"] for item in items(place)} < set(texts)

    place.site.routes["/search"] = answer
    await place.run(*words, expect=(0,))
    assert sorted(str(item["query"]) for item in items(place)) == sorted(texts)
    assert len(place.site.seen) == len(texts)
