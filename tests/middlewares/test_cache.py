"""The page cache: what is the same, what is kept, what is shared."""

from __future__ import annotations

import asyncio
import sqlite3
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from framework.errors import ConsilienceError
from framework.types import FetchMode, HttpResponse
from middlewares.cache import Cache, Cached, CacheKey, conditions, is_cacheable
from tests.support.clock import Clock

if TYPE_CHECKING:
    from pathlib import Path

KEY = CacheKey("https://site.test/a")
CAP = 1000


def page(body: bytes = b"hello", status: int = 200, **headers: str) -> HttpResponse:
    named = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return HttpResponse(url="https://site.test/a", status=status, headers=named, body=body)


@dataclass
class Source:
    """A scripted site: answers in turn, the last one for ever."""

    answers: list[tuple[HttpResponse, int | None]]
    asked: list[tuple[tuple[str, str], ...]] = field(default_factory=list)
    gate: asyncio.Event | None = None
    cancelled: int = 0

    async def __call__(
        self, headers: tuple[tuple[str, str], ...]
    ) -> tuple[HttpResponse, int | None]:
        self.asked.append(headers)
        if self.gate is not None:
            try:
                await self.gate.wait()
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.mark.parametrize(
    ("other", "same"),
    [
        (CacheKey("http://www.site.test/a/?utm_source=x#part"), True),
        (CacheKey("https://site.test/b"), False),
        (CacheKey("https://site.test/a", FetchMode.RENDER), False),
        (CacheKey("https://site.test/a", vary=("de",)), False),
        (CacheKey("https://site.test/a", vary=("de", "load")), False),
    ],
)
def test_what_counts_as_the_same_page(other: CacheKey, same: bool) -> None:
    assert (KEY.digest == other.digest) is same


@pytest.mark.parametrize(
    ("response", "kept"),
    [
        (page(), True),
        (page(status=404), True),
        (page(status=301, Location="/b"), True),
        (page(status=403), False),
        (page(status=429), False),
        (page(status=503), False),
        (page(Cache_Control="max-age=5, no-store"), False),
        (page(Cache_Control="private"), False),
        (page(Cache_Control="no-cache"), True),
        (page(Vary="*"), False),
    ],
)
async def test_what_is_kept(response: HttpResponse, kept: bool) -> None:
    assert is_cacheable(response) is kept
    source = Source([(response, None)])
    cache = Cache()
    for _ in range(2):
        assert (await cache.fetch(KEY, CAP, source)).response.body == b"hello"
    assert len(source.asked) == (1 if kept else 2)
    cache.close()


def test_cookies_and_personal_headers_are_not_kept() -> None:
    cache = Cache()
    cache.put(KEY, page(Set_Cookie="id=1", ETag='"1"', X_User="me", Content_Type="text/html"))
    found = cache.get(KEY, CAP)
    assert found is not None
    assert found.response.headers == (("ETag", '"1"'), ("Content-Type", "text/html"))
    cache.close()


async def test_an_answer_is_fresh_for_its_time(tmp_path: Path) -> None:
    clock = Clock()
    cache = Cache(tmp_path / "cache.db", ttl=60, clock=clock)
    source = Source([(page(b"one"), None), (page(b"two"), None)])
    assert (await cache.fetch(KEY, CAP, source)).response.body == b"one"
    clock.now += 60
    assert (await cache.fetch(KEY, CAP, source)).response.body == b"one"
    clock.now += 1
    assert cache.get(KEY, CAP) is None
    assert (await cache.fetch(KEY, CAP, source)).response.body == b"two"
    cache.close()


async def test_a_stale_answer_is_asked_about(tmp_path: Path) -> None:
    clock = Clock()
    cache = Cache(tmp_path / "cache.db", ttl=60, clock=clock)
    first = page(b"one", ETag='"1"', Last_Modified="Sun, 29 Nov 2026 12:00:00 GMT")
    source = Source([(first, None), (page(b"", status=304), None), (page(b"two"), None)])
    await cache.fetch(KEY, CAP, source)
    clock.now += 61
    again = await cache.fetch(KEY, CAP, source)
    assert (again.response.body, again.response.status) == (b"one", 200)
    assert dict(source.asked[1]) == {
        "If-None-Match": '"1"',
        "If-Modified-Since": "Sun, 29 Nov 2026 12:00:00 GMT",
    }
    assert cache.get(KEY, CAP) is not None
    assert cache.stats().revalidated == 1
    clock.now += 61
    assert (await cache.fetch(KEY, CAP, source)).response.body == b"two"
    cache.close()


def test_without_a_validator_nothing_is_asked() -> None:
    assert conditions(page()) == ()


async def test_cut_bodies_are_never_served_to_a_larger_cap() -> None:
    cache = Cache()
    source = Source([(page(b"x" * 10), 10), (page(b"x" * 20), 20), (page(b"x" * 30), None)])
    assert (await cache.fetch(KEY, 10, source)).cap == 10
    assert (await cache.fetch(KEY, 5, source)).response.body == b"x" * 5
    assert len(source.asked) == 1
    assert (await cache.fetch(KEY, 20, source)).response.body == b"x" * 20
    assert source.asked[1] == ()
    whole = await cache.fetch(KEY, CAP, source)
    assert (len(whole.response.body), whole.cap) == (30, None)
    assert (await cache.fetch(KEY, 25, source)).cap == 25
    assert len(source.asked) == 3
    cache.close()


async def test_a_shorter_body_does_not_replace_a_longer_one() -> None:
    cache = Cache()
    cache.put(KEY, page(b"x" * 20), 20)
    cache.put(KEY, page(b"x" * 10), 10)
    found = cache.get(KEY, 20)
    assert found is not None
    assert found.cap == 20
    cache.close()


async def test_equal_requests_share_one_transfer() -> None:
    cache = Cache()
    source = Source([(page(), None)], gate=asyncio.Event())
    calls = [asyncio.create_task(cache.fetch(KEY, CAP, source)) for _ in range(5)]
    calls.append(asyncio.create_task(cache.fetch(KEY, 3, source)))
    calls.append(asyncio.create_task(cache.fetch(KEY, CAP * 2, source)))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert source.gate is not None
    source.gate.set()
    answers = await asyncio.gather(*calls)
    assert [answer.response.body for answer in answers] == [*[b"hello"] * 5, b"hel", b"hello"]
    assert len(source.asked) == 2
    assert cache.stats().shared == 5
    cache.close()


async def test_a_failure_reaches_every_caller_and_is_not_kept() -> None:
    cache = Cache()
    gate = asyncio.Event()
    tried = 0

    async def failing(headers: tuple[tuple[str, str], ...]) -> tuple[HttpResponse, int | None]:
        nonlocal tried
        tried += 1
        await gate.wait()
        raise ConsilienceError("gone")

    calls = [asyncio.create_task(cache.fetch(KEY, CAP, failing)) for _ in range(3)]
    await asyncio.sleep(0)
    gate.set()
    results = await asyncio.gather(*calls, return_exceptions=True)
    assert [str(result) for result in results] == ["gone"] * 3
    assert tried == 1
    source = Source([(page(), None)])
    assert (await cache.fetch(KEY, CAP, source)).response.body == b"hello"
    cache.close()


async def test_a_transfer_ends_when_the_last_caller_leaves() -> None:
    cache = Cache()
    source = Source([(page(), None)], gate=asyncio.Event())
    one, other = (asyncio.create_task(cache.fetch(KEY, CAP, source)) for _ in range(2))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    one.cancel()
    with pytest.raises(asyncio.CancelledError):
        await one
    assert source.cancelled == 0
    other.cancel()
    with pytest.raises(asyncio.CancelledError):
        await other
    await asyncio.sleep(0)
    assert source.cancelled == 1
    assert asyncio.all_tasks() == {asyncio.current_task()}
    cache.close()


def test_the_disk_outlives_the_process_and_is_shared(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "cache.db"
    one, other = Cache(path), Cache(path)
    one.put(KEY, page(b"hello" * 100))
    found = other.get(KEY, CAP)
    assert found is not None
    assert found.response.body == b"hello" * 100
    one.close()
    assert other.stats().size < 200
    assert other.clear() == 1
    assert other.get(KEY, CAP) is None
    other.close()


def test_both_tiers_are_bounded_and_swept() -> None:
    clock = Clock()
    cache = Cache(ttl=10, memory=250, disk=30, clock=clock)
    for number in range(4):
        clock.now += 1
        cache.put(CacheKey(f"https://site.test/{number}"), page(bytes([number]) * 100))
    stats = cache.stats()
    assert (stats.memory_entries, stats.memory_size, stats.entries) == (2, 200, 4)
    each = stats.size // 4
    assert cache.sweep() == 4 - 30 // each
    assert cache.get(CacheKey("https://site.test/3"), CAP) is not None
    clock.now += 10 * 24 + 1
    cache.sweep()
    assert cache.stats().entries == 0
    cache.put(KEY, page(b"x" * 251))
    assert cache.stats().memory_size <= 250
    cache.close()


def test_the_longest_unused_go_first(tmp_path: Path) -> None:
    clock = Clock()
    cache = Cache(tmp_path / "cache.db", memory=1, clock=clock)
    keys = [CacheKey(f"https://site.test/{number}") for number in range(3)]
    for key in keys:
        cache.put(key, page())
        clock.now += 40
    assert cache.get(keys[0], CAP) is not None
    clock.now += 40
    assert cache.get(keys[2], CAP) is not None
    room = cache.stats().size * 2 // 3
    cache.close()
    smaller = Cache(tmp_path / "cache.db", memory=1, disk=room, clock=clock)
    assert smaller.sweep() == 1
    assert [smaller.get(key, CAP) is not None for key in keys] == [True, False, True]
    smaller.close()


def test_bodies_go_with_their_answers(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    clock = Clock()
    cache = Cache(path, ttl=10, clock=clock)
    for body in (b"first", b"second"):
        cache.put(KEY, page(body))
    cache.put(CacheKey("https://site.test/other"), page())
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM bodies").fetchone() == (2,)
        clock.now += 10 * 24 + 1
        assert cache.sweep() == 2
        assert db.execute("SELECT count(*) FROM bodies").fetchone() == (0,)
    db.close()
    cache.close()


def test_a_file_of_an_earlier_version_is_emptied_and_used(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE pages (digest TEXT PRIMARY KEY, head TEXT, body BLOB)")
        db.execute("INSERT INTO pages VALUES ('x', '[]', x'00')")
    db.close()
    cache = Cache(path)
    assert cache.stats().entries == 0
    cache.put(KEY, page(b"new"))
    cache.close()
    again = Cache(path)
    found = again.get(KEY, CAP)
    assert found is not None
    assert found.response.body == b"new"
    again.close()


def test_an_unusable_file_names_the_variable(tmp_path: Path) -> None:
    (tmp_path / "cache.db").write_bytes(b"this is no database" * 100)
    with pytest.raises(ConsilienceError, match="CONSILIENCE_CACHE_DIR"):
        Cache(tmp_path / "cache.db")


def test_a_damaged_entry_counts_as_absent(tmp_path: Path) -> None:
    path = tmp_path / "cache.db"
    cache = Cache(path)
    cache.put(KEY, page())
    cache.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE bodies SET body = x'00'")
    db.close()
    again = Cache(path)
    assert again.get(KEY, CAP) is None
    again.close()


def test_a_cached_answer_knows_what_it_serves() -> None:
    whole = Cached(response=page(b"x" * 10), stored=0.0)
    assert whole.serves(10**9)
    assert whole.cut(4) == Cached(response=page(b"xxxx"), stored=0.0, cap=4)
    assert not whole.cut(4).serves(5)
