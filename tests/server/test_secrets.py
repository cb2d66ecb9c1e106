"""Keys and passwords in everything that the program prints, logs or leaves on disk: nowhere."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from spiders.replay import ReplayProxy
from tests.support.place import Place
from tests.support.site import Reply, Routes, Seen, Site

if TYPE_CHECKING:
    import asyncio
    from collections.abc import AsyncIterator
    from pathlib import Path

KEYS = ("zq7Kp4-first-9f31c2", "zq7Kp4-second-77ab0e")
PASSWORD = "xV5:wor/d-2be1"
_HIDDEN = re.compile("|".join([*KEYS, "zq7Kp4", PASSWORD, "xV5", "wor/d", "wor%2Fd"]), re.I)

#: The key goes into the address, a header, a cookie and the body: every place that may be told on.
_ENGINE = """\
schema: 1
id: {id}
name: {id}
kind: web
about: {{official_api: true}}
keys: {{main: {{env: [SECRET_API_KEYS]}}}}
settings: {{base: {{env: BASE_URL}}}}
request:
  url: "{{{{ settings.base }}}}/{id}"
  method: POST
  query: {{q: "{{{{ query }}}}", key: "{{{{ keys.main }}}}"}}
  headers: {{Authorization: "Bearer {{{{ keys.main }}}}", X-Api-Key: "{{{{ keys.main }}}}"}}
  cookies: {{token: "{{{{ keys.main }}}}"}}
  json: {{q: "{{{{ query }}}}", api_key: "{{{{ keys.main }}}}"}}
verdicts:
  - unauthorised: {{status: 401}}
  - error: {{jmes: error}}
  - empty: {{jmes: "results == `[]`"}}
response:
  format: json
  rows: {{each: "results[]"}}
  fields: {{title: title, url: url}}
limits: {{timeout: 1s}}
"""
_NAMES = ("rows", "refused", "broken", "cut", "moved", "endless")


def _endless(seen: Seen) -> Reply:
    return Reply(302, {"Location": f"{seen.target}&again"})


def _moved(seen: Seen) -> Reply:
    return Reply(302, {"Location": f"http://10.0.0.1{seen.target}"})


async def _cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """End the connection in the middle of the answer."""


def _echo(seen: Seen) -> Reply:
    """An interface that repeats the refused key in its message, as some do."""
    key = seen.headers.get("x-api-key", "")
    return Reply(401, body=f'{{"error": "the key {key} is not known"}}'.encode())


ROUTES: Routes = {
    "/rows": Reply(body=b'{"results": [{"title": "One", "url": "https://one.example/"}]}'),
    "/refused": _echo,
    "/broken": Reply(500, body=b'{"error": "out of order"}'),
    "/cut": Reply(headers={"Content-Length": "100"}, stream=_cut),
    "/moved": _moved,
    "/endless": _endless,
}


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    (tmp_path / "engines.d").mkdir()
    for name in _NAMES:
        (tmp_path / "engines.d" / f"{name}.yaml").write_text(_ENGINE.format(id=name))
    async with Site(ROUTES) as site:
        hosts = {"site.example": ("127.0.0.1", site.port)}
        async with ReplayProxy(users={"ann": PASSWORD}, hosts=hosts) as proxy:
            yield Place(
                tmp_path,
                site,
                BASE_URL=f"http://site.example:{site.port}",
                SECRET_API_KEYS=",".join(KEYS),
                ENABLE_PROXY="true",
                SOCKS5_PROXY=proxy.url("socks5h", "ann", PASSWORD),
            )


COMMANDS = {
    "search": (
        *("search", "cats", "--engines", ",".join(_NAMES)),
        *("--json", "--debug", "--debug-file", "debug.log"),
    ),
    "crawl": (
        *("crawl", "rows", "-a", "query=cats", "-s", "LOG_LEVEL=DEBUG", "-O", "rows.jsonl"),
        *("-s", "JOBDIR=job"),
    ),
    "crawl-refused": ("crawl", "refused", "-a", "query=cats", "-s", "LOG_LEVEL=DEBUG"),
    "try": ("engines", "try", "refused", "cats"),
    "record": ("engines", "record", "refused", "refused", "cats"),
    "doctor": ("engines", "doctor", "rows", "refused", "--live"),
    "keys": ("keys", "--check"),
    "proxies": ("proxies", "--check", "http://site.example/rows"),
}


@pytest.mark.parametrize("name", COMMANDS)
async def test_no_secret_comes_out(place: Place, name: str) -> None:
    printed = await place.run(*COMMANDS[name])

    assert place.site.seen, printed
    assert not _HIDDEN.search(printed), printed
    told = {path for path, text in place.files().items() if _HIDDEN.search(text)}
    assert told == set()
