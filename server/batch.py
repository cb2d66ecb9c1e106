"""Many queries, one file: each query's merged results as one line, resumable after any end.

A line is written whole or not at all, so the file itself is the journal: what stands in it is
done, whatever ended the program.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from framework.errors import ConsilienceError, InvalidInputError
from framework.merge.search import NoAnswerError
from server.tools.web_search import structured

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Iterator
    from pathlib import Path
    from types import TracebackType

    from framework.types import SearchAnswer

__all__ = ["Batch", "Journal", "Pause", "read_queries", "run_batch"]

#: Seconds that a query waits for engines to be free again, at most.
LONGEST_WAIT = 120.0
_DEFAULT_WAIT = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Pause:
    """How often a query is asked again when no engine could answer, and how long it may wait."""

    retries: int = 2
    longest: float = LONGEST_WAIT
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep


@dataclass(slots=True)
class Batch:
    """What a run has come to so far."""

    total: int
    before: int = 0
    """Queries that were done when the run began."""
    done: int = 0
    failed: int = 0


class Journal:
    """The output file: knows the queries that it holds, and takes further lines; a context manager.

    A line that was cut off by the end of the program is removed when the file is opened. Raises
    InvalidInputError where the file cannot be written, is no output of a batch, or belongs to a
    batch that still runs.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._done: set[bytes] = set()
        self._file = -1

    def __enter__(self) -> Journal:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
        except OSError as error:
            raise InvalidInputError(f"{self.path}: {error.strerror or error}") from error
        try:
            self._lock()
            os.truncate(self._file, self._read())
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __len__(self) -> int:
        return len(self._done)

    def __contains__(self, query: str) -> bool:
        return _digest(query) in self._done

    def _lock(self) -> None:
        with contextlib.suppress(ImportError):
            import fcntl

            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError as error:
                raise InvalidInputError(
                    f"{self.path}: another batch writes to this file",
                    hint="wait for it, or name another file",
                ) from error

    def _read(self) -> int:
        """Note the queries of all whole lines; return where they end."""
        end = 0
        with self.path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    break
                self._note(line, number)
                end += len(line)
        return end

    def _note(self, line: bytes, number: int) -> None:
        try:
            query = json.loads(line)["query"]
        except (ValueError, KeyError, TypeError) as error:
            raise InvalidInputError(
                f"{self.path}:{number}: no line of a batch", hint="name another file with -o"
            ) from error
        self._done.add(_digest(str(query)))

    def write(self, query: str, record: dict[str, object]) -> None:
        """Append a query's line; it is in the file when this returns."""
        data = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        while data:
            data = data[os.write(self._file, data) :]
        self._done.add(_digest(query))


def _digest(query: str) -> bytes:
    return hashlib.blake2b(query.encode(), digest_size=12).digest()


def read_queries(lines: Iterable[str]) -> Iterator[str]:
    """Yield the queries of a file: one a line, each once, no empty ones."""
    seen: set[bytes] = set()
    for line in lines:
        query = line.strip()
        key = _digest(query)
        if query and key not in seen:
            seen.add(key)
            yield query


async def run_batch(
    queries: Iterable[str],
    journal: Journal,
    search: Callable[[str], Awaitable[SearchAnswer]],
    *,
    batch: Batch,
    concurrency: int = 4,
    pause: Pause | None = None,
    advanced: Callable[[Batch], None] | None = None,
) -> Batch:
    """Search every query that the journal does not hold, and write one line for each.

    At most `concurrency` searches run at once. A query that fails has its error in its line. A
    search that no engine could answer for now is tried again after a while (`pause`).
    """
    given = pause or Pause()
    left = (query for query in queries if query not in journal)

    async def work() -> None:
        for query in left:
            record = await _record(query, search, given)
            journal.write(query, record)
            batch.done += 1
            batch.failed += "error" in record
            if advanced is not None:
                advanced(batch)

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(work())
    return batch


async def _record(
    query: str, search: Callable[[str], Awaitable[SearchAnswer]], pause: Pause
) -> dict[str, object]:
    at = datetime.now(UTC).isoformat(timespec="seconds")
    for attempt in range(pause.retries + 1):
        try:
            answer = await search(query)
        except ConsilienceError as error:
            last = attempt == pause.retries
            wait = error.retry_after if error.retry_after is not None else _DEFAULT_WAIT
            if last or not error.retryable or wait > pause.longest:
                return {"query": query, "at": at, "results": [], **_failure(error)}
            await pause.sleep(wait)
        except Exception as error:  # noqa: BLE001 - one query's fault must not end the batch
            told = {"code": "unexpected", "message": f"{type(error).__name__}: {error}"}
            return {"query": query, "at": at, "results": [], "engines": [], "error": told}
        else:
            data = structured(answer, 0).model_dump(mode="json", exclude_none=True)
            return {**data, "query": query, "at": at}
    raise AssertionError("the last attempt returns")


def _failure(error: ConsilienceError) -> dict[str, object]:
    told: dict[str, object] = {"code": error.code, "message": str(error)}
    if error.retry_after is not None:
        told["retry_after"] = round(error.retry_after, 1)
    reports = error.reports if isinstance(error, NoAnswerError) else ()
    engines = [
        {"id": report.id, "verdict": report.verdict.value, "detail": report.detail}
        for report in reports
    ]
    return {"engines": engines, "error": told}
