"""What can be told of an image without looking at it: format, dimensions, size."""

from __future__ import annotations

import struct
from urllib.parse import unquote, urlsplit

__all__ = ["describe", "dimensions"]


def dimensions(body: bytes) -> tuple[str, int, int] | None:
    """Return format, width and height of a PNG, GIF, JPEG or WebP, or None."""
    if body.startswith(b"\x89PNG") and len(body) >= 24:
        width, height = struct.unpack(">II", body[16:24])
        return "PNG", width, height
    if body.startswith(b"GIF8") and len(body) >= 10:
        width, height = struct.unpack("<HH", body[6:10])
        return "GIF", width, height
    if body[:4] == b"RIFF" and body[8:12] == b"WEBP":
        return _webp(body)
    return _jpeg(body) if body.startswith(b"\xff\xd8") else None


def _webp(body: bytes) -> tuple[str, int, int] | None:
    if body[12:16] == b"VP8X" and len(body) >= 30:
        return (
            "WebP",
            int.from_bytes(body[24:27], "little") + 1,
            int.from_bytes(body[27:30], "little") + 1,
        )
    if body[12:16] == b"VP8 " and len(body) >= 30:
        width, height = struct.unpack("<HH", body[26:30])
        return "WebP", width & 0x3FFF, height & 0x3FFF
    if body[12:16] == b"VP8L" and len(body) >= 25:
        bits = int.from_bytes(body[21:25], "little")
        return "WebP", (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    return None


def _jpeg(body: bytes) -> tuple[str, int, int] | None:
    at = 2
    while at + 9 < len(body):
        if body[at] != 0xFF:
            return None
        marker = body[at + 1]
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", body[at + 5 : at + 9])
            return "JPEG", width, height
        length = int.from_bytes(body[at + 2 : at + 4], "big")
        if length < 2:
            return None
        at += 2 + length
    return None


def describe(body: bytes, url: str) -> str:
    """Return one Markdown line about an image."""
    found = dimensions(body)
    shape = f"{found[0]}, {found[1]}×{found[2]} pixels, " if found else ""
    try:
        name = unquote(urlsplit(url).path.rpartition("/")[2]) or "image"
    except ValueError:
        name = "image"
    return f"Image {name.replace('[', '').replace(']', '')}: {shape}{len(body):,} bytes"
