"""Links to go on from, and JSON that a cut never breaks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from framework.errors import ConsilienceError, InvalidInputError
from server.tools import fetch_json, links
from server.tools.base import Call, Reply, parse
from tests.support.site import Reply as Answer

if TYPE_CHECKING:
    from server.app import Application
    from server.tools.base import Tool
    from tests.support.site import Site

PAGE = b"""<html><body><nav><a href="/home">Home</a></nav><article><h1>Docs</h1><h2>Start</h2>
<p>Read <a href="install#top">how to install</a> and <a href="https://other.example/x">others</a>.
</p><p><a href="/home">Home again</a> <a href="javascript:x()">no</a></p></article></body></html>"""
DATA = {"items": [{"n": n, "text": "x" * 40} for n in range(200)], "total": 200}


@pytest.fixture(autouse=True)
def pages(site: Site) -> None:
    as_json = {"Content-Type": "application/json"}
    site.routes |= {
        "/docs/": Answer(headers={"Content-Type": "text/html"}, body=PAGE),
        "/data": Answer(headers=as_json, body=json.dumps(DATA).encode()),
        "/page": Answer(headers={"Content-Type": "text/html"}, body=b"<p>no data</p>"),
        "/down": Answer(status=503, headers=as_json, body=b"{}"),
    }


async def run(tool: Tool[Any, Any], app: Application, **arguments: object) -> Reply[Any]:
    reply: Reply[Any] = await tool.run(app, parse(tool, arguments), Call())
    return reply


async def test_links_are_absolute_once_and_in_order(app: Application, site: Site) -> None:
    reply = await run(links.TOOL, app, url=site.url("/docs/"))

    assert [link.absolute_url for link in reply.data.links] == [
        site.url("/home"),
        site.url("/docs/install#top"),
        "https://other.example/x",
    ]
    assert reply.data.links[1].section == "Start"
    assert reply.data.total == 3


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"scope": "external"}, ["others"]),
        ({"scope": "internal"}, ["Home", "how to install"]),
        ({"contains": "INSTALL"}, ["how to install"]),
        ({"max_links": 1}, ["Home"]),
    ],
)
async def test_links_are_chosen(
    app: Application, site: Site, arguments: dict[str, object], words: list[str]
) -> None:
    reply = await run(links.TOOL, app, url=site.url("/docs/"), **arguments)

    assert [link.text for link in reply.data.links] == words


async def test_a_cut_list_says_how_many_there_are(app: Application, site: Site) -> None:
    reply = await run(links.TOOL, app, url=site.url("/docs/"), max_links=1)

    assert "1 of 3 links" in reply.text


async def test_json_and_a_part_of_it(app: Application, site: Site) -> None:
    whole = await run(fetch_json.TOOL, app, url=site.url("/data"))
    part = await run(fetch_json.TOOL, app, url=site.url("/data"), jmes="items[3].n")

    assert whole.data.json_ == DATA
    assert (part.data.json_, part.data.truncated) == (3, False)


async def test_a_cut_leaves_out_whole_elements(app: Application, site: Site) -> None:
    reply = await run(fetch_json.TOOL, app, url=site.url("/data"), max_bytes=1_000)
    kept = reply.data.json_["items"]

    assert reply.data.truncated
    assert kept == DATA["items"][: len(kept)]  # type: ignore[index]
    assert len(json.dumps(reply.data.json_, separators=(",", ":"))) <= 1_000


async def test_the_callers_headers_are_sent_and_such_answers_are_not_kept(
    app: Application, site: Site
) -> None:
    for _ in range(2):
        await run(fetch_json.TOOL, app, url=site.url("/data"), headers={"X-Mine": "1"})

    sent = [one for one in site.seen if one.path == "/data"]
    assert [one.headers["x-mine"] for one in sent] == ["1", "1"]


@pytest.mark.parametrize(
    ("path", "code"), [("/page", "not_json"), ("/down", "http_status"), ("/none", "http_status")]
)
async def test_what_is_no_json_is_an_error(
    app: Application, site: Site, path: str, code: str
) -> None:
    with pytest.raises(ConsilienceError) as caught:
        await run(fetch_json.TOOL, app, url=site.url(path), timeout=3)

    assert caught.value.code == code


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        ({"jmes": "items["}, "JMESPath"),
        ({"headers": {"Cookie": "a=b"}}, "without Cookie"),
        ({"headers": {"X": "a\r\nY: b"}}, "control characters"),
        ({"max_bytes": 10}, "max_bytes"),
    ],
)
def test_wrong_arguments(arguments: dict[str, object], word: str) -> None:
    with pytest.raises(InvalidInputError, match=word):
        parse(fetch_json.TOOL, {"url": "https://a.example", **arguments})
