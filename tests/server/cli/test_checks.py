"""`consilience keys --check` and `proxies --check`: what is wrong is said of whom it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from spiders.replay import ReplayProxy
from tests.support.place import Place
from tests.support.site import Reply, Seen, Site

if TYPE_CHECKING:
    from pathlib import Path

_POOLS = """\
pools:
  default:
    members:
      - socks5h://me:right@127.0.0.1:{port}
      - socks5h://127.0.0.1:9
      - socks5h://me:wrong@127.0.0.1:{port}
      - http://me:right@127.0.0.1:{port}
"""

_ENGINE = """\
schema: 1
id: keyed
name: Keyed
kind: web
about: {official_api: true}
keys: {main: {env: [KEYED_API_KEYS]}}
settings: {base: {env: BASE_URL}}
request:
  url: "{{ settings.base }}/"
  query: {q: "{{ query }}"}
  headers: {X-Api-Key: "{{ keys.main }}"}
verdicts: [{quota: {status: 429}}, {unauthorised: {status: 401}}]
response: {format: json, rows: {each: "results[]"}, fields: {title: title, url: url}}
"""


async def test_each_proxy_of_a_pool_is_tested_by_itself(tmp_path: Path) -> None:
    async with Site({"/": Reply(body=b"hello")}) as site:
        hosts = {"site.example": ("127.0.0.1", site.port)}
        async with ReplayProxy(users={"me": "right"}, hosts=hosts) as proxy:
            (tmp_path / "pools.yaml").write_text(_POOLS.format(port=proxy.port))
            place = Place(tmp_path, site, CONSILIENCE_PROXIES="pools.yaml", CONSILIENCE_LOG="off")
            printed = await place.run("proxies", "--check", "http://site.example/", expect=(1,))

    rows = [line for line in printed.splitlines() if line.startswith("default")]
    assert ["ok, status 200" in row for row in rows] == [True, False, False, True], printed
    assert "right" not in printed
    assert "wrong" not in printed


def by_key(seen: Seen) -> Reply:
    rows = b'{"results": [{"title": "One", "url": "https://one.example/"}]}'
    known = {"good": Reply(body=rows), "spent": Reply(429)}
    return known.get(seen.headers["x-api-key"], Reply(401))


async def test_keys_are_tried_and_what_rests_is_said_by_number(tmp_path: Path) -> None:
    (tmp_path / "engines.d").mkdir()
    (tmp_path / "engines.d" / "keyed.yaml").write_text(_ENGINE)
    async with Site({"/": by_key}) as site:
        place = Place(tmp_path, site, BASE_URL=site.url("").rstrip("/"), CONSILIENCE_LOG="off")
        place.environment["KEYED_API_KEYS"] = "spent, unknown, good"
        good = await place.run("keys", "--check", expect=(0,))
        asked = [seen.headers["x-api-key"] for seen in site.seen]
        place.environment["KEYED_API_KEYS"] = "good, spent, unknown"
        again = await place.run("keys", "--check", expect=(0,))
        place.environment["KEYED_API_KEYS"] = "unknown"
        bad = await place.run("keys", "--check", expect=(1,))

    (row,) = [line for line in good.splitlines() if line.startswith("keyed")]
    assert "1: key 1 quota" in row
    assert "2: key 2 unauthorised" in row
    assert row.rstrip().endswith("ok")
    assert asked == ["spent", "unknown", "good"]
    (row,) = [line for line in again.splitlines() if line.startswith("keyed")]
    assert "2: key 2 quota" in row
    assert "3: key 3 unauthorised" in row
    assert any(line.rstrip().endswith("unauthorised") for line in bad.splitlines())
