"""Where cached answers lie: a memory tier and an SQLite tier, each bounded in bytes."""

from __future__ import annotations

import contextlib
import json
import sqlite3
import zlib
from collections import OrderedDict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError
from framework.types import HttpResponse
from middlewares.state import transaction

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["Cached", "DiskTier", "MemoryTier"]

#: Seconds within which a page that is used again needs no new mark.
_USED_EVERY = 30.0
#: Bodies lie apart, so that sweeping, counting and marking as used never touch them. `pages` is
#: what earlier versions kept both in.
_SCHEMA = """
DROP TABLE IF EXISTS pages;
CREATE TABLE IF NOT EXISTS answers (
  digest TEXT PRIMARY KEY, head TEXT NOT NULL, size INTEGER NOT NULL, stored REAL NOT NULL,
  used REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS answers_by_use ON answers (used, size, digest);
CREATE INDEX IF NOT EXISTS answers_by_age ON answers (stored);
CREATE TABLE IF NOT EXISTS bodies (digest TEXT PRIMARY KEY, body BLOB NOT NULL);
CREATE TRIGGER IF NOT EXISTS bodies_follow AFTER DELETE ON answers
  BEGIN DELETE FROM bodies WHERE digest = OLD.digest; END;
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cached:
    """An answer and when it was fetched (Unix seconds).

    `cap` is None for a whole body, else the number of bytes at which it was cut.
    """

    response: HttpResponse
    stored: float
    cap: int | None = None

    def serves(self, cap: int) -> bool:
        """Say whether a caller that wants up to `cap` bytes gets all that it would get."""
        return self.cap is None or cap <= self.cap

    def cut(self, cap: int) -> Cached:
        """Return the answer as a caller with that cap would have got it."""
        body = self.response.body
        if len(body) <= cap:
            return self
        return replace(self, response=replace(self.response, body=body[:cap]), cap=cap)

    def holds_more_than(self, other: Cached) -> bool:
        """Say whether less of this body was cut away than of the other's."""
        if other.cap is None:
            return False
        return self.cap is None or self.cap > other.cap


class MemoryTier:
    """The least recently used entries go first, once the bodies exceed `limit` bytes."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.size = 0
        self._entries: OrderedDict[str, Cached] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, digest: str) -> Cached | None:
        """Return an entry and mark it as used."""
        entry = self._entries.get(digest)
        if entry is not None:
            self._entries.move_to_end(digest)
        return entry

    def put(self, digest: str, entry: Cached) -> None:
        """Keep an entry, unless it alone exceeds the limit."""
        self.drop(digest)
        size = len(entry.response.body)
        if size > self.limit:
            return
        self._entries[digest] = entry
        self.size += size
        while self.size > self.limit:
            self.drop(next(iter(self._entries)))

    def drop(self, digest: str) -> None:
        """Forget an entry."""
        entry = self._entries.pop(digest, None)
        if entry is not None:
            self.size -= len(entry.response.body)

    def clear(self) -> None:
        """Forget everything."""
        self._entries.clear()
        self.size = 0


class DiskTier:
    """Compressed entries in one SQLite file, shared by processes; `path` None keeps it in memory.

    Raises ConsilienceError (`cache_unavailable`) for a file that cannot be used. An entry that
    cannot be read counts as absent.
    """

    def __init__(self, path: Path | None) -> None:
        try:
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._db = sqlite3.connect(path or ":memory:", timeout=5, isolation_level=None)
            self._db.execute("PRAGMA journal_mode = WAL")
            self._db.execute("PRAGMA synchronous = NORMAL")
            self._db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise ConsilienceError(
                f"the cache {path} cannot be used: {error}",
                code="cache_unavailable",
                hint="set CONSILIENCE_CACHE_DIR to a folder that may be written to",
            ) from error

    def close(self) -> None:
        """Close the file."""
        self._db.close()

    def get(self, digest: str, now: float) -> Cached | None:
        """Return an entry and mark it as used, to half a minute."""
        row = self._db.execute(
            "SELECT head, body, stored, used FROM answers JOIN bodies USING (digest)"
            " WHERE digest = ?",
            (digest,),
        ).fetchone()
        if row is None:
            return None
        if now - float(row[3]) >= _USED_EVERY:
            self._db.execute("UPDATE answers SET used = ? WHERE digest = ?", (now, digest))
        return _entry(str(row[0]), bytes(row[1]), float(row[2]))

    def put(self, digest: str, entry: Cached, now: float) -> None:
        """Keep an entry in place of an earlier one."""
        body = zlib.compress(entry.response.body, 1)
        with transaction(self._db):
            self._db.execute(
                "INSERT INTO answers VALUES (?, ?, ?, ?, ?) ON CONFLICT (digest) DO UPDATE SET"
                " head = excluded.head, size = excluded.size, stored = excluded.stored,"
                " used = excluded.used",
                (digest, _head(entry), len(body), entry.stored, now),
            )
            self._db.execute("INSERT OR REPLACE INTO bodies VALUES (?, ?)", (digest, body))

    def sweep(self, oldest: float, limit: int) -> int:
        """Remove entries stored before `oldest`, then the longest unused beyond `limit` bytes."""
        with transaction(self._db):
            gone = self._db.execute("DELETE FROM answers WHERE stored < ?", (oldest,)).rowcount
            doomed = [(digest,) for digest in self._longest_unused(self.size() - limit)]
            self._db.executemany("DELETE FROM answers WHERE digest = ?", doomed)
        return gone + len(doomed)

    def _longest_unused(self, surplus: int) -> Iterator[str]:
        """Yield entries until their bodies take up what is too much."""
        rows = self._db.execute("SELECT digest, size FROM answers ORDER BY used")
        while surplus > 0 and (row := rows.fetchone()) is not None:
            yield str(row[0])
            surplus -= int(row[1])

    def size(self) -> int:
        """Return the bytes that all bodies take, compressed."""
        return int(self._db.execute("SELECT coalesce(sum(size), 0) FROM answers").fetchone()[0])

    def __len__(self) -> int:
        return int(self._db.execute("SELECT count(*) FROM answers").fetchone()[0])

    def clear(self) -> int:
        """Remove everything and give the space back; return how many entries there were."""
        gone = self._db.execute("DELETE FROM answers").rowcount
        self._db.execute("VACUUM")
        return gone


def _head(entry: Cached) -> str:
    response = entry.response
    return json.dumps(
        [response.url, response.status, response.headers, response.hops, entry.cap],
        separators=(",", ":"),
    )


def _entry(head: str, body: bytes, stored: float) -> Cached | None:
    with contextlib.suppress(ValueError, TypeError, zlib.error):
        url, status, headers, hops, cap = json.loads(head)
        response = HttpResponse(
            url=url,
            status=status,
            headers=tuple((name, value) for name, value in headers),
            body=zlib.decompress(body),
            hops=tuple(hops),
        )
        return Cached(response=response, stored=stored, cap=cap)
    return None
