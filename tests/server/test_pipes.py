"""Lines over descriptors of every kind, and what a slow or absent reader does to a writer."""

from __future__ import annotations

import asyncio
import os
import pty
import socket
from typing import TYPE_CHECKING

import pytest

from server import pipes

if TYPE_CHECKING:
    from pathlib import Path


async def told(source: int, first: bytes = b"") -> list[bytes]:
    return [line async for line in pipes.lines(source, first)]


@pytest.fixture
def pipe() -> tuple[int, int]:
    return os.pipe()


async def test_lines_come_whole_however_they_are_cut(pipe: tuple[int, int]) -> None:
    source, feed = pipe
    reading = asyncio.create_task(told(source, b"fir"))
    for part in (b"st\nsec", b"ond\n\n  \nthi", b"rd\r\nlast"):
        await asyncio.sleep(0)
        os.write(feed, part)
    os.close(feed)

    assert await reading == [b"first\n", b"second\n", b"third\r\n", b"last"]
    os.close(source)


async def test_a_line_that_is_too_long_is_none_and_the_next_one_counts(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipes, "MAX_LINE", 1_000)
    source, feed = pipe
    os.write(feed, b"x" * 5_000 + b"\nshort\n" + b"y" * 5_000)
    os.close(feed)

    assert await told(source) == [b"x" * 5_000 + b"\n", b"short\n", b"too long\n"]
    os.close(source)


async def test_a_long_line_in_pieces_is_not_kept(
    pipe: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pipes, "MAX_LINE", 1_000)
    source, feed = pipe
    reading = asyncio.create_task(told(source))
    for _ in range(4):
        os.write(feed, b"x" * 700)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    os.write(feed, b"\nshort\n")
    os.close(feed)

    assert (await reading)[-2:] == [b"too long\n", b"short\n"]
    os.close(source)


async def test_files_and_nothing_are_read_to_their_end(tmp_path: Path) -> None:
    (tmp_path / "in").write_bytes(b"one\ntwo")
    for path, lines in ((tmp_path / "in", [b"one\n", b"two"]), (os.devnull, [])):
        source = os.open(path, os.O_RDONLY)
        assert await told(source) == lines
        os.close(source)


async def test_a_terminal_is_read_by_the_line() -> None:
    master, terminal = pty.openpty()
    os.write(master, b"one\n\x04")

    assert await told(terminal) == [b"one\n"]
    os.close(terminal)
    os.close(master)


async def test_a_reset_connection_is_the_end_of_input() -> None:
    ours, theirs = socket.socketpair()
    ours.sendall(b"one\n")
    theirs.sendall(b"unread")
    ours.close()

    assert await told(theirs.fileno()) in ([b"one\n"], [])
    theirs.close()


async def test_a_slow_reader_makes_the_writer_wait_and_gets_everything(
    pipe: tuple[int, int],
) -> None:
    source, sink = pipe
    texts = [letter * 200_000 for letter in "abc"]
    with pipes.Writer(sink) as writer:
        writing = asyncio.gather(*map(writer.write, texts))
        await asyncio.sleep(0)
        assert not writing.done()
        found = bytearray()
        while len(found) < 600_003:
            found += await asyncio.to_thread(os.read, source, 65_536)
        await writing

    assert found.decode().split() == texts
    os.close(source)
    os.close(sink)


async def test_who_waits_to_write_can_be_cancelled(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    with pipes.Writer(sink) as writer:
        writing = asyncio.create_task(writer.write("x" * 500_000))
        await asyncio.sleep(0)
        writing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await writing
    os.close(source)
    os.close(sink)


async def test_it_is_told_when_a_reader_leaves(pipe: tuple[int, int]) -> None:
    source, sink = pipe
    gone = asyncio.Event()
    with pipes.Writer(sink, gone.set) as writer:
        await writer.write("one")
        assert not gone.is_set()
        os.close(source)
        await asyncio.wait_for(gone.wait(), 20)
        with pytest.raises(BrokenPipeError):
            await writer.write("two")
    os.close(sink)
