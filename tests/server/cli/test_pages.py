"""`consilience fetch|read|links|json|context|verify|extract` against a site on loopback."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.site import Reply, Site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.support.command import Done, Run

    Asks = Callable[..., Awaitable[Done]]

PAGE = b"""<html lang=en><head><title>Tides</title></head><body><nav><a href="/home">Home</a></nav>
<article><h1>Tides</h1><p>The tide at Porthaven rises by 4.2 metres on the highest days of spring,
and the ferry cannot land there before noon on such a day.</p><h2>Ferries</h2><p>The first ferry of
the day leaves Porthaven at half past six, and the last one comes back at nine in the evening, see
<a href="https://ferries.example/times">all times</a>.</p></article></body></html>"""
DATA = {"harbours": [{"name": "Porthaven", "depth": 7}, {"name": "Westquay", "depth": 4}]}


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    html, data = {"Content-Type": "text/html"}, {"Content-Type": "application/json"}
    routes = {
        "/tides": Reply(headers=html, body=PAGE),
        "/other": Reply(headers=html, body=PAGE.replace(b"Porthaven", b"Westquay")),
        "/data": Reply(headers=data, body=json.dumps(DATA).encode()),
    }
    async with Site({**routes}) as site:
        yield site


@pytest.fixture
def asks(run: Run, monkeypatch: pytest.MonkeyPatch) -> Asks:
    """Runs commands beside the site's loop, as a program of its own would."""
    monkeypatch.setenv("CONSILIENCE_ALLOW_NETWORKS", "127.0.0.0/8")

    async def asked(*words: str) -> Done:
        return await asyncio.to_thread(run, *words)

    return asked


async def test_a_page_is_printed_as_markdown(asks: Asks, site: Site) -> None:
    done = await asks("fetch", site.url("/tides"))

    assert (done.code, done.error) == (0, "")
    assert "## Ferries" in done.out
    assert "/home" not in done.out


async def test_a_page_as_json_and_only_what_was_asked_for(asks: Asks, site: Site) -> None:
    whole = json.loads((await asks("fetch", site.url("/tides"), "--json")).out)
    part = json.loads(
        (await asks("fetch", site.url("/tides"), "--section", "Ferries", "--json")).out
    )

    assert whole["status"] == 200
    assert "4.2 metres" in whole["content"]
    assert "half past six" in part["content"]
    assert "4.2 metres" not in part["content"]


async def test_several_pages_at_once(asks: Asks, site: Site) -> None:
    done = await asks("fetch", site.url("/tides"), site.url("/other"), site.url("/none"))

    assert done.code == 0
    assert "Porthaven" in done.out
    assert "Westquay" in done.out
    assert "404" in done.out


async def test_links_are_listed(asks: Asks, site: Site) -> None:
    everything = json.loads((await asks("links", site.url("/tides"), "--json")).out)
    outside = await asks("links", site.url("/tides"), "--scope", "external")

    assert {one["absolute_url"] for one in everything["links"]} == {
        site.url("/home"),
        "https://ferries.example/times",
    }
    assert "https://ferries.example/times" in outside.out
    assert "/home" not in outside.out


async def test_a_part_of_json_is_printed_and_headers_are_sent(asks: Asks, site: Site) -> None:
    words = ("--jmes", "harbours[?depth > `5`].name", "--header", "X-Mine: 1")
    done = await asks("json", site.url("/data"), *words)

    assert "Porthaven" in done.out
    assert "Westquay" not in done.out
    assert [one.headers.get("x-mine") for one in site.seen if one.path == "/data"] == ["1"]


async def test_passages_for_a_task(asks: Asks, site: Site) -> None:
    task = "When does the first ferry leave?"
    done = await asks("context", site.url("/tides"), task, "--no-rerank", "--json")
    data = json.loads(done.out)

    assert "half past six" in data["evidence_chunks"][0]["text"]


async def test_a_claim_is_judged_by_the_pages_named(asks: Asks, site: Site) -> None:
    claim = "The tide at Porthaven rises by 4.2 metres on the highest days of spring."
    done = await asks("verify", claim, "--source", site.url("/tides"))

    assert done.code == 0
    assert "supported" in done.out


async def test_a_schema_is_filled_from_a_page(asks: Asks, site: Site, tmp_path: Path) -> None:
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object", "properties": {"title": {"type": "string"}}}')
    done = await asks("extract", site.url("/tides"), str(schema), "--json")

    assert json.loads(done.out)["data"]["title"] == "Tides"


@pytest.mark.browser
async def test_a_picture_of_a_page_is_written(asks: Asks, site: Site, tmp_path: Path) -> None:
    if shutil.which("chromium") is None:
        pytest.skip("no Chromium here")
    file = tmp_path / "page.jpg"
    done = await asks("fetch", site.url("/tides"), "--screenshot", str(file), "--timeout", "60")
    spoilt = await asks("fetch", site.url("/tides"), "--screenshot", str(tmp_path / "no" / "p.jpg"))

    assert f"wrote {file}" in done.error
    assert file.read_bytes().startswith(b"\xff\xd8")
    assert (spoilt.code, "No such file" in spoilt.error) == (1, True)


async def test_what_a_site_sees_of_each_mode(asks: Asks) -> None:
    data = json.loads((await asks("fetch", "--fingerprint", "--json")).out)
    text = (await asks("fetch", "--fingerprint")).out

    assert set(data) == {"http", "impersonate"}
    assert data["http"] != data["impersonate"]
    assert text.startswith("http:\n")


@pytest.mark.parametrize(
    ("words", "code", "reason"),
    [
        (("fetch",), 2, "name at least one address"),
        (("fetch", "http://127.0.0.1:9/"), 1, "127.0.0.1"),
        (("fetch", "tides.example"), 1, "tides.example"),
        (("json", "http://127.0.0.1:9/", "--header", "nothing"), 1, "is no NAME:VALUE"),
        (("extract", "http://127.0.0.1:9/", "no-such-file.json"), 1, "No such file"),
        (("extract", "http://127.0.0.1:9/", "pyproject.toml"), 1, "is no JSON"),
        (("read", "no-such-file.html", "--url", "https://a.example/"), 1, "No such file"),
        (("links", "http://127.0.0.1:9/", "--timeout", "99"), 2, "--timeout"),
    ],
    ids=["none", "refused", "relative", "header", "no file", "no schema", "no page", "too long"],
)
async def test_wrong_input_is_one_sentence(
    asks: Asks,
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    words: tuple[str, ...],
    code: int,
    reason: str,
) -> None:
    monkeypatch.chdir(root)
    done = await asks(*words)

    assert done.code == code
    assert reason in done.error
    assert "Traceback" not in done.error


def test_a_saved_page_is_read_offline(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(PAGE)
    text = run("read", str(file), "--url", "https://tides.example/")
    data = json.loads(run("read", str(file), "--url", "https://tides.example/", "--json").out)

    assert "half past six" in text.out
    assert (data["title"], data["language"]) == ("Tides", "en")
    assert data["content"] == text.out.removesuffix("\n")


def test_a_page_from_standard_input(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PAGE)))
    done = run("read", "-", "--url", "https://tides.example/", "--format", "headings")

    assert "Ferries" in done.out
    assert "half past six" not in done.out
