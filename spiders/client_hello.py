"""What a TLS client says first, and its JA4 fingerprint.

JA4 is computed after FoxIO's public description (technical details of JA4, TLS client): protocol,
version, SNI, counts and ALPN; then hashes of the sorted ciphers, and of the sorted extensions with
the signature algorithms in their own order.
"""

from __future__ import annotations

import hashlib
import struct
from dataclasses import dataclass, field

__all__ = ["ClientHello", "ja4", "parse_client_hello"]

_SNI, _GROUPS, _SIGNATURES, _ALPN, _VERSIONS = 0, 10, 13, 16, 43
_VERSION_NAMES = {0x0304: "13", 0x0303: "12", 0x0302: "11", 0x0301: "10"}
_HASH_LENGTH = 12


@dataclass(frozen=True, slots=True)
class ClientHello:
    """The parts of a ClientHello that fingerprints are made of, GREASE values left out."""

    version: int
    ciphers: tuple[int, ...]
    extensions: tuple[int, ...]
    groups: tuple[int, ...] = ()
    signatures: tuple[int, ...] = ()
    alpn: tuple[str, ...] = field(default=())
    named: bool = False


class _Reader:
    """Reads big-endian numbers and length-prefixed parts from bytes."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def __bool__(self) -> bool:
        return self._at < len(self._data)

    def take(self, size: int) -> bytes:
        part = self._data[self._at : self._at + size]
        if len(part) < size:
            raise ValueError("the message ends early")
        self._at += size
        return part

    def number(self, size: int) -> int:
        return int.from_bytes(self.take(size), "big")

    def part(self, prefix: int) -> bytes:
        return self.take(self.number(prefix))


def _is_grease(value: int) -> bool:
    """RFC 8701: both bytes equal and ending in `a`."""
    return value & 0x0F0F == 0x0A0A and value >> 8 == value & 0xFF


def _numbers(data: bytes) -> tuple[int, ...]:
    found = struct.unpack(f">{len(data) // 2}H", data[: len(data) // 2 * 2])
    return tuple(value for value in found if not _is_grease(value))


def parse_client_hello(message: bytes) -> ClientHello:
    """Parse a handshake message without its record header; raises `ValueError` if it is none."""
    reader = _Reader(message)
    if reader.number(1) != 1:
        raise ValueError("no ClientHello")
    reader.take(3)
    legacy = reader.number(2)
    reader.take(32)
    reader.part(1)
    ciphers = _numbers(reader.part(2))
    reader.part(1)
    extensions = _extensions(reader.part(2) if reader else b"")
    return _hello(legacy, ciphers, extensions)


def _extensions(data: bytes) -> list[tuple[int, bytes]]:
    reader, found = _Reader(data), []
    while reader:
        found.append((reader.number(2), reader.part(2)))
    return [(kind, body) for kind, body in found if not _is_grease(kind)]


def _hello(
    legacy: int, ciphers: tuple[int, ...], extensions: list[tuple[int, bytes]]
) -> ClientHello:
    bodies = dict(extensions)
    versions = _numbers(bodies.get(_VERSIONS, b"\0")[1:])
    return ClientHello(
        version=max(versions, default=legacy),
        ciphers=ciphers,
        extensions=tuple(kind for kind, _ in extensions),
        groups=_numbers(bodies.get(_GROUPS, b"")[2:]),
        signatures=_numbers(bodies.get(_SIGNATURES, b"")[2:]),
        alpn=_protocols(bodies.get(_ALPN, b"")[2:]),
        named=_SNI in bodies,
    )


def _protocols(data: bytes) -> tuple[str, ...]:
    reader, found = _Reader(data), []
    while reader:
        found.append(reader.part(1).decode("latin-1"))
    return tuple(found)


def ja4(hello: ClientHello) -> str:
    """Return the JA4 fingerprint of a TLS client over TCP."""
    first = hello.alpn[0] if hello.alpn else ""
    start = (
        f"t{_VERSION_NAMES.get(hello.version, '00')}{'d' if hello.named else 'i'}"
        f"{min(len(hello.ciphers), 99):02}{min(len(hello.extensions), 99):02}"
        f"{first[0] + first[-1] if first else '00'}"
    )
    listed = _hexes(sorted(kind for kind in hello.extensions if kind not in (_SNI, _ALPN)))
    signed = f"_{_hexes(hello.signatures)}" if hello.signatures else ""
    return f"{start}_{_hashed(_hexes(sorted(hello.ciphers)))}_{_hashed(listed + signed)}"


def _hexes(values: list[int] | tuple[int, ...]) -> str:
    return ",".join(f"{value:04x}" for value in values)


def _hashed(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:_HASH_LENGTH]
