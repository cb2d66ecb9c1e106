"""Answers made to hurt: each ends within its limit, with its code, and without filling memory."""

from __future__ import annotations

import asyncio
import gzip
import resource
import zlib
from typing import TYPE_CHECKING

import brotli  # type: ignore[import-untyped]
import pytest
import zstandard

from framework.errors import UnavailableError
from framework.types import HttpRequest
from tests.support.site import Reply, Site

if TYPE_CHECKING:
    from framework.types import FetchMode
    from spiders.hub import Hub

CAP = 1_000_000
GIGABYTE = 1_000_000_000
ZEROS = bytes(10_000_000)


def gzipped_gigabyte() -> bytes:
    """A billion zero bytes in about a megabyte."""
    packer = zlib.compressobj(wbits=31)
    parts = [packer.compress(ZEROS) for _ in range(GIGABYTE // len(ZEROS))]
    return b"".join([*parts, packer.flush()])


def bomb(encoding: str, body: bytes) -> Reply:
    return Reply(200, {"Content-Type": "text/html", "Content-Encoding": encoding}, body)


async def chunks(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while not writer.is_closing():
        writer.write(b"1000\r\n" + b"x" * 0x1000 + b"\r\n")
        await writer.drain()


async def drops(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while not writer.is_closing():
        writer.write(b"1\r\nx\r\n")
        await writer.drain()
        await asyncio.sleep(0.02)


async def headers(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    for number in range(100_000):
        writer.write(b"X-%d: %d\r\n" % (number, number))
        await writer.drain()
    writer.write(b"\r\n")


CHUNKED = {"Transfer-Encoding": "chunked"}
BOMBS: dict[str, tuple[Reply, set[str]]] = {
    "brotli": (bomb("br", brotli.compress(bytes(100_000_000), quality=1)), {"body_too_large"}),
    "zstd": (bomb("zstd", zstandard.compress(bytes(300_000_000))), {"body_too_large"}),
    "deflate": (bomb("deflate", zlib.compress(ZEROS)), {"body_too_large"}),
    "twice": (
        bomb("gzip, gzip", gzip.compress(gzip.compress(ZEROS))),
        {"body_too_large", "malformed_answer"},
    ),
    "length": (Reply(body=bytes(3_000_000)), {"body_too_large"}),
    "endless": (Reply(headers=CHUNKED, stream=chunks), {"body_too_large"}),
    "a byte at a time": (Reply(headers=CHUNKED, stream=drops), {"timeout"}),
    "no gzip": (bomb("gzip", b"this is no gzip"), {"incomplete_answer", "malformed_answer"}),
}


async def code_of(hub: Hub, url: str, mode: FetchMode, timeout: float = 10) -> str:
    request = HttpRequest(url=url)
    with pytest.raises(UnavailableError) as caught:
        await hub.fetch(request, mode=mode, timeout=timeout, maxsize=CAP, meta={"retry": False})
    return caught.value.code


@pytest.mark.parametrize("name", list(BOMBS))
async def test_it_ends_with_its_code(hub: Hub, mode: FetchMode, name: str) -> None:
    reply, codes = BOMBS[name]
    async with Site({"/": reply}) as site:
        timeout = 0.5 if codes == {"timeout"} else 10
        assert await code_of(hub, site.url("/"), mode, timeout) in codes


async def test_a_hundred_thousand_headers(hub: Hub, mode: FetchMode) -> None:
    async with Site() as site:
        site.routes["/"] = Reply(stream=headers, open_head=True)
        code = await code_of(hub, site.url("/"), mode)
    assert code in {"malformed_answer", "download_failed"}


async def test_a_gigabyte_of_zeros_never_comes_into_memory(hub: Hub, mode: FetchMode) -> None:
    async with Site({"/": bomb("gzip", gzipped_gigabyte())}) as site:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert await code_of(hub, site.url("/"), mode) == "body_too_large"
        grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert grown < 64, f"{grown:.0f} MB"


async def test_a_redirect_loop(hub: Hub, mode: FetchMode) -> None:
    routes = {"/a": Reply(302, {"Location": "/b"}), "/b": Reply(302, {"Location": "/a"})}
    async with Site({**routes}) as site:
        assert await code_of(hub, site.url("/a"), mode) == "too_many_redirects"
        assert len(site.seen) == 11
